"""A turnstile: callers of any thread or event loop -> one at a time, in the order they came."""

import asyncio
import threading
from collections import deque
from concurrent.futures import Future


class FairLock:
    """`enter` or `enter_blocking` waits for one's turn, `leave` ends it; who is cancelled while waiting gives it up."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[Future[None]] = deque()
        self._taken = False

    async def enter(self) -> None:
        """Wait for one's turn without holding up the event loop."""
        place = self._place()
        try:
            await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            if not place.cancel():
                # the turn came in the moment it was given up
                self.leave()
            raise

    def enter_blocking(self) -> None:
        """Wait for one's turn in this thread."""
        self._place().result()

    def leave(self) -> None:
        """Let the next one in."""
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
