"""The first rows of a file of tables, before it is read: a file -> the columns of its sheets with their types; its
route /api/uploads/{upload}/preview, and how the page shows them.

A process of its own reads it, within limits of time and memory.
"""

import re
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as PathParameter

from ingestion.read.tables import UnreadableTable, table_endings
from nacre.errors import ConfigError
from nacre.extension import extensions
from nacre.extensions.spreadsheets.links import SheetColumn
from nacre.extensions.spreadsheets.metadata import table_url
from nacre.extensions.spreadsheets.parts import parts_of
from nacre.extensions.spreadsheets.read_workbook import (
    convert,
    converted_sheets,
    read_workbook,
    reader_of,
    room_for_cells,
)
from nacre.extensions.spreadsheets.triples import read_first_rows
from nacre.language.sanitize import safe_name
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.page.pages import PageFiles
from nacre.stores.killable_pool import KillablePool

# seconds and bytes of memory for a file; rows that types are decided by; what is shown (given)
SECONDS, MEMORY, MAX_ROWS = 20.0, 1_500_000_000, 500

MAX_SHEETS, MAX_COLUMNS, SHOWN_ROWS, MAX_CELL, MAX_NOTES = 5, 50, 5, 100, 5


@dataclass(frozen=True)
class PreviewedColumn:
    """A column: its name, its type and its unit, and its place in the rows of the file. `days`: its dates, if they do
    not show whether the day or the month is first."""

    name: str
    type: str
    unit: str
    place: int
    days: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreviewedSheet:
    """The first rows of a sheet ("" if the file is the table), with the texts of their cells: the page shows a few, and
    tells by all of them what columns refer to. `url` is what metadata call it. The rows become things of the class
    `label`, with the names in `named_by`. `more_columns` are not shown."""

    sheet: str
    url: str
    label: str
    named_by: str
    columns: tuple[PreviewedColumn, ...]
    more_columns: int
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TablePreview:
    """The first sheets of a file; `problem` says why there are none."""

    file: str
    sheets: tuple[PreviewedSheet, ...] = ()
    problem: str = ""


def preview_table(path: Path, seconds: float = SECONDS) -> TablePreview:
    """The preview of a file; one that is too large or can't be read has a `problem`. Blocking."""
    with TemporaryDirectory(prefix="nacre-preview-") as folder, closing(KillablePool(MEMORY, 1)) as pool:
        try:
            found: TablePreview = pool.start(read_preview, path, Path(folder), seconds=seconds).result()
        except (TimeoutError, MemoryError, RuntimeError):
            return TablePreview(path.name, problem="It is too large to be shown before it is read.")
    return found


def read_preview(path: Path, folder: Path) -> TablePreview:
    """The preview of a file, in this process."""
    reader = reader_of(path)
    try:
        # a workbook has a process of its own elsewhere; here this one is it
        is_workbook = reader is read_workbook
        converted = converted_sheets(convert(path, folder, room_for_cells([path]))) if is_workbook else None
        sheets = parts_of(converted or reader(path, folder))
        shown = []
        for sheet in islice(sheets, MAX_SHEETS):
            reading, rows = read_first_rows(path, sheet, MAX_ROWS)
            columns = reading.table.columns
            if not rows:
                continue
            # what the page asks for
            asked = {f"{each.name}: {each.type.question}" for each in columns if _unclear_days(each)}
            notes = [each for each in reading.notes if each not in asked]
            shown.append(
                PreviewedSheet(
                    sheet.name,
                    table_url(path.name, sheet),
                    reading.table.label,
                    reading.table.name.name if reading.table.name else "",
                    tuple(
                        PreviewedColumn(c.name, c.type.name, c.type.unit, c.place, _unclear_days(c))
                        for c in columns[:MAX_COLUMNS]
                    ),
                    max(0, len(columns) - MAX_COLUMNS),
                    tuple(tuple(cell.strip()[:MAX_CELL] for cell in row[:MAX_COLUMNS]) for row in rows),
                    tuple(each[: 3 * MAX_CELL] for each in notes[:MAX_NOTES]),
                )
            )
    except (UnreadableTable, OSError, ConfigError) as error:
        return TablePreview(path.name, problem=str(error)[: 3 * MAX_CELL])
    return TablePreview(path.name, tuple(shown), "" if shown else "no row has a cell")


def _unclear_days(column: SheetColumn) -> tuple[str, ...]:
    dates = filter(DATE.fullmatch, column.profile.sample) if column.type.question else iter(())
    return tuple(islice(dates, SHOWN_ROWS))


# a day and a month in digits, in either order, and a year
DATE = re.compile(r"(?:0?\d|1[0-2])([./-])(?:0?\d|1[0-2])\1(?:\d{4}|\d\d)")

router = APIRouter(prefix="/api", tags=["graphs"], responses=ERROR_RESPONSES)


@router.get("/uploads/{upload}/preview", summary="Show the first rows of a table")
async def preview_upload(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    upload: Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")],
    name: Annotated[str, Query(min_length=1, max_length=500)],
) -> TablePreview:
    """The columns and first rows of a table of an upload, which may be the beginning of a file. Types are those that
    its first 500 rows have; the rest may change them."""
    path = await run_in_thread(request.app.state.uploads.received_file, caller, upload, safe_name(name))
    if path.suffix.lower() not in table_endings():
        raise NotFound("There is no such table.")
    async with service.query_slot(caller):
        return await run_in_thread(preview_table, path)


def add_preview(app: FastAPI, *, alone: bool) -> None:
    """Add the route, and the part of the page that shows what it gives, if files can be uploaded."""
    if all(each.name != "uploads" for each in extensions()):
        return
    app.state.previewed = sorted(table_endings())
    app.include_router(router)
    app.mount("/tables/files", PageFiles(directory=str(Path(__file__).with_name("static"))))
