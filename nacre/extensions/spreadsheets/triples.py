"""Make triples of sheets, in two passes over their rows: Sources -> triples, reports of sheets, and cells as they were.

The first pass decides on types, names, keys and links; the second adds triples and counts what became of each cell.
"""

import csv
import gzip
import io
import json
import logging
import re
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal
from urllib.parse import quote

import numpy as np

from ingestion.induce.cells import TOKEN
from ingestion.induce.names import lowercase_name
from ingestion.read.facts import STRING, Omission
from ingestion.read.sources import Source, Sources
from ingestion.read.tables import (
    REPORT,
    TABLE,
    Progress,
    Sheet,
    SheetReport,
    TermNumbers,
    UnreadableTable,
    read_sheet_reports,
)
from ingestion.vocabulary import LABEL, RDFS, SKOS, TYPE
from nacre.errors import ConfigError, IngestionError
from nacre.extensions.spreadsheets.classify import CellKind, words
from nacre.extensions.spreadsheets.columns import (
    CellNumbers,
    ColumnProfile,
    ColumnType,
    coordinate_names,
    decide_type,
    literal_numbers,
    number_of_no,
    uses_comma,
)
from nacre.extensions.spreadsheets.graph_links import GUESS, graph_links
from nacre.extensions.spreadsheets.layout import (
    HEAD_ROWS,
    MAX_COLUMNS,
    SheetLayout,
    distinct_names,
    english_headings,
    find_layout,
    other_names,
    undated_names,
    width_notes,
    without_tail,
)
from nacre.extensions.spreadsheets.links import (
    KEY_TYPES,
    MIN_NAMES,
    FoundLink,
    SheetColumn,
    SheetTable,
    choose_key,
    choose_name,
    is_called_name,
    link_label,
    name_parts,
    propose_link,
)
from nacre.extensions.spreadsheets.metadata import Metadata, read_metadata
from nacre.extensions.spreadsheets.read_workbook import read_sheets, room_for_cells
from nacre.extensions.spreadsheets.reports import CellCounts, misfit_words, sheet_report
from nacre.language.word_forms import singular
from nacre.records.json_form import to_json
from nacre.stores.versions import SHEETS

log = logging.getLogger(__name__)

# cells of a row, as many as spreadsheets have; each row of JSON Lines has the columns of all lines
MAX_ROW = 16_384

# rows that are read at once, few enough for a cache of the processor; cells of an ingest, 30 bytes each (given)
BATCH, MAX_CELLS = 512, 200_000_000

# cells of a column that are listed because they do not fit, and rows at the end that may be sums or notes
MAX_MISFITS, MAX_TAIL = 20, 20

_LABEL, _COMMENT, _ALTERNATIVE = LABEL, RDFS + "comment", SKOS + "altLabel"

_SAFE = "-._~"


@dataclass
class SheetReading:
    """A sheet while it is read. `end` is the number of rows down to the last one of its table; `limit` says why later
    rows were not read; `also` is the label with or without its date, if no other sheet has it."""

    source: Source
    sheet: Sheet
    metadata: Metadata
    layout: SheetLayout
    names: list[str]
    iri: str
    table: SheetTable
    end: int
    skipped: int
    notes: list[str] = field(default_factory=list)
    limit: str = ""
    also: str = ""


