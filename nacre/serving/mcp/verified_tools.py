"""MCP tools for verified questions: arguments from an agent + caller -> records.

What an agent confirms is only used for its own key: a text in the data must not teach everyone a wrong answer. A person
approves it.
"""

from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion
from nacre.serving.mcp.tools import ContextResolver, GraphArgument, or_default, with_tool_errors
from nacre.serving.verified.service import MAX_PAGE, VerifiedQuestionService

VERIFIED_TOOL_NAMES = ("list_verified", "confirm_answer", "confirm_query", "remove_verified")
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class VerifiedEntry(BaseModel):
    """A question that a person confirmed."""

    id: str
    question: str
    by: str = Field(description="Who confirmed it.")
    at: str = Field(description="When, in UTC.")
    approved: bool = Field(description="Whether everyone uses it; otherwise only who confirmed it.")
    state: str = Field(description="in use, or why it is not used.")
    note: str


class VerifiedEntries(BaseModel):
    """Verified questions of a graph."""

    graph: str
    questions: list[VerifiedEntry]
    more: bool


class RemovedEntry(BaseModel):
    """The id of a removed entry."""

    id: str


def add_verified_tools(mcp: MCPServer[Any], resolve_context: ContextResolver) -> None:
    """Register the tools of `VERIFIED_TOOL_NAMES` with a server."""
    tools = VerifiedTools(resolve_context)
    for name in VERIFIED_TOOL_NAMES:
        hints = READS if name.startswith("list") else REMOVES if name.startswith("remove") else WRITES
        title = name.replace("_", " ").capitalize()
        mcp.tool(title=title, annotations=hints, structured_output=True)(with_tool_errors(getattr(tools, name)))


class VerifiedTools:
    """The tools, one method each. Their docstrings and parameters are what agents see."""

    def __init__(self, resolve_context: ContextResolver) -> None:
        self._resolve_context = resolve_context

    async def list_verified(
        self,
        ctx: Context,
        graph: GraphArgument = None,
        search: Annotated[str, or_default(""), Field(max_length=200, description="Part of the question.")] = "",
        limit: Annotated[int, or_default(50), Field(ge=1, le=MAX_PAGE, description="Maximum number.")] = 50,
    ) -> VerifiedEntries:
        """Questions of a graph that people confirmed: they are answered the same way again."""
        context = self._resolve_context(ctx.request_context)
        verified = VerifiedQuestionService(context.service)
        page = await verified.listed(context.caller, graph, search=search, limit=limit)
        return VerifiedEntries(graph=page.graph, questions=[_entry(each) for each in page.questions], more=page.more)

    async def confirm_answer(
        self,
        thread: Annotated[str, Field(description="The thread that the question was asked in.")],
        turn: Annotated[int, Field(ge=1, description="The number of the turn, from 1.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> VerifiedEntry:
        """Store that the answer of a turn is right. Only call it if the user said that it is right."""
        context = self._resolve_context(ctx.request_context)
        verified = VerifiedQuestionService(context.service, approves=False)
        return _entry(await verified.confirm_turn(context.caller, thread, turn, graph))

    async def confirm_query(
        self,
        question: Annotated[str, Field(description="The question that the query answers.")],
        language: Annotated[Literal["sql", "sparql"], Field(description="The language of the query.")],
        query: Annotated[str, Field(description="The query. It is run, and must give values.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> VerifiedEntry:
        """Store a query as the right answer to a question. Only call it if the user confirmed its rows."""
        context = self._resolve_context(ctx.request_context)
        verified = VerifiedQuestionService(context.service, approves=False)
        written = VerifiedQuery(tool=language, text=query)
        return _entry((await verified.confirm_query(context.caller, graph, question, written))[0])

    async def remove_verified(
        self,
        id: Annotated[str, Field(max_length=40, description="The id, as list_verified gives it.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> RemovedEntry:
        """Remove a question that this key confirmed."""
        context = self._resolve_context(ctx.request_context)
        await VerifiedQuestionService(context.service).remove(context.caller, graph, id, context.caller.owner)
        return RemovedEntry(id=id)


def _entry(entry: VerifiedQuestion) -> VerifiedEntry:
    return VerifiedEntry(**{name: getattr(entry, name) for name in VerifiedEntry.model_fields})
