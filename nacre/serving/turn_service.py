"""Asking, for every way in: settings -> the events and the record of a turn, over one open data folder."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

from agents.run_in_thread import AT_ONCE, run_in_thread
from graph.app import Composition, compose, open_persistent_app
from graph.builder import App
from graph.context import Context
from graph.resources import agents_for
from graph.state import Json
from graph.stream import stream_stateless_turn, stream_turn
from graph.turn_input import checked_question
from nacre.config.local_engine import stop_engines
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.http.error_status import NotFound, StorageUnavailable, TooManyRequests, WrongGraph
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.thread_queues import ThreadQueues
from nacre.serving.threads import Threads, validate_thread_name
from nacre.stores.sqlite.conversations import ConversationStoreError

# a thread at work keeps the interpreter for so long while others wait for it, the event loop among them: a tenth of
# Python's default, as an embedder asks for it several times beside a question that is being read
SWITCH_SECONDS = 0.0005

log = logging.getLogger(__name__)


class TurnService:
    """Asks the graphs of one data folder. `threads` is None where nothing is kept."""

    def __init__(self, composition: Composition, app: App, threads: Threads | None) -> None:
        self.library = composition.library
        self.composition = composition
        self.threads = threads
        self.under_way = 0
        self._app = app
        self._running = asyncio.Semaphore(AT_ONCE)

    def names(self, caller: Caller = LOCAL_CALLER) -> list[str]:
        """The graphs that a caller may read."""
        return [name for name in self.library.names() if caller.reads(name)]

    def resolve(self, graph: str | None, caller: Caller = LOCAL_CALLER) -> str:
        """The name of a graph that the caller may read; others are told apart from none by nobody."""
        names = self.names(caller)
        if caller.graphs is None or graph in names:
            return self.library.resolve(graph)
        if graph is None and len(names) == 1:
            return names[0]
        told = f"There are {', '.join(names)}." if names else "This key may read no graph that is there."
        raise ConfigError(f"Which graph? {told}" if graph is None else f"No graph named {graph!r}. {told}")

    def admit(self) -> None:
        """Raises Busy where so many turns are under way or waiting that one more would wait too long."""
        most = self.composition.settings.max_turns
        if self.under_way >= most:
            raise TooManyRequests(f"{most} questions are being answered. Ask again in a moment.", 1 + most / 32)

    async def check(
        self,
        question: object,
        graph: str | None,
        thread: str | None = None,
        caller: Caller = LOCAL_CALLER,
        context: Context | None = None,
    ) -> str:
        """The name of the graph that a question would be asked of; raises ConfigError where it can't be asked."""
        if not isinstance(question, str):
            raise ConfigError(f"The question is {type(question).__name__}, not text. Send it as a string.")
        checked_question(question)
        if context is not None:
            agents_for(self.composition.resources, context)
        thread = validate_thread_name(thread)
        known = None
        if thread and self.threads is not None:
            try:
                known = await run_in_thread(self.threads.seen.find, caller.owner, thread)
            except ConversationStoreError as error:
                log.warning("thread %s can't be looked up: %s", thread, error)
        wanted = graph or (context.graph if context else None) or (known.graph if known else None)
        name = self.resolve(wanted, caller)
        if known is not None and known.graph != name:
            told = repr(known.graph) if caller.reads(known.graph) else "another graph"
            raise WrongGraph(f"This thread is about {told}. Start a new thread to ask {name!r}.")
        return name

    async def events(
        self,
        question: str,
        graph: str | None = None,
        thread: str | None = None,
        context: Context | None = None,
        id: str = "",
        caller: Caller = LOCAL_CALLER,
        instead_of: int | None = None,
        before: Sequence[Json] | None = None,
    ) -> AsyncIterator[tuple[str, Any]]:
        """The events of one turn as they happen, the record last; see `graph.turn.stream_turn`. `instead_of` is a turn of
        the thread that is forgotten first, with all after it. Whoever sees the record may rely on it: it is kept.
        Without a thread, `before` are the turns that the caller brings along; see `graph.given`.
        """
        name = await self.check(question, graph, thread, caller, context)
        # half of a character, as a broken paste leaves it, fits into no store
        question = question.encode(errors="replace").decode()
        thread = validate_thread_name(thread)
        threads = self.threads if thread else None
        async with AsyncExitStack() as stack:
            stack.enter_context(self.counted())
            if thread and threads:
                await stack.enter_async_context(threads.queues.turn(caller.owner, thread))
            await stack.enter_async_context(self._running)
            try:
                if instead_of is not None:
                    if not thread or not threads:
                        raise NotFound("A question takes the place of another only in a thread. Name the thread.")
                    await threads.rewind(caller, thread, instead_of)
                if thread and threads:
                    await stack.enter_async_context(threads.undone_unless_kept(caller, thread))
            except ConversationStoreError as error:
                raise StorageUnavailable(
                    f"The conversations can't be read now ({error}). Ask again, or without a thread."
                ) from error
            if id:
                stack.callback(self.composition.resources.leases.release_run, id)
            record, why = None, ""
            if before is not None and not thread:
                turn = stream_stateless_turn(self._app, question, before, graph=name, context=context, id=id)
            else:
                turn = stream_turn(
                    self._app, question, graph=name, thread=thread, owner=caller.owner, context=context, id=id
                )
            try:
                async for kind, payload in turn:
                    if kind == "answer":
                        record = cast(Answer, payload)
                    else:
                        yield kind, payload
            except ConversationStoreError as error:
                # the loop writes last of all, so that what was answered is only not remembered
                if record is None:
                    raise
                why = str(error)
            finally:
                await turn.aclose()  # type: ignore[attr-defined]
            if record is None:
                raise RuntimeError("the turn ended without an answer")
            if thread and threads and not why:
                try:
                    await threads.keep(caller, thread, record)
                except ConversationStoreError as error:
                    why = str(error)
            if why:
                log.warning("turn %s of thread %s is not kept: %s", record["turn"], thread, why)
                record["caveats"].append(f"This turn could not be kept in its thread ({why}).")
        yield "answer", record

    async def answer(
        self,
        question: str,
        graph: str | None = None,
        thread: str | None = None,
        context: Context | None = None,
        id: str = "",
        caller: Caller = LOCAL_CALLER,
    ) -> Answer:
        """The record of one turn."""
        record: Answer | None = None
        async for kind, payload in self.events(question, graph, thread, context, id, caller):
            if kind == "answer":
                record = cast(Answer, payload)
        if record is None:
            raise RuntimeError("the turn ended without an answer")
        return record

    async def forget(self, thread: str) -> None:
        """Let go of a thread that is remembered in memory alone."""
        saver = self._app.checkpointer
        if self.threads is None and isinstance(saver, InMemorySaver):
            await saver.adelete_thread(f"{LOCAL_CALLER.owner}:{thread}")

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place among what is worked on at once, and keep it until the block ends; raises Busy."""
        self.admit()
        with self.counted():
            async with self._running:
                yield

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Work that counts among what is under way."""
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1


@asynccontextmanager
async def open_turn_service(settings: Settings, *, lasting: bool, warm: bool = True) -> AsyncIterator[TurnService]:
    """Open all that answering needs. With `lasting`, threads are kept in the data folder, else only in memory; `warm`
    starts the processes that run a model's queries."""
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        composition = await run_in_thread(compose, settings)
    except ValueError as error:
        # the packages below `records` can't raise our errors; theirs are written for people too
        raise ConfigError(str(error)) from error
    if warm and "model" in composition.agents:
        await run_in_thread(composition.resources.sandbox.warm)
    try:
        if lasting:
            async with open_persistent_app(composition) as (app, saver, seen):
                yield TurnService(composition, app, Threads(seen, saver, ThreadQueues(settings.data)))
        else:
            yield TurnService(composition, composition.build(InMemorySaver()), None)
    finally:
        await run_in_thread(composition.library.close)
        await run_in_thread(composition.resources.sandbox.close)
        await run_in_thread(stop_engines)
