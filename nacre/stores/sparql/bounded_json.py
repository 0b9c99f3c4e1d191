"""Parse JSON of strangers within bounds: bytes -> value, or ValueError, RecursionError, TooManyItems.

A value takes up to 100 times the memory of its text, and `json.loads` keeps the interpreter's lock while it parses. So
the items of a text are counted first, in short steps, and other threads run between the objects that are parsed.
"""

import json
from collections.abc import Callable
from typing import Any

# A result of 1,000 rows with 40 columns has 172,000 items. Measured with the most expensive texts of 200,000 items:
# they take 40 MB, and the lock for 0.2 s. One string of 32 MB takes it for 0.3 s.
MAX_ITEMS = 200_000
# SPARQL 1.1 Query Results JSON Format has lists only of variables, links and rows
MAX_LISTS = 1000
# a shorter text can't have too many items or lists (given: half of MAX_LISTS lists)
UNCOUNTED_BYTES = 1000
# bytes that are counted in one step, and steps between two checks (measured: 1 ms each)
BYTES_AT_ONCE, STEPS_BETWEEN_CHECKS = 1_000_000, 2000


class TooManyItems(Exception):
    """The text has more items than any result that was asked for."""


def nothing_to_check() -> None:
    """The check of a caller who waits for as long as it takes."""


def load_json(content: bytes, most: int = MAX_ITEMS, check: Callable[[], None] = nothing_to_check) -> Any:
    """The value of a text in UTF-8 with at most `most` items. `check` is called now and then, and may raise."""
    if not json.detect_encoding(content).startswith("utf-8"):
        raise ValueError("JSON is sent in UTF-8 (RFC 8259)")
    if len(content) > UNCOUNTED_BYTES:
        _check_items(content, most, check)
    check()
    return json.loads(content, object_hook=_yield_to_threads)


def _check_items(content: bytes, most: int, check: Callable[[], None]) -> None:
    """Raises TooManyItems, or ValueError for lists. An item is what a { or , outside strings begins."""
    items = lists = place = steps = 0
    in_string = False
    while place < len(content):
        steps += 1
        if steps % STEPS_BETWEEN_CHECKS == 0:
            check()
        if in_string:
            quote = content.find(b'"', place)
            part = content[place:quote] if quote >= 0 else b""
            # a quote behind an odd number of backslashes belongs to the string
            in_string = (len(part) - len(part.rstrip(b"\\"))) % 2 == 1
            place = quote + 1 if quote >= 0 else len(content)
            continue
        quote = content.find(b'"', place, place + BYTES_AT_ONCE)
        end = min(place + BYTES_AT_ONCE, len(content)) if quote < 0 else quote
        lists += content.count(b"[", place, end)
        items += content.count(b"{", place, end) + content.count(b",", place, end)
        if lists > MAX_LISTS:
            raise ValueError("too many lists")
        if items > most:
            raise TooManyItems
        in_string, place = quote >= 0, end + 1 if quote >= 0 else end


def _yield_to_threads(value: dict[str, Any]) -> dict[str, Any]:
    # a call of a function that is written in Python is where the interpreter may change to another thread
    return value
