"""Queries at /api/graphs/{graph}/query, options of a turn at /api/choices, model calls at /api/runs/{run}/calls."""

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from agents.models.call_log import ModelCall
from agents.run_in_thread import run_in_thread
from graph.branches import BRANCHES
from nacre.access.labels import look_up_labels
from nacre.access.queries import QueryResult, query_sparql, query_sql
from nacre.access.write_query import WrittenQuery, write_query
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
    """A query with its values in the text."""

    language: Literal["sql", "sparql"]
    text: str = Field(min_length=1, max_length=LONGEST)


@dataclass(frozen=True)
class QueryResponse:
    """The rows of a query; `text` is the query that ran, `keys` has the IRIs behind each row."""

    text: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    keys: tuple[tuple[str, ...], ...]
    truncated: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class TurnChoices:
    """The options of a turn and their defaults. `model` is the name of the chat model, or "". `may_write`: whether this
    caller may add and delete graphs; `attach_hosts`: those whose addresses it may attach; `may_share`: whether it may
    share answers."""

    reasoners: tuple[str, ...]
    model: str
    branches: tuple[str, ...]
    by_default: tuple[str, ...]
    max_rounds: int
    top_k: int
    strategy: str
    may_write: bool = False
    attach_hosts: tuple[str, ...] = ()
    may_share: bool = False


@router.get("/choices", summary="List the options of a turn")
async def turn_choices(request: Request, service: TurnServiceDep, caller: CallerDep) -> TurnChoices:
    """Reasoners, branches and default settings."""
    settings, teams = service.composition.settings, service.composition.resources.agents
    return TurnChoices(
        tuple(teams),
        (settings.model or "") if "model" in teams else "",
        tuple(BRANCHES),
        tuple(name for name, branch in BRANCHES.items() if branch.by_default),
        settings.max_rounds,
        settings.top_k,
        settings.strategy,
        "write" in caller.may and settings.max_upload > 0,
        request.app.state.uploads.hosts if "write" in caller.may else (),
        service.threads is not None and request.app.state.sharing.may_share(caller),
    )


@router.post("/graphs/{graph}/query", summary="Run a query")
async def query(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, body: QueryRequest
) -> QueryResponse:
    """Run a SELECT in SQL over the graph's tables, or a SELECT, ASK or CONSTRUCT in SPARQL if it has triples.

    Queries are read-only, checked like those of a model, and limited in rows and time.
    """
    try:
        return await run_while_connected(request, _run_query(service, caller, graph, body))
    except ToolError as error:
        raise ConfigError(str(error)) from error


@router.get("/graphs/{graph}/query", summary="Write the query of a question")
async def written_query(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    graph: GraphNameDep,
    question: Annotated[str, Query(description="The question.", min_length=1)],
) -> WrittenQuery:
    """The query of a question in SQL and SPARQL, which is not run. The rules write it, even if a model is configured.

    `GET /api/text2sparql` returns the query that answers best after running several.
    """
    await service.check_question(question, graph, None, caller)
    return await run_while_connected(request, _write_query(service, caller, graph, question))


@router.get("/runs/{run}/calls", summary="List the model calls of a run")
async def model_calls(run: str, runs: RunsDep, caller: CallerDep) -> list[ModelCall]:
    """The prompts and replies of each model call, while the run is in memory."""
    return runs.calls(caller, run)


async def _write_query(service: TurnService, caller: Caller, graph: str, question: str) -> WrittenQuery:
    async with service.turn_slot(caller), AsyncExitStack() as stack:
        return await write_query(question, stack.enter_context(await run_in_thread(service.library.open, graph)))


async def _run_query(service: TurnService, caller: Caller, graph: str, body: QueryRequest) -> QueryResponse:
    settings, sandbox = service.composition.settings, service.composition.resources.sandbox
    async with service.query_slot(caller), AsyncExitStack() as stack:
        started = time.perf_counter()
        opened = stack.enter_context(await run_in_thread(service.library.open, graph))
        if body.language == "sql":
            result = await query_sql(opened, body.text, settings, sandbox, settings.row_limit)
        else:
            result = await query_sparql(opened, body.text, settings, sandbox, settings.row_limit)
            result = await run_in_thread(_with_labels, opened, result)
    took = round(time.perf_counter() - started, 4)
    return QueryResponse(result.query, result.columns, result.units, result.rows, result.keys, result.truncated, took)


def _with_labels(graph: Graph, result: QueryResult) -> QueryResult:
    """The same rows with labels instead of the IRIs of an ingested graph."""
    iris = {iri for row in result.keys for iri in row} if graph.stored is not None else set()
    labels_by_iri = look_up_labels(graph, iris)
    rows = tuple(
        tuple(labels_by_iri.get(cell, cell) if isinstance(cell, str) else cell for cell in row) for row in result.rows
    )
    return replace(result, rows=rows)
