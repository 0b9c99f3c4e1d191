"""Cancel work whose client has disconnected: request + coroutine -> its result."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import HTTPException, Request

T = TypeVar("T")
# no client receives it; nginx logs such requests with this status
CLIENT_LEFT = 499


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client has disconnected. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work; the work is cancelled if the client disconnects."""
    working, disconnecting = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect(request))
    try:
        await asyncio.wait([working, disconnecting], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise HTTPException(CLIENT_LEFT, "The client has disconnected.")
    finally:
        working.cancel()
        disconnecting.cancel()
        # asyncio logs an error of work that nobody waits for any more
        await asyncio.wait([working, disconnecting])
