"""Run blocking work (SQLite, ONNX, tantivy) in a thread: function + arguments -> its result."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from nacre.records.cancellation import CancelToken, cancel_token, note_unfinished

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
