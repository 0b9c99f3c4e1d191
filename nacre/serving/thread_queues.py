"""One turn at a time for a thread: first come, first served within a process, one by one between processes."""

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
    """The queues of a data folder. A process that dies leaves its place; threads that share a slot wait needlessly."""

    def __init__(self, data: Path) -> None:
        self._folder = data / QUEUE_FOLDER
        self._here: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, owner: str, thread: str) -> AsyncIterator[None]:
        """Wait for one's turn, and keep it until the block ends."""
        slot = blake2b(f"{owner}:{thread}".encode(), digest_size=1).hexdigest()
        # within a process the order is kept, and only the first in line looks at the file
        async with self._here.setdefault(slot, asyncio.Lock()):
            # nobody tells when another process is done
            while (held := await run_in_thread(self._take, slot)) is None:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            try:
                yield
            finally:
                os.close(held)

    def _take(self, slot: str) -> int | None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._folder / slot, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            # where no file can be made, as on a full disk, all threads without one share the folder as theirs
            handle = os.open(self._folder.parent, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle
