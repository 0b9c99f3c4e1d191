"""Blocking work (SQLite, ONNX, tantivy) off the event loop: function + arguments -> its result, from a thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from nacre.records.cancellation import CancelToken, cancel_token

P = ParamSpec("P")
T = TypeVar("T")

# more at once only wait for each other, and for the event loop's turn: the work is bound to the processor
AT_ONCE = 8
# of its own, so that what waits for a processor keeps nobody from reading a file
_POOL = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="nacre-work")


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `function(*args, **kwargs)` in a thread; if the caller is cancelled, the work is told (`cancellation`)."""
    waiting, context = CancelToken(), copy_context()
    context.run(cancel_token.set, waiting)
    running = _POOL.submit(context.run, partial(function, *args, **kwargs))
    try:
        return await asyncio.wrap_future(running)
    except asyncio.CancelledError:
        waiting.over = True
        raise
