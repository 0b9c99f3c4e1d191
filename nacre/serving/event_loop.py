"""The event loop of what serves: uvloop's where there is one, for a turn is an eighth shorter on it."""

import asyncio
import sys


def new() -> asyncio.AbstractEventLoop:
    """A new event loop; on Windows, which uvloop does not know, Python's own."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()
