"""The picture in code: rewriter -> understand -> tool_selector -> branches in parallel -> check -> again, or fuser."""

from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph import nodes
from graph.branches import BRANCHES
from graph.context import Context
from graph.nodes import Resources, Update
from graph.resume import has_turn_fields, merge_updates, replay_turn, with_fields
from graph.state import Input, Output, State
from nacre.errors import ConfigError

Node = Callable[[State, Runtime[Context], Resources], Awaitable[Update]]
App = CompiledStateGraph[State, Context, Input, Output]


class InvalidInput(ConfigError, ValueError):
    """A ConfigError whose message `langgraph dev` shows to its clients, as it does for ValueErrors alone."""


def build_graph(
    resources: Resources, checkpointer: BaseCheckpointSaver[Any] | None = None, context: type[Context] = Context
) -> App:
    """The compiled graph; without a checkpointer it remembers nothing (or what `langgraph dev` keeps for it)."""

    def bound(node: Node) -> Any:
        name = node.__name__

        async def run(state: State, runtime: Runtime[Context]) -> Update:
            try:
                if name == "rewriter" or has_turn_fields(state):
                    return await node(state, runtime, resources)
                passed = await replay_turn(name, state, runtime, resources)
                update = await node(with_fields(state, passed), runtime, resources)
                return {**update, **merge_updates(passed, update)}
            except ConfigError as error:
                raise InvalidInput(str(error)) from error

        return run

    async def begun(state: State) -> str:
        return "understand" if has_turn_fields(state) else END

    async def route(state: State) -> list[str]:
        return state["route"] or ["fuser"]

    async def again(state: State, runtime: Runtime[Context]) -> str:
        return "tool_selector" if nodes.may_continue(state, runtime, resources) else "fuser"

    graph = StateGraph(State, context_schema=context, input_schema=Input, output_schema=Output)
    graph.add_node("rewriter", bound(nodes.rewriter))
    graph.add_node("understand", bound(nodes.understand))
    graph.add_node("tool_selector", bound(nodes.tool_selector))
    for name in BRANCHES:
        graph.add_node(name, bound(nodes.branch_node(name)))
    graph.add_node("check", bound(nodes.check))
    graph.add_node("fuser", bound(nodes.fuser))

    graph.add_edge(START, "rewriter")
    graph.add_conditional_edges("rewriter", begun, ["understand", END])
    graph.add_edge("understand", "tool_selector")
    graph.add_conditional_edges("tool_selector", route, [*BRANCHES, "fuser"])
    for name in BRANCHES:
        graph.add_edge(name, "check")
    graph.add_conditional_edges("check", again, ["tool_selector", "fuser"])
    graph.add_edge("fuser", END)
    return graph.compile(checkpointer=checkpointer, name="nacre")
