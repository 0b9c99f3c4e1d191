"""A cache for threads: one computes a result, and the others that need the same one wait for it."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock, RLock
from typing import TypeVar
from weakref import WeakValueDictionary

from nacre.records.threads import raise_if_cancelled

_Result = TypeVar("_Result")


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
