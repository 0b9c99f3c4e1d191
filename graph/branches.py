"""The retrieval branches, one line each; each maps a TurnView to what it found in one round."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from agents.agents import Agents
from agents.query_writer import MODEL_VISITS, by_rules, may_run_readings
from agents.turn_view import Result, TurnView
from graph.state import State
from nacre.access.open_graph import WATERFALL_PASSAGES, lexical_problem, sparql_problem, vector_problem
from nacre.access.queries import sparql_database, sql_database
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.extension import extensions, provided, services
from nacre.language.sanitize import strip_control_characters
from nacre.records.evidence import BranchResult, EvidenceSentence, Query, QueryError
from nacre.records.threads import run_in_thread
from nacre.records.turn import Understanding
from tools.sandbox import Sandbox
from tools.search_passages import LEXICAL, VECTOR, SentenceSearch, retrieve_sentences

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

log = logging.getLogger(__name__)

# whether an endpoint answers at all
ASK_ANY_TRIPLE = "ASK { ?s ?p ?o }"


@dataclass(frozen=True)
class BranchResources:
    """What a branch works with in one turn: open graph, agents, settings, sandbox, and the number of passages."""

    graph: Graph
    agents: Agents
    settings: Settings
    sandbox: Sandbox
    top_k: int


@dataclass(frozen=True)
class Branch:
    """`retrieve` does the work and may raise; `problem` is why a graph can't be asked, or "". `has_more`: another round
    is new, given the results and whether a model may write queries. `by_default`: asked if nobody names branches;
    `if_able`: then also, of graphs without a `problem` alone."""

    retrieve: Callable[[TurnView, BranchResources], Awaitable[Result[BranchResult]]]
    problem: Callable[[Graph], str]
    has_more: Callable[[Understanding, Sequence[BranchResult], bool], bool]
    by_default: bool = True
    if_able: bool = False


async def _sql(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    graph, settings = resources.graph, resources.settings
    result = await resources.agents.query_writer(view, sql_database(graph, settings, resources.sandbox, view.round))
    joiner = next(services("joiner"), None)
    if view.round > 1 or joiner is None or not joiner.may_join(view, graph):
        return result
    joining = run_in_thread(joiner.join_texts, view.understanding, graph, round=view.round, limit=resources.top_k)
    try:
        joined = await asyncio.wait_for(joining, settings.branch_seconds)
    except (TimeoutError, ToolError) as error:
        # the rows do not depend on it
        log.warning("facts and texts could not be joined: %s", error or type(error).__name__)
        return result
    queried = result.value
    if not joined.evidence:
        return result
    # if either way found something, the branch did not fail
    evidence, queries = queried.evidence + joined.evidence, queried.queries + joined.queries
    return replace(result, value=replace(queried, evidence=evidence, queries=queries, error=None))


async def _sparql(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    graph, settings = resources.graph, resources.settings
    if graph.remote is not None and not view.understanding.readings:
        # an endpoint that is down looks up no names: report that rather than a question that can't be parsed
        await run_in_thread(graph.remote.source.ask, ASK_ANY_TRIPLE, seconds=settings.branch_seconds)
    database = await run_in_thread(sparql_database, graph, settings, resources.sandbox, view.standalone, view.round)
    if database is None:
        raise ToolError("unavailable", sparql_problem(graph))
    # beside SQL it runs the same readings in another language, and a model writes SQL
    return await (by_rules if "sql" in view.enabled else resources.agents.query_writer)(view, database)


async def _vector(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    vectors, passages = resources.graph.vectors, resources.graph.passages
    if vectors is None or passages is None:
        raise ToolError("unavailable", vector_problem(resources.graph))
    try:
        return await _passages(partial(retrieve_sentences, VECTOR, vectors, passages), view, resources)
    except ConfigError as error:
        raise ToolError("unavailable", str(error)) from error


async def _lexical(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    lexical, passages = resources.graph.lexical, resources.graph.passages
    if lexical is None or passages is None:
        raise ToolError("unavailable", lexical_problem(resources.graph))
    return await _passages(partial(retrieve_sentences, LEXICAL, lexical, passages), view, resources)


async def _passages(search: SentenceSearch, view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    text, limit = _search_text(view, resources.top_k)
    documents = resources.graph.documents
    searching = run_in_thread(search, text, view.standalone, round=view.round, limit=limit, documents=documents)
    return Result(await asyncio.wait_for(searching, resources.settings.branch_seconds))


def _search_text(view: TurnView, top_k: int) -> tuple[str, int]:
    """The question, later other words or names and twice the passages; a waterfall's last layer is a first search."""
    if view.strategy == "waterfall":
        return view.standalone, min(top_k, WATERFALL_PASSAGES)
    if view.search:
        return view.search, top_k * 2
    labels = list(dict.fromkeys(mention.label for mention in view.understanding.mentions))
    if view.round > 1 and labels:
        return " ".join(labels), top_k * 2
    return view.standalone, top_k * (2 if view.round > 1 else 1)


