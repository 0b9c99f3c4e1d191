"""Stored conversations, whose visible turns and LangGraph checkpoints stay in step; one turn at a time per thread, also
across processes; how much a key may store; which threads are old, by a time that a wrong clock can't move far."""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import CheckpointTuple

from nacre.errors import ConfigError, NacreError
from nacre.language.sanitize import storable_text
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound, QuotaExceeded
from nacre.serving.keys import LOCAL_CALLER, Caller, report_deed
from nacre.stores.state.checkpoints import OrderedSaver
from nacre.stores.state.conversations import MAX_TITLE_LENGTH, Conversation, Conversations, ConversationStoreError, Turn
from nacre.stores.state.locks import StateLock, StateLocks

log = logging.getLogger(__name__)

MAX_THREAD_NAME = 200
# bytes of the records of a thread that are read at once; a long one has more than a server has memory (given)
MAX_READ = 32_000_000


# names of the threads that visitors create, of 128 random bits, also for SQL; their turns, the share of a key's quota
# that all of them have, and the days after which unused ones are deleted (given)
VISITOR_THREAD, VISITOR_LIKE = re.compile(r"visitor-[0-9a-f]{32}"), "visitor-" + "_" * 32
MAX_VISITOR_TURNS, VISITOR_SHARE, VISITOR_DAYS = 50, 0.8, 7.0


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


class StorageQuota:
    """The limit of a key's threads, with turns, checkpoints and feedback; 0, or without keys: none."""

    def __init__(self, conversations: Conversations, megabytes: int) -> None:
        self._conversations = conversations
        self._megabytes = megabytes
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self, caller: Caller, turns: int = 0) -> None:
        """Raises QuotaExceeded if the caller may store nothing more, in a thread that has so many turns."""
        if caller.visitor and turns >= MAX_VISITOR_TURNS:
            raise QuotaExceeded(f"This conversation has {turns} questions, the most it may have. Begin a new one.")
        if not self._megabytes or (caller.owner == LOCAL_CALLER.owner and not caller.visitor):
            return
        stored = await run_in_thread(self._conversations.stored_bytes, caller.owner)
        if caller.visitor and stored >= self._megabytes * MEGABYTE * VISITOR_SHARE:
            raise QuotaExceeded("This site has no room for more conversations now. Ask without one, or try later.")
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


