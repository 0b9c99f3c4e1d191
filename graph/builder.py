"""The graph: rewriter -> understand -> tool_selector -> branches in parallel -> check -> tool_selector, or fuser. A run
that starts in the middle of a turn (a fork in Studio, another answer) runs the nodes before it again: to stay small,
checkpoints lack the fields that the nodes of a run pass on."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import ValidationError

from agents.agents import Agents, configured_agents
from graph.branches import all_branches
from graph.context import Context, Resources, context_with_graphs
from graph.nodes import Node, Nodes, has_started, select_branches, should_continue
from graph.state import TRANSIENT_FIELDS, Input, Output, State, Update, add_usage, merge_attribution
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.records.threads import run_in_thread
from nacre.stores.addresses import configured_database_limits, configured_limits
from nacre.stores.catalog import Library
from nacre.stores.state.checkpoints import OrderedSaver, OrderedSqliteSaver
from nacre.stores.state.conversations import Conversations, ConversationStoreError
from nacre.stores.state.database import open_state, shared_state, unusable_state
from nacre.stores.state.locks import StateLocks, locks_of

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
    for name in all_branches():
        graph.add_node(name, node(name, nodes.branch(name)))
        graph.add_edge(name, "check")
    graph.add_node("check", node("check", nodes.check))
    graph.add_node("fuser", node("fuser", nodes.fuser))
    graph.add_edge(START, "rewriter")
    graph.add_conditional_edges("rewriter", has_started)
    graph.add_edge("understand", "tool_selector")
    graph.add_conditional_edges("tool_selector", select_branches, [*all_branches(), "fuser"])
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


def resumable(name: str, node: Node, nodes: Nodes) -> Node:
    """The node, which works as well if it is the first of its run."""

    async def run(state: State, runtime: Runtime[Context]) -> Update:
        if "version" in state:
            return await node(state, runtime)
        replayed = await _replay(name, state, runtime, nodes)
        update = await node(_with_fields(state, replayed), runtime)
        return {**update, **_merge_updates(replayed, update)}

    return run


async def _replay(name: str, state: State, runtime: Runtime[Context], nodes: Nodes) -> Update:
    """The fields that the nodes before `name` give on the current version of the graph."""
    restarted = State({**state, "question": state["asked"], "turn": state["turn"] - 1})
    fields = _merge_updates({}, await nodes.rewriter(restarted, runtime))
    if name == "understand":
        return fields
    fields = _merge_updates(fields, await nodes.understand(_with_fields(state, fields), runtime))
    if name == "tool_selector":
        return fields
    fields = {**fields, "round": 1, "route": fields["enabled"]}
    if name in all_branches():
        return fields
    before = _with_fields(state, fields)
    visited = [each for each in fields["enabled"] if each in state["visited"]]
    for update in await asyncio.gather(*(nodes.branch(each)(before, runtime) for each in visited)):
        fields = _merge_updates(fields, update)
    return fields


def _merge_updates(fields: Update, update: Update) -> Update:
    """The transient fields after a further update; checkpoints have the others."""
    return {
        **fields,
        **{name: value for name, value in update.items() if name in TRANSIENT_FIELDS},
        "found": [*fields.get("found", []), *update.get("found", [])],
        "by": merge_attribution(fields.get("by", {}), update.get("by", {})),
        "usage": add_usage(fields.get("usage", {}), update.get("usage", {})),
    }


def _with_fields(state: State, fields: Update) -> State:
    return cast(State, {**state, **fields})


THREADS = "threads.sqlite"


@dataclass(frozen=True)
class Composition:
    """What every interface needs. `agents` has "rules", and "model" if NACRE_MODEL is set."""

    settings: Settings
    library: Library
    agents: dict[str, Agents]
    resources: Resources = field(repr=False)

    def build(self, checkpointer: BaseCheckpointSaver[Any] | None = None) -> App:
        """The compiled graph over these resources."""
        return build_graph(self.resources, checkpointer)


def load_settings() -> Settings:
    """The settings of this process; raises ConfigError that names the variable and what is wrong with its value."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        variable = name if name.isupper() else f"NACRE_{name.upper()}"
        raise ConfigError(f"{variable} can't be {first['input']!r}: {first['msg']}. See .env.example.") from None


def compose(settings: Settings) -> Composition:
    """Put all parts together. Nothing is opened or connected before its first use."""
    # its warnings repeat queries that the guard refuses anyway
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    key = settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
    library = Library(
        settings.data,
        local_embedder(settings.embedder),
        settings.qdrant_url,
        key,
        configured_limits(settings),
        # others ask here, so what an engine of files takes must not be taken from this process
        replace(configured_database_limits(settings), apart=True),
        shared_state(settings),
    )
    agents = configured_agents(settings)
    return Composition(settings, library, agents, Resources(library, agents, settings))


class PersistentApp(NamedTuple):
    """The graph with persistent threads: `saver` has its checkpoints, `conversations` what people read again, `locks`
    keep the processes that share them apart."""

    app: App
    saver: OrderedSaver
    conversations: Conversations
    locks: StateLocks


@asynccontextmanager
async def open_persistent_app(composition: Composition) -> AsyncIterator[PersistentApp]:
    """The compiled graph with its threads in NACRE_DATABASE_URL, else in NACRE_DATA/threads.sqlite; raises ConfigError
    if that can't be used."""
    settings = composition.settings
    async with AsyncExitStack() as stack:
        conversations = await run_in_thread(_open_conversations, settings)
        stack.push_async_callback(run_in_thread, conversations.close)
        locks = locks_of(conversations.database)
        stack.push_async_callback(run_in_thread, locks.close)
        saver: Any
        if (file := conversations.database.file) is not None:
            saver = await stack.enter_async_context(OrderedSqliteSaver.from_conn_string(str(file)))
        else:
            opened = service("fleet", "checkpoints")(conversations.database, locks)
            saver = await stack.enter_async_context(opened)
        yield PersistentApp(composition.build(saver), saver, conversations, locks)


def _open_conversations(settings: Settings) -> Conversations:
    database = open_state(settings, THREADS)
    try:
        return Conversations(database)
    except ConversationStoreError as error:
        database.close()
        raise unusable_state(database, error) from error


async def graph() -> App:
    """The graph for `langgraph dev`, which keeps threads itself and forbids file access on its event loop."""
    return await run_in_thread(_studio_app)


@cache
def _studio_app() -> App:
    composition = compose(load_settings())
    return build_graph(composition.resources, context=context_with_graphs(composition.library.names))
