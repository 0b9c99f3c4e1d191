"""The last questions about an open graph, with what was understood of them: Rewrite + lexicon -> Understanding."""

import threading
import time
from weakref import WeakKeyDictionary

from nacre.records.schema import Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.semantics.understand import SECONDS, understand
from nacre.stores.lexicon import Lexicon

MOST = 128

_known: WeakKeyDictionary[Lexicon, dict[Rewrite, Understanding]] = WeakKeyDictionary()
_lock = threading.Lock()


def understood(rewrite: Rewrite, schema: Schema, lexicon: Lexicon) -> Understanding:
    """As `semantics.understand`, which depends on its arguments alone: a version never changes. What people ask again
    and again, as suggestions, is read once; what the deadline cut short is read anew."""
    with _lock:
        known = _known.setdefault(lexicon, {})
        found = known.get(rewrite)
    if found is None:
        begun = time.monotonic()
        found = understand(rewrite, schema, lexicon)
        if time.monotonic() - begun < SECONDS:
            with _lock:
                while len(known) >= MOST:
                    del known[next(iter(known))]
                known[rewrite] = found
    return found
