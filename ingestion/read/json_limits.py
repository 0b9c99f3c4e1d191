"""Limits of JSON-LD: its bytes -> nothing, or IngestionError if it would exhaust the parser's stack or time."""

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from nacre.errors import IngestionError

# the parser needs stack for each level and time for each pair of levels; it crashes at some thousands (measured)
MAX_JSON_DEPTH = 256
# a context copies the terms that are valid outside it: 3 million of them take a second (measured)
MAX_COPIED_TERMS = 20_000_000
# a term of a scoped context is defined again wherever the context applies: 800,000 of them take a second (measured)
COPIES_PER_DEFINITION = 4
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# "@context" may be written with escapes of its letters
_ESCAPED_LETTER = re.compile(rb"\\u00[4-7]")


def has_several_contexts(blocks: Iterable[bytes]) -> bool:
    """Whether a JSON document may have more than one context. Raises IngestionError if it is nested too deeply."""
    depth, inside, contexts, left = 0, 0, 0, b""
    for block in blocks:
        contexts += block.count(b"@context") + len(_ESCAPED_LETTER.findall(block))
        text = left + block
        # an escape may continue in the next block
        ending = len(text) - len(text.rstrip(b"\\"))
        left, text = (text[-1:], text[:-1]) if ending % 2 else (b"", text)
        codes = np.frombuffer(_ESCAPE.sub(b"  ", text), dtype=np.uint8)
        quotes = np.cumsum(codes == ord('"')) + inside
        steps = np.isin(codes, (ord("{"), ord("["))).astype(np.int64) - np.isin(codes, (ord("}"), ord("]")))
        depths = np.cumsum(np.where(quotes % 2, 0, steps)) + depth
        if len(codes):
            depth, inside = int(depths[-1]), int(quotes[-1]) % 2
            if depths.max() > MAX_JSON_DEPTH:
                raise IngestionError(f"the JSON in it is nested deeper than {MAX_JSON_DEPTH} levels")
    return contexts > 1


def check_contexts(data: bytes, max_terms: int) -> None:
    """Raise IngestionError if the contexts of a document would copy too many terms. Invalid JSON passes."""
    try:
        document = json.loads(data)
    except ValueError:
        return
    check_copied_terms(document, max_terms)


def check_copied_terms(document: Any, max_terms: int) -> None:
    """Raise IngestionError if the contexts of a parsed document would copy more than `max_terms` terms."""
    # the terms whose contexts apply to their values or types, with the size of the context
    scoped: dict[str, int] = {}
    stack: list[Any] = [document]
    while stack:
        node = stack.pop()
        children = node.values() if isinstance(node, dict) else node
        if isinstance(node, dict):
            for key, value in node.items():
                if isinstance(value, dict) and "@context" in value:
                    scoped[key] = max(scoped.get(key, 0), _number_of_terms(value["@context"]))
        stack += [each for each in children if isinstance(each, dict | list)]
    copied = 0
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        node, active = waiting.pop()
        if isinstance(node, dict):
            if "@context" in node:
                copied += active
                active += _number_of_terms(node["@context"])
            applied = _scoped_terms(node, scoped) if scoped else None
            if applied is not None:
                copied += active + COPIES_PER_DEFINITION * applied
                active += applied
        if copied > max_terms:
            raise IngestionError(
                f"its JSON-LD contexts are nested so that {max_terms:,} terms would have to be copied;"
                " --max-expansion raises the limit for a file that you trust"
            )
        children = node.values() if isinstance(node, dict) else node
        waiting += [(each, active) for each in children if isinstance(each, dict | list)]


def _number_of_terms(context: Any) -> int:
    parts = context if isinstance(context, list) else [context]
    return sum(len(each) for each in parts if isinstance(each, dict))


def _scoped_terms(node: dict[str, Any], scoped: dict[str, int]) -> int | None:
    """The number of terms of all scoped contexts that apply to an object or its values; None if none applies."""
    found = [scoped[key] for key in node if key in scoped]
    for value in node.values():
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str) and each in scoped:
                found.append(scoped[each])
    return sum(found) if found else None
