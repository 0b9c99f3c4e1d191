"""An event loop in a thread of its own, for programs with and without one: coroutine -> its result."""

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
CLOSING_SECONDS = 10.0


class EventLoopThread:
    """A loop that starts with the first coroutine, and ends when it is closed, forgotten, or the program ends."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()
        self._end: Callable[[], object] = lambda: None

    def start(self, work: Coroutine[Any, Any, T], at_end: Callable[[], Awaitable[None]]) -> "Future[T]":
        """Begin a coroutine; `at_end` is awaited in the loop before it ends."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="nacre", daemon=True)
                thread.start()
                self._end = end = weakref.finalize(self, _end, self._loop, thread, at_end)
                # when Python ends, so do the pools that closing needs; the thread ends with them
                end.atexit = False
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin a coroutine where the loop runs; takes no lock, so that a finalizer may call it."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(work(), loop)

    def close(self) -> None:
        """End the loop; what still runs is cancelled."""
        with self._starting:
            self._end()
            self._loop = None


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, at_end: Callable[[], Awaitable[None]]) -> None:
    asyncio.run_coroutine_threadsafe(_wind_up(at_end), loop).result(CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSING_SECONDS)
    loop.close()


async def _wind_up(at_end: Callable[[], Awaitable[None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await at_end()
    await asyncio.get_running_loop().shutdown_asyncgens()
