"""What the rows of a relation contain: Tables + Relation -> which columns are filled, rows in common, own values."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.records.schema import Column, Predicate, Relation
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Tables

# values are counted in relations of at most so many rows, since a part of the schema is written for each question
_MAX_COUNTED = 100_000


def fill_notes(tables: Tables, relations: Sequence[Relation]) -> dict[str, str]:
    """The columns, with a note how many rows of a table have a value where not all do. Columns without a value in any
    of the relations, which have the same columns, are left out; large views, and columns of junctions, are all kept."""
    first = relations[0]
    names = [column.value or column.link for column in first.columns]
    is_small = sum(_size(tables, each) for each in relations) <= _MAX_COUNTED
    if first.kind == "junction" or not names or not (is_small or first.kind == "table"):
        return dict.fromkeys(names, "")
    counts = ", ".join(f"count({quote_if_needed(name)})" for name in names)
    read = tables.trusted().execute
    found = [read(f"SELECT count(*), {counts} FROM {quote_if_needed(each.name)}").fetchone() for each in relations]
    rows, *filled = map(sum, zip(*found, strict=True))
    return {
        name: f"only {number} of {rows} rows have one" if first.kind == "table" and number < rows else ""
        for name, number in zip(names, filled, strict=True)
        if number or not is_small
    }


def count_shared_rows(tables: Tables, relation: Relation, other: str) -> int:
    """How many rows of a view are also in another relation, whose name is quoted; 0 for a large view, which is not
    read."""
    if _size(tables, relation) > _MAX_COUNTED:
        return 0
    name, key = quote_if_needed(relation.name), quote_if_needed(relation.key)
    read = tables.trusted().execute
    return int(read(f"SELECT count(*) FROM {name} WHERE {key} IN (SELECT {key} FROM {other})").fetchone()[0])


def restrict_to_relation(
    tables: Tables, relation: Relation, column: Column, predicate: Predicate, most: int
) -> tuple[Predicate, list[str]]:
    """The predicate with the values that this relation has, where others have it too, at most one more than `most`, and
    samples of its text."""
    if not column.value:
        return predicate, []
    name, of = quote_if_needed(column.value), quote_if_needed(relation.name)
    read = tables.trusted().execute
    if len(predicate.domains) > 1 and predicate.datatype in ("integer", "real"):
        low, high = read(f"SELECT min({name}), max({name}) FROM {of}").fetchone()
        bounds = {} if isinstance(low, str) or isinstance(high, str) else {"minimum": low, "maximum": high}
        predicate = replace(predicate, values=(), **bounds)
    elif len(predicate.domains) > 1 and predicate.values:
        found = read(f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL LIMIT {most + 1}").fetchall()
        predicate = replace(predicate, values=tuple(str(row[0]) for row in found))
    if not predicate.samples or predicate.datatype != "text":
        return predicate, []
    found = read(f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL LIMIT 2").fetchall()
    return predicate, [str(row[0]) for row in found]


def _size(tables: Tables, relation: Relation) -> int:
    """The number of things that a relation lists."""
    schema = tables.schema
    classes = [each.count for each in schema.classes if each.relation == relation.name]
    return max([*classes, *(each.count for each in schema.groups if each.relation == relation.name)], default=0)
