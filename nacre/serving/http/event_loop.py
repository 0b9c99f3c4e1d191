"""The event loop of what serves: uvloop's where it can be had, for a turn is an eighth shorter on it."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A new event loop; where there is no uvloop, as on Windows, Python's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
