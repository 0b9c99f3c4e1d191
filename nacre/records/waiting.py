"""Whether anybody still waits for what a thread works out: threads can't be cancelled, so that long work asks."""

from contextvars import ContextVar


class Left(Exception):
    """Nobody waits any more; the work ends without a result."""


class Waiting:
    """One piece of work that somebody waits for, until `over` is set, which any thread may do."""

    def __init__(self) -> None:
        self.over = False


waited_for: ContextVar[Waiting | None] = ContextVar("waited_for", default=None)


def is_left() -> bool:
    """Whether whoever asked for the work of this thread has left; never where nobody said who waits."""
    waiting = waited_for.get()
    return waiting is not None and waiting.over


def go_on() -> None:
    """Raises Left where nobody waits; long loops call it once a round."""
    if is_left():
        raise Left
