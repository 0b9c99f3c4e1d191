"""Files of tables: what readers of extensions give to an ingest, and what it reports of each sheet.
A reader (`Extension.tables`) gives sheets as rows of texts; `spreadsheets` makes triples, with `TermNumbers`.
Its reports lie in the folder of the version, beside the cells as they were."""

import csv
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ingestion.read.facts import IRI, TermSort, TripleCollector
from nacre.extension import extensions
from nacre.records.json_form import from_json
from nacre.stores.versions import SHEETS

if TYPE_CHECKING:
    from _csv import Reader

# called with how much is done, of how much; 0 if that is not known
Progress = Callable[[int, int], None]

# the format of sources that are files of tables
TABLE = "TABLE"

REPORT = "sheets.json"

MAX_LISTED_NOTES = 20

# characters of a cell (given)
MAX_CELL = 1_000_000


class Sheet(NamedTuple):
    """One table of a file. `rows` reads its rows from the beginning, also the empty ones; "" is an empty cell. It
    raises UnreadableTable where it can't continue. `name` is "" if the file is the table."""

    name: str
    rows: Callable[[], Iterator[Sequence[str]]]
    notes: tuple[str, ...] = ()
    # numbers are written with a comma, as far as the file shows it
    decimal_comma: bool = False
    # cells that are one: first row and column, last row and column
    merged: tuple[tuple[int, int, int, int], ...] = ()
    # of a table in a sheet: its first row, its name, the cells beside it that are not read, and all rows of the sheet
    top: int = 0
    label: str = ""
    skipped: int = 0
    whole: Callable[[], Iterator[Sequence[str]]] | None = None


class UnreadableTable(Exception):
    """A file or the rest of a sheet can't be read."""


def csv_rows(lines: Iterable[str], **dialect: Any) -> "Reader":
    """The rows of CSV, as csv.reader gives them. Raises csv.Error for a cell beyond MAX_CELL: the limit belongs to the
    whole process, so that every reader takes this one."""
    csv.field_size_limit(MAX_CELL)
    return csv.reader(lines, **dialect)


@dataclass(frozen=True)
class ColumnReport:
    """A column: its cells with a value, empty ones, and those that do not fit its type; `link` is its values' class."""

    name: str
    type: str
    unit: str = ""
    read: int = 0
    empty: int = 0
    kept_as_text: int = 0
    link: str = ""


@dataclass(frozen=True)
class SheetReport:
    """What became of the cells of a sheet: `skipped` lie around the table, `cells` is the file of all as they were."""

    file: str
    sheet: str
    label: str
    rows: int
    columns: tuple[ColumnReport, ...]
    key: str = ""
    name: str = ""
    skipped: int = 0
    notes: tuple[str, ...] = ()
    cells: str = ""

    @property
    def title(self) -> str:
        """The file and the sheet."""
        return f"{self.file}, sheet {self.sheet}" if self.sheet else self.file


@cache
def table_endings() -> frozenset[str]:
    """The endings of files of tables, such as ".csv"."""
    return frozenset(f".{ending}" for extension in extensions() for ending in extension.tables)


def read_sheet_reports(folder: Path) -> tuple[SheetReport, ...]:
    """The reports of the sheets of a version."""
    file = folder / SHEETS / REPORT
    if not file.is_file():
        return ()
    return from_json(tuple[SheetReport, ...], json.loads(file.read_text(encoding="utf-8")))


def sheet_lines(reports: Sequence[SheetReport], most: int = MAX_LISTED_NOTES) -> list[str]:
    """What became of the sheets: a line for each, with its key, links, and what was changed or kept as text."""
    lines = []
    for each in reports:
        cells = sum(column.read for column in each.columns)
        texts = sum(column.kept_as_text for column in each.columns)
        empty = sum(column.empty for column in each.columns)
        named = f", named by {each.name!r}" if each.name else ""
        key = f", key {each.key!r}" if each.key else ""
        rows = f"{each.rows:,} row{'' if each.rows == 1 else 's'} as {each.label!r}{named}{key}"
        kept = f"{cells:,} cells read, {texts:,} of them kept as text"
        lines.append(f"{each.title}: {rows}; {kept}, {empty:,} empty, {each.skipped:,} skipped.")
        lines += [f"  {column.name} -> {column.link}" for column in each.columns if column.link]
        lines += [f"  {note}" for note in each.notes[:most]]
        if len(each.notes) > most:
            lines.append(f"  and {len(each.notes) - most:,} more")
    return lines


class Terms(dict[str, int]):
    """The numbers of the terms of one sort by their texts. A new term gets the next number when it is looked up."""

    def __init__(self, collector: TripleCollector, sort: TermSort) -> None:
        self._texts, self._sort_of = collector.texts, collector.sort_of
        self._number = collector.number(sort)
        # what RDF files of the same ingest have is the same term
        here = np.flatnonzero(np.array(self._sort_of, dtype=np.int32)[1:] == self._number) + 1
        super().__init__(zip(map(self._texts.__getitem__, here.data), here.tolist(), strict=True))

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self._texts)
        self._texts.append(text)
        self._sort_of.append(self._number)
        return number

    def of(self, texts: Sequence[str]) -> Iterable[int]:
        """The numbers of several terms."""
        new = list(dict.fromkeys(filterfalse(self.__contains__, texts)))
        self.update(zip(new, self.append(new), strict=True))
        return map(self.__getitem__, texts)

    def append(self, texts: Sequence[str]) -> Iterable[int]:
        """Numbers for different texts that are not looked up later; those of terms if some are terms already."""
        if not self.keys().isdisjoint(texts):
            return self.of(texts)
        first = len(self._texts)
        self._texts.extend(texts)
        self._sort_of.extend([self._number] * len(texts))
        return range(first, len(self._texts))


class TermNumbers:
    """Numbers for the terms of tables, those of RDF files included, and the place of their triples."""

    def __init__(self, collector: TripleCollector) -> None:
        self.collector = collector
        self._terms: dict[TermSort, Terms] = {}
        self.iris = self.of(IRI)

    def of(self, sort: TermSort) -> Terms:
        """The terms of a sort."""
        if sort not in self._terms:
            self._terms[sort] = Terms(self.collector, sort)
        return self._terms[sort]

    def add(self, triples: "array[int]") -> None:
        """Add triples: the numbers of three terms each."""
        self.collector.add(triples, 3)
