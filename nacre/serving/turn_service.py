"""The turn service: settings -> the events and the record of a turn; earlier questions -> the meaning of turns."""

import asyncio
import json
import logging
import sys
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Protocol, cast
from uuid import UUID

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import configured_agents
from agents.model_priors import is_unmeasured, model_worth
from agents.turn_view import spending
from graph.builder import App, Composition, compose, open_persistent_app
from graph.context import Context, agents_for, reasoner_for
from graph.nodes import REMEMBERED_TURNS, checked_question
from graph.state import Json
from graph.stream import TurnStart, store_unanswered, stream_stateless_turn, stream_turn
from nacre.config.models import model_providers
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.language.sanitize import storable_text
from nacre.records.answer import Answer
from nacre.records.threads import MAX_THREADS, FairSlots, default_share, run_in_thread
from nacre.records.turn import LONGEST_QUESTION
from nacre.serving.errors import NotFound, StorageUnavailable, TooManyRequests, WrongGraph
from nacre.serving.keys import LOCAL_CALLER, Caller, report_deed
from nacre.serving.threads import VISITOR_THREAD, StorageQuota, ThreadQueues, Threads, complete, validate_thread_name
from nacre.serving.transcript import collect_record, require_record
from nacre.stores.catalog import Graph
from nacre.stores.killable_pool import PROCESSES
from nacre.stores.state.conversations import ConversationStoreError

# a tenth of Python's default: the embedder requests the interpreter lock several times per question
SWITCH_SECONDS = 0.0005
# look-ups at the same time, one a key: more would only slow down turns, since the interpreter runs one thread
LOOK_UP_SLOTS = 2
# parts of uploaded files that are in memory at the same time, of 8 MiB each
PART_SLOTS = 8
# how long no question may have run before a model is measured (given)
IDLE_SECONDS = 20.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TurnInput:
    """A question with all that decides its turn. `is_checked`: `check_question` has returned `graph`.

    `instead_of` is a turn of the thread that is removed first, with all later ones; a `start` from an earlier
    checkpoint stores them apart. `earlier` are the questions before this one in a conversation that the client stores;
    `before` are their turns, see `graph.stream.stream_stateless_turn`. Neither is used with a thread.
    """

    question: str
    graph: str | None = None
    thread: str | None = None
    context: Context | None = None
    caller: Caller = LOCAL_CALLER
    id: str = ""
    instead_of: int | None = None
    earlier: Sequence[str] | None = None
    before: Sequence[Json] | None = None
    start: TurnStart | None = None
    is_checked: bool = False


class SpendingLimits(Protocol):
    """What chat models may take for each caller."""

    def check(self, caller: Caller) -> None:
        """Raises TooManyRequests if the caller has nothing left."""

    def add(self, caller: Caller, tokens: int, dollars: float) -> None:
        """Store what models took for the caller."""


