"""End work whose client has left: request + coroutine -> its result."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import HTTPException, Request

T = TypeVar("T")
# nobody reads it; nginx logs such requests with this status
CLIENT_LEFT = 499


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client has left. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work; if the client leaves before, the work is cancelled."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise HTTPException(CLIENT_LEFT, "The client has left.")
    finally:
        for task in (working, leaving):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
