"""A graph as a tool of LangChain agents: Graph -> BaseTool."""

from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from nacre.client.reply import Reply
from nacre.errors import NacreError
from nacre.records.answer import Answer

if TYPE_CHECKING:
    from nacre.client.facade import Graph


class ToolInput(BaseModel):
    """What the agent passes."""

    question: str = Field(description="One question in plain words that stands alone.")


def graph_tool(graph: "Graph", name: str | None = None, description: str | None = None) -> BaseTool:
    """The tool. Its content is the answer with sources and how sure it is, its artifact the whole record."""
    about = f"the knowledge graph {graph.name!r}" if graph.name else "a knowledge graph"
    told = description or (
        f"Ask {about} a question in plain words. It answers from its facts alone, with sources and how sure it is."
    )

    def ask(question: str) -> tuple[str, Answer]:
        try:
            return _told(graph.ask(question))
        except NacreError as error:
            raise ToolException(str(error)) from error

    async def aask(question: str) -> tuple[str, Answer]:
        try:
            return _told(await graph.aask(question))
        except NacreError as error:
            raise ToolException(str(error)) from error

    return StructuredTool.from_function(
        func=ask,
        coroutine=aask,
        name=name or f"ask_{(graph.name or 'graph').replace('-', '_')}",
        description=told,
        args_schema=ToolInput,
        response_format="content_and_artifact",
        # what went wrong is for the agent to read
        handle_tool_error=True,
    )


def _told(reply: Reply) -> tuple[str, Answer]:
    sure = "" if reply.confidence is None else f", probability {reply.confidence:.2f}"
    return f"{reply.cited}\n(status: {reply.status}{sure})", reply.record
