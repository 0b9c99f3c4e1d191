"""The Python client, `Nacre("data").graph("bmw").ask("...")`: data folder or server address -> graphs and answers.

In this order: the public classes; verified questions of a graph; an answer as it streams (events of a turn -> tokens,
then the Reply); and the background thread that runs coroutines, for programs with and without an event loop. A data
folder and a server (`connections`) have the same methods.
"""

import asyncio
import threading
import uuid
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from nacre.errors import ConfigError, NacreError
from nacre.records.answer import Answer, Citation, Option, Status, TableRecord, Value
from nacre.records.turn import VerifiedQuery, VerifiedQuestion
from nacre.serving.transcript import collect_record

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pandas import DataFrame

    from nacre.extensions.client.connections import LocalSource, RemoteSource

T = TypeVar("T")

URL_SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class Reply:
    """One answer. `record` is the whole record as `nacre ask --json` prints it; the properties are parts of it."""

    record: Answer

    @property
    def text(self) -> str:
        """The answer in words; each [n] is a citation."""
        return self.record["answer"]

    @property
    def values(self) -> list[Value]:
        """The answer as data: names, numbers, dates or booleans."""
        return self.record["values"]

    @property
    def table(self) -> TableRecord | None:
        """`columns` and `rows`, if the answer has several columns."""
        return self.record["table"]

    @property
    def citations(self) -> list[Citation]:
        """The evidence behind each [n]: rows, triples, or a place in a document."""
        return self.record["citations"]

    @property
    def unit(self) -> str | None:
        """The unit of the numbers in `values`."""
        return self.record["unit"]

    @property
    def status(self) -> Status:
        """answered, partial, clarify, not_in_graph, not_understood or failed."""
        return self.record["status"]

    @property
    def confidence(self) -> float | None:
        """The probability that the values are right, None if none was estimated."""
        return self.record["confidence"]

    @property
    def options(self) -> list[Option]:
        """Other readings of the question. In a conversation, its number as the next question chooses one."""
        return self.record["options"]

    @property
    def cited(self) -> str:
        """The answer, followed by its sources, one per line."""
        sources = [f"[{each['n']}] {each['source']}: {' '.join(each['text'].split())}" for each in self.citations]
        return "\n".join([self.text, *sources])

    def to_pandas(self) -> "DataFrame":
        """The table of the answer, or its values as one column. Needs pandas, else raises ConfigError."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise ConfigError("to_pandas needs pandas. Run: pip install 'nacre[pandas]'") from None
        from nacre.serving.transcript import answer_table

        columns, rows = answer_table(self.record)
        return DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return self.text


# a token, the reply, or the error of a turn; None marks the end
StreamItem = str | Reply | BaseException | None

StartStream = Callable[[Callable[[StreamItem], object]], "Future[None]"]

ReasonerName = Literal["rules", "model"]


class TurnRequest(NamedTuple):
    """One question, with its graph, its thread and who answers it."""

    question: str
    graph: str | None = None
    thread: str | None = None
    mind: ReasonerName | None = None


class Nacre:
    """The graphs of a data folder or of a server. Safe to share between threads and event loops.

    `where` is a folder, or the address of a `nacre serve`, which may require a `key`. For a folder, settings and the
    chat model come from the environment, as on the command line. `keep` stores named conversations in the folder.
    """

    def __init__(self, where: str | Path = "data", *, key: str | None = None, keep: bool = False) -> None:
        self._loop_thread = EventLoopThread()
        self.source = _source(where, key, keep)

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

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> "Nacre":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def start_turn(self, request: TurnRequest) -> "Future[Reply]":
        """Start a turn. The future holds its reply or its error."""

        async def reply() -> Reply:
            return Reply(await collect_record(self.source.events(request)))

        return self._loop_thread.submit(reply(), self.source.close)

    def stream_starter(self, request: TurnRequest) -> StartStream:
        """The function that starts a streamed turn."""
        return lambda put: self._loop_thread.submit(forward_events(self.source.events(request), put), self.source.close)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """The result of a call on the loop of this object."""
        return self._loop_thread.submit(call, self.source.close).result()

    def forget(self, thread: str) -> None:
        """Forget a conversation held in memory. Conversations stored by a server or in the folder stay."""
        self._loop_thread.submit_if_running(partial(self.source.forget, thread))

    def _start_names(self) -> "Future[list[str]]":
        return self._loop_thread.submit(self.source.names(), self.source.close)


class VerifiedQuestions:
    """Questions of one graph that people confirmed: they are answered the same way again. Methods raise NacreError. In
    an event loop, await `asyncio.to_thread(...)` of a method."""

    def __init__(self, nacre: "Nacre", graph: str | None) -> None:
        self._source, self._run = nacre.source, nacre.run
        self._graph = graph

    def list(self, search: str = "", *, waiting: bool = False) -> Sequence[VerifiedQuestion]:
        """The approved ones and your own, the latest first; `waiting`: only those that wait for approval."""
        return self._run(self._source.listed(self._graph, search, waiting=waiting))

    def confirm(self, reply: Reply) -> VerifiedQuestion:
        """This answer is right. On a server, the question must have been asked in a named thread."""
        return self._run(self._source.confirm_answer(reply))

    def add(self, question: str, *, sql: str = "", sparql: str = "") -> VerifiedQuestion:
        """A query that answers a question, in SQL over the graph's tables or in SPARQL. It is run and must give
        values."""
        if bool(sql) is bool(sparql):
            raise ValueError("Give one query: sql or sparql.")
        query = VerifiedQuery(tool="sql", text=sql) if sql else VerifiedQuery(tool="sparql", text=sparql)
        return self._run(self._source.confirm_query(self._graph, question, query))

    def add_lines(self, lines: Sequence[dict[str, Any]]) -> Sequence[str]:
        """Confirm lines as `nacre examples import` reads them; for each, why it was left out, or ""."""
        return self._run(self._source.import_lines(self._graph, lines))

    def approve(self, id: str, by: str | None = None) -> VerifiedQuestion:
        """Let everyone who may read the graph use it; `by` is its owner, if several people confirmed the question."""
        return self._run(self._source.approve(self._graph, id, by))

    def remove(self, id: str, by: str | None = None) -> None:
        """Delete it."""
        self._run(self._source.remove(self._graph, id, by))

    def check(self) -> Sequence[VerifiedQuestion]:
        """Run all again; those that fail, give nothing or give values of another kind, which are not used."""
        return self._run(self._source.check(self._graph))


class _TurnStream:
    """The state of an answer that is read token by token."""

    _running: "Future[None]"
    _reply: Reply | None = None
    _is_over = False

    @property
    def reply(self) -> Reply:
        """The whole answer, once all tokens were read; raises RuntimeError before that."""
        if self._reply is None:
            raise RuntimeError("The answer is not complete yet. Read all tokens first.")
        return self._reply

    def _token(self, item: StreamItem) -> str | None:
        """The token of an item, None if it is none; raises the error of a turn."""
        if isinstance(item, str):
            return item
        self._is_over = not isinstance(item, Reply)
        if isinstance(item, BaseException):
            raise item
        self._reply = item or self._reply
        return None

    def _stop(self) -> None:
        self._is_over = True
        self._running.cancel()


class Stream(_TurnStream):
    """An iterator over the tokens of an answer; joined they equal `reply.text`. Closing it stops the turn."""

    def __init__(self, begin: StartStream) -> None:
        self._items: SimpleQueue[StreamItem] = SimpleQueue()
        self._running = begin(self._items.put)

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> str:
        while not self._is_over:
            if (token := self._token(self._items.get())) is not None:
                return token
        raise StopIteration

    def close(self) -> None:
        """Stop the turn, where it is not over."""
        self._stop()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncStream(_TurnStream):
    """Like `Stream`, for `async for`."""

    def __init__(self, begin: StartStream) -> None:
        loop, self._items = asyncio.get_running_loop(), asyncio.Queue[StreamItem]()

        def put(item: StreamItem) -> None:
            # a closed loop accepts no callbacks
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._items.put_nowait, item)

        self._running = begin(put)

    def __aiter__(self) -> "AsyncStream":
        return self

    async def __anext__(self) -> str:
        while not self._is_over:
            if (token := self._token(await self._items.get())) is not None:
                return token
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop the turn, where it is not over."""
        self._stop()

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


