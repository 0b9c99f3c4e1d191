"""The tools of the MCP server: what an agent of others asks -> records, for whoever its key stands for."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError as Refusal
from mcp.types import ToolAnnotations
from pydantic import Field

from agents.run_in_thread import off_loop
from nacre.access import queries
from nacre.access.availability import lacks_lexical, lacks_triples, lacks_vectors
from nacre.access.things import describe
from nacre.errors import NacreError
from nacre.records.answer import Answer
from nacre.serving.http.api.graphs import listed, questions
from nacre.serving.http.metrics import Metrics
from nacre.serving.keys import LOCAL, Caller
from nacre.serving.mcp import records
from nacre.serving.tracing import traced
from nacre.serving.turn_service import Asking
from nacre.stores.catalog import Graph

P = ParamSpec("P")
T = TypeVar("T")

MOST_ROWS, ROWS = 1000, 100
MOST_FOUND, FOUND = 24, 8
TOOLS = ("ask", "query_sql", "query_sparql", "search", "describe_graph", "describe_thing", "list_graphs")
# what a graph says can change with its next version, and nothing outside is touched
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

GraphName = Annotated[str | None, Field(description="Name of the graph; may be left out where there is only one.")]


@dataclass(frozen=True)
class Place:
    """Where one request is worked on, and for whom."""

    asking: Asking
    caller: Caller = LOCAL
    metrics: Metrics | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Where = Callable[[ServerRequestContext[Any, Any]], Place]


def add_tools(mcp: MCPServer[Any], where: Where) -> None:
    """Add the tools of `TOOLS`; `where` finds the place of a request."""

    def tool(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        titled = function.__name__.replace("_", " ").capitalize()
        mcp.tool(title=titled, annotations=READS, structured_output=True)(_told(function))
        return function

    @tool
    async def ask(
        question: Annotated[str, Field(description="The question in plain words, 4000 characters at most.")],
        ctx: Context,
        graph: GraphName = None,
        thread: Annotated[
            str | None, Field(description="Any name; questions with the same one are one conversation.")
        ] = None,
    ) -> records.Told:
        """Ask a question in plain words; the answer has citations, the values as data, and how sure it is."""
        place = where(ctx.request_context)
        place.asking.admit()
        return records.told(await _answer(place, question, graph, thread))

    @tool
    async def query_sql(
        sql: Annotated[str, Field(description="One SELECT in SQLite's dialect, over the tables of describe_graph.")],
        ctx: Context,
        graph: GraphName = None,
        limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="The most rows.")] = ROWS,
    ) -> records.Rows:
        """Run one SELECT over the tables of a graph, read-only. See the graph's schema resource for the tables."""
        place = where(ctx.request_context)
        asking = place.asking
        async with asking.place():
            with await opened_graph(place, graph) as opened:
                resources = asking.composition.resources
                found = await queries.query_sql(opened, sql, resources.settings, resources.apart, limit)
        return records.Rows(**asdict(found))

    @tool
    async def query_sparql(
        sparql: Annotated[str, Field(description="One SELECT, ASK or CONSTRUCT of SPARQL 1.1.")],
        ctx: Context,
        graph: GraphName = None,
        limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="The most rows.")] = ROWS,
    ) -> records.Rows:
        """Run one SPARQL query over a graph, read-only. describe_graph says whether this graph can be asked so."""
        place = where(ctx.request_context)
        async with place.asking.place():
            with await opened_graph(place, graph) as opened:
                found = await queries.query_sparql(opened, sparql, place.asking.composition.settings, limit)
        return records.Rows(**asdict(found))

    @tool
    async def search(
        text: Annotated[str, Field(min_length=1, description="Words to look for, 1000 characters at most.")],
        ctx: Context,
        graph: GraphName = None,
        limit: Annotated[int, Field(ge=1, le=MOST_FOUND, description="The most sentences.")] = FOUND,
    ) -> records.Sentences:
        """Find sentences of a graph, and of the texts that go with it, that hold these words or mean the like."""
        place = where(ctx.request_context)
        async with place.asking.place():
            with await opened_graph(place, graph) as opened:
                found = await queries.search(opened, text, place.asking.composition.settings, limit)
        return records.Sentences(found=[records.FoundSentence(**asdict(each)) for each in found])

    @tool
    async def describe_graph(ctx: Context, graph: GraphName = None) -> records.GraphTold:
        """What a graph is about: its classes, their tables, its properties, and questions that it answers."""
        place = where(ctx.request_context)
        async with place.asking.place():
            with await opened_graph(place, graph) as opened:
                return await off_loop(_graph_told, place, opened)

    @tool
    async def describe_thing(
        name: Annotated[str, Field(description="The name of one thing, or its IRI.")],
        ctx: Context,
        graph: GraphName = None,
    ) -> records.ThingTold:
        """All that a graph says of one thing: its kinds, its facts, and what leads to it."""
        place = where(ctx.request_context)
        async with place.asking.place():
            with await opened_graph(place, graph) as opened:
                seconds = place.asking.composition.settings.branch_seconds
                return records.ThingTold(**asdict(await off_loop(describe, opened, name, seconds)))

    @tool
    async def list_graphs(ctx: Context) -> records.Listing:
        """The graphs that can be asked."""
        place = where(ctx.request_context)
        found = await off_loop(_listing, place)
        return records.Listing(graphs=found)


