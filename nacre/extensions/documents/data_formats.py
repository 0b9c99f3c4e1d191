"""CSV, TSV, JSON and JSON lines as documents: their rows and objects -> DocumentText."""

import csv
import io
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from ingestion.documents.text_formats import (
    Block,
    DocumentReader,
    DocumentSize,
    DocumentText,
    DocumentTextBuilder,
    UnreadableDocument,
    column_name,
    counted_blocks,
    row_text,
)
from ingestion.read.tables import csv_rows

SAMPLE = 8192

DELIMITERS = ",;\t|"


def read_table(text: str, delimiter: str = "") -> DocumentText:
    """The rows of a table; the delimiter is detected if none is given. Raises UnreadableDocument if it is not a
    table."""
    try:
        return DocumentText(text, counted_blocks(_row_blocks(text, delimiter)))
    except csv.Error as error:
        raise UnreadableDocument(f"no table ({error})") from None


def _row_blocks(text: str, delimiter: str) -> Iterator[Block]:
    starts = [0]
    lines = io.StringIO(text, newline="")

    def counted_lines() -> "list[str]":
        found = []
        for line in lines:
            starts.append(starts[-1] + len(line))
            found.append(line)
        return found

    rows = csv_rows(counted_lines(), delimiter=delimiter or _delimiter(text))
    columns = [cell.strip() for cell in next(rows, [])]
    last = rows.line_num
    for row in rows:
        words = row_text(columns, [cell.strip() for cell in row])
        if words:
            yield Block("row", starts[last], starts[rows.line_num], words)
        last = rows.line_num


def _delimiter(text: str) -> str:
    head = text[:SAMPLE]
    try:
        return csv.Sniffer().sniff(head, DELIMITERS).delimiter
    except csv.Error:
        first = head.partition("\n")[0]
        return max(DELIMITERS, key=first.count)


MAX_DEPTH = 24

# longest list of plain values that is part of its object's row
MAX_INLINE_LIST = 50


def read_json(text: str) -> DocumentText:
    """The objects of a file, in order. Raises UnreadableDocument if it is not JSON or nested too deeply."""
    builder = DocumentTextBuilder()
    try:
        for value in _json_values(text):
            _add_json(builder, value, "", 0)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableDocument(f"no JSON ({why})") from None
    return builder.done()


def _json_values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _add_json(builder: DocumentTextBuilder, value: Any, name: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        for each in value:
            before = len(builder.blocks)
            _add_json(builder, each, name, depth + 1)
            if name and any(block.kind == "heading" for block in builder.blocks[before:]):
                # repeat the heading of the list, since the item added headings of its own
                builder.add("heading", name, level=min(6, depth + 1))
        return
    if not isinstance(value, dict):
        builder.add("paragraph", f"{name}: {_value_text(value)}." if name else _value_text(value))
        return
    plain, size = {}, DocumentSize()
    for label, text in _inline_pairs(value, ""):
        size.add(len(label) + len(text))
        plain[label] = text
    if plain:
        builder.add("row", "; ".join(f"{key}: {text}" for key, text in plain.items()) + ".")
    for key, each in value.items():
        if not _is_inline(each) and each:
            builder.add("heading", _key_label(key), level=min(6, depth + 2))
            _add_json(builder, each, _key_label(key), depth + 1)


def _is_inline(value: Any) -> bool:
    """Whether a value is part of its object's row: all but lists of objects and objects with objects."""
    if isinstance(value, dict):
        return not any(isinstance(each, dict | list) for each in value.values())
    return not isinstance(value, list) or bool(_inline_text(value))


def _inline_pairs(value: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The keys and values of an object's row; the keys of a nested object are prefixed with its own."""
    for key, each in value.items():
        label = f"{name} {_key_label(key)}".strip()
        if isinstance(each, dict) and not name and _is_inline(each):
            yield from _inline_pairs(each, label)
        elif text := _inline_text(each):
            yield label, text


def _inline_text(value: Any) -> str:
    """A value or a short list of values as text; "" for objects and empty values."""
    if isinstance(value, list):
        short = len(value) <= MAX_INLINE_LIST and not any(isinstance(each, dict | list) for each in value)
        return ", ".join(filter(None, map(_value_text, value))) if short else ""
    return "" if isinstance(value, dict) else _value_text(value)


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def _key_label(key: str) -> str:
    return column_name(" ".join(key.replace("_", " ").split()))


CSV, TSV, JSON = (DocumentReader(read) for read in (read_table, partial(read_table, delimiter="\t"), read_json))
