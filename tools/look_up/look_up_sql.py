"""Look-ups before SQL is written: phrases -> where similar values occur; LookUp -> values, sample rows, columns."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.language.tokens import fold, tokenize
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
LONGEST_VALUE = 300
# values of one column that are counted as matches
MOST_MATCHES = 200
_TEXTS = ("text", "date", "datetime", "year")


class _Place(NamedTuple):
    """A column whose values are looked up; of a link the labels of its targets."""

    table: str
    column: str
    is_link: bool = False

    @property
    def value(self) -> str:
        return "e.label" if self.is_link else f"t.{quote_if_needed(self.column)}"

    @property
    def source(self) -> str:
        joined = f" LEFT JOIN entity e ON e.id = t.{quote_if_needed(self.column)}" if self.is_link else ""
        return f"{quote_if_needed(self.table)} t{joined}"


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
        best = sorted(
            _without_repeated_labels(own), key=lambda each: (-each.likeness, each.table, each.column, each.value)
        )
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
    """Values like a text with how many match, or the first values of the columns; rows without a value are counted."""
    places = [
        place
        for place in (_named_places(relation, wanted.column) if relation else _places(tables.schema))
        if not wanted.column or place.column.lower() == wanted.column.lower()
    ]
    if not places:
        return "There is no such column of text."
    text = wanted.text.strip(" %")
    if not text:
        return "\n".join(_column_values(place, tables, deadline) for place in places[:MOST])
    found = [each for place in places for each in _containing(text, place, tables, deadline, MOST_MATCHES)]
    found = found or [each for place in places for each in _similar(text, place, tables, deadline)]
    found = _without_repeated_labels(found)
    best = sorted(found, key=lambda e: -e.likeness)[:MOST]
    lines = [f"{each.table}.{each.column}: {each.value[:LONGEST_VALUE]}" for each in best]
    if len(found) > len(best):
        lines.append(f"... {len(found) - len(best)} more match")
    if lines:
        return "\n".join(lines)
    none = f"No value is like {wanted.text!r}."
    # rows without a value are no rows with another one
    return "\n".join([none, *(_column_values(place, tables, deadline) for place in places)]) if wanted.column else none


def _without_repeated_labels(found: Sequence[Occurrence]) -> list[Occurrence]:
    """The values without labels of the table `entity` that a column of another table has as well."""
    named = {each.value for each in found if each.table != "entity"}
    return [each for each in found if each.table != "entity" or each.value not in named]


def _column_values(place: _Place, tables: Tables, deadline: float) -> str:
    """The first values of a column, how many there are, and how many rows have none."""
    shown = ", ".join(value[:LONGEST_CELL] for value in _distinct(place, tables, MOST, deadline))
    counts = f"SELECT count(DISTINCT {place.value}), sum({place.value} IS NULL), count(*) FROM {place.source}"
    ((values, without, rows), *_) = _run(counts, (), tables, deadline) or [(0, 0, 0)]
    more = f" ({values} values)" if isinstance(values, int) and values > MOST else ""
    none = f"; {without} of {rows} rows have no value" if without else ""
    return f"{place.table}.{place.column}: {shown or 'no value'}{more}{none}"


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


def _named_places(relation: Relation, column: str) -> Iterator[_Place]:
    """The columns of one table: those of text, links by the names of their targets, and any column that is named."""
    texts = {"label", *(each.value for each in relation.columns if each.value)}
    for each in relation.columns:
        for name in filter(None, (each.value, each.low, each.high)):
            yield _Place(relation.name, name)
        if each.link:
            yield _Place(relation.name, each.link, is_link=True)
    if column.lower() == "label" and "label" not in texts:
        yield _Place("entity", "label")


def _containing(phrase: str, place: _Place, tables: Tables, deadline: float, most: int = A_PHRASE) -> list[Occurrence]:
    """Values that equal the phrase, or contain it at the start of a word."""
    name = place.value
    escaped = phrase.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = (
        f"SELECT DISTINCT {name} FROM {place.source} "
        f"WHERE {name} LIKE ? ESCAPE '\\' ORDER BY length({name}) LIMIT {most}"
    )
    rows = _run(query, (f"%{escaped}%",), tables, deadline, most)
    wanted = fold(phrase)
    values = [str(row[0]) for row in rows if f" {wanted}" in f" {fold(str(row[0]))}"]
    return [Occurrence(place.table, place.column, value, _likeness(wanted, value)) for value in values]


def _likeness(wanted: str, value: str) -> float:
    """The share of a value that a phrase is; 1 only for the same words."""
    if [token.norm for token in tokenize(wanted)] == [token.norm for token in tokenize(value)]:
        return 1.0
    return min(0.99, len(wanted) / max(1, len(fold(value))))


def _similar(phrase: str, place: _Place, tables: Tables, deadline: float) -> list[Occurrence]:
    """Values with a spelling similar to the phrase."""
    values = {fold(value): value for value in _distinct(place, tables, NEAR_VALUES, deadline)}
    near = process.extract(
        fold(phrase), list(values), scorer=fuzz.ratio, score_cutoff=100 * LEAST_SIMILARITY, limit=A_PHRASE
    )
    return [Occurrence(place.table, place.column, values[text], round(score / 100, 2)) for text, score, _ in near]


def _distinct(place: _Place, tables: Tables, most: int, deadline: float) -> list[str]:
    query = f"SELECT DISTINCT {place.value} FROM {place.source} WHERE {place.value} IS NOT NULL"
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
