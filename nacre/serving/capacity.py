"""The capacity of a process: owner -> a slot for concurrent work, held until the block ends.

A slot ends with the last work that was done for it: if its holder leaves early, when the threads and processes of the
holder are free again. Fewer garbage collections: objects loaded at startup are never scanned, later ones less often.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from nacre.records.threads import FairQueue, default_share, unfinished_work, work_owner


class FairSlots:
    """A number of slots, for one event loop."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(slots)
        # tasks that wait for the end of work whose caller has left
        self._leaving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def hold(self, owner: str, share: int | None = None) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block and its unfinished work have ended; the owner holds at most
        `share` at the same time, and less than all of the processes that work for the block unless it is all slots."""
        share = default_share(self.slots) if share is None else share
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put(owner, granted, share)
        self._grant()
        noted: list[Future[Any]] = []
        before = unfinished_work.get(), work_owner.get()
        unfinished_work.set(noted)
        work_owner.set(owner if share < self.slots else None)
        try:
            await granted
            yield
        finally:
            unfinished_work.set(before[0])
            work_owner.set(before[1])
            if unfinished := [work for work in noted if not work.done()]:
                leaving = asyncio.create_task(self._leave_after(owner, granted, unfinished))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
            else:
                self._leave(owner, granted)

    def _grant(self) -> None:
        """Give free slots to those who wait."""
        while (following := self._queue.take()) is not None:
            following[1].set_result(None)

    async def _leave_after(self, owner: str, granted: asyncio.Future[None], unfinished: list[Future[Any]]) -> None:
        await asyncio.gather(*map(asyncio.wrap_future, unfinished), return_exceptions=True)
        self._leave(owner, granted)

    def _leave(self, owner: str, granted: asyncio.Future[None]) -> None:
        """Give the slot back, if there was one."""
        if granted.done() and not granted.cancelled():
            self._queue.leave(owner)
        self._grant()


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
