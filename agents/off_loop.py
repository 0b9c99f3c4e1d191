"""Blocking work (SQLite, ONNX, tantivy) off the event loop: function + arguments -> its result, from a thread."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function(*args, **kwargs)`, run in a thread."""
    return await asyncio.to_thread(function, *args, **kwargs)
