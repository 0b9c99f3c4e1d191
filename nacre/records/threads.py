"""Run blocking work in a thread: function + arguments -> its result; `Deadline` and `CancelToken` say when to end.

Threads can't be cancelled, so long work checks whether it should stop. Work that goes on after its caller was
cancelled is noted, so that the slot of the caller ends with the work.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# the work is bound to the processor: more threads would only wait for each other
MAX_THREADS = 8

# a pool of its own: file access in the default pool must not wait for the processor
_POOL = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="nacre-work")


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function(*args, **kwargs)`, run in a thread. If the caller is cancelled, the work learns it by
    `cancel_token`."""
    token, context = CancelToken(), copy_context()
    context.run(cancel_token.set, token)
    running = _POOL.submit(context.run, partial(function, *args, **kwargs))
    try:
        return await asyncio.wrap_future(running)
    except asyncio.CancelledError:
        token.over = True
        note_unfinished(running)
        raise


# on a busy machine a thread waits longer than it works; the clock limit is this many times the processor limit
CLOCK_FACTOR = 3.0


class Deadline(NamedTuple):
    """A limit of processor time, so that a busy machine gives the same answers as an idle one, and a limit of clock
    time.

    Reading the thread's processor time takes ten times as long as reading the clock. A thread can't have worked for
    longer than the clock ran, so the processor time is only read after `earliest`.
    """

    processor: float
    clock: float
    earliest: float

    def is_over(self) -> bool:
        """Whether the thread that started the deadline should stop."""
        now = time.monotonic()
        return now >= self.earliest and (now >= self.clock or time.thread_time() >= self.processor)


def start_deadline(seconds: float) -> Deadline:
    """The deadline of work that begins now and may take `seconds` of this thread's processor time.

    >>> start_deadline(60).is_over(), start_deadline(0).is_over()
    (False, True)
    """
    now = time.monotonic()
    return Deadline(time.thread_time() + seconds, now + seconds * CLOCK_FACTOR, now + seconds)


class WorkCancelled(Exception):
    """The caller no longer waits; the work ends without a result."""


class CancelToken:
    """One piece of work with a waiting caller. Any thread may set `over` when the caller stops waiting."""

    def __init__(self) -> None:
        self.over = False


cancel_token: ContextVar[CancelToken | None] = ContextVar("cancel_token", default=None)


def is_cancelled() -> bool:
    """Whether the caller of this thread's work no longer waits; False if no token is set."""
    token = cancel_token.get()
    return token is not None and token.over


def raise_if_cancelled() -> None:
    """Raise WorkCancelled if the caller no longer waits. Long loops call it once an iteration."""
    if is_cancelled():
        raise WorkCancelled


# work that goes on although its caller does not wait for it, in the order in which it was noted
unfinished_work: ContextVar[list["Future[Any]"] | None] = ContextVar("unfinished_work", default=None)


def note_unfinished(work: "Future[Any]") -> None:
    """Note work that is not done and that nobody waits for; without effect if nobody keeps account."""
    noted = unfinished_work.get()
    if noted is not None and not work.done():
        noted.append(work)
