"""Composition root of the graph: Settings -> library, agents, compiled graph; langgraph.json names `graph`."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import ValidationError

from agents.agents import Agents, configured_agents
from agents.run_in_thread import run_in_thread
from graph.builder import App, build_graph
from graph.context import context_with_graphs
from graph.resources import Resources
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.catalog import Library
from nacre.stores.databases.address import configured_database_limits
from nacre.stores.sparql.endpoint_limits import configured_limits
from nacre.stores.sqlite.checkpoints import OrderedSqliteSaver
from nacre.stores.sqlite.conversations import Conversations, ConversationStoreError

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
        configured_database_limits(settings),
    )
    agents = configured_agents(settings)
    return Composition(settings, library, agents, Resources(library, agents, settings))


class PersistentApp(NamedTuple):
    """The graph with persistent threads: `saver` has its checkpoints, `conversations` what people read again."""

    app: App
    saver: OrderedSqliteSaver
    conversations: Conversations


@asynccontextmanager
async def open_persistent_app(composition: Composition) -> AsyncIterator[PersistentApp]:
    """The compiled graph with its threads in NACRE_DATA/threads.sqlite; raises ConfigError if that can't be used."""
    file = composition.settings.data / THREADS
    conversations = await run_in_thread(_open_conversations, file)
    try:
        async with OrderedSqliteSaver.from_conn_string(str(file)) as saver:
            # LangGraph's type says the class that its method is inherited from
            assert isinstance(saver, OrderedSqliteSaver)
            yield PersistentApp(composition.build(saver), saver, conversations)
    finally:
        await run_in_thread(conversations.close)


def _open_conversations(file: Path) -> Conversations:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # other users of this machine may not read it; SQLite gives its journals the mode of the file
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        if file.stat().st_uid == os.geteuid():
            for each in (file, *file.parent.glob(f"{file.name}-*")):
                each.chmod(0o600)
        return Conversations(file)
    except OSError as error:
        raise ConfigError(f"Can't write {file}: {error.strerror}. Check who may write there, or NACRE_DATA.") from error
    except ConversationStoreError as error:
        advice = "Close what holds it, make room on its disk, or set NACRE_DATA."
        raise ConfigError(f"Can't use {file}: {error}. {advice}") from error


async def graph() -> App:
    """The graph for `langgraph dev`, which keeps threads itself and forbids file access on its event loop."""
    return await run_in_thread(_studio_app)


@cache
def _studio_app() -> App:
    composition = compose(load_settings())
    return build_graph(composition.resources, context=context_with_graphs(composition.library.names))