@dataclass(frozen=True)
class Threads:
    """The threads of a data folder: turns as owners see them in `conversations`, checkpoints in `saver`."""

    conversations: Conversations
    saver: OrderedSaver
    queues: ThreadQueues
    quota: StorageQuota

    async def find(self, caller: Caller, thread: str) -> Conversation | None:
        """A thread of the caller about a graph that the caller may read, or about none yet; else None."""
        conversation = await run_in_thread(self.conversations.find, caller.owner, thread)
        if conversation is None or (conversation.graph and not caller.may_read(conversation.graph)):
            return None
        return conversation

    async def get(self, caller: Caller, thread: str) -> Conversation:
        """Like `find`; raises NotFound."""
        conversation = await self.find(caller, thread)
        if conversation is None:
            raise NotFound("There is no such conversation, or it is not yours.")
        return conversation

    async def listed(self, caller: Caller, search: str, limit: int, skip: int) -> list[Conversation]:
        """The caller's threads, the latest first."""
        return await run_in_thread(self.conversations.listed, caller.owner, search, caller.graphs, limit, skip)

    async def turns(self, caller: Caller, thread: str) -> list[Turn]:
        """The last finished turns of a thread, as many as MAX_READ bytes have; raises NotFound."""
        await self.get(caller, thread)
        return await run_in_thread(self.conversations.latest_turns, caller.owner, thread, MAX_READ)

    async def turn(self, caller: Caller, thread: str, turn: int) -> Turn:
        """One finished turn; raises NotFound."""
        await self.get(caller, thread)
        if found := await run_in_thread(self.conversations.turns, caller.owner, thread, turn, turn):
            return found[0]
        raise NotFound(f"This thread has no turn {turn}.")

    async def create(self, caller: Caller, graph: str, title: str = "", thread: str = "") -> Conversation:
        """A new thread without turns; without a graph, its first turn determines it. An existing thread stays."""
        thread = thread or _random_name(caller)
        async with self.quota.checked(caller):
            await run_in_thread(self.conversations.begin, caller.owner, thread, graph, title)
        return await self.get(caller, thread)

    async def rename(self, caller: Caller, thread: str, title: str) -> Conversation:
        """Change the title of a thread; raises NotFound."""
        await self.get(caller, thread)
        await run_in_thread(self.conversations.rename, caller.owner, thread, title)
        return await self.get(caller, thread)

    async def delete(self, caller: Caller, thread: str) -> None:
        """Delete a thread after its running turn has ended; raises NotFound."""
        conversation = await self.get(caller, thread)
        await self._delete_thread(caller.owner, thread)
        report_deed(caller, "deleted a thread", graph=conversation.graph, thread=thread)

    async def delete_untouched(self, since: float, like: str = "%") -> int:
        """Delete the threads of all owners, with names `like` this, that were not used since a time; their number."""
        old = await run_in_thread(self.conversations.untouched, since, like)
        for owner, thread in old:
            await self._delete_thread(owner, thread)
        return len(old)

    async def fork(self, caller: Caller, thread: str, turn: int) -> Conversation:
        """A new thread with the turns of another one up to `turn`; raises NotFound."""
        new = _random_name(caller)
        async with self.quota.checked(caller), self.queues.lock(caller.owner, thread):
            await self._copy_checkpoint(caller, thread, new, turn)
            await run_in_thread(self.conversations.copy, caller.owner, thread, new, turn)
        return await self.get(caller, new)

    async def copy(self, caller: Caller, thread: str) -> Conversation:
        """A new thread with all turns and checkpoints of another one; raises NotFound."""
        new = str(uuid.uuid4())
        async with self.quota.checked(caller), self.queues.lock(caller.owner, thread):
            original = await self.get(caller, thread)
            await self.saver.acopy_thread(f"{caller.owner}:{thread}", f"{caller.owner}:{new}")
            await run_in_thread(self.conversations.copy, caller.owner, thread, new, original.turns)
        return await self.get(caller, new)

    async def rewind(self, caller: Caller, thread: str, turn: int) -> None:
        """Remove `turn` and all later ones. The caller holds the lock of the thread. Raises NotFound."""
        await self.turn(caller, thread, turn)
        if turn == 1:
            await self.saver.adelete_thread(f"{caller.owner}:{thread}")
        else:
            await self._copy_checkpoint(caller, thread, thread, turn - 1)
        await run_in_thread(self.conversations.cut, caller.owner, thread, turn)

    async def go_back(self, caller: Caller, thread: str, checkpoint: str, ids: Sequence[str]) -> None:
        """Make a stored checkpoint the latest one, and the turns whose records have these ids those of the thread."""
        key = f"{caller.owner}:{thread}"
        async with self.quota.checked(caller), self.queues.lock(caller.owner, thread):
            place = {"thread_id": key, "checkpoint_ns": "", "checkpoint_id": checkpoint}
            saved = await self.saver.aget_tuple({"configurable": place})
            if saved is None:
                raise NotFound("This thread has no such checkpoint.")
            await self._put_checkpoint(key, saved)
            await run_in_thread(self.conversations.take_up, caller.owner, thread, ids)

    @asynccontextmanager
    async def roll_back_unless_saved(
        self, caller: Caller, thread: str, store_unanswered: Callable[[BaseMessage | None], Awaitable[None]]
    ) -> AsyncIterator[BaseMessage | None]:
        """Restore the checkpoint if the turn in the block is not stored. The caller holds the lock of the thread.

        The block gets the question that a stopped turn left, if any. If the turn of the block is stopped or breaks off,
        `store_unanswered` is called with it; not if the question can't be asked.
        """
        before, last = await self._reconcile(caller.owner, thread)
        unanswered = unanswered_question(before.checkpoint["channel_values"]) if before else None
        try:
            yield unanswered
        except BaseException as error:
            store = None if isinstance(error, NacreError) else partial(store_unanswered, unanswered)
            await complete(self._roll_back(caller, thread, before, last, store))
            raise

    async def _roll_back(
        self,
        caller: Caller,
        thread: str,
        before: CheckpointTuple | None,
        last: int,
        store: Callable[[], Awaitable[None]] | None,
    ) -> None:
        """Restore a checkpoint, and store the question of the turn that broke off, unless its answer is stored."""
        if await run_in_thread(self.conversations.last, caller.owner, thread) == last:
            await self._restore_checkpoint(f"{caller.owner}:{thread}", before)
            if store is not None:
                await store()

    async def begin_unanswered(self, caller: Caller, thread: str, graph: str, question: str) -> None:
        """Make sure that a thread exists and has a title, before its first question is stored without an answer."""
        title = " ".join(question.split())[:MAX_TITLE_LENGTH]
        await run_in_thread(self.conversations.begin, caller.owner, thread, graph, title)
        found = await run_in_thread(self.conversations.find, caller.owner, thread)
        if found is not None and not found.title:
            await run_in_thread(self.conversations.rename, caller.owner, thread, title)

    async def unanswered(self, caller: Caller, thread: str) -> BaseMessage | None:
        """The last question of a thread if its turn was stopped."""
        latest = await self._latest_checkpoint(f"{caller.owner}:{thread}")
        return unanswered_question(latest.checkpoint["channel_values"]) if latest else None

    async def remove_unanswered(self, caller: Caller, thread: str, run: str) -> None:
        """Remove the question of a stopped run if it is the last message of a thread."""
        key = f"{caller.owner}:{thread}"
        async with self.queues.lock(caller.owner, thread):
            latest = await self._latest_checkpoint(key)
            if latest is None or unanswered_question(latest.checkpoint["channel_values"]) is None:
                return
            if latest.checkpoint["channel_values"]["unanswered"]["run"] == run:
                before = await self.saver.aget_tuple(latest.parent_config) if latest.parent_config else None
                await self._restore_checkpoint(key, before)

    async def _reconcile(self, owner: str, thread: str) -> tuple[CheckpointTuple | None, int]:
        """The checkpoint of a thread and its last stored turn; a checkpoint that is a turn ahead is rolled back."""
        key = f"{owner}:{thread}"
        before = await self._latest_checkpoint(key)
        last = await run_in_thread(self.conversations.last, owner, thread)
        if before is None or before.checkpoint["channel_values"].get("turn", 0) <= last:
            return before, last
        checkpoint = await self._checkpoint_after(key, last) if last else None
        if last and checkpoint is None:
            return before, last
        try:
            await self._restore_checkpoint(key, checkpoint)
        except ConversationStoreError as error:
            log.warning("the checkpoint of thread %s is ahead of its stored turns: %s", thread, error)
        return await self._latest_checkpoint(key), last

    async def _restore_checkpoint(self, key: str, before: CheckpointTuple | None) -> None:
        if before is None:
            await self.saver.adelete_thread(key)
        elif (after := await self._latest_checkpoint(key)) and after.checkpoint["id"] != before.checkpoint["id"]:
            await self._put_checkpoint(key, before)

    async def _delete_thread(self, owner: str, thread: str) -> None:
        async with self.queues.lock(owner, thread):
            await self.saver.adelete_thread(f"{owner}:{thread}")
            await run_in_thread(self.conversations.delete, owner, thread)

    async def _copy_checkpoint(self, caller: Caller, thread: str, new: str, turn: int) -> None:
        """Make the checkpoint of `thread` after `turn` the latest one of `new`, which may be the same thread."""
        await self.turn(caller, thread, turn)
        checkpoint = await self._checkpoint_after(f"{caller.owner}:{thread}", turn)
        if checkpoint is None:
            raise NotFound(f"The state of turn {turn} is no longer stored.")
        await self._put_checkpoint(f"{caller.owner}:{new}", checkpoint)

    async def _put_checkpoint(self, key: str, saved: CheckpointTuple) -> None:
        # ids of checkpoints grow with time, and the greatest is the latest
        latest = await self._latest_checkpoint(key)
        newest = uuid.UUID(latest.checkpoint["id"]).int + 1 if latest else uuid.UUID(saved.checkpoint["id"]).int
        checkpoint = {**saved.checkpoint, "id": str(uuid.UUID(int=newest))}
        place = saved.config["configurable"]
        # a copy in the same thread has the same parent
        parent = saved.parent_config if place["thread_id"] == key else None
        config = {"configurable": {**(parent or {}).get("configurable", {}), "thread_id": key, "checkpoint_ns": ""}}
        versions = saved.checkpoint["channel_versions"]
        await self.saver.aput(config, checkpoint, saved.metadata, versions)  # type: ignore[arg-type]

    async def _latest_checkpoint(self, key: str) -> CheckpointTuple | None:
        return await self.saver.aget_tuple({"configurable": {"thread_id": key}})

    async def _checkpoint_after(self, key: str, turn: int) -> CheckpointTuple | None:
        async for checkpoint in self.saver.alist({"configurable": {"thread_id": key}}):
            values = checkpoint.checkpoint["channel_values"]
            if values.get("turn") == turn and unanswered_question(values) is None:
                return checkpoint
        return None


