"""The retrieval branches: BRANCHES, one line a branch; each turns what is asked in one round into what it found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.answering.weighed import MOST_RUN
from agents.off_loop import off_loop
from agents.query_writer import MODEL_VISITS, by_rules, may_read
from agents.result import Result
from agents.team import Team
from agents.turn_view import TurnView
from graph.database import database
from graph.names import endpoint_names
from graph.triples_database import OverTriples
from nacre.config.settings import Settings
from nacre.records.errors import ConfigError, ToolError
from nacre.records.evidence import Found
from nacre.records.turn import Understanding
from tools import lexical as lexical_tool
from tools import sparql as sparql_tool
from tools import vector as vector_tool
from tools.apart import Apart

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# is there anything at all?
ANYTHING = "ASK { ?s ?p ?o }"


@dataclass(frozen=True)
class Tools:
    """What a branch works with in one turn: the opened graph, agents, settings, how many passages to look at."""

    graph: Graph
    team: Team
    settings: Settings
    apart: Apart
    top_k: int


@dataclass(frozen=True)
class Branch:
    """`look` does the work and may raise; `lacks` says why a graph can't be asked this way, or ""; `fresh` whether a
    further round would try something new, given what the branch found before and whether a model may write;
    `by_default` whether it is asked where nobody says which branches to ask."""

    look: Callable[[TurnView, Tools], Awaitable[Result[Found]]]
    lacks: Callable[[Graph], str]
    fresh: Callable[[Understanding, Sequence[Found], bool], bool]
    by_default: bool = True


async def _sql(view: TurnView, tools: Tools) -> Result[Found]:
    return await tools.team.query_writer(view, database(tools.graph, tools.settings, tools.apart, view.round))


async def _sparql(view: TurnView, tools: Tools) -> Result[Found]:
    graph = tools.graph
    names = endpoint_names(graph)
    if names is not None and graph.remote is not None:
        if not view.understanding.readings:
            # what can't be looked up can't be read either: that is no fault of the question
            await off_loop(graph.remote.ask, ANYTHING, seconds=tools.settings.branch_seconds)
        engine = sparql_tool.engine_at(graph.remote, names.endpoint, graph.schema, names.labels)
        most = tools.settings.endpoint_readings
        known = await off_loop(names.about, view.standalone)
        asked = OverTriples(graph, tools.settings, view.round, known, engine, graph.remote, names.labels, most)
    elif graph.triples is not None:
        engine = await off_loop(sparql_tool.engine, graph.triples, graph.tables)
        labels_here = sparql_tool.labels_of(graph.tables)
        asked = OverTriples(
            graph, tools.settings, view.round, graph.lexicon, engine, graph.triples, labels_here, MOST_RUN
        )
    else:
        raise ToolError("unavailable", lacks_triples(graph))
    # beside SQL it gives the same readings in another language, and a model writes SQL
    return await (by_rules if "sql" in view.enabled else tools.team.query_writer)(view, asked)


async def _vector(view: TurnView, tools: Tools) -> Result[Found]:
    vectors, passages = tools.graph.vectors, tools.graph.passages
    if vectors is None or passages is None:
        raise ToolError("unavailable", lacks_vectors(tools.graph))
    text, limit = _text(view, tools.top_k)
    looking = off_loop(vector_tool.search, vectors, passages, text, view.standalone, round=view.round, limit=limit)
    try:
        return Result(await asyncio.wait_for(looking, tools.settings.branch_seconds))
    except ConfigError as error:
        raise ToolError("unavailable", str(error)) from error


async def _lexical(view: TurnView, tools: Tools) -> Result[Found]:
    lexical, passages = tools.graph.lexical, tools.graph.passages
    if lexical is None or passages is None:
        raise ToolError("unavailable", lacks_lexical(tools.graph))
    text, limit = _text(view, tools.top_k)
    looking = off_loop(lexical_tool.search, lexical, passages, text, view.standalone, round=view.round, limit=limit)
    return Result(await asyncio.wait_for(looking, tools.settings.branch_seconds))


def _text(view: TurnView, top_k: int) -> tuple[str, int]:
    """What to look for and how far: the question; from the second round on other words for it or its names, further."""
    if view.search:
        return view.search, top_k * 2
    labels = list(dict.fromkeys(mention.label for mention in view.understanding.mentions))
    if view.round > 1 and labels:
        return " ".join(labels), top_k * 2
    return view.standalone, top_k * (2 if view.round > 1 else 1)


def lacks_vectors(graph: Graph) -> str:
    """Why `vector` can't be asked, or ""."""
    if graph.vectors is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("vector") or f"not built. Run: nacre index --graph {graph.name}"


def lacks_lexical(graph: Graph) -> str:
    """Why `lexical` can't be asked, or ""."""
    if graph.lexical is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"


def lacks_triples(graph: Graph) -> str:
    """Why `sparql` can't be asked, or ""."""
    if graph.triples is not None or graph.remote is not None:
        return ""
    again = f"not built. Run: nacre ingest FILE.ttl --graph {graph.name} --sparql"
    return graph.unavailable.get("sparql") or again


def _next_reading(understanding: Understanding, earlier: Sequence[Found], by_model: bool) -> bool:
    # a model may write a query where the rules have no reading
    return may_read(earlier) or (by_model and len(earlier) < MODEL_VISITS)


def _wider(understanding: Understanding, earlier: Sequence[Found], by_model: bool) -> bool:
    return len(earlier) < 2


BRANCHES: dict[str, Branch] = {
    "sql": Branch(_sql, lambda graph: graph.unavailable.get("sql", ""), _next_reading),
    "vector": Branch(_vector, lacks_vectors, _wider),
    "lexical": Branch(_lexical, lacks_lexical, _wider),
    # over an ingested graph it gives what `sql` gives, so it is there for who asks for it; an attached one has it alone
    "sparql": Branch(_sparql, lacks_triples, _next_reading, by_default=False),
}
