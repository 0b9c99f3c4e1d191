"""A fair lock: callers of any thread or event loop hold it one at a time, in the order of their requests."""

import asyncio
import threading
from collections import deque
from concurrent.futures import Future


class FairLock:
    """`enter` or `enter_blocking` acquires the lock, `leave` releases it. A cancelled caller leaves the queue."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[Future[None]] = deque()
        self._taken = False

    async def enter(self) -> None:
        """Acquire the lock without blocking the event loop."""
        place = self._place()
        try:
            await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            if not place.cancel():
                # the lock was acquired at the moment of the cancellation
                self.leave()
            raise

    def enter_blocking(self) -> None:
        """Acquire the lock, blocking this thread."""
        self._place().result()

    def leave(self) -> None:
        """Release the lock to the next caller."""
        with self._guard:
            while self._waiting:
                following = self._waiting.popleft()
                if following.set_running_or_notify_cancel():
                    following.set_result(None)
                    return
            self._taken = False

    def _place(self) -> "Future[None]":
        place: Future[None] = Future()
        with self._guard:
            if self._taken:
                self._waiting.append(place)
            else:
                self._taken = True
                place.set_result(None)
        return place
