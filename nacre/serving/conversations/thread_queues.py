"""One turn at a time per thread: owner + thread -> a lock, first come first served, exclusive across processes."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from weakref import WeakValueDictionary

from agents.run_in_thread import run_in_thread

QUEUE_FOLDER = ".queues"
POLL_SECONDS = 0.02


class ThreadQueues:
    """The locks of a data folder, 256 slots of hashed threads. The system releases the locks of a process that dies."""

    def __init__(self, data: Path) -> None:
        self._folder = data / QUEUE_FOLDER
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def lock(self, owner: str, thread: str) -> AsyncIterator[None]:
        """Wait for the lock of a thread and hold it until the block ends."""
        slot = blake2b(f"{owner}:{thread}".encode(), digest_size=1).hexdigest()
        # within a process the order of arrival holds, and only the first waiter polls the file
        async with self._locks.setdefault(slot, asyncio.Lock()):
            # another process does not notify this one when it releases the file
            while (handle := await run_in_thread(self._try_lock, slot)) is None:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            try:
                yield
            finally:
                os.close(handle)

    def _try_lock(self, slot: str) -> int | None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._folder / slot, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            # if no file can be created, as on a full disk, all such threads share a lock on the folder
            handle = os.open(self._folder.parent, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle
