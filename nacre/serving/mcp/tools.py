"""The tools of the MCP server: arguments from an agent + caller -> records of `mcp.records`."""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError as McpToolError
from mcp.types import InputRequiredResult, ToolAnnotations
from pydantic import BeforeValidator, Field

from agents.run_in_thread import run_in_thread
from nacre.access import queries
from nacre.access.availability import lexical_problem, sparql_problem, vector_problem
from nacre.access.browse.things import find_thing
from nacre.errors import NacreError
from nacre.serving.agent_answer import AgentAnswer
from nacre.serving.http.api.graphs import examples_of, graph_summary
from nacre.serving.mcp import records
from nacre.serving.mcp.ask import AskCall, AskTool, ToolContext
from nacre.stores.catalog import Graph

P = ParamSpec("P")
T = TypeVar("T")

MAX_ROWS, DEFAULT_ROWS = 1000, 100
MAX_SENTENCES, DEFAULT_SENTENCES = 24, 8
TOOL_NAMES = ("ask", "query_sql", "query_sparql", "search", "describe_graph", "describe_thing", "list_graphs")
# read-only; the same call gives the same result until the graph has a new version
READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def or_default(default: object) -> BeforeValidator:
    """Reads null as the default: some clients send it for each argument that they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


GraphArgument = Annotated[str | None, Field(description="Name of the graph; may be omitted if there is only one.")]
RowLimit = Annotated[int, or_default(DEFAULT_ROWS), Field(ge=1, le=MAX_ROWS, description="Maximum number of rows.")]

ContextResolver = Callable[[ServerRequestContext[Any, Any]], ToolContext]


def add_tools(mcp: MCPServer[Any], resolve_context: ContextResolver) -> None:
    """Register the tools of `TOOL_NAMES` with a server."""
    tools = GraphTools(resolve_context)
    for name in TOOL_NAMES:
        title = name.replace("_", " ").capitalize()
        mcp.tool(title=title, annotations=READ_ONLY, structured_output=True)(with_tool_errors(getattr(tools, name)))


class GraphTools:
    """The tools, one method each. Their docstrings and parameters are what agents see."""

    def __init__(self, resolve_context: ContextResolver) -> None:
        self._resolve_context = resolve_context
        self._ask_tool = AskTool()

    async def ask(
        self,
        question: Annotated[str, Field(description="The question in plain language, 4000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        thread: Annotated[
            str | None, Field(description="Any name; questions with the same name form one conversation.")
        ] = None,
    ) -> AgentAnswer | InputRequiredResult:
        """Ask a question in plain language; the answer has citations, the values as data, and a probability."""
        context = self._resolve_context(ctx.request_context)
        return await self._ask_tool.answer(context, ctx, AskCall(question, graph, thread))

    async def query_sql(
        self,
        sql: Annotated[str, Field(description="One SELECT in SQLite's dialect, over the tables of describe_graph.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: RowLimit = DEFAULT_ROWS,
    ) -> records.ToolRows:
        """Run one SELECT over the tables of a graph, read-only. The graph's schema resource lists the tables."""
        async with self._open_graph(ctx, graph, for_query=True) as (context, opened):
            resources = context.service.composition.resources
            result = await queries.query_sql(opened, sql, resources.settings, resources.sandbox, limit)
        return records.ToolRows(**asdict(result))

    async def query_sparql(
        self,
        sparql: Annotated[str, Field(description="One SELECT, ASK or CONSTRUCT of SPARQL 1.1.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: RowLimit = DEFAULT_ROWS,
    ) -> records.ToolRows:
        """Run one SPARQL query over a graph, read-only. describe_graph tells whether the graph supports SPARQL."""
        async with self._open_graph(ctx, graph, for_query=True) as (context, opened):
            resources = context.service.composition.resources
            result = await queries.query_sparql(opened, sparql, resources.settings, resources.sandbox, limit)
        return records.ToolRows(**asdict(result))

    async def search(
        self,
        text: Annotated[str, Field(min_length=1, description="Words to search for, 1000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: Annotated[
            int,
            or_default(DEFAULT_SENTENCES),
            Field(ge=1, le=MAX_SENTENCES, description="Maximum number of sentences."),
        ] = DEFAULT_SENTENCES,
    ) -> records.SearchHits:
        """Find sentences of a graph and of its documents that contain these words or are close in meaning."""
        async with self._open_graph(ctx, graph) as (context, opened):
            settings = context.service.composition.settings
            sentences = await queries.search_sentences(opened, text, settings, limit)
        return records.SearchHits(found=[records.SearchHit(**asdict(each)) for each in sentences])

    async def describe_graph(self, ctx: Context, graph: GraphArgument = None) -> records.GraphDescription:
        """The contents of a graph: its classes, their tables, its properties, and questions that it answers."""
        async with self._open_graph(ctx, graph) as (context, opened):
            return await run_in_thread(_graph_description, context, opened)

    async def describe_thing(
        self,
        name: Annotated[str, Field(description="The name of one thing, or its IRI.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> records.ThingDescription:
        """All facts about one thing: its classes, its properties, and the facts that link to it."""
        async with self._open_graph(ctx, graph) as (context, opened):
            seconds = context.service.composition.settings.branch_seconds
            return records.thing_description(await run_in_thread(find_thing, opened, name, seconds))

    async def list_graphs(self, ctx: Context) -> records.GraphList:
        """The graphs that can be queried."""
        context = self._resolve_context(ctx.request_context)
        async with context.service.look_up_slot(context.caller):
            return records.GraphList(graphs=await run_in_thread(_graph_list, context))

    @asynccontextmanager
    async def _open_graph(
        self, ctx: Context, graph: str | None, *, for_query: bool = False
    ) -> AsyncIterator[tuple[ToolContext, Graph]]:
        """The open graph of a request, once a slot for look-ups is free, or one for queries of callers."""
        context = self._resolve_context(ctx.request_context)
        service = context.service
        async with service.query_slot(context.caller) if for_query else service.look_up_slot(context.caller):
            with await context.service.open_graph(graph, context.caller) as opened:
                yield context, opened


def with_tool_errors(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The same tool. Errors with a message for users become tool errors, which the agent can read and act on."""

    @functools.wraps(function)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except NacreError as error:
            raise McpToolError(str(error)) from error
        except TimeoutError as error:
            raise McpToolError("It took too long. Ask for less.") from error

    return wrapped


def _graph_description(context: ToolContext, opened: Graph) -> records.GraphDescription:
    schema = opened.schema
    classes = sorted(schema.shown_classes, key=lambda each: -each.count)
    properties = sorted(schema.shown_predicates, key=lambda each: -each.triples)
    max_classes, max_properties = records.MAX_CLASSES, records.MAX_PROPERTIES
    return records.GraphDescription(
        name=opened.name,
        version=opened.version,
        triples=schema.triples,
        things=schema.entities,
        classes=[records.class_summary(each) for each in classes[:max_classes]],
        properties=[records.property_summary(each, schema) for each in properties[:max_properties]],
        truncated=len(classes) > max_classes or len(properties) > max_properties,
        sql=opened.stored is not None,
        sparql=not sparql_problem(opened),
        search=not (lexical_problem(opened) and vector_problem(opened)),
        examples=examples_of(context.service.library, opened.name),
    )


def _graph_list(context: ToolContext) -> list[records.GraphListItem]:
    fields = records.GraphListItem.model_fields
    every = (graph_summary(context.service.library, name) for name in context.service.graph_names(context.caller))
    return [records.GraphListItem(**{name: getattr(each, name) for name in fields}) for each in every]
