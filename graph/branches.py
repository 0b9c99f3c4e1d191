"""The retrieval branches: BRANCHES, one line a branch; each turns what is asked in one round into what it found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agents.agents import Agents
from agents.query_writer import MODEL_VISITS, by_rules, may_run_readings
from agents.result import Result
from agents.run_in_thread import run_in_thread
from agents.turn_view import TurnView
from nacre.access.availability import lacks_lexical, lacks_single_triples, lacks_triples, lacks_vectors
from nacre.access.join_texts import join_texts, may_join
from nacre.access.sparql_database import sparql_database
from nacre.access.sql_database import sql_database
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.records.evidence import BranchResult
from nacre.records.turn import Understanding
from tools import lexical as lexical_tool
from tools import vector as vector_tool
from tools.guards.sandbox import Sandbox

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.search.vectors import Embedder

log = logging.getLogger(__name__)

# is there anything at all?
ASK_ANY_TRIPLE = "ASK { ?s ?p ?o }"
# passages that the last layer of a waterfall looks at (PolyRAG, section 5.1)
WATERFALL_PASSAGES = 5


@dataclass(frozen=True)
class BranchResources:
    """What a branch works with in one turn: the opened graph, agents, settings, how many passages to look at."""

    graph: Graph
    team: Agents
    settings: Settings
    apart: Sandbox
    top_k: int


@dataclass(frozen=True)
class Branch:
    """`look` does the work and may raise; `lacks` says why a graph can't be asked this way, or ""; `fresh` whether a
    further round would try something new, given what the branch found before and whether a model may write;
    `by_default` whether it is asked where nobody says which branches to ask."""

    look: Callable[[TurnView, BranchResources], Awaitable[Result[BranchResult]]]
    lacks: Callable[[Graph], str]
    fresh: Callable[[Understanding, Sequence[BranchResult], bool], bool]
    by_default: bool = True


async def _sql(view: TurnView, tools: BranchResources) -> Result[BranchResult]:
    result = await tools.team.query_writer(view, sql_database(tools.graph, tools.settings, tools.apart, view.round))
    if view.round > 1 or not may_join(view, tools.graph):
        return result
    joining = run_in_thread(join_texts, view.understanding, tools.graph, round=view.round, limit=tools.top_k)
    try:
        more = await asyncio.wait_for(joining, tools.settings.branch_seconds)
    except (TimeoutError, ToolError) as error:
        # the rows that were found stand without it
        log.warning("facts and texts could not be joined: %s", error or type(error).__name__)
        return result
    found = result.value
    if not more.evidence:
        return result
    # what was found in both ways together is no failure of either
    together = replace(found, evidence=found.evidence + more.evidence, queries=found.queries + more.queries, error=None)
    return replace(result, value=together)


async def _sparql(view: TurnView, tools: BranchResources) -> Result[BranchResult]:
    graph, seconds = tools.graph, tools.settings.branch_seconds
    if graph.remote is not None and not view.understanding.readings:
        # what can't be looked up can't be read either: that is no fault of the question
        await run_in_thread(graph.remote.ask, ASK_ANY_TRIPLE, seconds=seconds)
    asked = await run_in_thread(sparql_database, graph, tools.settings, view.standalone, view.round)
    if asked is None:
        raise ToolError("unavailable", lacks_triples(graph))
    # beside SQL it gives the same readings in another language, and a model writes SQL
    return await (by_rules if "sql" in view.enabled else tools.team.query_writer)(view, asked)


async def _vector(view: TurnView, tools: BranchResources) -> Result[BranchResult]:
    vectors, passages = tools.graph.vectors, tools.graph.passages
    if vectors is None or passages is None:
        raise ToolError("unavailable", lacks_vectors(tools.graph))
    try:
        return await _passages(partial(vector_tool.search, vectors, passages), view, tools)
    except ConfigError as error:
        raise ToolError("unavailable", str(error)) from error


async def _lexical(view: TurnView, tools: BranchResources) -> Result[BranchResult]:
    lexical, passages = tools.graph.lexical, tools.graph.passages
    if lexical is None or passages is None:
        raise ToolError("unavailable", lacks_lexical(tools.graph))
    return await _passages(partial(lexical_tool.search, lexical, passages), view, tools)


async def _passages(
    search: Callable[..., BranchResult], view: TurnView, tools: BranchResources
) -> Result[BranchResult]:
    text, limit = _text(view, tools.top_k)
    documents = tools.graph.documents
    looking = run_in_thread(search, text, view.standalone, round=view.round, limit=limit, documents=documents)
    return Result(await asyncio.wait_for(looking, tools.settings.branch_seconds))


async def _triples(view: TurnView, tools: BranchResources) -> Result[BranchResult]:
    graph = tools.graph
    embedder = graph.lexicon.embedder
    if embedder is None or graph.stored is None:
        raise ToolError("unavailable", lacks_single_triples(graph))
    looking = run_in_thread(_single_triples, view, graph, embedder)
    return Result(await asyncio.wait_for(looking, tools.settings.branch_seconds))


def _single_triples(view: TurnView, graph: Graph, embedder: Embedder) -> BranchResult:
    # numpy is slow to import, and most turns do without it
    from tools import triples

    stores = triples.TripleStores(graph.lexicon, embedder, graph.passages, graph.extracted)
    return triples.search(view.understanding, stores, round=view.round)


def _text(view: TurnView, top_k: int) -> tuple[str, int]:
    """What to look for and how far: the question; from the second round on other words for it or its names, further.

    The last layer of a waterfall is a first look at the texts.
    """
    if view.strategy == "waterfall":
        return view.standalone, min(top_k, WATERFALL_PASSAGES)
    if view.search:
        return view.search, top_k * 2
    labels = list(dict.fromkeys(mention.label for mention in view.understanding.mentions))
    if view.round > 1 and labels:
        return " ".join(labels), top_k * 2
    return view.standalone, top_k * (2 if view.round > 1 else 1)


def _next_reading(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    # a model may write a query where the rules have no reading
    return may_run_readings(earlier) or (by_model and len(earlier) < MODEL_VISITS)


def _wider(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    return len(earlier) < 2


def _once(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    return not earlier


BRANCHES: dict[str, Branch] = {
    "sql": Branch(_sql, lambda graph: graph.unavailable.get("sql", ""), _next_reading),
    "vector": Branch(_vector, lacks_vectors, _wider),
    "lexical": Branch(_lexical, lacks_lexical, _wider),
    # over an ingested graph it gives what `sql` gives, so it is there for who asks for it; an attached one has it alone
    "sparql": Branch(_sparql, lacks_triples, _next_reading, by_default=False),
    # single triples of the graph and of its texts, for a waterfall and for who asks for them
    "triples": Branch(_triples, lacks_single_triples, _once, by_default=False),
}
