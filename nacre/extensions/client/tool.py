"""A graph as a tool of LangChain agents: Graph -> BaseTool."""

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from nacre.errors import NacreError
from nacre.extensions.client.facade import Graph, Reply
from nacre.records.answer import Answer


class ToolInput(BaseModel):
    """The arguments that the agent passes."""

    question: str = Field(description="One question in plain language that can be understood on its own.")


def graph_tool(graph: Graph, name: str | None = None, description: str | None = None) -> BaseTool:
    """The tool. Its content is the answer with sources and probability; its artifact is the whole record."""
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
