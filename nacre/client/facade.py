"""Nacre for programs: `Nacre("data").graph("bmw").ask("...")`, or the same with a server's address."""

import asyncio
import uuid
import weakref
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from nacre.client.event_loop_thread import EventLoopThread
from nacre.client.reply import Reply
from nacre.client.source import GraphSource, ReasonerName, TurnRequest
from nacre.client.streams import AsyncStream, StartStream, Stream, forward_events

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

URL_SCHEMES = ("http://", "https://")


class Nacre:
    """The graphs of a data folder, or of a server. Safe to share between threads and event loops.

    `where` is a folder, or the address of a `nacre serve`, which may want a `key`. Of a folder, settings and the chat
    model come from the environment, as on the command line; `keep` lets named conversations outlive the program.
    """

    def __init__(self, where: str | Path = "data", *, key: str | None = None, keep: bool = False) -> None:
        self._beside = EventLoopThread()
        self._source = _source(where, key, keep)

    def graphs(self) -> list[str]:
        """The names of the graphs."""
        return self._started_names().result()

    async def agraphs(self) -> list[str]:
        """The names of the graphs."""
        return await asyncio.wrap_future(self._started_names())

    def graph(self, name: str | None = None) -> "Graph":
        """A graph; the only one, where there is only one. That it is there is seen when it is asked."""
        return Graph(self, name)

    def close(self) -> None:
        """Give back what is open; it is opened again when it is asked again."""
        self._beside.close()

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> "Nacre":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> "Nacre":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    def begin(self, asked: TurnRequest) -> "Future[Reply]":
        """Begin a turn; the future has its reply. Raises nothing itself."""
        return self._beside.start(_replied(self._source, asked), self._source.close)

    def telling(self, asked: TurnRequest) -> StartStream:
        """What begins a turn that is streamed."""
        return lambda put: self._beside.start(forward_events(self._source.events(asked), put), self._source.close)

    def forget(self, thread: str) -> None:
        """Let go of what this process alone remembers of a conversation; a server and a kept folder remember it."""
        self._beside.soon(partial(self._source.forget, thread))

    def _started_names(self) -> "Future[list[str]]":
        return self._beside.start(self._source.names(), self._source.close)


class Graph:
    """One graph. Questions with the same `thread` are one conversation; `chat` begins one.

    All that asks raises NacreError, with a message for people, for what can't be asked.
    """

    def __init__(self, nacre: Nacre, name: str | None) -> None:
        self.name = name
        self._nacre = nacre

    def ask(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Reply:
        """The answer to a question. `mind` is "rules" or "model", by default the model where one is set."""
        return self._nacre.begin(TurnRequest(question, self.name, thread, mind)).result()

    async def aask(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Reply:
        """As `ask`."""
        return await asyncio.wrap_future(self._nacre.begin(TurnRequest(question, self.name, thread, mind)))

    def stream(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Stream:
        """The answer token by token; afterwards its `reply` has the whole."""
        return Stream(self._nacre.telling(TurnRequest(question, self.name, thread, mind)))

    def astream(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> AsyncStream:
        """As `stream`, for `async for`."""
        return AsyncStream(self._nacre.telling(TurnRequest(question, self.name, thread, mind)))

    def chat(self, thread: str | None = None) -> "Chat":
        """A conversation, a new one where no thread is named."""
        return Chat(self, thread)

    def forget(self, thread: str) -> None:
        """Let go of what this process alone remembers of a conversation."""
        self._nacre.forget(thread)

    def as_tool(self, name: str | None = None, description: str | None = None) -> "BaseTool":
        """The graph as a tool of LangChain and LangGraph agents: a question in, the cited answer out."""
        from nacre.client.tool import graph_tool

        return graph_tool(self, name, description)


class Chat:
    """A conversation with a graph: questions may lean on what was said before. One that was not named is forgotten
    with its object, where nothing is kept."""

    def __init__(self, graph: Graph, thread: str | None) -> None:
        self.graph = graph
        self.thread = thread or uuid.uuid4().hex
        if thread is None:
            weakref.finalize(self, graph.forget, self.thread).atexit = False

    def ask(self, question: str, *, mind: ReasonerName | None = None) -> Reply:
        """The answer to the next question."""
        return self.graph.ask(question, thread=self.thread, mind=mind)

    async def aask(self, question: str, *, mind: ReasonerName | None = None) -> Reply:
        """As `ask`."""
        return await self.graph.aask(question, thread=self.thread, mind=mind)

    def stream(self, question: str, *, mind: ReasonerName | None = None) -> Stream:
        """The answer token by token; afterwards its `reply` has the whole."""
        return self.graph.stream(question, thread=self.thread, mind=mind)

    def astream(self, question: str, *, mind: ReasonerName | None = None) -> AsyncStream:
        """As `stream`, for `async for`."""
        return self.graph.astream(question, thread=self.thread, mind=mind)


def _source(where: str | Path, key: str | None, keep: bool) -> GraphSource:
    if isinstance(where, str) and where.startswith(URL_SCHEMES):
        from nacre.client.remote import RemoteSource

        return RemoteSource(where, key)
    from nacre.client.local import LocalSource

    return LocalSource(Path(where), keep=keep)


async def _replied(source: GraphSource, asked: TurnRequest) -> Reply:
    record = None
    events = source.events(asked)
    try:
        async for kind, payload in events:
            if kind == "answer":
                record = payload
    finally:
        await events.aclose()  # type: ignore[attr-defined]
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return Reply(record)
