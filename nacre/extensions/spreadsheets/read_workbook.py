"""Read XLSX, XLS, ODS and Parquet: a file -> its sheets, rows of texts. Nothing in a file is evaluated.

A process of its own with limits of time and memory writes each sheet as CSV, since these formats are compressed and
their parsers are not made for hostile files.
"""

import csv
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib.util import find_spec
from itertools import dropwhile, islice
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, unescape

from ingestion.read.sources import DEFAULT_EXPANSION, expansion_limit
from ingestion.read.tables import MAX_CELL, Sheet, UnreadableTable, csv_rows
from nacre.errors import ConfigError
from nacre.extension import extensions, resolve
from nacre.extensions.spreadsheets.parts import parts_of
from nacre.stores.killable_pool import KillablePool

# of reading one file; bytes of the sheets of all workbooks of an ingest as CSV; sheets of a file (given)
SECONDS, MAX_MEMORY, MAX_BYTES, MAX_SHEETS = 600.0, 4_000_000_000, 2_000_000_000, 500

# name, file and notes of a sheet, and its cells that are merged over rows; the same with its rows
Converted = tuple[str, str, list[str], list[tuple[int, int, int, int]]]
_Converting = tuple[str, Iterable[Sequence[str]], list[str], list[tuple[int, int, int, int]]]

# ranges of merged cells of a sheet (given)
MAX_MERGED = 100_000

# rows of Parquet that are read at once, bytes of a sheet that are read or written at once; cells that are named
BATCH, BLOCK, MAX_NAMED = 10_000, 1 << 20, 5

# files of records, which programs write
_RECORDS = (".jsonl", ".ndjson", ".parquet")

_NO_ROOM = (
    "the cells of all workbooks of an ingest are too many bytes for the size of these files;"
    f" --max-expansion raises the limit for files that you trust, to at most {MAX_BYTES // 1_000_000:,} MB"
)

_BOOK, _LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"

_ERROR_NOTE = "an error of the spreadsheet"

_CONTENT = "content.xml"

_ODS_TEXT = re.compile(rb'<table:table-cell\b[^<>]*office:value-type="(string|boolean)"[^<>]*>')

_ODS_VALUE = re.compile(rb'\soffice:value=("[^"<>]*")')

_ODS_VALUES = {b"string": b"", b"boolean": rb" office:boolean-value=\1"}

_ODS_TAG = re.compile(
    rb'<table:table\b(?!-)[^<>]*?table:name="(?P<sheet>[^"<>]*)"|(?P<row><table:table-row\b)[^<>]*>'
    rb"|<table:(?:covered-)?table-cell\b[^<>]*>(?:<text:p>(?P<text>[^<]{0,100}))?"
)

_ODS_COUNT = re.compile(rb'-repeated="(\d{1,7})"')

_FORMULA = rb"<f[^<>]{0,200}(?:/>|>[^<]{0,9000}</f>)"

_CELL = rb'<c r="([A-Z]{1,3}[0-9]{1,7})"[^<>]{0,100}'

_ERROR = re.compile(_CELL + rb' t="e"[^<>]{0,100}>(?:' + _FORMULA + rb")?<v>([^<]{0,100})")

_NO_VALUE = re.compile(
    rb'<c r="([A-Z]{1,3}[0-9]{1,7})"[^<>]{0,100}><f[^<>]{0,200}(?:/>|>[^<]{0,9000}</f>)(?:<v/>|<v></v>)?</c>'
)


def read_sheets(path: Path, folder: Path, room: int) -> Iterator[Sheet]:
    """The tables of a file of tables; those of a workbook are written to a folder, with at most `room` bytes."""
    reader = reader_of(path)
    found = read_workbook(path, folder, room) if reader is read_workbook else reader(path, folder)
    sheets = islice(found, MAX_SHEETS)
    yield from sheets if Path(path.name.lower().removesuffix(".gz")).suffix in _RECORDS else parts_of(sheets)