class Graph:
    """One graph. Questions with the same `thread` form one conversation; `chat` starts one. Methods that ask a question
    raise NacreError, with a message for users, if it can't be asked."""

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
        return _graph_tool(self, name, description)


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


def _source(where: str | Path, key: str | None, keep: bool) -> "LocalSource | RemoteSource":
    if isinstance(where, str) and where.startswith(URL_SCHEMES):
        from nacre.extensions.client.connections import RemoteSource

        return RemoteSource(where, key)
    from nacre.extensions.client.connections import LocalSource

    return LocalSource(Path(where), keep=keep)


async def forward_events(events: AsyncGenerator[tuple[str, Any]], put: Callable[[StreamItem], object]) -> None:
    """Put the tokens and the reply of a turn, or its error, then None."""
    try:
        async for kind, payload in events:
            if kind == "token":
                put(payload)
            elif kind == "answer":
                put(Reply(payload))
    except Exception as error:
        put(error)
    finally:
        await events.aclose()
        put(None)


CLOSING_SECONDS = 10.0


class EventLoopThread:
    """An event loop that starts with the first coroutine and ends on `close`, garbage collection or program exit."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()
        self._end: Callable[[], object] = lambda: None

    def submit(self, work: Coroutine[Any, Any, T], on_close: Callable[[], Awaitable[None]]) -> "Future[T]":
        """Schedule a coroutine; `on_close` is awaited in the loop before the loop ends."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="nacre", daemon=True)
                thread.start()
                self._end = end = weakref.finalize(self, _end, self._loop, thread, on_close)
                # at interpreter exit the thread pools that closing needs are gone already
                end.atexit = False
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def submit_if_running(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Schedule a coroutine if the loop is running. It takes no lock, so that a finalizer may call it."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(work(), loop)

    def close(self) -> None:
        """End the loop and cancel its running tasks."""
        with self._starting:
            self._end()
            self._loop = None


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, on_close: Callable[[], Awaitable[None]]) -> None:
    asyncio.run_coroutine_threadsafe(_shut_down(on_close), loop).result(CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSING_SECONDS)
    loop.close()