def _random_name(caller: Caller) -> str:
    return f"{'visitor-' if caller.visitor else ''}{uuid.uuid4().hex}"


def validate_thread_name(thread: str | None) -> str | None:
    """The name of a thread as it can be stored; None for an empty name. Raises ConfigError.

    >>> validate_thread_name(" t "), validate_thread_name("")
    (' t ', None)
    """
    if not thread:
        return None
    if len(thread) > MAX_THREAD_NAME:
        raise ConfigError(f"A thread's name has at most {MAX_THREAD_NAME} characters; this one has {len(thread)}.")
    if unusable := [each for each in thread if each == "/" or each < " "]:
        # a path of the API could not name it
        raise ConfigError(f"A thread's name has no slash and no control character; this one has {unusable[0]!r}.")
    return storable_text(thread)


async def _release_acquired(acquiring: asyncio.Future[StateLock | None]) -> None:
    await asyncio.wait([acquiring])
    if acquiring.exception() is None and (held := acquiring.result()) is not None:
        await run_in_thread(held.release)


MEGABYTE = 1_000_000
DAY = 86_400.0
CHECK_SECONDS = 3600.0
# checks in the time that threads are kept, if that is shorter
CHECKS = 4
# after a stop, the observed time comes back to the clock at this multiple of the time that passes (given)
CATCH_UP = 2.0


