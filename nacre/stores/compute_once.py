"""A cache for threads: one computes a result, and the others that need the same one wait for it."""

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import TypeVar
from weakref import WeakValueDictionary

from nacre.records.threads import raise_if_cancelled

_Result = TypeVar("_Result")


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while many lasting objects are made: it would scan them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _KeyLock:
    """The lock of the arguments of one call."""

    def __init__(self) -> None:
        self.lock = RLock()


def compute_once(
    size: int,
) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Cache the `size` last results of a function by its arguments.

    With `lru_cache` alone, all threads that ask before the first result exists compute it, each more slowly. A result
    whose caller no longer waits may be incomplete, and is not cached.
    """

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @lru_cache(size)
        @wraps(function)
        def cached(*arguments: Hashable) -> _Result:
            with collection_paused():
                result = function(*arguments)
            raise_if_cancelled()
            return result

        locks: WeakValueDictionary[Hashable, _KeyLock] = WeakValueDictionary()
        lock = Lock()

        def compute(*arguments: Hashable) -> _Result:
            with lock:
                own = locks.setdefault(arguments, _KeyLock())
            with own.lock:
                return cached(*arguments)

        return compute

    return decorate
