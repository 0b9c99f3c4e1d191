"""How much a key may store: caller -> an error once its threads have reached the limit of bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from agents.run_in_thread import run_in_thread
from nacre.serving.errors import QuotaExceeded
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.stores.conversations.conversations import Conversations

MEGABYTE = 1_000_000


class StorageQuota:
    """The limit of the threads of each key, with their turns, checkpoints and feedback; 0 for none. Without keys, all
    belongs to the user of this machine, and there is no limit."""

    def __init__(self, conversations: Conversations, megabytes: int) -> None:
        self._conversations = conversations
        self._megabytes = megabytes
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self, caller: Caller) -> None:
        """Raises QuotaExceeded if the caller may store nothing more."""
        if not self._megabytes or caller.owner == LOCAL_CALLER.owner:
            return
        stored = await run_in_thread(self._conversations.stored_bytes, caller.owner)
        if stored >= self._megabytes * MEGABYTE:
            raise QuotaExceeded(
                f"The threads of this key have {stored // MEGABYTE} MB, and {self._megabytes} MB are allowed. Delete "
                "threads (DELETE /api/threads/NAME), or ask without a thread."
            )

    @asynccontextmanager
    async def checked(self, caller: Caller) -> AsyncIterator[None]:
        """Like `check`, for a block that stores something. The blocks of a caller run one after the other."""
        async with self._locks.setdefault(caller.owner, asyncio.Lock()):
            await self.check(caller)
            yield