def read_tables(sources: Sources, numbers: TermNumbers, folder: Path | None, progress: Progress) -> list[Omission]:
    """Add the triples of all files of tables, and write what became of their cells to a folder; returns the files that
    can't be read. Rows are reported as they are looked through (of 0), then as they are read. Raises IngestionError for
    such a file if it was named."""
    files = [source for source in sources.files if source.format == TABLE]
    left: list[Omission] = []
    with TemporaryDirectory(prefix="nacre-sheets-") as scratch:
        readings: list[SheetReading] = []
        taken: set[str] = set()
        budget, room = [MAX_CELLS], room_for_cells((Path(each.path) for each in files), sources.reading.expansion)
        places = {source: Path(scratch) / str(number) for number, source in enumerate(files)}
        for source, place in places.items():
            place.mkdir()
            try:
                dates = sources.reading.dates
                sheets = read_sheets(Path(source.path), place, room)
                found = [_first_pass(source, each, taken, budget, dates, progress) for each in sheets]
                if not any(each.table.rows for each in found):
                    raise UnreadableTable("no row has a cell")
                readings += [each for each in found if each.table.rows]
            except (UnreadableTable, OSError, ConfigError) as error:
                if sources.reading.strict or source.named or len(sources.files) == 1:
                    raise IngestionError(f"{source.name}: {str(error).rstrip('.')}.") from None
                left.append(Omission("file", source.name, reason=str(error)))
            room -= sum(each.stat().st_size for each in place.iterdir())
        for reading, (label, also) in zip(readings, undated_names([r.table.label for r in readings]), strict=True):
            reading.table, reading.also = replace(reading.table, label=label), also
        links = _find_links(readings, numbers)
        targets = {link.sheet for found in links.values() for link in found.values()}
        # those that an earlier ingest read, if this one adds to it; a sheet that is read again takes its place
        before = read_sheet_reports(folder.parent) if folder is not None else ()
        again = {(Path(each.source.name).name, each.sheet.name) for each in readings}
        reports = [each for each in before if (Path(each.file).name, each.sheet) not in again]
        copies: dict[tuple[str, str], str] = {}
        last = {reading.source: reading for reading in readings}
        for number, reading in enumerate(readings, len(before)):
            sheet = reading.sheet
            copied = copies.setdefault((reading.source.name, sheet.name), f"{number:04}.csv.gz")
            if folder is not None and sheet.whole is not None and copied.startswith(f"{number:04}."):
                # all tables of a sheet have one copy
                deque(_copied(_until_failure(sheet._replace(rows=sheet.whole))[0], folder / copied), 0)
            own, cells = links.get(reading.iri, {}), None if folder is None else folder / copied
            reports.append(_second_pass(reading, own, numbers, cells, reading.iri in targets, progress))
            if reading is last[reading.source]:
                rmtree(places[reading.source])
        if folder is not None and reports:
            (folder / REPORT).write_text(json.dumps(list(map(to_json, reports)), ensure_ascii=False), encoding="utf-8")
    return left


def read_first_rows(path: Path, sheet: Sheet, most: int) -> tuple[SheetReading, list[list[str]]]:
    """A sheet as far as its first rows tell, and these rows, each with the cells of the columns."""
    short = sheet._replace(rows=lambda: islice(sheet.rows(), most))
    reading = _first_pass(Source(str(path), TABLE, path.name, ""), short, set(), [MAX_CELLS], {}, lambda *_: None)
    places = [each.place for each in reading.table.columns]
    rows = (row for row in islice(_until_failure(short)[0], reading.layout.above, reading.end) if _is_filled(row))
    return reading, [[row[n] if n < len(row) else "" for n in places] for row in rows]


def export_cells(folder: Path, sheet: str, out: IO[bytes]) -> None:
    """Write the cells of a sheet as CSV, as they were; `sheet` is its label, or "" for the only one."""
    reports = [
        each for each in read_sheet_reports(folder) if not sheet or sheet in (each.label, each.sheet, each.title)
    ]
    if len({each.cells for each in reports}) != 1:
        known = ", ".join(repr(each.label) for each in read_sheet_reports(folder))
        if not known:
            raise ConfigError("This graph has no sheets: it was not made of spreadsheets. Use --format nt.")
        raise ConfigError(f"Which sheet? Use --sheet with one of: {known}.")
    with gzip.open(folder / SHEETS / reports[0].cells, "rb") as file:
        while block := file.read(1 << 20):
            out.write(block)


