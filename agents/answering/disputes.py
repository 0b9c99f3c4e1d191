"""Other answers in the texts: the rows that answer + all evidence -> the texts that disagree."""

from collections.abc import Iterator, Sequence
from itertools import islice

from agents.answering.selection.word_cover import is_covered_by
from nacre.checking.evidence_index import blank_periods
from nacre.language.base import word_list
from nacre.language.dates import find_periods
from nacre.language.quantities.amounts import find_amounts
from nacre.language.quantities.units import convert_unit
from nacre.language.tokens import fold, name_tokens
from nacre.records.evidence import Cell, Evidence, EvidenceSentence, Rows, Table

MAX_DISPUTES = 2


def find_disputes(chosen: Rows, question: str, evidence: Sequence[Evidence]) -> list[tuple[int, EvidenceSentence]]:
    """At most two texts, with their indexes, that state something else of the same thing and property.

    Sentences made from the graph's own triples can't contradict its rows: they are about other properties.
    """
    return list(islice(_text_disputes(chosen.table, question, evidence), MAX_DISPUTES))


def _text_disputes(rows: Table, question: str, evidence: Sequence[Evidence]) -> Iterator[tuple[int, EvidenceSentence]]:
    names = {" ".join(name_tokens(cell)) for row in rows.rows for cell in row if isinstance(cell, str)}
    for index, other in enumerate(evidence):
        if not isinstance(other, EvidenceSentence) or other.document is None or not is_covered_by(question, [other]):
            continue
        if _is_about(names, other) and _contradicts(rows, other.text):
            yield index, other


def _is_about(names: set[str], text: EvidenceSentence) -> bool:
    """Whether a sentence of a text names one of these things, or refers by a pronoun to a title that does."""
    words, title = (" ".join(name_tokens(part)) for part in (text.text, text.title))
    pronoun = not word_list("answering", "title_pronouns").isdisjoint(words.split())
    return any(f" {name} " in f" {words} " or (pronoun and f" {name} " in f" {title} ") for name in names if name)


def is_same_result(rows: Table, others: Table) -> bool:
    """Whether the table with fewer columns is part of the other: each column has the values of one there.

    >>> a, b = Table(("n",), ((1,), (2,))), Table(("name", "n"), (("x", 1), ("y", 2)))
    >>> is_same_result(a, b), is_same_result(a, Table(("n",), ((1,), (2,), (3,))))
    (True, False)
    """
    few, many = sorted((_columns(rows), _columns(others)), key=len)
    return all(column in many for column in few)


def has_same_columns(one: Table, other: Table) -> bool:
    """Whether two tables have as many columns, with the same values."""
    return len(one.columns) == len(other.columns) and is_same_result(one, other)


def _columns(table: Table) -> list[frozenset[str]]:
    cells = zip(*table.rows, strict=True)
    return [frozenset(_value(cell) for cell in column if cell is not None) for column in cells]


def _value(cell: Cell) -> str:
    if isinstance(cell, int | float):
        return f"{float(cell):.6g}"
    return " ".join(fold(str(cell)).split())


def _contradicts(rows: Table, text: str) -> bool:
    """Whether a text has numbers, or dates, of the kind that the rows have, but none of theirs."""
    units = rows.units or ("",) * len(rows.columns)
    own = [(float(c), u) for row in rows.rows for c, u in zip(row, units, strict=False) if isinstance(c, int | float)]
    days = {cell for row in rows.rows for cell in row if isinstance(cell, str) and find_periods(cell)}
    dated = find_periods(text)
    if days:
        return bool(dated) and not any(p.first <= day < p.after for p in dated for day in days)
    pairs = [(a, value, unit) for a in find_amounts(blank_periods(text, dated)) for value, unit in own]
    alike = [(a, converted) for a, value, unit in pairs if (converted := _convert(value, unit, a.unit)) is not None]
    return bool(alike) and not any(abs(exact - a.value) <= a.slack for a, exact in alike)


def _convert(value: float, unit: str, wanted: str) -> float | None:
    """The value in the unit of a text; None if the two are of different kinds."""
    if bool(unit) != bool(wanted):
        return None
    return convert_unit(value, unit, wanted) if unit else value
