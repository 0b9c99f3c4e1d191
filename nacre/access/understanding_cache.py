"""A cache of parsed questions for each open graph: Rewrite + Schema + Lexicon -> Understanding."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from nacre.records.schema import Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.records.verified_question import VerifiedQuestion
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.understand import understand
from nacre.understanding.verified.graph_shift import shift_readings

MOST_QUESTIONS = 128
# a question, the number of candidates, the shift of the graph, and the verified questions that it is compared with
CacheKey = tuple[Rewrite, int, float, tuple[tuple[str, str, str], ...]]

_known: WeakKeyDictionary[Lexicon, dict[CacheKey, Understanding]] = WeakKeyDictionary()
_lock = threading.Lock()


def cached_understanding(
    rewrite: Rewrite,
    schema: Schema,
    lexicon: Lexicon,
    most: int,
    verified: Sequence[VerifiedQuestion] = (),
    shift: float = 0.0,
) -> Understanding:
    """As `understand`, with `shift` added to the log-odds of readings. It depends on its arguments alone, since a
    version never changes.

    Suggested questions, which people ask often, are parsed once. A parse that the deadline cut short is not cached.
    """
    key = (rewrite, most, shift, tuple((each.id, each.by, each.at) for each in verified))
    with _lock:
        known = _known.setdefault(lexicon, {})
        found = known.get(key)
    if found is None:
        found = understand(rewrite, schema, lexicon, most, verified)
        found = replace(found, readings=shift_readings(found.readings, shift))
        if not found.cut:
            with _lock:
                while len(known) >= MOST_QUESTIONS:
                    del known[next(iter(known))]
                known[key] = found
    return found


def clear_understandings() -> None:
    """Forget all parsed questions, so that measured times contain the parse."""
    with _lock:
        _known.clear()
