"""Run coroutines in a background thread, for programs with and without an event loop: coroutine -> Future."""

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
CLOSING_SECONDS = 10.0


class EventLoopThread:
    """An event loop that starts with the first coroutine and ends on `close`, garbage collection or program exit."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()
        self._end: Callable[[], object] = lambda: None

    def submit(self, work: Coroutine[Any, Any, T], on_close: Callable[[], Awaitable[None]]) -> "Future[T]":
        """Schedule a coroutine; `on_close` is awaited in the loop before the loop ends."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="nacre", daemon=True)
                thread.start()
                self._end = end = weakref.finalize(self, _end, self._loop, thread, on_close)
                # at interpreter exit the thread pools that closing needs are gone already
                end.atexit = False
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def submit_if_running(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Schedule a coroutine if the loop is running. It takes no lock, so that a finalizer may call it."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(work(), loop)

    def close(self) -> None:
        """End the loop and cancel its running tasks."""
        with self._starting:
            self._end()
            self._loop = None


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, on_close: Callable[[], Awaitable[None]]) -> None:
    asyncio.run_coroutine_threadsafe(_shut_down(on_close), loop).result(CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSING_SECONDS)
    loop.close()


async def _shut_down(on_close: Callable[[], Awaitable[None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await on_close()
    await asyncio.get_running_loop().shutdown_asyncgens()
