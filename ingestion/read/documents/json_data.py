"""JSON and JSON lines -> blocks: an object each, as a row of its keys and values; keys of lists are headings."""

import json
from collections.abc import Iterator
from typing import Any

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument

DEEPEST = 24
# a list of so many plain values or fewer is said in its object's row
SHORT = 50


def read_json(text: str) -> DocumentText:
    """The objects of a file, in their order. Raises Unreadable where it is no JSON, or too deep."""
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
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, list):
        for each in value:
            before = len(builder.blocks)
            _add(builder, each, name, depth + 1)
            if name and any(block.kind == "heading" for block in builder.blocks[before:]):
                # what follows stands below the list's own heading again
                builder.add("heading", name, level=min(6, depth + 1))
        return
    if not isinstance(value, dict):
        builder.add("paragraph", f"{name}: {_said(value)}." if name else _said(value))
        return
    plain = dict(_flat(value, ""))
    if plain:
        builder.add("row", "; ".join(f"{key}: {said}" for key, said in plain.items()) + ".")
    for key, each in value.items():
        if not _is_said(each) and each:
            builder.add("heading", _label(key), level=min(6, depth + 2))
            _add(builder, each, _label(key), depth + 1)


def _is_said(value: Any) -> bool:
    """Whether a value is said in its object's row: all but lists of objects, and objects that have objects."""
    if isinstance(value, dict):
        return not any(isinstance(each, dict | list) for each in value.values())
    return not isinstance(value, list) or bool(_plain(value))


def _flat(value: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The keys and values of an object that go into its row; those of an object within have both keys."""
    for key, each in value.items():
        label = f"{name} {_label(key)}".strip()
        if isinstance(each, dict) and not name and _is_said(each):
            yield from _flat(each, label)
        elif said := _plain(each):
            yield label, said


def _plain(value: Any) -> str:
    """A value, or a short list of values, in words; "" for what is an object or empty."""
    if isinstance(value, list):
        short = len(value) <= SHORT and not any(isinstance(each, dict | list) for each in value)
        return ", ".join(filter(None, map(_said, value))) if short else ""
    return "" if isinstance(value, dict) else _said(value)


def _said(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def _label(key: str) -> str:
    return " ".join(key.replace("_", " ").split())