async def _shut_down(on_close: Callable[[], Awaitable[None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await on_close()
    await asyncio.get_running_loop().shutdown_asyncgens()


def _graph_tool(graph: Graph, name: str | None, description: str | None) -> "BaseTool":
    """The tool. Its content is the answer with sources and probability; its artifact is the whole record."""
    from langchain_core.tools import StructuredTool, ToolException
    from pydantic import BaseModel, Field

    class ToolInput(BaseModel):
        """The arguments that the agent passes."""

        question: str = Field(description="One question in plain language that can be understood on its own.")

    subject = f"the knowledge graph {graph.name!r}" if graph.name else "a knowledge graph"

    def ask(question: str) -> tuple[str, Answer]:
        try:
            return _content_and_artifact(graph.ask(question))
        except NacreError as error:
            raise ToolException(str(error)) from error

    async def aask(question: str) -> tuple[str, Answer]:
        try:
            return _content_and_artifact(await graph.aask(question))
        except NacreError as error:
            raise ToolException(str(error)) from error

    return StructuredTool.from_function(
        func=ask,
        coroutine=aask,
        name=name or f"ask_{(graph.name or 'graph').replace('-', '_')}",
        description=description
        or f"Ask {subject} a question in plain language. Answers use only its facts and state sources and probability.",
        args_schema=ToolInput,
        response_format="content_and_artifact",
        # the agent reads the error message
        handle_tool_error=True,
    )


def _content_and_artifact(reply: Reply) -> tuple[str, Answer]:
    probability = "" if reply.confidence is None else f", probability {reply.confidence:.2f}"
    return f"{reply.cited}\n(status: {reply.status}{probability})", reply.record
