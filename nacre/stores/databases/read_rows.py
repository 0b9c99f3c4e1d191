"""Many rows of an attached database in one query for each table: IRIs -> labels, facts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nacre.records.schema import Relation, Schema
from nacre.stores.databases.attached import AttachedTable
from nacre.stores.databases.row_keys import KeyedTables
from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import Cell, RowFacts, Tables, lexical_form

# rows of one query; fewer are filled up with the last one, so that few different queries are translated
SIZES = (1, 8, 60, 400)


class _Batch(NamedTuple):
    """Some rows of one table, and the marks of as many parameters."""

    table: AttachedTable
    iris: Sequence[str]
    marks: str


def row_labels(iris: Iterable[str], tables: Tables, keyed: KeyedTables) -> dict[str, str]:
    """The labels of rows by IRI; those that do not exist are missing."""
    found: dict[str, str] = {}
    for batch in _batches(iris, keyed):
        query = f"SELECT iri, label FROM entity WHERE id IN ({batch.marks})"
        rows = tables.run(query, batch.iris, limit=len(batch.iris)).rows
        found |= {str(iri): str(label or iri) for iri, label in rows}
    return found


def row_facts(iris: Iterable[str], tables: Tables, keyed: KeyedTables) -> dict[str, RowFacts]:
    """The facts of rows by IRI; those that do not exist are missing."""
    schema = tables.schema
    types = {group.relation: group.classes for group in schema.groups}
    found: dict[str, RowFacts] = {}
    for batch in _batches(iris, keyed):
        relation = schema.relation_of.get(batch.table.relation)
        if relation is not None:
            query = _query(relation, batch.marks)
            for row in tables.run(query, batch.iris, limit=len(batch.iris)).rows:
                values = _values(relation, row[2:], schema)
                found[str(row[0])] = RowFacts(tuple(types.get(relation.name, ())), str(row[1] or row[0]), values)
    return found


def _batches(iris: Iterable[str], keyed: KeyedTables) -> Iterator[_Batch]:
    by_table: dict[str, list[str]] = {}
    for iri in dict.fromkeys(iris):
        table = keyed.of_key(iri)
        if table is not None:
            by_table.setdefault(table.relation, []).append(iri)
    for relation, own in by_table.items():
        for start in range(0, len(own), SIZES[-1]):
            part = own[start : start + SIZES[-1]]
            size = next(size for size in SIZES if size >= len(part))
            padded = part + part[-1:] * (size - len(part))
            yield _Batch(keyed.by_relation[relation], padded, ", ".join("?" * size))


def _query(relation: Relation, marks: str) -> str:
    shown, joins = ["e.iri", "e.label"], ""
    for number, column in enumerate(relation.columns):
        if column.link:
            # links to rows that do not exist are no facts
            joins += f"LEFT JOIN entity o{number} ON o{number}.id = r.{quote_identifier(column.link)} "
            shown.append(f"o{number}.iri")
        else:
            shown.append(f"r.{quote_identifier(column.value)}")
    source = f"{quote_identifier(relation.name)} r JOIN entity e ON e.id = r.id {joins}"
    return f"SELECT {', '.join(shown)} FROM {source}WHERE r.id IN ({marks})"


def _values(relation: Relation, cells: Sequence[Cell], schema: Schema) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for column, cell in zip(relation.columns, cells, strict=True):
        if cell is not None:
            value = str(cell) if column.link else lexical_form(cell, schema.predicate_of[column.predicate].datatype)
            found[column.predicate] = (*found.get(column.predicate, ()), value)
    return found