def _first_pass(
    source: Source,
    sheet: Sheet,
    taken: set[str],
    budget: list[int],
    dates: Mapping[str, Literal["dmy", "mdy"]],
    progress: Progress,
) -> SheetReading:
    """Read all rows once: headings, types, key and name."""
    metadata = read_metadata(Path(source.path), sheet)
    layout = find_layout(list(islice(_until_failure(sheet)[0], sheet.top, sheet.top + HEAD_ROWS)), sheet.top)
    scan = _scan(sheet, layout, budget, progress)
    profiles, failure, count = scan.profiles, scan.failure, scan.filled
    notes = list(layout.notes)
    end, below = without_tail(scan.tail, scan.at, scan.end, notes)
    count -= sum(map(_is_filled, below))
    skipped = sum(1 for row in below for cell in row if cell.strip())
    headings = layout.headings[:MAX_COLUMNS]
    stated = {n: each for n, each in enumerate(metadata.columns) if each.title or each.datatype}
    titles = [(n in stated and stated[n].title) or heading for n, heading in enumerate(headings)]
    width = max(len(headings), len(profiles))
    titles, moved = _with_moved_headings(titles, profiles)
    notes += moved
    names, changed = distinct_names(titles, width)
    profiles += [ColumnProfile() for _ in range(width - len(profiles))]
    filled = [n for n in range(width) if profiles[n].filled]
    notes += [note for note in changed if int(note.split()[1]) - 1 in filled]
    notes += [f"{names[n]!r} has no cell with a value." for n, each in enumerate(headings) if each and n not in filled]
    notes += width_notes(len(layout.headings), scan.cut, scan.ragged)
    if failure and not count:
        raise UnreadableTable(failure[0])
    notes += [f"The rows from {scan.at + 1:,} on are not read: {why}." for why in failure]
    commas = [uses_comma(profiles[n]) for n in filled]
    commas_win = commas.count(True) > commas.count(False) or (sheet.decimal_comma and not commas.count(False))
    ordered = {n: dates.get(names[n].casefold()) for n in filled}
    types = {n: decide_type(profiles[n], names[n], commas_win, stated.get(n), ordered[n], count) for n in filled}
    # names that are written as numbers
    numbers = [n for n in filled if types[n].name == "integer" and profiles[n].is_unique and is_called_name(names[n])]
    types |= dict.fromkeys((n for n in numbers if n not in stated), ColumnType("text"))
    if titles and not titles[0] and 0 in filled and types[0].name == "integer" and profiles[0].is_unique:
        # numbers of rows, which programs write in a first column without a heading, are no amounts
        types[0] = ColumnType("text", texts=("literal", TOKEN, ""))
    columns = [SheetColumn(names[n], profiles[n], types[n], n) for n in filled]
    notes += [f"{each.name}: {each.type.question}" for each in columns if each.type.question]
    key = next((each for each in columns if each.name == metadata.key), None) or choose_key(columns, count)
    iri, label = _class_of(source, sheet, taken)
    stated_name = next((each for each in columns if each.name == metadata.name), None)
    is_stated = stated_name is not None or metadata.name is None
    named = stated_name if is_stated else choose_name(columns, key, label)
    parts = None if is_stated else name_parts(columns, named)
    # a first or last name is no key of a person
    key = None if parts and key in parts and not metadata.key else key
    table = SheetTable(label, tuple(columns), count, key, named, parts)
    notes += sheet.notes
    skipped += layout.skipped + scan.cut + sheet.skipped
    return SheetReading(source, sheet, metadata, layout, names, iri, table, end, skipped, notes)


@dataclass
class _Scan:
    """What reading all rows of a sheet once gives: a profile of each column, the last row (`at`), the last that counts
    (`end`), rows with cells (`filled`), cells beyond the last column (`cut`), rows with another number of cells than
    headings (`ragged`), the last rows, and why others can't be read."""

    at: int
    end: int
    failure: list[str]
    profiles: list[ColumnProfile] = field(default_factory=list)
    filled: int = 0
    cut: int = 0
    ragged: "array[int]" = field(default_factory=lambda: array("q"))
    tail: list[Sequence[str]] = field(default_factory=list)


def _scan(sheet: Sheet, layout: SheetLayout, budget: list[int], progress: Progress) -> _Scan:
    rows, failure = _until_failure(sheet)
    scan = _Scan(layout.above, layout.above, failure)
    for batch in _batches(islice(rows, layout.above, None)):
        width = min(max(map(len, batch), default=0), MAX_COLUMNS)
        scan.cut += sum(1 for row in batch for cell in row[MAX_COLUMNS:] if cell.strip())
        scan.profiles += [ColumnProfile() for _ in range(width - len(scan.profiles))]
        budget[0] -= len(batch) * max(width, 1)
        if budget[0] < 0:
            failure.append(f"an ingest reads at most {MAX_CELLS:,} cells")
            break
        if wide := len(layout.headings):
            numbered = enumerate(batch, scan.at + 1)
            scan.ragged.extend(n for n, row in numbered if len(row) != wide and _is_filled(row))
        scan.at += len(batch)
        progress(scan.at, 0)
        enough = 0 if len(scan.profiles) < 3 else 2
        cells_of = (sum(map(bool, map(str.strip, row))) for row in reversed(batch))
        scan.end = next((scan.at - n for n, cells in enumerate(cells_of) if cells >= enough), scan.end)
        scan.tail = [*scan.tail, *batch][-MAX_TAIL:]
        batch = [row for row in batch if _is_filled(row)]
        scan.filled += len(batch)
        for profile, cells in zip(scan.profiles, _columns(batch, width), strict=False):
            profile.add(cells)
    for profile in scan.profiles:
        profile.finish()
    return scan


