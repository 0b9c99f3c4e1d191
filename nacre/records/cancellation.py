"""When work in a thread must end: a deadline, or a caller who no longer waits.

Threads can't be cancelled, so long work asks whether it should go on.
"""

import time
from contextvars import ContextVar
from typing import NamedTuple

# on a busy machine a thread may wait for so many times as long as it works
CLOCK_FACTOR = 3.0


class Deadline(NamedTuple):
    """Processor time counts, so that a busy machine gives the same answers as a quiet one; the clock bounds it too.

    A thread can't have worked for longer than the clock went on, so that until `earliest` its processor, which takes
    ten times as long to read, need not be asked.
    """

    processor: float
    clock: float
    earliest: float

    def is_over(self) -> bool:
        """Whether the thread that it was made for should end."""
        now = time.monotonic()
        return now >= self.earliest and (now >= self.clock or time.thread_time() >= self.processor)


def start_deadline(seconds: float) -> Deadline:
    """The deadline of work that begins now and may take so many seconds of this thread's processor.

    >>> within(60).is_over(), within(0).is_over()
    (False, True)
    """
    now = time.monotonic()
    return Deadline(time.thread_time() + seconds, now + seconds * CLOCK_FACTOR, now + seconds)


class WorkCancelled(Exception):
    """Nobody waits any more; the work ends without a result."""


class CancelToken:
    """One piece of work that somebody waits for, until `over` is set, which any thread may do."""

    def __init__(self) -> None:
        self.over = False


cancel_token: ContextVar[CancelToken | None] = ContextVar("waited_for", default=None)


def is_cancelled() -> bool:
    """Whether whoever asked for the work of this thread has left; never where nobody said who waits."""
    waiting = cancel_token.get()
    return waiting is not None and waiting.over


def raise_if_cancelled() -> None:
    """Raises Left where nobody waits; long loops call it once a round."""
    if is_cancelled():
        raise WorkCancelled
