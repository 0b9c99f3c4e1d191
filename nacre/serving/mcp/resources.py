"""The resources of the MCP server: graph -> its schema, its semantic layer and its verified questions as text."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import ListResourcesResult, Resource
from pydantic import ValidationError

from agents.run_in_thread import run_in_thread
from ingestion.layer.stored import read_layer_files
from nacre.errors import NacreError
from nacre.records.json_form import from_json
from nacre.records.plan import Plan
from nacre.records.verified_question import VerifiedQuestion
from nacre.serving.errors import StorageUnavailable
from nacre.serving.mcp.ask import ToolContext
from nacre.serving.mcp.tools import ContextResolver
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.wording.phrases.plan import verbalise_plan

MAX_CHARACTERS = 400_000
MAX_QUESTIONS = 200


class ResourceKind(NamedTuple):
    """A resource of each graph: the end of its address, what it is, and how it is read from an open graph."""

    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[ToolContext, Graph], str]

    @property
    def uri(self) -> str:
        """The address, with the name of the graph to fill in."""
        return f"nacre://graphs/{{graph}}/{self.name}"


def _schema(context: ToolContext, graph: Graph) -> str:
    return graph.schema_text(schema_sql)


def _layer(context: ToolContext, graph: Graph) -> str:
    """The files of the layer, one after the other. Comments are left out: they say who changed what."""
    folder = versions.version_folder(context.service.library.data / graph.name, graph.version)
    files = [f"# {file.name}\n{_without_comments(file.text)}" for file in read_layer_files(folder).files]
    return "\n---\n".join(files) or "# This graph has no layer of its own.\n"


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")) + "\n"


def _verified_questions(context: ToolContext, graph: Graph) -> str:
    """The approved ones in use and those of the caller, the latest first, a JSON object a line."""
    if graph.verified is None:
        return ""
    try:
        entries = graph.verified.usable(graph.name, context.caller.owner, MAX_QUESTIONS)
    except sqlite3.Error as error:
        raise StorageUnavailable(f"The verified questions can't be read now ({error}). Try again.") from error
    return "".join(_whole_lines(_question_line(each, graph) for each in entries))


def _question_line(entry: VerifiedQuestion, graph: Graph) -> str:
    answered_by: dict[str, object] = {"query": entry.query} if entry.query is not None else {"means": ""}
    try:
        if entry.query is None:
            answered_by = {"means": verbalise_plan(from_json(Plan, entry.plan), graph.schema)}
    except (ValidationError, NacreError, KeyError):
        # a plan of another version of the graph or of nacre
        pass
    who = {"by": entry.by, "at": entry.at, "approved": entry.approved}
    return json.dumps({"id": entry.id, "question": entry.standalone, **answered_by, **who}, ensure_ascii=False) + "\n"


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    """As many lines as a resource may have."""
    left = MAX_CHARACTERS
    for line in lines:
        left -= len(line)
        if left < 0:
            return
        yield line


KINDS = (
    ResourceKind(
        "schema",
        "Schema",
        "The tables of a graph as CREATE statements, with comments; for query_sql.",
        "text/plain",
        _schema,
    ),
    ResourceKind(
        "layer",
        "Semantic layer",
        "What people call the classes and properties of a graph, and what stands behind several nodes, as YAML.",
        "application/yaml",
        _layer,
    ),
    ResourceKind(
        "verified",
        "Verified questions",
        "Questions that people confirmed, with the query or the meaning that answers them, as JSON lines: those that "
        "everyone uses and those of this key, the latest 200.",
        "application/jsonl",
        _verified_questions,
    ),
)


def add_resources(mcp: MCPServer[Any], resolve_context: ContextResolver) -> None:
    """Register the resources of each graph with a server."""
    for kind in KINDS:
        _add_resource(mcp, resolve_context, kind)


def _add_resource(mcp: MCPServer[Any], resolve_context: ContextResolver, kind: ResourceKind) -> None:
    @mcp.resource(
        kind.uri, name=kind.name, title=f"{kind.title} of a graph", description=kind.description,
        mime_type=kind.mime_type,
    )  # fmt: skip
    async def read(graph: str, ctx: Context) -> str:
        context = resolve_context(ctx.request_context)
        try:
            async with context.service.look_up_slot(context.caller), AsyncExitStack() as stack:
                opened = stack.enter_context(await context.service.open_graph(graph, context.caller))
                return (await run_in_thread(kind.read, context, opened))[:MAX_CHARACTERS]
        except NacreError as error:
            raise ResourceNotFoundError(str(error)) from error


def list_resources(resolve_context: ContextResolver) -> ServerMiddleware[Any]:
    """Lists the resources of the graphs that the caller may read; the SDK's own list is the same for everyone."""

    async def listing(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "resources/list":
            return await call_next(ctx)
        await call_next(ctx)
        context = resolve_context(ctx)
        names = await run_in_thread(context.service.graph_names, context.caller)
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=kind.uri.format(graph=name),
                    name=f"{name}-{kind.name}",
                    title=f"{kind.title} of {name}",
                    description=kind.description,
                    mime_type=kind.mime_type,
                )
                for name in names
                for kind in KINDS
            ]
        )

    return listing
