"""Fewer garbage collections: objects loaded at startup are never scanned, later ones less often."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# thresholds of the three generations; with Python's defaults (700, 10, 10) collection took a tenth of a turn's CPU time
YOUNG, MIDDLE, OLD = 20_000, 20, 50


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause garbage collection during imports; afterwards the imported objects are exempt from it.

    Otherwise a tenth of the CPU time of `nacre ask` is spent on scanning modules.
    """
    gc.disable()
    try:
        yield
    finally:
        relax_collection()
        gc.enable()


def relax_collection() -> None:
    """Exempt all present objects from collection, and collect later ones less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
