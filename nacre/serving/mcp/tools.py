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

from agents.run_in_thread import run_in_thread
from nacre.access import queries
from nacre.access.availability import lexical_problem, sparql_problem, vector_problem
from nacre.access.browse.things import find_thing
from nacre.errors import NacreError
from nacre.records.answer import Answer
from nacre.serving.http.api.graphs import example_questions, graph_summary
from nacre.serving.http.metrics import Metrics
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.mcp import records
from nacre.serving.tracing import trace_turn
from nacre.serving.turn_service import TurnService
from nacre.stores.catalog import Graph

P = ParamSpec("P")
T = TypeVar("T")

MOST_ROWS, ROWS = 1000, 100
MOST_FOUND, FOUND = 24, 8
TOOL_NAMES = ("ask", "query_sql", "query_sparql", "search", "describe_graph", "describe_thing", "list_graphs")
# what a graph says can change with its next version, and nothing outside is touched
READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

GraphArgument = Annotated[str | None, Field(description="Name of the graph; may be left out where there is only one.")]


@dataclass(frozen=True)
class ToolContext:
    """Where one request is worked on, and for whom."""

    service: TurnService
    caller: Caller = LOCAL_CALLER
    metrics: Metrics | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


ContextResolver = Callable[[ServerRequestContext[Any, Any]], ToolContext]


def add_tools(mcp: MCPServer[Any], where: ContextResolver) -> None:
    """Add the tools of `TOOL_NAMES`; `where` finds the place of a request."""

    def tool(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        titled = function.__name__.replace("_", " ").capitalize()
        mcp.tool(title=titled, annotations=READ_ONLY, structured_output=True)(_told(function))
        return function

    @tool
    async def ask(
        question: Annotated[str, Field(description="The question in plain words, 4000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        thread: Annotated[
            str | None, Field(description="Any name; example_questions with the same one are one conversation.")
        ] = None,
    ) -> records.ToolAnswer:
        """Ask a question in plain words; the answer has citations, the values as data, and how sure it is."""
        place = where(ctx.request_context)
        place.service.check_capacity()
        return records.tool_answer(await _answer(place, question, graph, thread))

    @tool
    async def query_sql(
        sql: Annotated[str, Field(description="One SELECT in SQLite's dialect, over the tables of describe_graph.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="The most rows.")] = ROWS,
    ) -> records.ToolRows:
        """Run one SELECT over the tables of a graph, read-only. See the graph's schema resource for the tables."""
        place = where(ctx.request_context)
        service = place.service
        async with service.query_slot(place.caller):
            with await open_graph(place, graph) as opened:
                resources = service.composition.resources
                found = await queries.query_sql(opened, sql, resources.settings, resources.sandbox, limit)
        return records.ToolRows(**asdict(found))

    @tool
    async def query_sparql(
        sparql: Annotated[str, Field(description="One SELECT, ASK or CONSTRUCT of SPARQL 1.1.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: Annotated[int, Field(ge=1, le=MOST_ROWS, description="The most rows.")] = ROWS,
    ) -> records.ToolRows:
        """Run one SPARQL query over a graph, read-only. describe_graph says whether this graph can be asked so."""
        place = where(ctx.request_context)
        async with place.service.query_slot(place.caller):
            with await open_graph(place, graph) as opened:
                resources = place.service.composition.resources
                found = await queries.query_sparql(opened, sparql, resources.settings, resources.sandbox, limit)
        return records.ToolRows(**asdict(found))

    @tool
    async def search(
        text: Annotated[str, Field(min_length=1, description="Words to look for, 1000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: Annotated[int, Field(ge=1, le=MOST_FOUND, description="The most sentences.")] = FOUND,
    ) -> records.SearchHits:
        """Find sentences of a graph, and of the texts that go with it, that hold these words or mean the like."""
        place = where(ctx.request_context)
        async with place.service.turn_slot(place.caller):
            with await open_graph(place, graph) as opened:
                found = await queries.search_sentences(opened, text, place.service.composition.settings, limit)
        return records.SearchHits(found=[records.SearchHit(**asdict(each)) for each in found])

    @tool
    async def describe_graph(ctx: Context, graph: GraphArgument = None) -> records.GraphDescription:
        """What a graph is about: its classes, their tables, its properties, and questions that it answers."""
        place = where(ctx.request_context)
        async with place.service.turn_slot(place.caller):
            with await open_graph(place, graph) as opened:
                return await run_in_thread(_graph_told, place, opened)

    @tool
    async def describe_thing(
        name: Annotated[str, Field(description="The name of one thing, or its IRI.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> records.ThingDescription:
        """All that a graph says of one thing: its kinds, its facts, and what leads to it."""
        place = where(ctx.request_context)
        async with place.service.turn_slot(place.caller):
            with await open_graph(place, graph) as opened:
                seconds = place.service.composition.settings.branch_seconds
                return records.thing_description(await run_in_thread(find_thing, opened, name, seconds))

    @tool
    async def list_graphs(ctx: Context) -> records.GraphList:
        """The graphs that can be asked."""
        place = where(ctx.request_context)
        found = await run_in_thread(_listing, place)
        return records.GraphList(graphs=found)


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


async def _answer(place: ToolContext, question: str, graph: str | None, thread: str | None) -> Answer:
    """The record of a turn. Who leaves is no longer waited for, and the turn is cancelled once: the SDK would cancel it
    again and again, and so keep it from cancelling what it waits for itself."""
    turn = asyncio.create_task(_turn(place, question, graph, thread))
    try:
        return await asyncio.shield(turn)
    finally:
        turn.cancel()


async def _turn(place: ToolContext, question: str, graph: str | None, thread: str | None) -> Answer:
    events = place.service.events(question, graph, thread, caller=place.caller)
    if place.metrics is not None:
        events = trace_turn(place.metrics.count_events(events), place.headers)
    record: Answer | None = None
    async for kind, payload in events:
        if kind == "answer":
            record = payload
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record


async def open_graph(place: ToolContext, graph: str | None) -> Graph:
    """A graph that the caller may read; give it back with `close`. Raises ConfigError."""
    name = place.service.resolve_graph(graph or None, place.caller)
    return await run_in_thread(place.service.library.open, name)


def _graph_told(place: ToolContext, opened: Graph) -> records.GraphDescription:
    schema = opened.schema
    classes = sorted(schema.classes, key=lambda each: -each.count)
    properties = sorted(schema.predicates, key=lambda each: -each.triples)
    most_classes, most_properties = records.MOST_CLASSES, records.MOST_PROPERTIES
    return records.GraphDescription(
        name=opened.name,
        version=opened.version,
        triples=schema.triples,
        things=schema.entities,
        classes=[records.class_summary(each) for each in classes[:most_classes]],
        properties=[records.property_summary(each, schema) for each in properties[:most_properties]],
        truncated=len(classes) > most_classes or len(properties) > most_properties,
        sql=opened.stored is not None,
        sparql=not sparql_problem(opened),
        search=not (lexical_problem(opened) and vector_problem(opened)),
        examples=example_questions(place.service, place.caller, opened.name),
    )


def _listing(place: ToolContext) -> list[records.GraphListItem]:
    fields = records.GraphListItem.model_fields
    every = (graph_summary(place.service.library, name) for name in place.service.graph_names(place.caller))
    return [records.GraphListItem(**{name: getattr(each, name) for name in fields}) for each in every]
