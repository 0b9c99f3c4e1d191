"""Read CSV, TSV and JSON Lines: a file -> its one sheet, rows of texts.

The encoding and the delimiter are detected, unless metadata beside the file names them.
"""

import codecs
import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple
from unicodedata import name

from ingestion.read.sources import DEFAULT_EXPANSION, expansion_limit, open_inflated
from ingestion.read.tables import MAX_CELL, Sheet, UnreadableTable, csv_rows
from nacre.errors import IngestionError
from nacre.extensions.spreadsheets.metadata import read_metadata

# the likely delimiters, then those that are tried if no row has one of these
DELIMITERS, OTHER_DELIMITERS = ",;\t|", "^~\x1f:"

# characters of a line; rows that show the delimiter; bytes that show the encoding (given)
MAX_LINE, SAMPLE_ROWS, SAMPLE_BYTES = 16_000_000, 200, 50_000

BLOCK = 1 << 20

# levels of objects whose members are columns of their own
MAX_NESTING = 4

# what letters of other encodings are in cp1252
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¹³¼¾¿£¥¢ª¯±][^\W\d_]")

# bytes that cp1252 does not define
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))


class Delimiting(NamedTuple):
    """How the cells of a file are separated and quoted."""

    delimiter: str
    quote: str = '"'
    skipped: int = 0


def read_delimited(path: Path, folder: Path) -> Iterator[Sheet]:
    """The sheet of a CSV or TSV file."""
    stated = read_metadata(path)
    encoding = stated.encoding or detect_encoding(path)
    sample = list(islice(_lines(path, encoding), SAMPLE_ROWS))
    if not sample:
        raise UnreadableTable("the file is empty")
    likely = "\t" if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) else ""
    delimiting = detect_delimiter(sample, stated.delimiter or likely)
    notes = () if encoding == "utf-8-sig" else (f"The encoding is {encoding.removesuffix('-sig')}.",)

    def rows() -> Iterator[Sequence[str]]:
        lines = islice(_lines(path, encoding), delimiting.skipped, None)
        try:
            yield from csv_rows(lines, delimiter=delimiting.delimiter, quotechar=delimiting.quote)
        except csv.Error as error:
            why = f"a quote has no end, or a cell more than {MAX_CELL:,} characters" if "limit" in str(error) else error
            raise UnreadableTable(f"line {_line_of_error(path, encoding, delimiting):,}: {why}") from None

    yield Sheet("", rows, notes, decimal_comma=delimiting.delimiter == ";")


def read_json_lines(path: Path, folder: Path) -> Iterator[Sheet]:
    """The sheet of a file with a JSON object in each line: its columns are the keys, in the order of the first ones. A
    member of an object in it is a column of its own; a list is a text."""
    columns: dict[str, None] = {}
    bad: list[int] = []
    for number, record in enumerate(map(_record, _lines(path, "utf-8-sig")), 1):
        if record is None:
            bad.append(number)
        else:
            columns.update(dict.fromkeys(record))
    if not columns:
        raise UnreadableTable("no line has a JSON object")
    shown = ", ".join(map(str, bad[:3]))
    more = f" and {len(bad) - 3:,} more" if len(bad) > 3 else ""
    notes = (f"Skipped, since it is no JSON object: line {shown}{more}.",) if bad else ()

    def rows() -> Iterator[Sequence[str]]:
        yield list(columns)
        for record in map(_record, _lines(path, "utf-8-sig")):
            yield [record.get(column, "") for column in columns] if record else []

    yield Sheet("", rows, notes)


