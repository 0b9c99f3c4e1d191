"""A cache of parsed questions for each open graph: Rewrite + Schema + Lexicon -> Understanding."""

import threading
from weakref import WeakKeyDictionary

from nacre.records.schema import Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.understand import understand

MOST_QUESTIONS = 128

_known: WeakKeyDictionary[Lexicon, dict[tuple[Rewrite, int], Understanding]] = WeakKeyDictionary()
_lock = threading.Lock()


def cached_understanding(rewrite: Rewrite, schema: Schema, lexicon: Lexicon, most: int) -> Understanding:
    """As `understand`, which depends on its arguments alone, since a version never changes.

    Suggested questions, which people ask often, are parsed once. A parse that the deadline cut short is not cached.
    """
    with _lock:
        known = _known.setdefault(lexicon, {})
        found = known.get((rewrite, most))
    if found is None:
        found = understand(rewrite, schema, lexicon, most)
        if not found.cut:
            with _lock:
                while len(known) >= MOST_QUESTIONS:
                    del known[next(iter(known))]
                known[rewrite, most] = found
    return found
