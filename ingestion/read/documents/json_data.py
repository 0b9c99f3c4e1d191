"""Read JSON and JSON lines: objects -> rows of keys and values; keys of lists of objects become headings."""

import json
from collections.abc import Iterator
from typing import Any

from ingestion.read.documents.text import (
    DocumentSize,
    DocumentText,
    DocumentTextBuilder,
    UnreadableDocument,
    column_name,
)

MAX_DEPTH = 24
# longest list of plain values that is part of its object's row
MAX_INLINE_LIST = 50


def read_json(text: str) -> DocumentText:
    """The objects of a file, in order. Raises UnreadableDocument if it is not JSON or nested too deeply."""
    builder = DocumentTextBuilder()
    try:
        for value in _values(text):
            _add(builder, value, "", 0)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableDocument(f"no JSON ({why})") from None
    return builder.done()


def _values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _add(builder: DocumentTextBuilder, value: Any, name: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        for each in value:
            before = len(builder.blocks)
            _add(builder, each, name, depth + 1)
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
            builder.add("heading", _label(key), level=min(6, depth + 2))
            _add(builder, each, _label(key), depth + 1)


def _is_inline(value: Any) -> bool:
    """Whether a value is part of its object's row: all but lists of objects and objects with objects."""
    if isinstance(value, dict):
        return not any(isinstance(each, dict | list) for each in value.values())
    return not isinstance(value, list) or bool(_inline_text(value))


def _inline_pairs(value: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The keys and values of an object's row; the keys of a nested object are prefixed with its own."""
    for key, each in value.items():
        label = f"{name} {_label(key)}".strip()
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


def _label(key: str) -> str:
    return column_name(" ".join(key.replace("_", " ").split()))