def reader_of(path: Path) -> Callable[[Path, Path], Iterator[Sheet]]:
    """The reader of a file of tables, by its ending."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix.lstrip(".")
    reader: Callable[[Path, Path], Iterator[Sheet]] = resolve(
        next(extension.tables[ending] for extension in extensions() if ending in extension.tables)
    )
    return reader


def room_for_cells(paths: Iterable[Path], expansion: int = DEFAULT_EXPANSION) -> int:
    """How many bytes of cells the workbooks among these files may have together."""
    workbooks = (each for each in paths if reader_of(each) is read_workbook)
    return min(MAX_BYTES, expansion_limit(sum(each.stat().st_size for each in workbooks if each.is_file()), expansion))


def read_workbook(path: Path, folder: Path, room: int = MAX_BYTES) -> Iterator[Sheet]:
    """The sheets of a workbook, with at most so many bytes of cells."""
    if room <= 0:
        raise UnreadableTable(_NO_ROOM)
    if path.suffix.lower() == ".parquet" and find_spec("duckdb") is None:
        raise ConfigError(f"{path.suffix} needs the package duckdb. Run: pip install 'nacre[spreadsheets]'")
    with closing(KillablePool(MAX_MEMORY, 1)) as pool:
        try:
            found = pool.start(convert, path, folder, room, seconds=SECONDS).result()
        except TimeoutError:
            raise UnreadableTable(f"not read within {SECONDS:g} seconds") from None
        except (MemoryError, RuntimeError) as error:
            raise UnreadableTable(
                f"reading it was ended, it may need too much memory ({type(error).__name__})"
            ) from None
    yield from converted_sheets(found)


def converted_sheets(found: list[Converted] | str) -> Iterator[Sheet]:
    """What `convert` wrote as sheets. Raises UnreadableTable with the reason that it gave."""
    if isinstance(found, str):
        raise UnreadableTable(found)
    for name, file, notes, merged in found:
        yield Sheet(name, _rows_of(Path(file)), tuple(notes), merged=tuple(merged))


def convert(path: Path, folder: Path, room: int) -> list[Converted] | str:
    """Write the sheets of a file as CSV into a folder, at most `room` bytes; or why it can't be read."""
    # a parser that runs out of memory writes to it
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    read = _parquet if path.suffix.lower() == ".parquet" else _workbook
    written = 0
    found = []
    try:
        for number, (name, rows, notes, merged) in enumerate(read(path, folder)):
            if number >= MAX_SHEETS or written > room:
                notes.append("Further sheets are not read.")
                break
            file = folder / f"{number}.csv"
            with file.open("w", encoding="utf-8", errors="replace", newline="") as out:
                writer, unmeasured = csv.writer(out), 0
                for row in rows:
                    unmeasured += writer.writerow(row)
                    if unmeasured < BLOCK:
                        continue
                    unmeasured = 0
                    if out.tell() + written > room:
                        notes.append(f"The rest is not read: {_NO_ROOM}.")
                        break
                written += out.tell()
            found.append((name, str(file), notes, merged))
    except BaseException as error:  # parsers in other languages raise errors of their own, also for a panic
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        kind = type(error).__name__
        with path.open("rb") as original:
            is_compound = original.read(len(_COMPOUND)) == _COMPOUND
        if kind == "PasswordError" or (kind == "ZipError" and is_compound):
            return "the workbook is protected by a password. Save it without one"
        return f"no workbook that can be read ({kind}: {' '.join(str(error).split())[:150]})"
    return found


# begins an encrypted XLSX, and XLS
_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")


def _workbook(path: Path, folder: Path) -> Iterator[_Converting]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    path, errors = _open_document(path, folder) if path.suffix.lower() == ".ods" else (path, {})
    with CalamineWorkbook.from_path(str(path)) as workbook:
        for each in workbook.sheets_metadata:
            if each.typ != SheetTypeEnum.WorkSheet:
                continue
            sheet = workbook.get_sheet_by_name(each.name)
            top, left = sheet.start or (0, 0)
            rows = _placed(sheet.iter_rows(), top, left)
            merged = sorted((*start, *end) for start, end in sheet.merged_cell_ranges or () if start[0] < end[0])
            notes = [] if not sheet.merged_cell_ranges else ["It has merged cells."]
            lost = [(_ERROR_NOTE, errors.get(each.name, []))] if errors else _lost_cells(path, each.name)
            lost_notes = [_lost_note(what, cells) for what, cells in lost if cells]
            yield each.name, rows, [*notes, *lost_notes], merged[:MAX_MERGED]


