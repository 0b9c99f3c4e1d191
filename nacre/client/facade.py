"""The Python client, `Nacre("data").graph("bmw").ask("...")`: data folder or server address -> graphs and answers."""

import asyncio
import uuid
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from nacre.client.event_loop_thread import EventLoopThread
from nacre.client.reply import Reply
from nacre.client.source import GraphSource, ReasonerName, TurnRequest
from nacre.client.streams import AsyncStream, StartStream, Stream, forward_events
from nacre.client.verified import VerifiedQuestions, VerifiedSource
from nacre.serving.turn_events import collect_record

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

T = TypeVar("T")

URL_SCHEMES = ("http://", "https://")


class Nacre:
    """The graphs of a data folder or of a server. Safe to share between threads and event loops.

    `where` is a folder, or the address of a `nacre serve`, which may require a `key`. For a folder, settings and the
    chat model come from the environment, as on the command line. `keep` stores named conversations in the folder.
    """

    def __init__(self, where: str | Path = "data", *, key: str | None = None, keep: bool = False) -> None:
        self._loop_thread = EventLoopThread()
        self._source = _source(where, key, keep)

    def graphs(self) -> list[str]:
        """The names of the graphs."""
        return self._start_names().result()

    async def agraphs(self) -> list[str]:
        """The names of the graphs."""
        return await asyncio.wrap_future(self._start_names())

    def graph(self, name: str | None = None) -> "Graph":
        """A graph by name; without a name the only one. The first question checks that it exists."""
        return Graph(self, name)

    def close(self) -> None:
        """Release files and connections; the next question opens them again."""
        self._loop_thread.close()

    async def aclose(self) -> None:
        """Like `close`, awaited."""
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

    def start_turn(self, request: TurnRequest) -> "Future[Reply]":
        """Start a turn. The future holds its reply or its error."""
        return self._loop_thread.submit(_collect_reply(self._source, request), self._source.close)

    def stream_starter(self, request: TurnRequest) -> StartStream:
        """The function that starts a streamed turn."""
        return lambda put: self._loop_thread.submit(
            forward_events(self._source.events(request), put), self._source.close
        )

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """The result of a call on the loop of this object."""
        return self._loop_thread.submit(call, self._source.close).result()

    @property
    def verified_source(self) -> VerifiedSource:
        """The verified questions of all graphs."""
        return self._source.verified

    def forget(self, thread: str) -> None:
        """Forget a conversation held in memory. Conversations stored by a server or in the folder stay."""
        self._loop_thread.submit_if_running(partial(self._source.forget, thread))

    def _start_names(self) -> "Future[list[str]]":
        return self._loop_thread.submit(self._source.names(), self._source.close)


class Graph:
    """One graph. Questions with the same `thread` form one conversation; `chat` starts one.

    Methods that ask a question raise NacreError, with a message for users, if it can't be asked.
    """

    def __init__(self, nacre: Nacre, name: str | None) -> None:
        self.name = name
        self._nacre = nacre

    def ask(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Reply:
        """The answer to a question. `mind` is "rules" or "model"; the default is the model if one is configured."""
        return self._nacre.start_turn(TurnRequest(question, self.name, thread, mind)).result()

    async def aask(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Reply:
        """Like `ask`, awaited."""
        return await asyncio.wrap_future(self._nacre.start_turn(TurnRequest(question, self.name, thread, mind)))

    def stream(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> Stream:
        """The answer token by token; afterwards `reply` holds the complete answer."""
        return Stream(self._nacre.stream_starter(TurnRequest(question, self.name, thread, mind)))

    def astream(self, question: str, *, thread: str | None = None, mind: ReasonerName | None = None) -> AsyncStream:
        """Like `stream`, for `async for`."""
        return AsyncStream(self._nacre.stream_starter(TurnRequest(question, self.name, thread, mind)))

    def chat(self, thread: str | None = None) -> "Chat":
        """A conversation; a new one if no thread is named."""
        return Chat(self, thread)

    def forget(self, thread: str) -> None:
        """Forget a conversation that is held only in memory."""
        self._nacre.forget(thread)

    @property
    def verified(self) -> VerifiedQuestions:
        """Questions of the graph that people confirmed."""
        return VerifiedQuestions(self._nacre, self.name)

    def as_tool(self, name: str | None = None, description: str | None = None) -> "BaseTool":
        """The graph as a tool of LangChain and LangGraph agents: question -> cited answer."""
        from nacre.client.tool import graph_tool

        return graph_tool(self, name, description)


class Chat:
    """A conversation with a graph: questions may refer to earlier turns. A conversation without a name is forgotten
    with its object, unless conversations are stored."""

    def __init__(self, graph: Graph, thread: str | None) -> None:
        self.graph = graph
        self.thread = thread or uuid.uuid4().hex
        if thread is None:
            weakref.finalize(self, graph.forget, self.thread).atexit = False

    def ask(self, question: str, *, mind: ReasonerName | None = None) -> Reply:
        """The answer to the next question."""
        return self.graph.ask(question, thread=self.thread, mind=mind)

    async def aask(self, question: str, *, mind: ReasonerName | None = None) -> Reply:
        """Like `ask`, awaited."""
        return await self.graph.aask(question, thread=self.thread, mind=mind)

    def stream(self, question: str, *, mind: ReasonerName | None = None) -> Stream:
        """The answer token by token; afterwards `reply` holds the complete answer."""
        return self.graph.stream(question, thread=self.thread, mind=mind)

    def astream(self, question: str, *, mind: ReasonerName | None = None) -> AsyncStream:
        """Like `stream`, for `async for`."""
        return self.graph.astream(question, thread=self.thread, mind=mind)


def _source(where: str | Path, key: str | None, keep: bool) -> GraphSource:
    if isinstance(where, str) and where.startswith(URL_SCHEMES):
        from nacre.client.remote import RemoteSource

        return RemoteSource(where, key)
    from nacre.client.local import LocalSource

    return LocalSource(Path(where), keep=keep)


async def _collect_reply(source: GraphSource, request: TurnRequest) -> Reply:
    return Reply(await collect_record(source.events(request)))
