"""Composition root of the graph: Settings -> library, agents, compiled graph; langgraph.json names `graph`."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import ValidationError

from agents.agents import Agents, configured_agents
from graph.builder import App, build_graph
from graph.context import Resources, context_with_graphs
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
