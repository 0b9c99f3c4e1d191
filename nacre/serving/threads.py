"""Conversations that last: list, read, fork, edit, delete; what people see and the loop remembers stay in step."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from agents.run_in_thread import run_in_thread
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.http.error_status import NotFound
from nacre.serving.keys import Caller
from nacre.serving.thread_queues import ThreadQueues
from nacre.stores.sqlite.conversations import Conversation, Conversations, ConversationStoreError, Turn

log = logging.getLogger(__name__)

MAX_THREAD_NAME = 200


@dataclass(frozen=True)
class Threads:
    """The threads of a data folder: `seen` by their owners, remembered by the loop in `saver`."""

    seen: Conversations
    saver: BaseCheckpointSaver[str]
    queues: ThreadQueues

    async def find(self, caller: Caller, thread: str) -> Conversation | None:
        """A thread of the caller about a graph that it may read, or None."""
        found = await run_in_thread(self.seen.find, caller.owner, thread)
        return found if found and caller.reads(found.graph) else None

    async def get(self, caller: Caller, thread: str) -> Conversation:
        """As `find`; raises Missing."""
        found = await self.find(caller, thread)
        if found is None:
            raise NotFound("There is no such thread. List them at /api/threads.")
        return found

    async def listed(self, caller: Caller, search: str, limit: int, skip: int) -> list[Conversation]:
        """The caller's threads, the latest first."""
        return await run_in_thread(self.seen.listed, caller.owner, search, caller.graphs, limit, skip)

    async def turns(self, caller: Caller, thread: str) -> list[Turn]:
        """All finished turns of a thread; raises Missing."""
        await self.get(caller, thread)
        return await run_in_thread(self.seen.turns, caller.owner, thread)

    async def begin(self, caller: Caller, graph: str, title: str) -> Conversation:
        """A new thread without turns."""
        thread = uuid.uuid4().hex
        await run_in_thread(self.seen.begin, caller.owner, thread, graph, title)
        return await self.get(caller, thread)

    async def rename(self, caller: Caller, thread: str, title: str) -> Conversation:
        """Give a thread another title; raises Missing."""
        await self.get(caller, thread)
        await run_in_thread(self.seen.rename, caller.owner, thread, title)
        return await self.get(caller, thread)

    async def delete(self, caller: Caller, thread: str) -> None:
        """Forget a thread, once the turn under way is done; raises Missing."""
        await self.get(caller, thread)
        await self._delete(caller.owner, thread)

    async def forget(self, days: float) -> int:
        """Delete the threads that nobody touched for so long, of all owners; how many there were."""
        old = await run_in_thread(self.seen.untouched, time.time() - days * 86400)
        for owner, thread in old:
            await self._delete(owner, thread)
        return len(old)

    async def fork(self, caller: Caller, thread: str, turn: int) -> Conversation:
        """A new thread that begins with the turns of another, up to `turn`; raises Missing."""
        new = uuid.uuid4().hex
        async with self.queues.turn(caller.owner, thread):
            await self.get(caller, thread)
            await self._remember(caller.owner, thread, new, turn)
            await run_in_thread(self.seen.copy, caller.owner, thread, new, turn)
        return await self.get(caller, new)

    async def rewind(self, caller: Caller, thread: str, turn: int) -> None:
        """Go back to before `turn`; in the queue of the thread only. Raises Missing."""
        await self.get(caller, thread)
        if turn == 1:
            await self._check(caller.owner, thread, turn)
            await self.saver.adelete_thread(f"{caller.owner}:{thread}")
        else:
            await self._check(caller.owner, thread, turn)
            await self._remember(caller.owner, thread, thread, turn - 1)
        await run_in_thread(self.seen.cut, caller.owner, thread, turn)

    async def keep(self, caller: Caller, thread: str, record: Answer) -> None:
        """Keep a finished turn. Who leaves meanwhile does not break that off: it is kept or known not to be."""
        keeping = asyncio.ensure_future(run_in_thread(self.seen.keep, caller.owner, thread, record))
        try:
            await asyncio.shield(keeping)
        except asyncio.CancelledError:
            await asyncio.wait([keeping])
            if why := keeping.exception():
                log.warning("a turn of thread %s, which its client left, is not kept: %s", thread, why)
            raise

    @asynccontextmanager
    async def undone_unless_kept(self, caller: Caller, thread: str) -> AsyncIterator[None]:
        """What the loop remembers of a turn that breaks off is forgotten, and what it remembers of one before that was
        not kept; in the queue of the thread only."""
        key = f"{caller.owner}:{thread}"
        before, last = await self._in_step(caller.owner, thread)
        try:
            yield
        except BaseException:
            if await run_in_thread(self.seen.last, caller.owner, thread) == last:
                await self._undo(key, before)
            raise

    async def _in_step(self, owner: str, thread: str) -> tuple[CheckpointTuple | None, int]:
        """What the loop remembers of a thread, and the number of its last kept turn. Where a turn could not be kept, or
        a kill came before it was, that is a turn too many, which goes."""
        key = f"{owner}:{thread}"
        before = await self._present(key)
        last = await run_in_thread(self.seen.last, owner, thread)
        if before is None or before.checkpoint["channel_values"].get("turn", 0) <= last:
            return before, last
        found = await self._after(key, last) if last else None
        if last and found is None:
            return before, last
        try:
            await self._undo(key, found)
        except ConversationStoreError as error:
            log.warning("the loop remembers more of thread %s than was kept: %s", thread, error)
        return await self._present(key), last

    async def _undo(self, key: str, before: CheckpointTuple | None) -> None:
        after = await self._present(key)
        if after is None:
            return
        if before is None:
            await self.saver.adelete_thread(key)
        elif after.checkpoint["id"] != before.checkpoint["id"]:
            await self._put(key, before)

    async def _delete(self, owner: str, thread: str) -> None:
        async with self.queues.turn(owner, thread):
            await self.saver.adelete_thread(f"{owner}:{thread}")
            await run_in_thread(self.seen.delete, owner, thread)

    async def _check(self, owner: str, thread: str, turn: int) -> None:
        if turn not in [each.record["turn"] for each in await run_in_thread(self.seen.turns, owner, thread)]:
            raise NotFound(f"This thread has no turn {turn}.")

    async def _remember(self, owner: str, thread: str, new: str, turn: int) -> None:
        """Let `new` remember what `thread` did after `turn`; in the same thread that becomes the present again."""
        await self._check(owner, thread, turn)
        found = await self._after(f"{owner}:{thread}", turn)
        if found is None:
            raise NotFound(f"This thread no longer remembers turn {turn}.")
        await self._put(f"{owner}:{new}", found)

    async def _put(self, key: str, found: CheckpointTuple) -> None:
        """Make a state the present one of a thread."""
        # ids of checkpoints grow with time, and the greatest is the present one
        latest = await self._present(key)
        newest = uuid.UUID(latest.checkpoint["id"]).int + 1 if latest else uuid.UUID(found.checkpoint["id"]).int
        checkpoint = {**found.checkpoint, "id": str(uuid.UUID(int=newest))}
        place = {"configurable": {"thread_id": key, "checkpoint_ns": ""}}
        versions = found.checkpoint["channel_versions"]
        await self.saver.aput(place, checkpoint, found.metadata, versions)  # type: ignore[arg-type]

    async def _present(self, key: str) -> CheckpointTuple | None:
        return await self.saver.aget_tuple({"configurable": {"thread_id": key}})

    async def _after(self, key: str, turn: int) -> CheckpointTuple | None:
        async for found in self.saver.alist({"configurable": {"thread_id": key}}):
            if found.checkpoint["channel_values"].get("turn") == turn:
                return found
        return None


def validate_thread_name(thread: str | None) -> str | None:
    """The name of a thread as it can be stored; a form that is left empty names none. Raises ConfigError.

    >>> checked_thread(" t "), checked_thread("")
    (' t ', None)
    """
    if not thread:
        return None
    if len(thread) > MAX_THREAD_NAME:
        raise ConfigError(f"A thread's name has at most {MAX_THREAD_NAME} characters; this has {len(thread)}.")
    # half of a character, as a broken paste leaves it, fits into no store
    return thread.encode(errors="replace").decode()
