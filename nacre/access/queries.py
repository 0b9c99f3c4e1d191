"""What people and agents of others ask a graph themselves: SQL, SPARQL or words -> rows or sentences, guarded."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agents.run_in_thread import run_in_thread
from nacre.access.availability import lexical_problem, sparql_problem, vector_problem
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.plans.sparql.terms import cell_value
from nacre.records.evidence import BranchResult, Cell, EvidenceSentence
from nacre.stores.catalog import Graph
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from tools import lexical, vector
from tools.guards.sandbox import Sandbox
from tools.guards.sparql_guard import guard_sparql, query_form

# of all cells of a result, so many characters are handed on (given)
MOST_CHARACTERS = 200_000
LONGEST_SEARCH = 1000


@dataclass(frozen=True)
class QueryResult:
    """Rows of a query. `query` is the text that ran, `note` says how it differs from the one that was given; `units`
    has one entry a column, `keys` the IRIs of each row; `truncated`: there were more rows."""

    columns: list[str]
    rows: list[list[Cell]]
    units: list[str]
    truncated: bool
    query: str
    note: str
    seconds: float
    keys: list[list[str]]


@dataclass(frozen=True)
class RetrievedSentence:
    """A sentence that a search found; `source` is the thing or the document that it is about, `keys` are IRIs."""

    text: str
    source: str
    branch: str
    keys: list[str]


async def query_sql(graph: Graph, text: str, settings: Settings, apart: Sandbox, limit: int) -> QueryResult:
    """The rows of one SELECT over the tables of a graph; ids in its cells are shown as labels. Raises ToolError."""
    path, seconds = graph.tables.path, settings.branch_seconds
    found = await apart.run(path, text, round=1, limit=min(limit, settings.row_limit), seconds=seconds)
    if not found.rows:
        error = found.error
        raise ToolError(error.kind if error else "empty", error.message if error else "The query gave nothing.")
    table, ran = found.rows[0].table, found.queries[-1]
    rows, cut = _bounded([list(row) for row in table.rows])
    units = list(table.units) or [""] * len(table.columns)
    taken = sum(query.seconds for query in found.queries)
    keys = [list(each) for each in table.keys]
    return QueryResult(
        list(table.columns), rows, units, table.truncated or cut, ran.text, ran.words, round(taken, 4), keys
    )


async def query_sparql(graph: Graph, text: str, settings: Settings, limit: int) -> QueryResult:
    """The solutions of a SELECT, the truth of an ASK, or the triples of a CONSTRUCT; raises ToolError."""
    seconds = settings.branch_seconds
    running = run_in_thread(_sparql, graph, text, seconds, min(limit, settings.row_limit))
    try:
        # the guard parses too
        return await asyncio.wait_for(running, seconds * 2)
    except TimeoutError:
        raise ToolError("timeout", f"The query gave nothing within {seconds * 2:g} s.") from None


async def search_sentences(graph: Graph, text: str, settings: Settings, limit: int) -> list[RetrievedSentence]:
    """Sentences that hold the words of a text, and such as mean the like, where the graph has them; the best first.

    Raises ToolError `unavailable` where the graph can be searched in neither way.
    """
    text = text[:LONGEST_SEARCH].encode(errors="replace").decode()
    looking = []
    if not lexical_problem(graph):
        looking.append(run_in_thread(lexical.search, graph.lexical, graph.passages, text, text, round=1, limit=limit))  # type: ignore[arg-type]
    if not vector_problem(graph):
        looking.append(run_in_thread(vector.search, graph.vectors, graph.passages, text, text, round=1, limit=limit))  # type: ignore[arg-type]
    if not looking:
        raise ToolError("unavailable", f"This graph can't be searched: {lexical_problem(graph)}")
    found = await asyncio.wait_for(asyncio.gather(*looking, return_exceptions=True), settings.branch_seconds)
    fine = [each for each in found if isinstance(each, BranchResult)]
    for error in found:
        # one way is enough, and what a server of vectors says of itself is no fault of the question
        if isinstance(error, BaseException) and not (fine and isinstance(error, ConfigError | ToolError)):
            raise error
    return _merged(fine)[:limit]


def _merged(found: list[BranchResult]) -> list[RetrievedSentence]:
    """The sentences of all ways in turn, each once."""
    ways = [[each for each in way.evidence if isinstance(each, EvidenceSentence)] for way in found]
    longest = max((len(way) for way in ways), default=0)
    in_turn = [way[i] for i in range(longest) for way in ways if i < len(way)]
    once = {each.text: each for each in reversed(in_turn)}
    return [
        RetrievedSentence(each.text, each.document or each.title, each.branch, list(each.keys))
        for each in reversed(once.values())
    ]


def _sparql(graph: Graph, text: str, seconds: float, limit: int) -> QueryResult:
    source: SparqlSource | None = graph.remote or graph.triples
    if source is None:
        raise ToolError("unavailable", sparql_problem(graph))
    started = time.perf_counter()
    query = guard_sparql(text, graph.schema, limit=limit + 1)
    form, cut = query_form(query), False
    rows: list[list[Cell]]
    terms: Sequence[Sequence[SparqlTerm | None]] = ()
    if form == "ASK":
        columns, rows = ["ask"], [[source.ask(query, seconds=seconds)]]
    elif form == "CONSTRUCT":
        triples = source.construct(query, limit=limit + 1, seconds=seconds)
        columns, cut = ["subject", "predicate", "object"], len(triples) > limit
        terms = triples[:limit]
        rows = [[cell_value(term) for term in triple] for triple in terms]
    else:
        solutions = source.select(query, limit=limit, seconds=seconds)
        columns, cut = list(solutions.variables), solutions.truncated
        terms = solutions.rows
        rows = [[cell_value(term) for term in row] for row in terms]
    rows, long = _bounded(rows)
    took = round(time.perf_counter() - started, 4)
    return QueryResult(columns, rows, [""] * len(columns), cut or long, query, "", took, _keys(terms)[: len(rows)])


def _keys(rows: Sequence[Sequence[SparqlTerm | None]]) -> list[list[str]]:
    return [[term.value for term in row if term is not None and term.kind == "iri"] for row in rows]


def _bounded(rows: list[list[Cell]]) -> tuple[list[list[Cell]], bool]:
    """The first rows that fit, and whether some did not; of a single row too long for it, each cell's beginning."""
    left = MOST_CHARACTERS
    for i, row in enumerate(rows):
        left -= sum(len(cell) if isinstance(cell, str) else 8 for cell in row)
        if left < 0:
            share = MOST_CHARACTERS // max(1, len(row))
            first = [[cell[:share] if isinstance(cell, str) else cell for cell in row]]
            return (rows[:i] or first), True
    return rows, False