class ObservedTime:
    """The time that servers of a data folder have seen pass, stored with its conversations: never later than the clock,
    and at most twice as fast as the monotonic clock of a running server."""

    def __init__(
        self,
        conversations: Conversations,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conversations = conversations
        self._clock, self._monotonic = clock, monotonic
        # the stored time at the last look, and when that was
        self._last: tuple[float, float] | None = None

    def advance(self) -> float:
        """Store how far the time has come, and return it, in seconds since 1970."""
        clock, now = self._clock(), self._monotonic()
        stored = self._conversations.observed_time()
        if stored is None:
            stored = min(clock, self._conversations.last_change() or clock)
        before, at = self._last or (stored, now)
        observed = max(stored, min(clock, before + CATCH_UP * (now - at)))
        self._conversations.observe_time(observed)
        self._last = observed, now
        return min(observed, clock)


async def delete_untouched_threads(threads: Threads, days: float) -> None:
    """Delete threads not used for `days` (0: only those of visitors), and expired shared answers, again and again."""
    observed = ObservedTime(threads.conversations)
    while True:
        try:
            now = await run_in_thread(observed.advance)
            await run_in_thread(threads.conversations.delete_expired_shares)
            deleted = await threads.delete_untouched(now - VISITOR_DAYS * DAY, VISITOR_LIKE)
            deleted += await threads.delete_untouched(now - days * DAY) if days else 0
            log.info("deleted %d threads that were not used for %g days", deleted, days or VISITOR_DAYS)
        except ConversationStoreError as error:
            log.warning("old threads can't be deleted now: %s", error)
        await asyncio.sleep(min(CHECK_SECONDS, days * DAY / CHECKS or CHECK_SECONDS))


T = TypeVar("T")


async def complete(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that no cancellation interrupts; CancelledError is raised after it. Frameworks cancel each
    wait of a task whose client has left, not only the first, so `asyncio.shield` alone is not enough."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (why := task.exception()) is not None:
        log.warning("a turn whose client disconnected is not stored: %s", why)
    raise cancelled


def unanswered_question(values: Mapping[str, Any]) -> BaseMessage | None:
    """The last message of a stored state if it is a question whose turn was stopped."""
    messages: Sequence[BaseMessage] = values.get("messages", [])
    stopped = values.get("unanswered") or {}
    return messages[-1] if messages and messages[-1].id == stopped.get("message") else None
