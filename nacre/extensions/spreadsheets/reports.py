"""What became of the cells of a sheet, column by column, in words: SheetReading + counts -> SheetReport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ingestion.read.tables import ColumnReport, SheetReport
from nacre.extensions.spreadsheets.links import FoundLink, SheetTable

if TYPE_CHECKING:
    from nacre.extensions.spreadsheets.triples import SheetReading

_EXCEL_START = date(1899, 12, 30)


class CellCounts(NamedTuple):
    """The rows of a sheet, and by the place of a column: cells that were read, those that are kept as text, and some of
    these in words."""

    rows: int
    read: Mapping[int, int]
    texts: Mapping[int, int]
    misfits: Mapping[int, list[str]]


def sheet_report(reading: SheetReading, links: Mapping[int, FoundLink], counts: CellCounts, copied: str) -> SheetReport:
    """The report of a sheet; `copied` is the file with a copy of its cells, "" without one."""
    table, columns = reading.table, []
    for each in table.columns:
        link, read, texts = links.get(each.place), counts.read[each.place], counts.texts[each.place]
        type_, shown = (link.label, f"{link.label}, by {link.by}") if link is not None else (each.type.name, "")
        columns.append(ColumnReport(each.name, type_, each.type.unit, read, counts.rows - read, texts, shown))
    notes = (*reading.notes, *_misfit_notes(table, columns, counts.misfits))
    named = " ".join(each.name for each in table.parts or (table.name,) if each is not None)
    file, sheet, key = Path(reading.source.name).name, reading.sheet.name, table.key.name if table.key else ""
    known = file, sheet, table.label, counts.rows, tuple(columns)
    return SheetReport(*known, key, named, reading.skipped, notes, copied)


def misfit_words(text: str, row: int, kind: str) -> str:
    """A cell that does not fit, with its row; a number in a column of dates with the date that it is in Excel."""
    is_serial = kind in ("date", "dateTime") and text.isdecimal() and len(text) == 5
    meant = f", in Excel the number of {_EXCEL_START + timedelta(int(text))}" if is_serial else ""
    return f"{text[:60]!r} (row {row:,}{meant})"


def _misfit_notes(
    table: SheetTable, reports: Sequence[ColumnReport], misfits: Mapping[int, list[str]]
) -> Iterator[str]:
    """The cells of each column that are kept as text, since they do not fit it."""
    for column, each in zip(table.columns, reports, strict=True):
        if column.type.is_ticked and each.empty:
            yield f"{each.name}: an empty cell is a no, since all others are ticks."
        if shown := misfits.get(column.place):
            more = f" and {each.kept_as_text - len(shown):,} more" if each.kept_as_text > len(shown) else ""
            what = f"refer to no single one of the {each.type}" if each.link else f"are no {_type_words(each)}"
            yield f"{each.name}: kept as text, since they {what}: {', '.join(shown)}{more}."


def _type_words(column: ColumnReport) -> str:
    kinds = {"quantity": f"numbers with a unit such as {column.unit}", "boolean": "truth values", "decimal": "numbers"}
    return kinds.get(column.type, f"{column.type}s")
