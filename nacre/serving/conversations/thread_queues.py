"""One turn at a time per thread: owner + thread -> a lock, first come first served, exclusive across processes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from agents.run_in_thread import run_in_thread
from nacre.stores.state.locks import StateLock, StateLocks


class ThreadQueues:
    """The locks of threads. A process that dies releases its locks."""

    def __init__(self, locks: StateLocks) -> None:
        self.stored_locks = locks
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._returning: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lock(self, owner: str, thread: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for the lock of a thread and hold it until the block ends. The block gets a function that raises
        StorageError if the lock was lost meanwhile."""
        slot = self.stored_locks.slot(f"{owner}:{thread}")
        # within a process the order of arrival holds, and only the first waiter asks again and again
        async with self._locks.setdefault(slot, asyncio.Lock()):
            # another process does not notify this one when it releases the lock
            while (held := await self._try_acquire(slot)) is None:  # noqa: ASYNC110
                await asyncio.sleep(self.stored_locks.poll_seconds)
            try:
                yield held.verify
            finally:
                # it may ask a server; whoever cancels the block does not interrupt that
                await asyncio.shield(run_in_thread(held.release))

    async def _try_acquire(self, slot: str) -> StateLock | None:
        acquiring = asyncio.ensure_future(run_in_thread(self.stored_locks.try_acquire, slot))
        try:
            return await asyncio.shield(acquiring)
        except asyncio.CancelledError:
            # nobody would release a lock that is acquired after its turn was cancelled
            returning = asyncio.create_task(_release_acquired(acquiring))
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            raise


async def _release_acquired(acquiring: asyncio.Future[StateLock | None]) -> None:
    """Release the lock that is being acquired, if it is."""
    await asyncio.wait([acquiring])
    if acquiring.exception() is None and (held := acquiring.result()) is not None:
        await run_in_thread(held.release)