def _told(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The same tool; what is written for people becomes an error of the tool, which its caller may read and act on."""

    @functools.wraps(function)
    async def telling(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except NacreError as error:
            raise Refusal(str(error)) from error
        except TimeoutError as error:
            raise Refusal("It took too long. Ask for less.") from error

    return telling


async def _answer(place: Place, question: str, graph: str | None, thread: str | None) -> Answer:
    """The record of a turn. Who leaves is no longer waited for, and the turn is cancelled once: the SDK would cancel it
    again and again, and so keep it from cancelling what it waits for itself."""
    turn = asyncio.create_task(_turn(place, question, graph, thread))
    try:
        return await asyncio.shield(turn)
    finally:
        turn.cancel()


async def _turn(place: Place, question: str, graph: str | None, thread: str | None) -> Answer:
    events = place.asking.events(question, graph, thread, caller=place.caller)
    if place.metrics is not None:
        events = traced(place.metrics.counted(events), place.headers)
    record: Answer | None = None
    async for kind, payload in events:
        if kind == "answer":
            record = payload
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record


async def opened_graph(place: Place, graph: str | None) -> Graph:
    """A graph that the caller may read; give it back with `close`. Raises ConfigError."""
    name = place.asking.resolve(graph or None, place.caller)
    return await off_loop(place.asking.library.open, name)


def _graph_told(place: Place, opened: Graph) -> records.GraphTold:
    schema = opened.schema
    classes = sorted(schema.classes, key=lambda each: -each.count)
    properties = sorted(schema.predicates, key=lambda each: -each.triples)
    most_classes, most_properties = records.MOST_CLASSES, records.MOST_PROPERTIES
    return records.GraphTold(
        name=opened.name,
        version=opened.version,
        triples=schema.triples,
        things=schema.entities,
        classes=[records.class_told(each) for each in classes[:most_classes]],
        properties=[records.property_told(each, schema) for each in properties[:most_properties]],
        truncated=len(classes) > most_classes or len(properties) > most_properties,
        sql=opened.stored is not None,
        sparql=not lacks_triples(opened),
        search=not (lacks_lexical(opened) and lacks_vectors(opened)),
        examples=questions(place.asking, place.caller, opened.name),
    )


def _listing(place: Place) -> list[records.GraphListed]:
    fields = records.GraphListed.model_fields
    every = (listed(place.asking.library, name) for name in place.asking.names(place.caller))
    return [records.GraphListed(**{name: getattr(each, name) for name in fields}) for each in every]