def detect_encoding(path: Path) -> str:
    """The encoding of a text file: that of its byte order mark, UTF-8, Windows' western one, or what is likeliest."""
    with _open(path) as file:
        head = file.read(SAMPLE_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if (zeros := head[:1000].count(0)) * 4 > len(head[:1000]):
        # text of two bytes each without a mark
        return "utf-16-le" if zeros and head[1:2] == b"\0" else "utf-16-be"
    decoder, sample = codecs.getincrementaldecoder("utf-8")(), head
    with _open(path) as file:
        try:
            while block := file.read(BLOCK):
                sample = block
                decoder.decode(block)
            decoder.decode(b"", final=True)
            return "utf-8-sig"
        except UnicodeDecodeError as error:
            sample = sample[max(0, error.start - SAMPLE_BYTES // 2) :][:SAMPLE_BYTES]
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None or any(byte in sample for byte in _UNDEFINED):
        return best.encoding if best is not None else "latin-1"
    letters = [name(each, "") for each in str(best) if each.isalpha() and not each.isascii()]
    is_latin = 2 * sum(each.startswith("LATIN") for each in letters) >= len(letters)
    return "cp1252" if is_latin and not _SIGN_IN_WORD.search(sample.decode("cp1252")) else best.encoding


def detect_delimiter(sample: Sequence[str], stated: str = "") -> Delimiting:
    """The delimiter that parts most rows into the same number of cells, the larger number if several do.

    >>> detect_delimiter(["name;price\\n", "a;1,5\\n", "b;2\\n"])
    Delimiting(delimiter=';', quote='"', skipped=0)
    """
    first = sample[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        return Delimiting(first[4], skipped=1)
    if stated:
        return Delimiting(stated)
    for delimiters in (DELIMITERS, OTHER_DELIMITERS):
        scored = [(_regularity(sample, delimiter), delimiter) for delimiter in delimiters]
        best = max(scored, key=lambda each: each[0])
        if best[0][0]:
            return Delimiting(best[1])
    return Delimiting(",")


def _regularity(sample: Sequence[str], delimiter: str) -> tuple[float, int]:
    """The share of rows with the most frequent number of cells above one, and that number."""
    try:
        # a quoted cell may go on behind the sample
        widths = [len(row) for row in csv_rows(sample, delimiter=delimiter) if row]
    except csv.Error:
        return 0, 0
    counts = Counter(width for width in widths if width > 1)
    if not counts:
        return 0, 0
    width, count = max(counts.items(), key=lambda each: (each[1], each[0]))
    return count / len(widths), width


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    if is_compressed:
        return open_inflated(str(path), expansion_limit(os.path.getsize(path), DEFAULT_EXPANSION))
    return path.open("rb")


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a text with their ends; raises UnreadableTable for a line without an end in sight."""
    try:
        with _open(path) as file, io.TextIOWrapper(file, encoding, errors="replace", newline="") as text:
            while line := text.readline(MAX_LINE):
                if len(line) == MAX_LINE:
                    raise UnreadableTable(f"a line has more than {MAX_LINE:,} characters")
                yield line.replace("\0", "") if "\0" in line else line
    # a stated encoding may be none, or not that of the file
    except (OSError, EOFError, IngestionError, LookupError, ValueError) as error:
        raise UnreadableTable(str(error).rstrip(".")) from None


def _line_of_error(path: Path, encoding: str, delimiting: Delimiting) -> int:
    """The first line of the row that can't be read; rows are not counted before there is one."""
    lines = islice(_lines(path, encoding), delimiting.skipped, None)
    reader = csv_rows(lines, delimiter=delimiting.delimiter, quotechar=delimiting.quote)
    line = delimiting.skipped + 1
    with suppress(csv.Error):
        for _ in reader:
            line = delimiting.skipped + reader.line_num + 1
    return line


def _record(line: str) -> dict[str, str] | None:
    """The members of a JSON object as texts by their names; None if the line is none."""
    if not line.strip():
        return {}
    try:
        read = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    found: dict[str, str] = {}
    _flatten(read, "", found, MAX_NESTING)
    return found


def _flatten(members: dict[str, Any], before: str, found: dict[str, str], levels: int) -> None:
    for key, value in members.items():
        column = f"{before}{key}"
        if isinstance(value, dict) and levels:
            _flatten(value, f"{column} ", found, levels - 1)
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            # half of a pair of surrogates is no character
            found[column] = text.encode(errors="replace").decode()