def _has_next_reading(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    # a model may write a query if the rules have no reading
    return may_run_readings(earlier) or (by_model and len(earlier) < MODEL_VISITS)


def _has_wider_search(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    return len(earlier) < 2


def is_unvisited(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
    """`has_more` of a branch that finds the same in each round."""
    return not earlier


_CORE: dict[str, Branch] = {
    "sql": Branch(_sql, lambda graph: graph.unavailable.get("sql", ""), _has_next_reading),
    "vector": Branch(_vector, vector_problem, _has_wider_search),
    "lexical": Branch(_lexical, lexical_problem, _has_wider_search),
    # over an ingested graph it gives what `sql` gives, so it must be asked for; an attached graph has no other
    "sparql": Branch(_sparql, sparql_problem, _has_next_reading, by_default=False),
}

# names that a branch can't have: the other nodes and the fields of the state
_TAKEN = {"rewriter", "understand", "tool_selector", "check", "fuser", *State.__annotations__}

# what a tool may give: sentences, and characters of each and of its source
MAX_SENTENCES, MAX_TEXT, MAX_SOURCE = 24, 1000, 200

Tool = Callable[[str, str], Iterable[tuple[str, str]]]


@cache
def all_branches() -> dict[str, Branch]:
    """The branches by name: those of the core, then those of extensions, of which each tool is one."""
    added = provided("branches", {*_CORE, *_TAKEN}, lambda each: isinstance(each, Branch))
    tools = provided("tools", {*_CORE, *_TAKEN, *added})
    on_request = {name for extension in extensions() for name in extension.on_request}
    added |= {name: _tool_branch(name, tool, name not in on_request) for name, tool in tools.items()}
    return _CORE | {name: _bounded(name, branch) for name, branch in added.items()}


def _tool_branch(name: str, tool: Tool, by_default: bool) -> Branch:

    async def retrieve(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
        return Result(await run_in_thread(_ask_tool, name, tool, view, resources.graph.name))

    return Branch(retrieve, lambda graph: "", is_unvisited, by_default)


def _ask_tool(name: str, tool: Tool, view: TurnView, graph: str) -> BranchResult:
    started = time.perf_counter()
    sentences = tuple(
        EvidenceSentence(
            name,
            view.round,
            _plain(text, MAX_TEXT),
            score=1 / n,
            # it answers as a text does, which may have no place
            document=_plain(source, MAX_SOURCE) or name,
            basis=f"what {name} returned",
        )
        for n, (text, source) in enumerate(islice(tool(view.standalone, graph), MAX_SENTENCES), 1)
    )
    query = Query(name, view.round, view.standalone, f"{name}: {view.standalone}", rows=len(sentences))
    query = replace(query, seconds=time.perf_counter() - started)
    error = None if sentences else QueryError("empty", f"{name} found nothing.")
    return BranchResult(name, sentences, (query,), error)


def _plain(text: str, most: int) -> str:
    return " ".join(strip_control_characters(text).split())[:most]


def _bounded(name: str, branch: Branch) -> Branch:
    """The branch of an extension, whose time is limited and whose errors leave the rest of a turn as it is."""

    async def retrieve(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
        return await asyncio.wait_for(branch.retrieve(view, resources), resources.settings.branch_seconds)

    def problem(graph: Graph) -> str:
        try:
            return branch.problem(graph)
        except Exception as error:
            log.exception("branch %s can't say whether it can be asked", name)
            return f"internal error: {type(error).__name__}"

    def has_more(understanding: Understanding, earlier: Sequence[BranchResult], by_model: bool) -> bool:
        try:
            return branch.has_more(understanding, earlier, by_model)
        except Exception:
            log.exception("branch %s can't say whether it finds more", name)
            return False

    return Branch(retrieve, problem, has_more, branch.by_default, branch.if_able)