def _open_document(path: Path, folder: Path) -> tuple[Path, dict[str, list[str]]]:
    """An ODS file that the parser can read, and the cells with an error by the names of their sheets. Some programs
    write texts and truth values with the attribute of numbers."""
    errors: dict[str, list[str]] = {}
    if not zipfile.is_zipfile(path):
        return path, errors
    with zipfile.ZipFile(path) as archive:
        content = archive.open(_CONTENT).read(MAX_BYTES) if _CONTENT in archive.namelist() else b""
        mended = _ODS_TEXT.sub(lambda tag: _ODS_VALUE.sub(_ODS_VALUES[tag[1]], tag[0]), content)
        if mended != content:
            path = folder / "mended.ods"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
                for name in ("mimetype", "META-INF/manifest.xml"):
                    file.writestr(name, archive.read(name) if name in archive.namelist() else b"")
                file.writestr(_CONTENT, mended)
    sheet, row, column, repeated = "", 0, 0, 1
    for tag in _ODS_TAG.finditer(content) if b'value-type="error"' in content else ():
        number = _ODS_COUNT.search(tag[0])
        count = int(number[1]) if number else 1
        if tag["sheet"] is not None:
            sheet, row, repeated = unescape(tag["sheet"].decode(errors="replace"), {"&quot;": '"'}), 0, 1
        elif tag["row"] is not None:
            row, column, repeated = row + repeated, 0, count
        else:
            if b'value-type="error"' in tag[0]:
                text = (tag["text"] or b"").decode(errors="replace")[:20]
                errors.setdefault(sheet, []).append(f"row {row:,}, column {column + 1:,} {text}".rstrip())
            column += count
    return path, errors


def _lost_cells(path: Path, sheet: str) -> Iterator[tuple[str, list[str]]]:
    """The cells of a sheet of XLSX that have an error or a formula without a stored value: the parser gives neither."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        part = _part_of(archive, sheet)
        if part not in archive.namelist():
            return
        errors: list[str] = []
        formulas: list[str] = []
        with archive.open(part) as file:
            left = b""
            while block := file.read(BLOCK):
                # a cell may go on in the next block
                text, found, rest = (left + block).rpartition(b"</c>")
                left = rest if found else text[-BLOCK:]
                errors += [f"{each[1].decode()} {each[2].decode()[:20]}" for each in _ERROR.finditer(text + found)]
                formulas += [each[1].decode() for each in _NO_VALUE.finditer(text + found)]
    yield _ERROR_NOTE, errors
    yield "a formula without a stored value", formulas


def _lost_note(what: str, cells: Sequence[str]) -> str:
    more = f" and {len(cells) - MAX_NAMED:,} more" if len(cells) > MAX_NAMED else ""
    return f"Empty, since the cell has {what}: {'; '.join(cells[:MAX_NAMED])}{more}."


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str:
    """The file of a sheet in an XLSX file; "" if it can't be told."""
    try:
        book, links = (archive.open(name).read(BLOCK).decode() for name in (_BOOK, _LINKS))
    except KeyError:
        return ""
    place = next((each for each in re.findall(r"<sheet\b[^>]{0,1000}>", book) if f'name="{escape(sheet)}"' in each), "")
    number = re.search(r':id="([^"]{1,100})"', place)
    for link in re.findall(r"<Relationship\b[^>]{0,1000}>", links) if number else ():
        target = re.search(r'Target="([^"]{1,300})"', link)
        if f'Id="{number[1]}"' in link and target:  # type: ignore[index]
            return target[1].lstrip("/") if target[1].startswith("/") else f"xl/{target[1]}"
    return ""


def _placed(rows: Iterable[Sequence[Any]], top: int, left: int) -> Iterator[Sequence[str]]:
    """Rows of texts in their places: below empty rows, which the parser may give too, and beside empty columns."""
    yield from ([] for _ in range(top))
    for row in dropwhile(lambda each: not any(cell != "" for cell in each), rows):
        yield [*[""] * left, *map(_text, row)]


def _parquet(path: Path, folder: Path) -> Iterator[_Converting]:
    import duckdb

    def rows() -> Iterator[Sequence[str]]:
        with duckdb.connect() as connection:
            found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
            yield [str(each[0]) for each in found.description or ()]
            while batch := found.fetchmany(BATCH):
                for row in batch:
                    yield list(map(_text, row))

    yield "", rows(), [], []


def _text(value: Any) -> str:
    """A cell as people write it: dates of ISO 8601, numbers without an exponent."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else format(Decimal(repr(value)), "f")
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() and not value.tzinfo else value.isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value.total_seconds() / 3600:g} h"
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, (int, Decimal)) else json.dumps(value, default=str, ensure_ascii=False)


def _rows_of(file: Path) -> Any:
    def rows() -> Iterator[Sequence[str]]:
        with file.open(encoding="utf-8", newline="") as text:
            try:
                yield from csv_rows(text)
            except csv.Error:
                raise UnreadableTable(f"a cell has more than {MAX_CELL:,} characters") from None

    return rows