def _with_moved_headings(titles: Sequence[str], profiles: Sequence[ColumnProfile]) -> tuple[list[str], list[str]]:
    """The headings, of which one over numbers of rows and over names beside them is that of the names, and notes."""
    found, notes = list(titles), []
    for n in range(1, min(len(titles), len(profiles))):
        numbers, texts = profiles[n - 1], profiles[n]
        are_numbers = numbers.is_unique and numbers.count(CellKind.WHOLE_POINT) == numbers.filled
        if titles[n - 1] and not titles[n] and are_numbers and texts.is_unique and texts.share_of_names >= MIN_NAMES:
            found[n - 1 : n + 1] = [f"{titles[n - 1]} number", titles[n - 1]]
            notes.append(f"Column {n} has numbers of rows, so its heading {titles[n - 1]!r} is that of column {n + 1}.")
    return found, notes


def _class_of(source: Source, sheet: Sheet, taken: set[str]) -> tuple[str, str]:
    """The IRI of the class of a sheet, which no other sheet has, and its label."""
    file = Path(Path(source.name).name.removesuffix(".gz")).stem
    name = sheet.label or sheet.name or file
    if not any(map(str.isalpha, name)):
        # "2025" says when, and the file what
        name = f"{file} {name}"
    if f"{source.base}/{quote(name, safe=_SAFE)}" in taken:
        name = f"{file} {sheet.label or sheet.name or len(taken)}"
    iri = f"{source.base}/{quote(name, safe=_SAFE)}"
    taken.add(iri)
    return iri, lowercase_name(name) or name


def _is_filled(row: Sequence[str]) -> bool:
    return any(map(str.strip, row))


def _until_failure(sheet: Sheet) -> tuple[Iterator[Sequence[str]], list[str]]:
    """The rows of a sheet that can be read, and why the others can't; that list is complete after the last row."""
    failure: list[str] = []

    def rows() -> Iterator[Sequence[str]]:
        try:
            for number, row in enumerate(sheet.rows(), 1):
                if len(row) > MAX_ROW:
                    raise UnreadableTable(f"row {number:,} has more than {MAX_ROW:,} cells")
                yield row
        except UnreadableTable as error:
            failure.append(str(error))

    return rows(), failure


