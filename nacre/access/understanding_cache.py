"""The last questions about an open graph, with what was understood of them: Rewrite + lexicon -> Understanding."""

import threading
from weakref import WeakKeyDictionary

from nacre.records.schema import Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.understand import understand

REMEMBERED = 128

_known: WeakKeyDictionary[Lexicon, dict[tuple[Rewrite, int], Understanding]] = WeakKeyDictionary()
_lock = threading.Lock()


def cached_understanding(rewrite: Rewrite, schema: Schema, lexicon: Lexicon, most: int) -> Understanding:
    """As `semantics.understand`, which depends on its arguments alone: a version never changes. What people ask again
    and again, as suggestions, is read once; what the deadline cut short is read anew."""
    with _lock:
        known = _known.setdefault(lexicon, {})
        found = known.get((rewrite, most))
    if found is None:
        found = understand(rewrite, schema, lexicon, most)
        if not found.cut:
            with _lock:
                while len(known) >= REMEMBERED:
                    del known[next(iter(known))]
                known[rewrite, most] = found
    return found
