"""Composition root of the loop: Settings -> library, minds, compiled graph; langgraph.json names `graph`."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import ValidationError

from agents.agents import Agents, Models, build_agents
from agents.models.limits import Limits
from agents.models.priors import Priors, Size, calibrated_counts, model_priors, model_size_class
from agents.models.structured_output import StructuredOutput
from agents.run_in_thread import run_in_thread
from graph.builder import App
from graph.builder import build_graph as build_graph
from graph.context import context_with_graphs
from graph.nodes import Resources
from nacre.config.embedder import local_embedder
from nacre.config.local_files import model_file
from nacre.config.local_model import is_local
from nacre.config.models import Role, chat_model, is_own_server
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.catalog import Library
from nacre.stores.sparql.endpoint_limits import configured_limits
from nacre.stores.sqlite.conversations import Conversations, ConversationStoreError
from nacre.stores.sqlite.model_replies import ModelReplies

THREADS = "threads.sqlite"
# tokens of schema and of evidence that a model is shown where no setting says (given)
SMALL_SCHEMA, LARGE_SCHEMA = 1500, 6000
SMALL_EVIDENCE, LARGE_EVIDENCE = 350, 2500


@dataclass(frozen=True)
class Composition:
    """Everything a way in needs. `teams` has "rules", and "model" where NACRE_MODEL is set."""

    settings: Settings
    library: Library
    teams: dict[str, Agents]
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
    """Put the house together. Nothing is opened or connected before its first use."""
    # its warnings repeat queries that the guard refuses anyway
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    key = settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
    library = Library(
        settings.data, local_embedder(settings.embedder), settings.qdrant_url, key, configured_limits(settings)
    )
    teams = _teams(settings)
    return Composition(settings, library, teams, Resources(library, teams, settings))


class PersistentApp(NamedTuple):
    """The graph with a memory: what the loop remembers is in `saver`, what people come back to in `seen`."""

    app: App
    saver: BaseCheckpointSaver[str]
    seen: Conversations


@asynccontextmanager
async def open_persistent_app(composition: Composition) -> AsyncIterator[PersistentApp]:
    """The compiled graph with its threads kept in NACRE_DATA/threads.sqlite; raises ConfigError if that can't be."""
    file = composition.settings.data / THREADS
    seen = await run_in_thread(_conversations, file)
    try:
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            yield PersistentApp(composition.build(saver), saver, seen)
    finally:
        await run_in_thread(seen.close)


def _conversations(file: Path) -> Conversations:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # others on this machine may not read what was asked; SQLite gives its journals the mode of the file
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
    """The graph for `langgraph dev`, which keeps threads itself and does not let its event loop wait for files."""
    return await run_in_thread(_for_studio)


@cache
def _for_studio() -> App:
    composition = compose(load_settings())
    return build_graph(composition.resources, context=context_with_graphs(composition.library.names))


def model_limits(settings: Settings) -> Limits:
    """What a model may take; of the schema a small one is shown less."""
    tokens = settings.schema_tokens or (SMALL_SCHEMA if query_model_size(settings) == "small" else LARGE_SCHEMA)
    evidence = settings.evidence_tokens or (SMALL_EVIDENCE if query_model_size(settings) == "small" else LARGE_EVIDENCE)
    return Limits(
        seconds=settings.model_seconds,
        retries=settings.model_retries,
        evidence_tokens=evidence,
        schema_tokens=tokens,
        busy_retries=settings.busy_retries,
        exchanges=settings.max_rounds,
        kept=ModelReplies(settings.model_cache) if settings.model_cache else None,
        manner=StructuredOutput(settings.model_output),
    )


def query_model_size(settings: Settings) -> Size:
    """The size class of the model that writes queries."""
    return settings.model_size or model_size_class(query_model_name(settings), own_server=is_own_server(settings))


def query_model_name(settings: Settings) -> str:
    """The name of the model that writes queries; of a local one, its file's."""
    name = settings.model_sql or settings.model or ""
    if not is_local(name):
        return name
    try:
        return model_file(settings, name).name
    except ValueError:
        # that there is no such file is told where the model is opened
        return name


def query_priors(settings: Settings) -> Priors:
    """How often that model's queries are right: measured by `nacre calibrate`, else as models of its size are."""
    return model_priors(query_model_size(settings), calibrated_counts(settings.data, query_model_name(settings)))


def _teams(settings: Settings) -> dict[str, Agents]:
    rules = build_agents(None)
    try:
        roles: tuple[Role, ...] = ("rewriter", "sql", "fuser", "selector")
        models = [chat_model(settings, role) for role in roles]
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error
    rewriter, sql, fuser, selector = models
    if rewriter is None or sql is None or fuser is None or selector is None:
        return {"rules": rules}
    chosen = Models(rewriter, sql, fuser, selector)
    team = build_agents(chosen, model_limits(settings), chances=query_priors(settings), lead=settings.lead)
    return {"rules": rules, "model": team}
