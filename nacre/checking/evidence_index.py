"""What evidence holds, in a form that claims can be looked up in: Evidence -> EvidenceIndex."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from nacre.language.dates import Period, find_periods
from nacre.language.quantities.amounts import Amount, canonical_unit, find_amounts, is_same_amount
from nacre.language.thesaurus import synonyms
from nacre.language.tokens import lemma, name_tokens
from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table

NEGATIONS = frozenset(
    "no not never none nothing neither nor nobody nowhere without cannot can't n't isn't aren't".split()
)
NEGATIONS |= frozenset("wasn't weren't doesn't don't didn't hasn't haven't hadn't won't false".split())
_DAY_TIME = re.compile(r"(?<=\d{4}-\d\d-\d\d)T(?=\d)")
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(?<![\w.\"])(\d+(?:\.\d+)?)(?![\w\"])")
_SENTENCE = 5
# a row, or a sentence: what is said together
CellPosition = tuple[int, int]


class EvidenceNumber(NamedTuple):
    """A number that evidence holds, with its unit as written, and the row and column it stands in."""

    value: float
    unit: str
    place: CellPosition


class EvidenceIndex:
    """The words, numbers and dates of some evidence, and for a yes or no which of the two it says.

    A place is a row and a column; each sentence counts as a row, whose title is in column 0.
    """

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self.numbers: list[EvidenceNumber] = []
        self.conditions: list[tuple[float, str]] = []
        self.counts: set[float] = {float(len(evidence))} if len(evidence) > 1 else set()
        self.columns: list[tuple[list[float], str]] = []
        self.days: list[Period] = []
        self.labels: dict[str, set[CellPosition]] = defaultdict(set)
        # names of columns, in which shorter names may stand
        self.headings: set[str] = set()
        self.truth: bool | None = None
        self.empty = False
        self.rows = 0
        # rows of numbers over a whole group, which belong to no single name
        self.unnamed: set[int] = set()
        self.tables = sum(isinstance(each, Rows) for each in evidence)
        self._runs: list[str] = []
        for each in evidence:
            if isinstance(each, Rows):
                self._table(each)
            else:
                self._sentence(each)
        self.text = f"|{'|'.join(self._runs)}|"

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, with their dictionary forms and what says the same."""
        found = {word for run in self._runs for word in run.split()}
        return frozenset(found.union(*(_senses(word) for word in found)))

    @cached_property
    def named(self) -> frozenset[str]:
        """The words of its names: of cells and titles."""
        return frozenset(word for label in self.labels for word in label.split())

    def run(self, words: Sequence[str]) -> bool:
        """Whether these words stand together, in this order, in one of its texts."""
        return f" {' '.join(words)} " in self.text

    def number(self, said: Amount) -> list[EvidenceNumber]:
        """The numbers that an amount may say."""
        return [own for own in self.numbers if is_same_amount(said, own.value, own.unit, self.words)]

    def condition(self, said: Amount) -> bool:
        """Whether a condition of the query states this amount."""
        return any(is_same_amount(said, value, unit, self.words) for value, unit in self.conditions)

    def day(self, said: Period) -> bool:
        """Whether a date lies in the stretch of time that is said."""
        years = (f"{int(own.value):04}-01-01" for own in self.numbers if not own.unit and 1000 <= own.value < 3000)
        decade = int(said.after[:4]) - int(said.first[:4]) == 10
        return any(said.first <= d.first and d.after <= said.after for d in self.days) or (
            decade and any(said.first <= year < said.after for year in years)
        )

    def _add(self, text: str) -> None:
        words = name_tokens(text)
        if words:
            self._runs.append(f" {' '.join(words)} ")

    def _sentence(self, found: EvidenceSentence) -> None:
        row, self.rows = self.rows, self.rows + 1
        for text in (found.text, found.title, *(triple[2] for triple in found.triples)):
            self._add(text)
        if len(found.keys) > 1:
            self.counts.add(float(len(found.keys)))
        title = " ".join(name_tokens(found.title))
        if title:
            self.labels[title].add((row, 0))
        if found.text:
            # the number in "Platform 9" is part of a name
            named = found.title if any(map(str.isalpha, found.title)) else ""
            self._numbers(found.text.replace(named, " ") if named else found.text, (row, 1))
        own = not NEGATIONS & set(name_tokens(found.text))
        self.truth = own if self.truth is None else self.truth and own

    def _numbers(self, text: str, place: CellPosition, unit: str = "") -> None:
        text = _DAY_TIME.sub(" ", text)
        dated = find_periods(text)
        self.days += dated
        for amount in find_amounts(blank_periods(text, dated)):
            written = amount.unit or (amount.after if amount.after in unit else "")
            self.numbers.append(EvidenceNumber(amount.value, written or unit, place))
        self.numbers += [EvidenceNumber(float(day.first[:4]), "", place) for day in dated]

    def _table(self, found: Rows) -> None:
        table = found.table
        first, self.rows = self.rows, self.rows + len(table.rows)
        if len(table.rows) == 1 and not any(isinstance(cell, str) for cell in table.rows[0]):
            self.unnamed.add(first)
        given = table.units or ("",) * len(table.columns)
        units = tuple(unit or header_unit(column) for unit, column in zip(given, table.columns, strict=False))
        for text in (found.words, found.title, *table.columns):
            self._add(text)
        self.headings |= {" ".join(name_tokens(column)) for column in table.columns}
        for unit in (*units, table.measured_name, table.measured_unit):
            self._add(unit)
        self._asked(found)
        for number, row in enumerate(table.rows, first):
            for column, (cell, unit) in enumerate(zip(row, units, strict=False)):
                if isinstance(cell, str):
                    self._cell(cell, unit, (number, column))
                elif cell is not None and table.columns[column] != "yes":
                    self.numbers.append(EvidenceNumber(float(cell), unit, (number, column)))
        for number, cell in enumerate(table.measured, first):
            place = (number, len(table.columns))
            if isinstance(cell, str):
                self._cell(cell, table.measured_unit, place)
            elif cell is not None:
                self.numbers.append(EvidenceNumber(float(cell), table.measured_unit, place))
        self._count(table)
        says = _truth(table)
        if says is not None:
            self.truth = says
        self.empty |= not table.rows or all(cell is None for row in table.rows for cell in row)

    def _cell(self, cell: str, unit: str, place: CellPosition) -> None:
        self._add(cell)
        self.labels[" ".join(name_tokens(cell))].add(place)
        # the number in "Platform 9" is part of a name
        if cell.lstrip("-−€$£~ ")[:1].isdigit() or cell.count(" ") >= _SENTENCE:
            self._numbers(cell, place, unit)

    def _count(self, table: Table) -> None:
        if table.contributing is not None:
            self.counts.add(float(table.contributing))
        labelled = any(isinstance(cell, str) for row in table.rows[:1] for cell in row)
        if not table.truncated and (labelled or len(table.rows) > 1):
            self.counts.add(float(len(table.rows)))
            self.counts |= {float(len(set(column))) for column in zip(*table.rows, strict=False)}
        for column, unit in zip(zip(*table.rows, strict=False), table.units or [""] * len(table.columns), strict=False):
            numbers = [float(cell) for cell in column if isinstance(cell, int | float)]
            if 1 < len(numbers) == len(column) and not table.truncated:
                self.columns.append((numbers, unit))

    def _asked(self, found: Rows) -> None:
        """The conditions of the query: what it asked for holds of what it gave."""
        self.days += find_periods(found.words)
        for amount in find_amounts(found.words):
            self.conditions.append((amount.value, amount.unit or amount.after))
        if found.query is None:
            return
        for value in found.query.params:
            self._condition(value)
        if found.query.by == "model":
            for text, number in _LITERAL.findall(found.query.text):
                self._condition(text.strip("%") if text else float(number or 0))

    def _condition(self, value: object) -> None:
        if isinstance(value, str):
            self._add(value.rpartition("/")[2] if "://" in value else value)
            self.days += find_periods(value)
        elif isinstance(value, int | float):
            self.conditions.append((float(value), ""))


def header_unit(column: str) -> str:
    """The unit that a column's name ends with, "" where it names none.

    >>> header_unit("average price in EUR"), header_unit("seconds from 0 to 62 mph"), header_unit("number in stock")
    ('EUR', '', '')
    """
    _, said, last = column.rpartition(" in ")
    return last if said and " " not in last and canonical_unit(last) else ""


def blank_periods(text: str, taken: Iterable[Period]) -> str:
    """The text with those stretches blank."""
    for each in taken:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text


def _truth(table: Table) -> bool | None:
    """What a table says to a yes-or-no question: its single number, or whether it has rows."""
    if table.columns[:1] == ("yes",) and table.rows:
        return bool(table.rows[0][0])
    if not table.rows:
        return False
    numbers = [cell for cell in table.rows[0] if isinstance(cell, int | float)]
    if len(table.rows) == 1 and len(numbers) == 1 and not any(table.units):
        return bool(numbers[0])
    return True


@lru_cache(maxsize=65536)
def _senses(word: str) -> frozenset[str]:
    return synonyms(lemma(word)) | {lemma(word)}
