"""/api/graphs/{graph}/query, /api/choices, /api/runs/{run}/calls: queries of people -> rows; choices; prompts."""

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from agents.models.heard import Call
from agents.off_loop import off_loop
from graph.branches import BRANCHES
from graph.names import endpoint_names
from nacre.records.errors import ConfigError, ToolError
from nacre.records.evidence import Rows
from nacre.semantics.sparql_terms import cell
from nacre.serving.asking import Asking
from nacre.serving.door import Who
from nacre.serving.labels import labels
from nacre.serving.reach import REFUSALS, TheAsking, TheGraph, TheRuns
from nacre.stores.catalog import Graph
from nacre.stores.sparql_source import SparqlSource
from tools.guard import LONGEST
from tools.sparql_guard import guard_sparql

router = APIRouter(prefix="/api", tags=["ask"], responses=REFUSALS)


class Written(BaseModel):
    """A query that somebody wrote. Values stand in its text."""

    language: Literal["sql", "sparql"]
    text: str = Field(min_length=1, max_length=LONGEST)


@dataclass(frozen=True)
class Ran:
    """The rows of a query; `text` is what ran, `keys` are the IRIs that each row came from."""

    text: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    keys: tuple[tuple[str, ...], ...]
    truncated: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class Choices:
    """What a turn may choose, and what holds where nothing is chosen. `model` is the name of the chat model, or ""."""

    reasoners: tuple[str, ...]
    model: str
    branches: tuple[str, ...]
    by_default: tuple[str, ...]
    max_rounds: int
    top_k: int
    strategy: str


@router.get("/choices", summary="What a turn may choose")
def choices(asking: TheAsking, caller: Who) -> Choices:
    """Reasoners, branches, and the settings that hold by default."""
    settings, teams = asking.composition.settings, asking.composition.resources.teams
    return Choices(
        tuple(teams),
        (settings.model or "") if "model" in teams else "",
        tuple(BRANCHES),
        tuple(name for name, branch in BRANCHES.items() if branch.by_default),
        settings.max_rounds,
        settings.top_k,
        settings.strategy,
    )


@router.post("/graphs/{graph}/query", summary="Run a query")
async def query(asking: TheAsking, caller: Who, graph: TheGraph, given: Written) -> Ran:
    """One SELECT in SQL over the graph's tables, or in SPARQL where it has triples: read-only, guarded as those of a
    model are, and bounded in rows and time.
    """
    asking.admit()
    started = time.perf_counter()
    with asking.counted(), await off_loop(asking.library.open, graph) as opened:
        try:
            ran = await (_sql if given.language == "sql" else _sparql)(asking, opened, given.text)
        except ToolError as error:
            raise ConfigError(str(error)) from error
    return replace(ran, seconds=round(time.perf_counter() - started, 4))


@router.get("/runs/{run}/calls", summary="What a run's model was asked")
def calls(run: str, runs: TheRuns, caller: Who) -> list[Call]:
    """The prompts and answers of each call of a model, while the run is remembered."""
    return runs.calls(caller.owner, run)


async def _sql(asking: Asking, graph: Graph, text: str) -> Ran:
    settings = asking.composition.settings
    limit, seconds = settings.row_limit, settings.branch_seconds
    apart = asking.composition.resources.apart
    found = await apart.run(graph.tables.path, text, round=1, limit=limit, seconds=seconds)
    rows = next((each for each in found.evidence if isinstance(each, Rows)), None)
    if rows is None:
        error = found.error or next((q.error for q in reversed(found.queries) if q.error), None)
        raise ToolError(error.kind if error else "empty", error.message if error else "The query gave nothing.")
    table, ran = rows.table, rows.query.text if rows.query else text
    units = table.units or ("",) * len(table.columns)
    return Ran(ran, table.columns, units, table.rows, table.keys, table.truncated)


async def _sparql(asking: Asking, graph: Graph, text: str) -> Ran:
    source: SparqlSource | None = graph.remote or graph.triples
    if source is None:
        raise ToolError("unavailable", f"Graph {graph.name!r} has no triples to ask. Ingest it with --sparql.")
    settings = asking.composition.settings
    checked = await off_loop(guard_sparql, text, graph.schema, limit=settings.row_limit)
    limit, seconds = settings.row_limit, settings.branch_seconds
    found = await off_loop(source.select, checked, limit=limit, seconds=seconds)
    iris = {term.value for row in found.rows for term in row if term is not None and term.kind == "iri"}
    called = await off_loop(labels, graph, iris) if endpoint_names(graph) is None else {}
    shown = [[called.get(t.value, t.value) if t and t.kind == "iri" else cell(t) for t in row] for row in found.rows]
    keys = tuple(tuple(t.value for t in row if t is not None and t.kind == "iri") for row in found.rows)
    units = ("",) * len(found.variables)
    return Ran(checked, found.variables, units, tuple(map(tuple, shown)), keys, found.truncated)
