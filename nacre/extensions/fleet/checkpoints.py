"""LangGraph's checkpoints on a PostgreSQL server, in the order of writing; see `stores/state/checkpoints`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from nacre.records.threads import run_in_thread
from nacre.stores.state.checkpoints import OrderedSaver, StoredCheckpoint
from nacre.stores.state.conversations import index_sizes
from nacre.stores.state.database import (
    CONNECT_ARGUMENTS,
    CONNECT_SECONDS,
    StateDatabase,
    StorageError,
    has_news,
    server_error,
    unusable_state,
)
from nacre.stores.state.locks import StateLocks

CONNECTIONS = 4

# ids of checkpoints are made from clocks, and those of several machines differ: rows are numbered as they are written
_NUMBERED = "ALTER TABLE checkpoints ADD COLUMN IF NOT EXISTS written BIGSERIAL"

_HAS_NUMBERS = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('checkpoints') AND attname = 'written'"

_ORDER = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = %s AND checkpoint_ns = %s ORDER BY written DESC"

_LATEST = "WHERE thread_id = %s AND checkpoint_ns = %s ORDER BY written DESC LIMIT 1"

# the version of checkpoints since which one row has all of them
_WITHOUT_SENDS = 4

_SIZES = (
    "SELECT checkpoint_id, (SELECT coalesce(sum(octet_length(b.blob)), 0) FROM checkpoint_blobs b,"
    " jsonb_each_text(c.checkpoint -> 'channel_versions') v WHERE b.thread_id = c.thread_id"
    " AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key AND b.version = v.value) AS size"
    " FROM checkpoints c WHERE thread_id = %s AND checkpoint_ns = '' ORDER BY written DESC"
)

_COPY = (
    "INSERT INTO checkpoint_blobs SELECT %(new)s, checkpoint_ns, channel, version, type, blob FROM checkpoint_blobs"
    " WHERE thread_id = %(old)s ON CONFLICT DO NOTHING",
    "INSERT INTO checkpoints"
    " (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)"
    " SELECT %(new)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints"
    " WHERE thread_id = %(old)s ORDER BY written",
)


class OrderedPostgresSaver(OrderedSaver, AsyncPostgresSaver):
    """`AsyncPostgresSaver` whose latest checkpoint is the one that was written last. It raises StorageError."""

    def __init__(self, pool: AsyncConnectionPool[Any]) -> None:
        super().__init__(pool)
        # each statement has a connection of its own, so they need not wait for each other
        self.lock = nullcontext()  # type: ignore[assignment]

    async def setup(self) -> None:
        """Create the tables. One process at a time: LangGraph's statements may not run twice at once."""
        await super().setup()
        async with self._cursor() as cursor:
            await cursor.execute(_HAS_NUMBERS)
            if await cursor.fetchone() is None:
                await cursor.execute(_NUMBERED)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if get_checkpoint_id(config):
            return await super().aget_tuple(config)
        place = config["configurable"]
        async with self._cursor() as cursor:
            given = str(place["thread_id"]), place.get("checkpoint_ns", "")
            await cursor.execute(self.SELECT_SQL + _LATEST, given, binary=True)
            found = await cursor.fetchone()
        if found is None:
            return None
        if found["checkpoint"]["v"] < _WITHOUT_SENDS:
            # an earlier version of LangGraph wrote it, whose further parts its own method reads
            return await super().aget_tuple(config)
        return await self._load_checkpoint_tuple(found)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        values = {
            # texts are stored as JSON of PostgreSQL, which has no NUL
            channel: value.replace("\0", "\ufffd") if isinstance(value, str) else value
            for channel, value in checkpoint["channel_values"].items()
        }
        return await super().aput(config, {**checkpoint, "channel_values": values}, metadata, new_versions)

    async def stored(self, thread_id: str, most_bytes: int) -> list[StoredCheckpoint]:
        """The checkpoints of a thread, the last written first, until they have more than so many bytes."""
        async with self._cursor() as cursor:
            await cursor.execute(_SIZES, (thread_id,))
            rows = await cursor.fetchall()
        found: list[StoredCheckpoint] = []
        size = 0
        for row in rows:
            place = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": row["checkpoint_id"]}
            one = await super().aget_tuple({"configurable": place})
            if one is None:
                continue
            parent = (one.parent_config or {}).get("configurable", {}).get("checkpoint_id")
            found.append(StoredCheckpoint(row["checkpoint_id"], parent, *self.serde.dumps_typed(one.checkpoint)))
            size += int(row["size"]) + len(found[-1].content)
            if size > most_bytes:
                break
        return found

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        async with self._cursor(pipeline=True) as cursor:
            for statement in _COPY:
                await cursor.execute(statement, {"old": source_thread_id, "new": target_thread_id})

    async def _ids(self, config: RunnableConfig, limit: int | None = None) -> list[str]:
        place = config["configurable"]
        async with self._cursor() as cursor:
            await cursor.execute(f"{_ORDER} LIMIT %s", (str(place["thread_id"]), place.get("checkpoint_ns", ""), limit))
            return [row["checkpoint_id"] for row in await cursor.fetchall()]

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        try:
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
        except psycopg.Error as error:
            raise server_error(error) from None


@asynccontextmanager
async def open_postgres_saver(database: StateDatabase, locks: StateLocks) -> AsyncIterator[OrderedPostgresSaver]:
    """The checkpoints on the server of a state database. Raises ConfigError if it can't be used."""
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    options = {**CONNECT_ARGUMENTS, "autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url,
        min_size=1,
        max_size=CONNECTIONS,
        timeout=CONNECT_SECONDS,
        # after an outage the next question connects, rather than an attempt that waits ever longer
        reconnect_timeout=CONNECT_SECONDS,
        kwargs=options,
        check=_check,
        open=False,
    )
    try:
        await pool.open()
        saver = OrderedPostgresSaver(pool)
        try:
            while (lock := await run_in_thread(locks.try_acquire, "tables of checkpoints")) is None:  # noqa: ASYNC110
                await asyncio.sleep(locks.poll_seconds)
            try:
                await saver.setup()
                await run_in_thread(index_sizes, database)
            finally:
                await run_in_thread(lock.release)
        except StorageError as error:
            raise unusable_state(database, error) from error
        yield saver
    finally:
        # a task that is cancelled must not leave connections behind
        await asyncio.shield(pool.close())


async def _check(connection: Any) -> None:
    if has_news(connection):
        # the pool puts an open connection back
        await connection.close()
        raise psycopg.OperationalError
