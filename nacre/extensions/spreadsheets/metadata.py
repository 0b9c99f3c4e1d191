"""CSV on the Web: the metadata file beside a table -> its dialect, columns, keys and links.

Only what a graph can use is read: titles, datatypes with their formats, delimiter and encoding, keys.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ingestion.read.sources import metadata_names
from ingestion.read.tables import Sheet, UnreadableTable
from nacre.extensions.spreadsheets.layout import MAX_HEADING

MAX_BYTES = 4_000_000


class StatedColumn(NamedTuple):
    """The title of a column, its datatype ("" if none is stated) and the format of that, and what it is about."""

    title: str
    datatype: str = ""
    format: str = ""
    decimal: str = ""
    comment: str = ""


class StatedLink(NamedTuple):
    """A column that refers to a column of another file."""

    column: str
    file: str
    target: str


@dataclass(frozen=True)
class Metadata:
    """The metadata of one table. `columns` are by their place; keys, links and `name`, the column that names the rows,
    are titles of columns; `name` is None if no column does. A delimiter or an encoding that is "" is detected."""

    delimiter: str = ""
    encoding: str = ""
    columns: tuple[StatedColumn, ...] = ()
    key: str = ""
    links: tuple[StatedLink, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    name: str | None = ""

    def is_text(self, place: int) -> bool:
        """Whether a column is stated to be text."""
        return place < len(self.columns) and self.columns[place].datatype == "string"


NONE = Metadata()


def read_metadata(path: Path, sheet: Sheet | None = None) -> Metadata:
    """The metadata beside a file, of one of its tables or the only one; without any, an empty one. Raises
    UnreadableTable if they can't be read."""
    for name in metadata_names(str(path)):
        file = Path(name)
        if file.is_file():
            stamp = file.stat()
            has_sheets = sheet is not None and bool(sheet.name)
            return _read(file, path.name, table_url(path.name, sheet), has_sheets, stamp.st_mtime_ns, stamp.st_size)
    return NONE


def table_url(file: str, sheet: Sheet | None) -> str:
    """What metadata call a table of a file.

    >>> table_url("loans.csv", None), table_url("loans.xlsx", Sheet("Spring 2025", lambda: iter(())))
    ('loans.csv', 'loans.xlsx#Spring%202025')
    """
    part = "/".join(filter(None, (sheet.name, sheet.label))) if sheet is not None else ""
    return f"{file}#{quote(part, safe='')}" if part else file


@lru_cache(64)
def _read(file: Path, name: str, url: str, has_sheets: bool, stamp: int, size: int) -> Metadata:
    if size > MAX_BYTES:
        raise UnreadableTable(f"its metadata {file.name} have more than {MAX_BYTES:,} bytes")
    try:
        read = json.loads(file.read_text(encoding="utf-8-sig"))
        return _metadata(read, name, url, has_sheets)
    except (OSError, ValueError, RecursionError, AttributeError, TypeError, LookupError) as error:
        raise UnreadableTable(f"its metadata {file.name} can't be read ({str(error)[:100]})") from None


def _metadata(read: dict[str, Any], name: str, url: str, has_sheets: bool) -> Metadata:
    every = read.get("tables") or [read]
    described = {Path(str(each.get("url", ""))).name: each for each in reversed(every)}
    if url not in described and (has_sheets or any(each.startswith(f"{name}#") for each in described)):
        return NONE
    own = described.get(url) or described.get(name) or every[0]
    dialect = {**(read.get("dialect") or {}), **(own.get("dialect") or {})}
    schema = own.get("tableSchema") or {}
    columns = [each for each in schema.get("columns", []) if not each.get("virtual")]
    stated = tuple(map(_column, columns))
    names = {str(each.get("name", column.title)): column.title for each, column in zip(columns, stated, strict=True)}
    key, titles = _only(schema.get("primaryKey")), _only(schema.get("rowTitles"))
    row_name = None if schema.get("rowTitles") == [] else names.get(titles, titles)
    links = []
    for each in schema.get("foreignKeys", []):
        reference = each.get("reference") or {}
        column, target = _only(each.get("columnReference")), _only(reference.get("columnReference"))
        if column:
            links.append(StatedLink(names.get(column, column), Path(str(reference.get("resource", ""))).name, target))
    delimiter = str(dialect.get("delimiter") or "")
    if len(delimiter) > 1 or delimiter in ("\r", "\n", '"'):
        raise ValueError(f"{delimiter[:9]!r} can't separate cells")
    encoding = str(dialect.get("encoding") or "")
    return Metadata(delimiter, encoding, stated, names.get(key, key), tuple(links), names, row_name)


def _column(stated: dict[str, Any]) -> StatedColumn:
    kind = stated.get("datatype") or ""
    kind = kind if isinstance(kind, dict) else {"base": kind}
    form = kind.get("format") or ""
    pattern, decimal = (form.get("pattern"), form.get("decimalChar")) if isinstance(form, dict) else (form, "")
    return StatedColumn(
        (_text(stated.get("titles")) or str(stated.get("name") or ""))[:MAX_HEADING],
        str(kind.get("base") or "string") if kind.get("base") or form else "",
        str(pattern or ""),
        str(decimal or ""),
        _text(stated.get("dc:description") or stated.get("rdfs:comment")),
    )


def _text(value: Any) -> str:
    """The first text of a title: a text, a list, or texts by their languages."""
    if isinstance(value, dict):
        value = value.get("@value") or next(iter(value.values()), "")
    if isinstance(value, list):
        value = value[0] if value else ""
    return " ".join(str(value).split()) if value else ""


def _only(value: Any) -> str:
    """The one column of a key; "" for a key of several columns, which no link can use."""
    found = [value] if isinstance(value, str) else list(value or ())
    return str(found[0]) if len(found) == 1 else ""
