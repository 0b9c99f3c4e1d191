"""Look-ups before SQL is written: phrases -> where similar values occur; LookUp -> values, sample rows, columns."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.language.tokens import fold
from nacre.records.look_up import LookUp, Occurrence
from nacre.records.schema import Relation, Schema
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Tables
from tools.provenance.entity_ids import is_id, look_up_entities

MOST = 10
A_PHRASE = 3
# similar spellings are searched among at most so many distinct values of a column
NEAR_VALUES = 3000
LEAST_SIMILARITY = 0.84
# the share that a phrase must have of a value that contains it (given)
LEAST_SHARE = 0.5
SAMPLE_ROWS = 3
LONGEST_CELL = 60
_TEXTS = ("text", "date", "datetime", "year")


class _Place(NamedTuple):
    table: str
    column: str


def find_occurrences(phrases: Sequence[str], tables: Tables, *, seconds: float) -> list[Occurrence]:
    """Where values occur that equal a phrase, contain it, or have a similar spelling: the most similar first.

    Columns that are not reached within `seconds` are left out.
    """
    deadline = time.monotonic() + seconds
    found: list[Occurrence] = []
    for phrase in phrases:
        own = [each for place in _places(tables.schema) for each in _containing(phrase, place, tables, deadline)]
        own = [each for each in own if each.likeness >= LEAST_SHARE]
        if not own and not any(map(str.isdigit, phrase)):
            own = [each for place in _places(tables.schema) for each in _similar(phrase, place, tables, deadline)]
        named = {each.value for each in own if each.table != "entity"}
        # a value of a table's own column is not repeated for the table `entity`
        own = [each for each in own if each.table != "entity" or each.value not in named]
        best = sorted(own, key=lambda each: (-each.likeness, each.table, each.column, each.value))
        found += best[:A_PHRASE]
    return sorted(dict.fromkeys(found), key=lambda each: -each.likeness)[:MOST]


def look_up_sql(wanted: LookUp, tables: Tables, describe: Callable[[Collection[str]], str], *, seconds: float) -> str:
    """What a look-up finds, as a text of bounded length. Look-ups of passages are not done here."""
    known = {relation.name.lower(): relation for relation in tables.schema.relations}
    relation = known.get(wanted.table.lower())
    try:
        if wanted.kind == "values":
            return _values(wanted, relation, tables, time.monotonic() + seconds)
        if relation is None:
            return f"There is no table {wanted.table!r}."
        return describe([relation.name]) if wanted.kind == "columns" else _rows(relation, tables, seconds)
    except ToolError as error:
        return str(error)


def _values(wanted: LookUp, relation: Relation | None, tables: Tables, deadline: float) -> str:
    places = [
        place
        for place in _places(tables.schema)
        if (relation is None or place.table == relation.name)
        and (not wanted.column or place.column.lower() == wanted.column.lower())
    ]
    if not wanted.text:
        shown = [f"{p.table}.{p.column}: {', '.join(_distinct(p, tables, MOST, deadline))}" for p in places[:MOST]]
        return "\n".join(shown) or "There is no such column of text."
    text = wanted.text.strip(" %")
    found = [each for place in places for each in _containing(text, place, tables, deadline)]
    found = found or [each for place in places for each in _similar(text, place, tables, deadline)]
    lines = [f"{each.table}.{each.column}: {each.value}" for each in sorted(found, key=lambda e: -e.likeness)[:MOST]]
    return "\n".join(lines) or f"No value is like {wanted.text!r}."


def _rows(relation: Relation, tables: Tables, seconds: float) -> str:
    rows = tables.run(f"SELECT * FROM {quote_if_needed(relation.name)}", limit=SAMPLE_ROWS, seconds=seconds)
    names = look_up_entities({cell for row in rows.rows for cell in row if is_id(cell)}, tables)

    def shown(cell: object) -> str:
        value = names[cell][1] if is_id(cell) and cell in names else cell
        return "" if value is None else str(value)[:LONGEST_CELL]

    # ids are shown as the labels of their things
    return "\n".join([" | ".join(rows.columns), *(" | ".join(map(shown, row)) for row in rows.rows)])


def _places(schema: Schema) -> Iterator[_Place]:
    """The columns of text, of tables before junctions; views repeat them."""
    for relation in sorted(schema.relations, key=lambda each: (each.kind != "table", each.name)):
        for column in relation.columns if relation.kind != "view" else ():
            predicate = schema.predicate_of.get(column.predicate)
            if predicate is not None and column.value and predicate.datatype in _TEXTS:
                yield _Place(relation.name, column.value)
    yield _Place("entity", "label")


def _containing(phrase: str, place: _Place, tables: Tables, deadline: float) -> list[Occurrence]:
    """Values that equal the phrase, or contain it at the start of a word."""
    name = quote_if_needed(place.column)
    escaped = phrase.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = (
        f"SELECT DISTINCT {name} FROM {quote_if_needed(place.table)} "
        f"WHERE {name} LIKE ? ESCAPE '\\' ORDER BY length({name}) LIMIT {A_PHRASE}"
    )
    rows = _run(query, (f"%{escaped}%",), tables, deadline)
    wanted = fold(phrase)
    values = [str(row[0]) for row in rows if f" {wanted}" in f" {fold(str(row[0]))}"]
    return [Occurrence(place.table, place.column, v, 1.0 if fold(v) == wanted else _share(wanted, v)) for v in values]


def _share(wanted: str, value: str) -> float:
    """The share of a value that a phrase is, less than 1."""
    return min(0.99, len(wanted) / max(1, len(fold(value))))


def _similar(phrase: str, place: _Place, tables: Tables, deadline: float) -> list[Occurrence]:
    """Values with a spelling similar to the phrase."""
    values = {fold(value): value for value in _distinct(place, tables, NEAR_VALUES, deadline)}
    near = process.extract(
        fold(phrase), list(values), scorer=fuzz.ratio, score_cutoff=100 * LEAST_SIMILARITY, limit=A_PHRASE
    )
    return [Occurrence(place.table, place.column, values[text], round(score / 100, 2)) for text, score, _ in near]


def _distinct(place: _Place, tables: Tables, most: int, deadline: float) -> list[str]:
    name = quote_if_needed(place.column)
    query = f"SELECT DISTINCT {name} FROM {quote_if_needed(place.table)} WHERE {name} IS NOT NULL"
    return [str(row[0]) for row in _run(query, (), tables, deadline, most)]


def _run(
    query: str, params: tuple[str, ...], tables: Tables, deadline: float, most: int = A_PHRASE
) -> list[tuple[object, ...]]:
    left = deadline - time.monotonic()
    if left <= 0:
        return []
    try:
        return list(tables.run(query, params, limit=most, seconds=left).rows)
    except ToolError:
        # values that take too long are left out
        return []
