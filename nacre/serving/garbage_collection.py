"""What a process loads as it starts stays: no garbage is looked for among it, then or later."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# objects that are made before the youngest are looked through, and how often before the older ones are (Python's own:
# 700, 10, 10); with those a tenth of a turn's processor time went into it
YOUNG, MIDDLE, OLD = 20_000, 20, 50


@contextmanager
def pause_collection() -> Iterator[None]:
    """Within it nothing is collected; after it, what is there is left out of every collection.

    A tenth of the processor time of `nacre ask` goes into looking through modules that all stay.
    """
    gc.disable()
    try:
        yield
    finally:
        relax_collection()
        gc.enable()


def relax_collection() -> None:
    """Leave what is there out of every collection, and look through what comes then less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
