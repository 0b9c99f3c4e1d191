"""The capacity of a process: owner -> a slot for concurrent work, held until the block ends.

No caller holds all slots, so that another one need not wait for the end of somebody's slow work; who waits is served in
turn by caller, and within a caller in order of arrival. A slot ends with the last work that was done for it: if its
holder leaves early, when the threads and processes of the holder are free again. Fewer garbage collections: objects
loaded at startup are never scanned, later ones less often.
"""

import asyncio
import gc
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from nacre.records.threads import unfinished_work


def default_share(slots: int) -> int:
    """How many of the slots one caller may hold: all but a quarter, at least one.

    >>> [default_share(slots) for slots in (1, 2, 8)]
    [1, 1, 6]
    """
    return max(1, slots - max(1, slots // 4))


class FairSlots:
    """A number of slots, for one event loop."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._free = slots
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}
        # when an owner that holds a slot or waits was last given one
        self._last_grant: dict[str, int] = {}
        self._grants = 0
        # tasks that wait for the end of work whose caller has left
        self._leaving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def hold(self, owner: str, share: int | None = None) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block and its unfinished work have ended; the owner holds at most
        `share` at the same time."""
        waiter = _Waiter(default_share(self.slots) if share is None else share)
        self._waiting.setdefault(owner, deque()).append(waiter)
        self._grant()
        noted: list[Future[Any]] = []
        before = unfinished_work.get()
        unfinished_work.set(noted)
        try:
            await waiter.granted
            yield
        finally:
            unfinished_work.set(before)
            if unfinished := [work for work in noted if not work.done()]:
                leaving = asyncio.create_task(self._leave_after(owner, waiter, unfinished))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
            else:
                self._leave(owner, waiter)

    def _grant(self) -> None:
        """Give free slots to those who wait, first to the owner who was given one the longest ago."""
        while self._free:
            self._drop_cancelled()
            allowed = [owner for owner, queue in self._waiting.items() if self._held[owner] < queue[0].share]
            if not allowed:
                return
            owner = min(allowed, key=lambda each: self._last_grant.get(each, -1))
            self._waiting[owner].popleft().granted.set_result(None)
            self._held[owner] += 1
            self._free -= 1
            self._grants += 1
            self._last_grant[owner] = self._grants
            self._forget_idle(owner)

    async def _leave_after(self, owner: str, waiter: "_Waiter", unfinished: list[Future[Any]]) -> None:
        await asyncio.wait([asyncio.wrap_future(work) for work in unfinished])
        self._leave(owner, waiter)

    def _leave(self, owner: str, waiter: "_Waiter") -> None:
        """Give the slot back, if there was one."""
        if waiter.granted.done() and not waiter.granted.cancelled():
            self._held[owner] -= 1
            self._free += 1
        self._forget_idle(owner)
        self._grant()

    def _drop_cancelled(self) -> None:
        """Forget those who were cancelled while they waited, whether or not they have noticed it yet."""
        for owner, queue in list(self._waiting.items()):
            self._waiting[owner] = deque(each for each in queue if not each.granted.cancelled())
            self._forget_idle(owner)

    def _forget_idle(self, owner: str) -> None:
        if not self._waiting.get(owner):
            self._waiting.pop(owner, None)
            if not self._held[owner]:
                del self._held[owner]
                self._last_grant.pop(owner, None)


class _Waiter:
    """One piece of work that waits for a slot."""

    def __init__(self, share: int) -> None:
        self.share = share
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


# thresholds of the three generations; with Python's defaults (700, 10, 10) collection took a tenth of a turn's CPU time
YOUNG, MIDDLE, OLD = 20_000, 20, 50


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pause garbage collection during imports; afterwards the imported objects are exempt from it.

    Otherwise a tenth of the CPU time of `nacre ask` is spent on scanning modules.
    """
    gc.disable()
    try:
        yield
    finally:
        relax_collection()
        gc.enable()


def relax_collection() -> None:
    """Exempt all present objects from collection, and collect later ones less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
