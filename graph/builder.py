"""The graph: rewriter -> understand -> tool_selector -> branches in parallel -> check -> tool_selector, or fuser."""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph.branches import BRANCHES
from graph.context import Context
from graph.nodes import Node, Nodes
from graph.resources import Resources
from graph.resume import resumable
from graph.routing import has_started, select_branches, should_continue
from graph.state import Input, Output, State, Update
from nacre.errors import ConfigError

App = CompiledStateGraph[State, Context, Input, Output]


class InvalidInput(ConfigError, ValueError):
    """A ConfigError whose message `langgraph dev` shows to its clients, as it does for ValueErrors alone."""


def build_graph(
    resources: Resources, checkpointer: BaseCheckpointSaver[Any] | None = None, context: type[Context] = Context
) -> App:
    """The compiled graph; without a checkpointer it remembers nothing (or what `langgraph dev` keeps for it)."""
    nodes = Nodes(resources)

    def node(name: str, function: Node) -> Any:
        return _with_client_errors(function if name == "rewriter" else resumable(name, function, nodes))

    graph = StateGraph(State, context_schema=context, input_schema=Input, output_schema=Output)
    graph.add_node("rewriter", node("rewriter", nodes.rewriter))
    graph.add_node("understand", node("understand", nodes.understand))
    graph.add_node("tool_selector", node("tool_selector", nodes.tool_selector))
    for name in BRANCHES:
        graph.add_node(name, node(name, nodes.branch(name)))
    graph.add_node("check", node("check", nodes.check))
    graph.add_node("fuser", node("fuser", nodes.fuser))

    graph.add_edge(START, "rewriter")
    graph.add_conditional_edges("rewriter", has_started)
    graph.add_edge("understand", "tool_selector")
    graph.add_conditional_edges("tool_selector", select_branches, [*BRANCHES, "fuser"])
    for name in BRANCHES:
        graph.add_edge(name, "check")
    graph.add_conditional_edges("check", should_continue)
    graph.add_edge("fuser", END)
    return graph.compile(checkpointer=checkpointer, name="nacre")


def _with_client_errors(node: Node) -> Node:
    async def run(state: State, runtime: Runtime[Context]) -> Update:
        try:
            return await node(state, runtime)
        except ConfigError as error:
            raise InvalidInput(str(error)) from error

    return run