def _batches(rows: Iterator[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


def _columns(batch: Sequence[Sequence[str]], width: int) -> Iterator[Sequence[str]]:
    """The cells of some rows by columns; "" where a row is shorter than others."""
    return islice(zip_longest(*batch, fillvalue=""), width)


def _find_links(readings: Sequence[SheetReading], numbers: TermNumbers) -> dict[str, dict[int, FoundLink]]:
    """The links of each sheet by the places of their columns, stated or proposed. What is stated to be text is none."""
    tables = [reading.table for reading in readings]
    by_table = {id(reading.table): reading for reading in readings}
    known: dict[tuple[str, str], dict[str, str]] = {}

    def values(table: SheetTable, column: SheetColumn) -> dict[str, str]:
        reading = by_table[id(table)]
        place = (reading.iri, column.name)
        if place not in known:
            known[place] = {
                row[column.place].strip(): iri
                for row, iri, _ in _rows_with_iris(reading, _until_failure(reading.sheet)[0])
                if len(row) > column.place
            }
        return known[place]

    def link(table: SheetTable, column: SheetColumn) -> FoundLink:
        return FoundLink(table.label, column.name, values(table, column).get, by_table[id(table)].iri)

    found: dict[str, dict[int, FoundLink]] = {}
    left: list[tuple[SheetReading, SheetColumn]] = []
    for reading in readings:
        links: dict[int, FoundLink] = {}
        for stated in reading.metadata.links:
            other = next((each for each in readings if Path(each.source.path).name == stated.file), None)
            own = next((each for each in reading.table.columns if each.name == stated.column), None)
            if other is not None and own is not None:
                target = other.metadata.names.get(stated.target, stated.target)
                at = next((each for each in other.table.columns if each.name == target), other.table.key)
                if at is not None:
                    links[own.place] = link(other.table, at)
        for column in reading.table.columns:
            if column.place not in links and not reading.metadata.is_text(column.place):
                proposed = propose_link(column, reading.table, tables, values)
                if proposed is not None:
                    links[column.place] = link(*proposed)
                elif column.type.name in KEY_TYPES:
                    left.append((reading, column))
        found[reading.iri] = links
    guesses = graph_links([(r.table, c) for r, c in left], numbers.collector, {reading.iri for reading in readings})
    for (reading, column), guess in zip(left, guesses, strict=True):
        if guess is not None:
            found[reading.iri][column.place] = guess
            reading.notes += [] if GUESS in reading.notes else [GUESS]
            if column is reading.table.name and not column.profile.is_unique and column.name != reading.metadata.name:
                # several rows about one thing are not called like it
                others = [each for each in reading.table.columns if each is not column]
                name = choose_name(others, reading.table.key, reading.table.label)
                reading.table = replace(reading.table, name=name, parts=None)
    return found


def _rows_with_iris(reading: SheetReading, rows: Iterator[Sequence[str]]) -> Iterator[tuple[Sequence[str], str, int]]:
    """The rows of a table, each with its IRI, by its key or else its number, and its number in the sheet."""
    key, above = reading.table.key, reading.layout.above
    start = f"{reading.iri}/{quote(key.name, safe=_SAFE) if key is not None else 'row'}="
    for number, row in enumerate(islice(rows, above, reading.end), above + 1):
        if _is_filled(row):
            own = row[key.place].strip() if key is not None and key.place < len(row) else ""
            own = own if own.isascii() and own.isalnum() else quote(own, safe=_SAFE)
            yield row, f"{start}{own or number}", number


def _second_pass(
    reading: SheetReading,
    links: dict[int, FoundLink],
    numbers: TermNumbers,
    cells: Path | None,
    is_target: bool,
    progress: Progress,
) -> SheetReport:
    """Add the triples of a sheet, copy its cells, and report them."""
    table, iris = reading.table, numbers.iris
    _add_schema(reading, links, numbers)
    type_, class_, label = iris[TYPE], iris[reading.iri], iris[_LABEL]
    predicates = {each.place: iris[_predicate(reading, each.name)] for each in table.columns}
    terms = {each.place: _cell_numbers(each, links.get(each.place), numbers) for each in table.columns}
    read, texts_kept, count = Counter[int](), Counter[int](), 0
    types, misfits = {each.place: each.type for each in table.columns}, defaultdict[int, list[str]](list)
    every, is_part = _until_failure(reading.sheet)[0], reading.sheet.whole is not None
    every = every if cells is None or is_part else _copied(every, cells)
    rows, at = _rows_with_iris(reading, every), -1 if table.name is None else table.name.place
    is_whole = not table.parts and not table.name_repeats
    is_title = is_whole and at not in links and at in types and types[at].literal("") == (STRING, "")
    titles = terms[at] if is_title else literal_numbers(ColumnType("text"), numbers)
    # rows that no other sheet refers to and that all differ are not looked up
    are_new = not is_target and (
        table.key is None or (table.key.profile.is_unique and table.key.profile.filled >= table.rows)
    )
    while batch := list(islice(rows, BATCH)):
        count += len(batch)
        progress(count, table.rows)
        own, subjects, row_numbers = zip(*batch, strict=True)
        subject_numbers = iris.append(subjects) if are_new else map(iris.__getitem__, subjects)
        things = np.fromiter(subject_numbers, dtype=np.int32, count=len(batch))
        parts = [_triples(things, type_, np.full(len(batch), class_, dtype=np.int32))]
        width = max(map(len, own))
        columns = list(_columns(own, width))
        for place, known in terms.items():
            if place >= width:
                continue
            objects = np.fromiter(known.of(columns[place]), dtype=np.int32, count=len(batch))
            read[place] += int(np.count_nonzero(objects))
            if types[place].is_ticked:
                objects[objects == 0] = number_of_no(numbers)
            if known.misfits:
                is_text = np.fromiter(map(known.misfits.__contains__, columns[place]), dtype=bool, count=len(batch))
                texts_kept[place] += int(np.count_nonzero(is_text))
                for n in np.flatnonzero(is_text)[: MAX_MISFITS - len(misfits[place])].tolist():
                    misfits[place].append(misfit_words(columns[place][n].strip(), row_numbers[n], types[place].name))
                if place in links:
                    parts.append(_triples(things, iris[_texts_beside(reading, place)], objects * is_text))
                    objects[is_text] = 0
            parts.append(_triples(things, predicates[place], objects))
            if table.name is not None and place == table.name.place:
                labels = columns[place] if is_whole else _full_names(columns, table)
                names = objects if titles is known else np.fromiter(titles.of(labels), dtype=np.int32)
                parts.append(_triples(things, label, names))
        numbers.add(array("I", np.concatenate(parts).tobytes()))
    # those below the table are copied too
    deque(every, 0)
    copied = cells.name if cells is not None else ""
    return sheet_report(reading, links, CellCounts(count, read, texts_kept, misfits), copied)


def _full_names(columns: Sequence[Sequence[str]], table: SheetTable) -> list[str]:
    """The names of people whose first and last names have a column each; names that repeat with the key."""
    of = table.parts or (table.name, table.key)
    size, places = len(columns[0]), [each.place for each in of if each is not None]
    pairs = zip(*(columns[n] if n < len(columns) else [""] * size for n in places), strict=True)
    if not table.parts:
        return [f"{name} ({key.strip()})" if (name := each.strip()) else "" for each, key in pairs]
    # a name that has the first one is whole
    return [
        last if first.strip() in last.split() else f"{first.strip()} {last.strip()}".strip() for first, last in pairs
    ]


def _triples(things: "np.ndarray[Any, Any]", predicate: int, objects: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """The numbers of triples in rows of three, without those of empty cells."""
    is_filled = objects > 0
    rows = np.empty((int(np.count_nonzero(is_filled)), 3), dtype=np.int32)
    rows[:, 0], rows[:, 1], rows[:, 2] = things[is_filled], predicate, objects[is_filled]
    return rows


def _cell_numbers(column: SheetColumn, link: FoundLink | None, numbers: TermNumbers) -> CellNumbers:
    if link is None:
        return literal_numbers(column.type, numbers, column.profile)
    find, iris = link.find, numbers.iris
    return CellNumbers(lambda text: iris[iri] if (iri := find(text)) else None, numbers.of(STRING))


def _predicate(reading: SheetReading, name: str) -> str:
    return f"{reading.iri}#{quote(name, safe=_SAFE)}"


def _texts_beside(reading: SheetReading, place: int) -> str:
    """The property of the texts of a link that name nothing: with both in one, some would be left out of its groups."""
    name = reading.names[place]
    while name in reading.names:
        name += " text"
    return _predicate(reading, name)


def _add_schema(reading: SheetReading, links: dict[int, FoundLink], numbers: TermNumbers) -> None:
    """The labels of the class and of its columns."""
    iris, texts = numbers.iris, numbers.of(STRING)
    stated = dict(enumerate(reading.metadata.columns))
    named, kind = reading.table.name, reading.table.label
    found = [(iris[reading.iri], iris[_LABEL], texts[kind])]
    # "actions under the act" are actions, and "loans 2024" loans
    called = {re.split(rf" (?:{'|'.join(words('prepositions'))}) ", kind)[0], reading.also} - {"", kind}
    for name in [named.name, *other_names(named.name, reading.names)] if named and named.profile.is_unique else ():
        if name.isalpha() and not is_called_name(name):
            # a row with the name of a pollster is a pollster
            called.add(name.casefold())
    found += [(iris[reading.iri], iris[_ALTERNATIVE], texts[name]) for name in sorted(called)]
    # the name of a loan is not called a loan
    called = {kind, singular(kind) or ""}
    english = english_headings(reading.names)
    degrees = coordinate_names([(each.name, each.profile, each.type) for each in reading.table.columns])
    for each in reading.table.columns:
        own = iris[_predicate(reading, each.name)]
        link = links.get(each.place)
        degree = degrees.get(each.name, each.name)
        # a word of its own stays beside it
        label = degree if len(each.name) == 1 else each.name
        label = link_label(each.name, link.label) if link is not None else label
        found.append((own, iris[_LABEL], texts[label]))
        others = [*([each.name] if label != each.name else []), *other_names(each.name, reading.names)]
        if (under := reading.layout.under.get(each.name, each.name)) != label:
            others.append(under)
        others += [*([degree] if degree != label else []), *english.get(each.name, [])]
        found += [(own, iris[_ALTERNATIVE], texts[other]) for other in others if other.casefold() not in called]
        if each.place in stated and (comment := stated[each.place].comment):
            found.append((own, iris[_COMMENT], texts[comment]))
    numbers.add(array("I", chain.from_iterable(found)))


def _copied(rows: Iterator[Sequence[str]], path: Path) -> Iterator[Sequence[str]]:
    """The same rows, whose cells are written as they were."""
    path.parent.mkdir(exist_ok=True)
    # without a time, so that equal input gives equal files
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 1, file, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", errors="replace", newline="") as text,
    ):
        writer = csv.writer(text)
        for batch in _batches(rows):
            writer.writerows(batch)
            yield from batch
