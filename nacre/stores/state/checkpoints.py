"""LangGraph's checkpoints in SQLite, in the order in which they were written: thread -> the latest checkpoint, or all.
Row numbers give the order: ids come from the clock, and one that is set back would hide later turns."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_id
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_ORDER = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY rowid DESC"

# with it, the bytes of an owner are counted without reading checkpoints
_SIZES = "CREATE INDEX IF NOT EXISTS checkpoint_size ON checkpoints (thread_id, length(checkpoint))"

_ALL = (
    "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints"
    " WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY rowid DESC"
)

_COPY = (
    "INSERT INTO checkpoints SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
    " FROM checkpoints WHERE thread_id = ? ORDER BY rowid"
)


@dataclass(frozen=True)
class StoredCheckpoint:
    """A checkpoint as it is stored: its id, that of the checkpoint it was made from, and its serialised content."""

    id: str
    parent: str | None
    type: str
    content: bytes


class OrderedSaver(BaseCheckpointSaver[str], ABC):
    """What makes a saver's latest checkpoint the one that was written last; the saver follows it among the bases."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if get_checkpoint_id(config):
            return await super().aget_tuple(config)
        latest = await self._ids(config, limit=1)
        if not latest:
            return None
        place = {**config["configurable"], "checkpoint_id": latest[0]}
        return await super().aget_tuple({**config, "configurable": place})

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The checkpoints of one thread, the last written first; without a thread as LangGraph lists them."""
        if config is None:
            async for found in super().alist(config, filter=filter, before=before, limit=limit):
                yield found
            return
        order = {id: place for place, id in enumerate(await self._ids(config))}
        listed = [found async for found in super().alist(config, filter=filter)]
        listed.sort(key=lambda found: order.get(found.checkpoint["id"], -1))
        if before is not None:
            first = order.get(get_checkpoint_id(before) or "", -1)
            listed = [found for found in listed if order.get(found.checkpoint["id"], -1) > first]
        for found in listed[:limit]:
            yield found

    @abstractmethod
    async def _ids(self, config: RunnableConfig, limit: int | None = None) -> list[str]:
        """The ids of a thread's checkpoints, the last written first."""

    @abstractmethod
    async def stored(self, thread_id: str, most_bytes: int) -> list[StoredCheckpoint]:
        """The checkpoints of a thread, the last written first, until they have more than so many bytes."""


class OrderedSqliteSaver(OrderedSaver, AsyncSqliteSaver):
    """`AsyncSqliteSaver` whose latest checkpoint is the one that was written last."""

    async def setup(self) -> None:
        if self.is_setup:
            return
        await super().setup()
        async with self.lock, self.conn.execute(_SIZES):
            await self.conn.commit()

    async def adelete_thread(self, thread_id: str) -> None:
        # LangGraph's method expects tables that only the first turn of a data folder creates
        await self.setup()
        await super().adelete_thread(thread_id)

    async def stored(self, thread_id: str, most_bytes: int) -> list[StoredCheckpoint]:
        await self.setup()
        found: list[StoredCheckpoint] = []
        size = 0
        async with self.lock, self.conn.execute(_ALL, (thread_id,)) as rows:
            async for row in rows:
                found.append(StoredCheckpoint(*row))
                size += len(row[3])
                if size > most_bytes:
                    break
        return found

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.setup()
        async with self.lock, self.conn.execute(_COPY, (target_thread_id, source_thread_id)):
            await self.conn.commit()

    async def _ids(self, config: RunnableConfig, limit: int | None = None) -> list[str]:
        await self.setup()
        place = config["configurable"]
        given = (str(place["thread_id"]), place.get("checkpoint_ns", ""), -1 if limit is None else limit)
        async with self.lock, self.conn.execute(f"{_ORDER} LIMIT ?", given) as rows:
            return [row[0] async for row in rows]