class TurnService:
    """Answers questions about the graphs of one data folder. `threads` is None if conversations are not stored."""

    def __init__(
        self, composition: Composition, app: App, threads: Threads | None, limits: SpendingLimits | None = None
    ) -> None:
        self._limits = limits
        self.library = composition.library
        self.composition = composition
        self.threads = threads
        # turns, queries and look-ups that run or wait, by owner
        self._active: Counter[str] = Counter()
        self.app = app
        self._turn_slots = FairSlots(MAX_THREADS)
        self._query_slots = FairSlots(PROCESSES)
        self._look_up_slots = FairSlots(LOOK_UP_SLOTS)
        self._part_slots = FairSlots(PART_SLOTS)
        self._conversations = StatelessTurnCache()
        self._model_check: asyncio.Task[None] | None = None

    def graph_names(self, caller: Caller = LOCAL_CALLER) -> list[str]:
        """The graphs that a caller may read."""
        return [name for name in self.library.names() if caller.may_read(name)]

    def resolve_graph(self, graph: str | None, caller: Caller = LOCAL_CALLER) -> str:
        """The graph's name (default: the only one); the same error for unknown graphs and those not readable."""
        names = self.graph_names(caller)
        if caller.graphs is None or graph in names:
            return self.library.resolve(graph)
        if graph is None and len(names) == 1:
            return names[0]
        choices = f"There are {', '.join(names)}." if names else "You may not read any graph of this server."
        raise ConfigError(f"Which graph? {choices}" if graph is None else f"No graph named {graph!r}. {choices}")

    async def open_graph(self, graph: str | None, caller: Caller = LOCAL_CALLER) -> Graph:
        """An open graph that the caller may read; release it with `close`. Raises ConfigError."""
        name = self.resolve_graph(graph or None, caller)
        return await run_in_thread(self.library.open, name)

    def check_capacity(self, caller: Caller) -> None:
        """Raises TooManyRequests if one more turn, of the caller or of all, would wait too long."""
        limit = self.composition.settings.max_turns
        own = self._active[caller.owner]
        if own >= _share(caller, limit) or self._active.total() >= limit:
            whose = " of this key" if self._active.total() < limit else ""
            count = own if whose else limit
            raise TooManyRequests(
                f"{count} questions{whose} are being answered. Ask again in a moment.", 1 + limit / 32
            )

    async def check_question(self, turn: TurnInput) -> str:
        """The name of the graph that a question is about; raises ConfigError if the question can't be asked."""
        caller, context = turn.caller, turn.context
        if not isinstance(turn.question, str):
            raise ConfigError(f"The question is {type(turn.question).__name__}, not text. Send it as a string.")
        checked_question(turn.question)
        if context is not None:
            agents_for(self.composition.resources, context)
        if self._limits is not None and reasoner_for(self.composition.resources, context) == "model":
            await run_in_thread(self._limits.check, caller)
        thread = validate_thread_name(turn.thread)
        conversation = None
        if thread and self.threads is not None:
            try:
                conversation = await run_in_thread(self.threads.conversations.find, caller.owner, thread)
                await self.threads.quota.check(caller, conversation.turns if conversation else 0)
            except ConversationStoreError as error:
                log.warning("thread %s can't be looked up: %s", thread, error)
        if caller.visitor and thread and (conversation is None or not VISITOR_THREAD.fullmatch(thread)):
            raise ConfigError("Visitors can't choose the name of a thread. POST /threads makes one.")
        requested = turn.graph or (context.graph if context else None) or (conversation.graph if conversation else None)
        name = self.resolve_graph(requested, caller)
        if conversation is not None and conversation.graph not in ("", name):
            other = repr(conversation.graph) if caller.may_read(conversation.graph) else "another graph"
            raise WrongGraph(f"This thread is about {other}. Start a new thread to ask {name!r}.")
        return name

    async def events(self, turn: TurnInput) -> AsyncGenerator[tuple[str, Any]]:
        """The events of one turn as they happen, the record last; see `graph.stream.stream_turn`. The record is yielded
        after the turn is stored. With `before`, the turns to pass with the next question are an event too."""
        name = turn.graph if turn.is_checked and turn.graph else await self.check_question(turn)
        question = storable_text(turn.question)
        thread, caller, before, start = validate_thread_name(turn.thread), turn.caller, turn.before, turn.start
        if turn.earlier is not None and not thread:
            before = await self._conversations.earlier_turns(self, name, caller, turn.earlier)
        record, storage_error = None, ""
        verify_lock = None
        async with AsyncExitStack() as stack:
            stack.callback(lambda: _report_turn(caller, name, thread, record))
            stack.enter_context(_storage_errors())
            stack.enter_context(self._count_active(caller))
            if thread and self.threads:
                verify_lock = await stack.enter_async_context(self.threads.queues.lock(caller.owner, thread))
            await stack.enter_async_context(self._turn_slots.hold(caller.owner, _share(caller, self._turn_slots.slots)))
            keep = partial(self._store_unanswered, caller, thread, name, question, turn.id, start)
            unanswered = await stack.enter_async_context(self._turn_transaction(caller, thread, turn.instead_of, keep))
            if start is None and unanswered is not None and unanswered.text == question.strip():
                # a turn whose question is that of a stopped turn is answered in its place
                start = TurnStart(None, str(unanswered.id))
            await stack.enter_async_context(self.spend(caller, turn.context))
            if turn.id:
                stack.callback(self.composition.resources.leases.release_run, turn.id)
            if before is not None and not thread:
                stream = partial(stream_stateless_turn, before=before)
            else:
                stream = partial(stream_turn, thread=thread, start=start, is_visitor=bool(caller.visitor))
            events = stream(self.app, question, graph=name, owner=caller.owner, context=turn.context, id=turn.id)
            try:
                async for kind, payload in events:
                    if kind == "answer":
                        record = cast(Answer, payload)
                    elif kind == "earlier" and turn.earlier is not None:
                        self._conversations.store(self, name, caller, [*turn.earlier, turn.question], payload)
                    else:
                        yield kind, payload
            except ConversationStoreError as error:
                # the checkpoint is written last: the answer exists and is only not stored
                if record is None:
                    raise
                storage_error = str(error)
            finally:
                await events.aclose()  # type: ignore[attr-defined]
            after = start.after if start is not None else None
            storage_error = storage_error or await _lost_lock(verify_lock)
            record = await self._save(caller, thread, require_record(record), storage_error, after)
        if self.threads is not None and reasoner_for(self.composition.resources, turn.context) == "model":
            self._check_model(name)
        yield "answer", record

    def _check_model(self, graph: str) -> None:
        """Measure a model that nothing is known of, once, after a first question, unless spending is limited (then only
        `nacre model check` does)."""
        if self._model_check is None and self._limits is None:
            self._model_check = asyncio.create_task(self._measure_model(graph))

    async def _measure_model(self, graph: str) -> None:
        await asyncio.sleep(IDLE_SECONDS)
        if self._active.total():
            # a later question starts it again
            self._model_check = None
            return
        settings = self.composition.settings
        try:
            if await run_in_thread(is_unmeasured, settings):
                await service("evaluation", "measure")(self.composition, graph)
                self.composition.agents.update(await run_in_thread(configured_agents, settings))
                log.info("model check: %s", await run_in_thread(model_worth, settings))
        except Exception as error:
            # a model client may raise anything, and the rules lead as before
            log.warning("the model could not be measured: %s", type(error).__name__)

    async def close(self) -> None:
        """Stop what runs in the background."""
        if self._model_check is not None:
            self._model_check.cancel()
            await asyncio.gather(self._model_check, return_exceptions=True)

    async def answer(
        self,
        question: str,
        graph: str | None = None,
        thread: str | None = None,
        context: Context | None = None,
        caller: Caller = LOCAL_CALLER,
    ) -> Answer:
        """The record of one turn."""
        return await collect_record(self.events(TurnInput(question, graph, thread, context, caller)))

    async def stored_answer(self, run: str, caller: Caller) -> Answer | None:
        """The answer of a run that was stored, if the caller may read its graph."""
        if self.threads is None:
            return None
        record = await run_in_thread(self.threads.conversations.run, caller.owner, run)
        return record if record is not None and caller.may_read(record["graph"]) else None

    @asynccontextmanager
    async def spend(self, caller: Caller, context: Context | None) -> AsyncIterator[None]:
        """Count what models take in the block. Raises TooManyRequests if the caller has nothing left."""
        if self._limits is None or reasoner_for(self.composition.resources, context) != "model":
            yield
            return
        # turns that waited at the same time may have used up the rest
        await run_in_thread(self._limits.check, caller)
        spent: dict[UUID, tuple[int, float]] = {}
        spending.set(spent)
        try:
            yield
        finally:
            spending.set(None)
            if spent:
                tokens, dollars = (sum(each) for each in zip(*spent.values(), strict=True))
                await complete(run_in_thread(self._limits.add, caller, int(tokens), float(dollars)))

    async def forget_thread(self, thread: str) -> None:
        """Forget a thread that is held only in memory."""
        saver = self.app.checkpointer
        if self.threads is None and isinstance(saver, InMemorySaver):
            await saver.adelete_thread(f"{LOCAL_CALLER.owner}:{thread}")

    def turn_slot(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Wait for one of the slots for turns and hold it until the block ends. Raises TooManyRequests."""
        return self._slot(self._turn_slots, caller)

    def query_slot(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Like `turn_slot`, for queries that callers write: as many slots as there are processes for them."""
        return self._slot(self._query_slots, caller)

    def look_up_slot(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Like `turn_slot`, for look-ups: what is known about a graph, a class or a thing."""
        return self._slot(self._look_up_slots, caller)

    def part_slot(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Like `turn_slot`, for parts of uploaded files while they are received."""
        return self._slot(self._part_slots, caller)

    @asynccontextmanager
    async def _slot(self, slots: FairSlots, caller: Caller) -> AsyncIterator[None]:
        self.check_capacity(caller)
        with self._count_active(caller):
            async with slots.hold(caller.owner, _share(caller, slots.slots)):
                yield

    @contextmanager
    def _count_active(self, caller: Caller) -> Iterator[None]:
        self._active[caller.owner] += 1
        try:
            yield
        finally:
            self._active[caller.owner] -= 1
            # owners that are idle are forgotten
            self._active += Counter()

    @asynccontextmanager
    async def _turn_transaction(
        self,
        caller: Caller,
        thread: str | None,
        instead_of: int | None,
        store_unanswered: Callable[[BaseMessage | None], Awaitable[None]],
    ) -> AsyncIterator[BaseMessage | None]:
        """Rewind the thread if asked to, and roll it back if the turn is not stored; see `roll_back_unless_saved`."""
        threads, unanswered = self.threads if thread else None, None
        async with AsyncExitStack() as stack:
            if instead_of is not None:
                if not thread or not threads:
                    raise NotFound("Only a question in a thread can replace another one. Name the thread.")
                await threads.rewind(caller, thread, instead_of)
            if thread and threads:
                rolled_back = threads.roll_back_unless_saved(caller, thread, store_unanswered)
                unanswered = await stack.enter_async_context(rolled_back)
            yield unanswered

    async def _store_unanswered(
        self,
        caller: Caller,
        thread: str | None,
        graph: str,
        question: str,
        id: str,
        start: TurnStart | None,
        before: BaseMessage | None,
    ) -> None:
        """Store the question of a stopped turn. One that began from an earlier state leaves the thread as it was."""
        if not thread or not self.threads or (start is not None and start.checkpoint):
            return
        question = question.strip()
        message = start.message if start is not None else ""
        if not message and before is not None and before.text == question:
            message = str(before.id)
        try:
            await self.threads.begin_unanswered(caller, thread, graph, question)
            place = {"graph": graph, "thread": thread, "owner": caller.owner}
            await store_unanswered(self.app, question, **place, run=id, message=message)
        except ConversationStoreError as error:
            log.warning("the question of a stopped turn of thread %s is not stored: %s", thread, error)

    async def _save(
        self, caller: Caller, thread: str | None, record: Answer, storage_error: str, after: Sequence[str] | None
    ) -> Answer:
        """Store a finished turn; the record, with a caveat if it could not be stored."""
        if thread and self.threads and not storage_error:
            try:
                # a client that disconnects meanwhile does not interrupt the write
                await complete(run_in_thread(self.threads.conversations.keep, caller.owner, thread, record, after))
            except ConversationStoreError as error:
                storage_error = str(error)
        if not storage_error:
            return record
        log.warning("turn %s of thread %s is not stored: %s", record["turn"], thread, storage_error)
        caveats = [*record["caveats"], f"This turn could not be kept in its thread ({storage_error})."]
        return cast(Answer, {**record, "caveats": caveats})


def _report_turn(caller: Caller, graph: str, thread: str | None, record: Answer | None) -> None:
    if record is None:
        report_deed(caller, "asked", graph=graph, thread=thread, status="stopped")
        return
    queries = [each["text"] for each in record["queries"]]
    version, status, tokens = record["version"], record["status"], record["input_tokens"] + record["output_tokens"]
    about = {"graph": graph, "version": version, "thread": thread, "run": record["id"], "status": status}
    cost = {"tokens": tokens, "price": round(record["price"] or 0, 6)} if tokens else {}
    report_deed(caller, "asked", *queries, **about, **cost)


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Raise StorageUnavailable, with the reason for clients, if the database of conversations fails."""
    try:
        yield
    except ConversationStoreError as error:
        log.warning("a turn ends, since its conversation can't be read or written: %s", error)
        raise StorageUnavailable(
            f"The conversations can't be read now ({error}). Try again, or ask without a thread."
        ) from error


async def _lost_lock(verify: Callable[[], None] | None) -> str:
    """Why a turn must not be stored: its lock was lost, and another server may have answered in its thread."""
    if verify is not None:
        try:
            await run_in_thread(verify)
        except ConversationStoreError as error:
            return str(error)
    return ""


def _share(caller: Caller, slots: int) -> int:
    """How many slots the caller may hold. Without keys there is one caller, who may hold all."""
    return slots if caller.owner == LOCAL_CALLER.owner else default_share(slots)


@asynccontextmanager
async def open_turn_service(settings: Settings, *, lasting: bool, warm: bool = True) -> AsyncIterator[TurnService]:
    """Open everything that answering needs. With `lasting`, threads are stored in the data folder, else only in memory;
    `warm` starts the processes that check queries in SPARQL and run a model's queries, if there can be any."""
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        composition = await run_in_thread(compose, settings)
    except ValueError as error:
        # lower packages raise ValueError, with messages for users too
        raise ConfigError(str(error)) from error
    if warm and ("model" in composition.agents or await run_in_thread(composition.library.has_sparql)):
        await run_in_thread(composition.resources.sandbox.warm)
    try:
        if lasting:
            async with open_persistent_app(composition) as (app, saver, conversations, locks):
                quota = StorageQuota(conversations, settings.max_stored)
                threads = Threads(conversations, saver, ThreadQueues(locks), quota)
                limits = None
                if settings.day_tokens or settings.day_cost:
                    limits = await run_in_thread(service("spending", "limits"), settings, conversations.database)
                opened = TurnService(composition, app, threads, limits)
                try:
                    yield opened
                finally:
                    await opened.close()
        else:
            yield TurnService(composition, composition.build(InMemorySaver()), None)
    finally:
        await run_in_thread(composition.library.close)
        await run_in_thread(composition.resources.sandbox.close)
        for provider in model_providers().values():
            await run_in_thread(provider.stop)


# cached conversations, about ten kilobytes each
MAX_CONVERSATIONS = 500
# questions that the rules answer again if a conversation is not cached, as after a restart or in another process
MAX_REPLAYED = 4

RULES_CONTEXT = Context(mind="rules")


class StatelessTurnCache:
    """The meaning of earlier turns by owner, graph version and questions (LRU); what is missing is answered again."""

    def __init__(self, max_conversations: int = MAX_CONVERSATIONS) -> None:
        self._max_conversations = max_conversations
        self._turns: OrderedDict[str, list[Json]] = OrderedDict()

    async def earlier_turns(
        self, service: TurnService, graph: str, caller: Caller, questions: Sequence[str]
    ) -> list[Json]:
        """The turns of a conversation in which these questions were asked."""
        scope, valid = _scope(service, graph, caller), _valid_questions(questions)
        cached = next((n for n in range(len(valid), 0, -1) if _key(scope, valid[:n]) in self._turns), 0)
        turns: list[Json] = []
        if len(valid) - cached > MAX_REPLAYED:
            cached = len(valid) - MAX_REPLAYED
        elif cached:
            self._turns.move_to_end(key := _key(scope, valid[:cached]))
            turns = self._turns[key]
        for n in range(cached, len(valid)):
            turn = TurnInput(valid[n], graph, None, RULES_CONTEXT, caller, before=turns)
            async for kind, payload in service.events(turn):
                if kind == "earlier":
                    turns = payload
            self._put(_key(scope, valid[: n + 1]), turns)
        return turns

    def store(
        self, service: TurnService, graph: str, caller: Caller, questions: Sequence[str], turns: list[Json]
    ) -> None:
        """Cache the turns of a conversation after its last question."""
        self._put(_key(_scope(service, graph, caller), _valid_questions(questions)), turns)

    def _put(self, key: str, turns: list[Json]) -> None:
        self._turns[key] = turns
        self._turns.move_to_end(key)
        while len(self._turns) > self._max_conversations:
            self._turns.popitem(last=False)


def _scope(service: TurnService, graph: str, caller: Caller) -> str:
    return f"{caller.owner}:{graph}:{service.library.current(graph)}"


def _valid_questions(questions: Sequence[str]) -> list[str]:
    """The last questions, without empty and too long ones."""
    return [each for each in questions if each.strip() and len(each) <= LONGEST_QUESTION][-REMEMBERED_TURNS:]


def _key(scope: str, questions: Sequence[str]) -> str:
    return sha256(json.dumps([scope, *questions]).encode()).hexdigest()
