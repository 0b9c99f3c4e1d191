"""/api/graphs/{graph}/query, /api/choices, /api/runs/{run}/calls: queries of people -> rows; choices; prompts."""

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from agents.models.call_log import ModelCall
from agents.run_in_thread import run_in_thread
from graph.branches import BRANCHES
from nacre.access.labels import look_up_labels
from nacre.access.queries import QueryResult, query_sparql, query_sql
from nacre.errors import ConfigError, ToolError
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, RunsDep, TurnServiceDep
from nacre.serving.http.disconnect import run_while_connected
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService
from nacre.stores.catalog import Graph
from tools.guards.sql_guard import LONGEST

router = APIRouter(prefix="/api", tags=["ask"], responses=ERROR_RESPONSES)


class QueryRequest(BaseModel):
    """A query that somebody wrote. Values stand in its text."""

    language: Literal["sql", "sparql"]
    text: str = Field(min_length=1, max_length=LONGEST)


@dataclass(frozen=True)
class QueryResponse:
    """The rows of a query; `text` is what ran, `keys` are the IRIs that each row came from."""

    text: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    keys: tuple[tuple[str, ...], ...]
    truncated: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class TurnChoices:
    """What a turn may choose, and what holds where nothing is chosen. `model` is the name of the chat model, or ""."""

    reasoners: tuple[str, ...]
    model: str
    branches: tuple[str, ...]
    by_default: tuple[str, ...]
    max_rounds: int
    top_k: int
    strategy: str


@router.get("/choices", summary="What a turn may choose")
def turn_choices(service: TurnServiceDep, caller: CallerDep) -> TurnChoices:
    """Reasoners, branches, and the settings that hold by default."""
    settings, teams = service.composition.settings, service.composition.resources.agents
    return TurnChoices(
        tuple(teams),
        (settings.model or "") if "model" in teams else "",
        tuple(BRANCHES),
        tuple(name for name, branch in BRANCHES.items() if branch.by_default),
        settings.max_rounds,
        settings.top_k,
        settings.strategy,
    )


@router.post("/graphs/{graph}/query", summary="Run a query")
async def query(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, given: QueryRequest
) -> QueryResponse:
    """One SELECT in SQL over the graph's tables, or a SELECT, ASK or CONSTRUCT in SPARQL where it has triples:
    read-only, guarded as those of a model are, and bounded in rows and time.
    """
    try:
        return await run_while_connected(request, _run_query(service, caller, graph, given))
    except ToolError as error:
        raise ConfigError(str(error)) from error


@router.get("/runs/{run}/calls", summary="What a run's model was asked")
def model_calls(run: str, runs: RunsDep, caller: CallerDep) -> list[ModelCall]:
    """The prompts and answers of each call of a model, while the run is remembered."""
    return runs.calls(caller.owner, run)


async def _run_query(service: TurnService, caller: Caller, graph: str, given: QueryRequest) -> QueryResponse:
    settings, sandbox = service.composition.settings, service.composition.resources.sandbox
    async with service.query_slot(caller), AsyncExitStack() as stack:
        started = time.perf_counter()
        opened = stack.enter_context(await run_in_thread(service.library.open, graph))
        if given.language == "sql":
            found = await query_sql(opened, given.text, settings, sandbox, settings.row_limit)
        else:
            found = await query_sparql(opened, given.text, settings, sandbox, settings.row_limit)
            found = await run_in_thread(_named, opened, found)
    took = round(time.perf_counter() - started, 4)
    return QueryResponse(found.query, found.columns, found.units, found.rows, found.keys, found.truncated, took)


def _named(graph: Graph, ran: QueryResult) -> QueryResult:
    """The same rows with the things of an ingested graph by their names."""
    iris = {iri for row in ran.keys for iri in row} if graph.stored is not None else set()
    called = look_up_labels(graph, iris)
    rows = tuple(tuple(called.get(cell, cell) if isinstance(cell, str) else cell for cell in row) for row in ran.rows)
    return replace(ran, rows=rows)
