"""Imports of a command that starts cold: no garbage is looked for while they make what stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Within it nothing is collected; after it, what is there is left out of every collection.

    A tenth of the processor time of `nacre ask` goes into looking through modules that all stay.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
