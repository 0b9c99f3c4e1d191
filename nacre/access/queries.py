"""Guarded queries of people and other agents: SQL, SPARQL or words -> rows or sentences; question -> query, not run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agents.turn_view import Language
from nacre.access.open_graph import lexical_problem, load_lexicon, sparql_problem, vector_problem
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.extension import service
from nacre.plans.run import Engine
from nacre.plans.sparql_engine import LabelLookup, standalone_query
from nacre.plans.sparql_vocabulary import Prefixes, Vocabulary, cell_value, schema_prefixes
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import BranchResult, Cell, EvidenceSentence, LookUp, Occurrence, Rows
from nacre.records.plan import Ask, Combine, Compute, Plan, Select
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Reading, Rewrite
from nacre.stores.catalog import Graph
from nacre.stores.sparql_source import SparqlSource, SparqlTerm, seconds_left
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from tools import sparql, sql
from tools.sandbox import Sandbox
from tools.search_passages import LEXICAL, VECTOR, retrieve_sentences
from tools.sparql import endpoint_vocabulary

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph


MOST_CHARACTERS = 200_000  # characters of all cells of a result that are returned (given)
LONGEST_SEARCH = 1000

ResultRow = tuple[Cell, ...]


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query. `query` is the text that ran, `note` how it differs from the text that was sent. `units` has
    one entry for each column, `keys` the IRIs of each row; `truncated`: there were more rows."""

    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    units: tuple[str, ...]
    truncated: bool
    query: str
    note: str
    seconds: float
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class RetrievedSentence:
    """A sentence that a search found; `source` is the thing or the document that it is about, `keys` are IRIs."""

    text: str
    source: str
    branch: str
    keys: tuple[str, ...]


async def run_foreign_sql(
    graph: Graph,
    text: str,
    sandbox: Sandbox,
    *,
    round: int,
    limit: int,
    seconds: float,
    numbers: frozenset[float] | None = None,
) -> BranchResult:
    """As `run_model_sql`. Raises ToolError `timeout` or `too_large`. The sandbox has no network, so a query over a
    database is guarded in this process, whose limits on its size bound the time, and the database stops it."""
    if graph.tables.is_local:
        return await sandbox.run(graph.tables.path, text, round=round, limit=limit, seconds=seconds, numbers=numbers)
    running = run_in_thread(
        service("foreign_queries", "run_sql", "A query"),
        text,
        graph.tables,
        round=round,
        limit=limit,
        seconds=seconds,
        numbers=numbers,
    )
    try:
        found: BranchResult = await asyncio.wait_for(running, 2 * seconds)
        return found
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {2 * seconds:g} seconds.") from None


async def query_sql(graph: Graph, text: str, settings: Settings, sandbox: Sandbox, limit: int) -> QueryResult:
    """The rows of one SELECT over the tables of a graph; ids in its cells are shown as labels. Raises ToolError."""
    most, seconds = min(limit, settings.row_limit), settings.branch_seconds
    result = await run_foreign_sql(graph, text, sandbox, round=1, limit=most, seconds=seconds)
    if not result.rows:
        error = result.error
        raise ToolError(error.kind if error else "empty", error.message if error else "The query gave nothing.")
    table, query = result.rows[0].table, result.queries[-1]
    rows, is_cut = _within_bounds(table.rows)
    return QueryResult(
        table.columns,
        rows,
        table.units or ("",) * len(table.columns),
        table.truncated or is_cut,
        query.text,
        query.words,
        round(sum(each.seconds for each in result.queries), 4),
        table.keys,
    )


async def query_sparql(graph: Graph, text: str, settings: Settings, sandbox: Sandbox, limit: int) -> QueryResult:
    """The solutions of a SELECT, the truth of an ASK, or the triples of a CONSTRUCT; raises ToolError."""
    seconds = settings.branch_seconds
    running = run_in_thread(_run_sparql, graph, text, sandbox, seconds, min(limit, settings.row_limit))
    try:
        return await asyncio.wait_for(running, seconds)
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.") from None


async def search_sentences(graph: Graph, text: str, settings: Settings, limit: int) -> list[RetrievedSentence]:
    """Sentences with the words of a text or near it, best first. Raises ToolError `unavailable` if neither works."""
    text = text[:LONGEST_SEARCH].encode(errors="replace").decode()
    searches = []
    for index, found, problem in ((LEXICAL, graph.lexical, lexical_problem), (VECTOR, graph.vectors, vector_problem)):
        if not problem(graph):
            search = partial(retrieve_sentences, index, found, graph.passages)  # type: ignore[arg-type]
            searches.append(run_in_thread(search, text, text, round=1, limit=limit))
    if not searches:
        raise ToolError("unavailable", f"This graph can't be searched: {lexical_problem(graph)}")
    results = await asyncio.wait_for(asyncio.gather(*searches, return_exceptions=True), settings.branch_seconds)
    successful = [each for each in results if isinstance(each, BranchResult)]
    for error in results:
        # one way is enough: an embedder or vector store that is down must not fail the search
        if isinstance(error, BaseException) and not (successful and isinstance(error, ConfigError | ToolError)):
            raise error
    return _interleave(successful)[:limit]


def _interleave(searches: list[BranchResult]) -> list[RetrievedSentence]:
    """The sentences of all searches in turn, each once."""
    results = [[each for each in result.evidence if isinstance(each, EvidenceSentence)] for result in searches]
    longest = max((len(result) for result in results), default=0)
    in_turn = [result[i] for i in range(longest) for result in results if i < len(result)]
    distinct = {each.text: each for each in reversed(in_turn)}
    return [RetrievedSentence(e.text, e.document or e.title, e.branch, e.keys) for e in reversed(distinct.values())]


def _run_sparql(graph: Graph, text: str, sandbox: Sandbox, seconds: float, limit: int) -> QueryResult:
    source: SparqlSource | None = graph.remote.source if graph.remote is not None else graph.triples
    if source is None:
        raise ToolError("unavailable", sparql_problem(graph))
    started, clock = time.perf_counter(), time.monotonic()
    guard = service("foreign_queries", "guard_sparql", "A query")
    guarded = guard(text, graph.schema, limit=limit + 1, inspect=sandbox.inspect_sparql)
    query, form, is_cut = guarded.text, guarded.form, False
    # parsing counts too
    left = seconds_left(clock, seconds)
    terms: Sequence[Sequence[SparqlTerm | None]] = ()
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    if form == "ASK":
        columns, rows = ("ask",), ((source.ask(query, seconds=left),),)
    elif form == "CONSTRUCT":
        triples = source.construct(query, limit=limit + 1, seconds=left)
        columns, terms, is_cut = ("subject", "predicate", "object"), triples[:limit], len(triples) > limit
    else:
        solutions = source.select(query, limit=limit, seconds=left)
        columns, terms, is_cut = tuple(solutions.variables), solutions.rows, solutions.truncated
    if form != "ASK":
        rows = tuple(tuple(cell_value(term) for term in row) for row in terms)
    rows, is_long = _within_bounds(rows)
    took = round(time.perf_counter() - started, 4)
    units = ("",) * len(columns)
    keys = tuple(
        tuple(term.value for term in row if term is not None and term.kind == "iri") for row in terms[: len(rows)]
    )
    return QueryResult(columns, rows, units, is_cut or is_long, query, "", took, keys)


def _within_bounds(rows: Sequence[ResultRow]) -> tuple[tuple[ResultRow, ...], bool]:
    """The first rows that fit, and whether some did not. If not even one fits: the beginning of each of its cells."""
    left = MOST_CHARACTERS
    for i, row in enumerate(rows):
        left -= sum(len(cell) if isinstance(cell, str) else 8 for cell in row)
        if left < 0:
            share = MOST_CHARACTERS // max(1, len(row))
            shortened = tuple(cell[:share] if isinstance(cell, str) else cell for cell in row)
            return tuple(rows[:i]) or (shortened,), True
    return tuple(rows), False


@dataclass(frozen=True)
class SqlQuery:
    """SQL over the tables of a graph, and the values of its parameters."""

    text: str
    params: tuple[Cell, ...]


@dataclass(frozen=True)
class WrittenQuery:
    """What a question was read as, and its query. A comparison has two statements in SQL; `sparql` is in the terms of
    the original data, "" if the answer is no single query. `unused`: words of the question that nothing accounts for.
    """

    question: str
    words: str
    unused: tuple[str, ...]
    sql: tuple[SqlQuery, ...]
    sparql: str


async def write_query(question: str, graph: Graph) -> WrittenQuery:
    """The query, by the rules, of the likeliest reading before a run. Raises ConfigError if it is no query."""
    lexicon = await load_lexicon(graph, question)
    understanding = await run_in_thread(understand, Rewrite(question), graph.schema, lexicon)
    for reading in understanding.readings:
        sql = _statements(reading.plan, graph.schema) if graph.stored is not None else ()
        sparql = _sparql(reading.plan, graph)
        if sql or sparql:
            return WrittenQuery(question, reading.words, tuple(reading.unused), sql, sparql)
    raise ConfigError("This question gives no query. Name what the graph knows, in other words.")


def _sparql(plan: Plan, graph: Graph) -> str:
    """One query in the terms of the data, or "" for what no single query gives."""
    endpoint, schema = graph.endpoint, graph.schema
    vocabulary = Vocabulary(schema) if endpoint is None else endpoint_vocabulary(endpoint, schema)
    try:
        return standalone_query(plan, vocabulary)
    except ToolError as error:
        if error.kind != "refused":
            raise
        return ""


def _statements(plan: Plan, schema: Schema) -> tuple[SqlQuery, ...]:
    body = plan.body.select if isinstance(plan.body, Ask) else plan.body
    parts: tuple[Select | Combine, ...] = (body,) if isinstance(body, Select | Combine) else ()
    if isinstance(body, Compute):
        parts = (body.left, body.right)
    return tuple(SqlQuery(each.text, each.params) for each in (to_sql(part, schema) for part in parts))


LOOK_UP_SHARE = 0.2  # share of a branch's time for looking up values, and passages of a look-up (given)
PASSAGES = 4


@dataclass(frozen=True)
class SqlDatabase:
    """The `Database` of one round; its protocol documents the methods."""

    graph: Graph
    settings: Settings
    sandbox: Sandbox
    round: int
    lexicon: Lexicon
    most: int = MAX_READINGS_RUN
    language: Language = "sql"
    wants_query: bool = False

    @property
    def schema(self) -> Schema:
        return self.graph.schema

    async def read(self, readings: Sequence[Reading], names: str = "") -> Sequence[BranchResult]:
        running = run_in_thread(sql.run_readings, readings, self.graph.tables, round=self.round, names=names)
        return await asyncio.wait_for(running, self.settings.branch_seconds)

    async def query(self, text: str, question: str | None, names: str = "") -> BranchResult:
        started = time.perf_counter()
        numbers = service("foreign_queries", "numbers")(question) if question is not None else None
        limit, seconds = self.settings.row_limit, self.settings.branch_seconds
        try:
            found = await run_foreign_sql(
                self.graph, text, self.sandbox, round=self.round, limit=limit, seconds=seconds, numbers=numbers
            )
            named: BranchResult = service("foreign_queries", "name_columns")(found, self.schema)
            return await run_in_thread(sql.translate_labels, named, self.graph.tables, names) if names else named
        except ToolError as error:
            return sql.failed_query(
                error, text, "", round=self.round, seconds=time.perf_counter() - started, by="model"
            )

    def describe(self, relations: Collection[str] | None, focus: Collection[str] | None = None) -> str:
        if relations is None:
            return self.graph.schema_text(schema_sql)
        return schema_sql(self.graph.tables, relations, focus)

    def table_of(self, thing: str) -> str:
        known = self.lexicon.thing(thing)
        return known.relation if known else ""

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        find, seconds = service("model_agents", "occurrences"), self.settings.branch_seconds * LOOK_UP_SHARE
        found: list[Occurrence] = await run_in_thread(find, phrases, self.graph.tables, seconds=seconds)
        return found

    async def look_up(self, wanted: LookUp) -> str:
        if wanted.kind == "passages":
            return await self._passages(wanted.text)
        look_up, seconds = service("model_agents", "look_up_sql"), self.settings.branch_seconds * LOOK_UP_SHARE
        seen: str = await run_in_thread(look_up, wanted, self.graph.tables, self.describe, seconds=seconds)
        return seen

    async def _passages(self, text: str) -> str:
        index, passages = self.graph.lexical, self.graph.passages
        if index is None or passages is None:
            return "This graph has no passages."
        result = await run_in_thread(
            retrieve_sentences, LEXICAL, index, passages, text, text, round=self.round, limit=PASSAGES
        )
        return "\n".join(f"{each.title}: {each.text}" for each in result.evidence) or "No passage is about that."


def sql_database(
    graph: Graph, settings: Settings, sandbox: Sandbox, round: int = 1, lexicon: Lexicon | None = None
) -> SqlDatabase:
    """The SQL database of agents in one round, with the sandbox; `lexicon`: names that the conversation may mean."""
    return SqlDatabase(graph, settings, sandbox, round, lexicon or graph.lexicon)


@dataclass(frozen=True)
class SparqlDatabase:
    """The `Database` of one round in SPARQL; its protocol documents the methods.

    `portable` is the vocabulary of the data as it was read. If the source `is_plain`, it has the data like that, and
    `stated` are then the classes and predicates that it has.
    """

    graph: Graph
    settings: Settings
    sandbox: Sandbox
    round: int
    lexicon: Lexicon
    engine: Engine
    source: SparqlSource
    labels: LabelLookup
    most: int
    language: Language = "sparql"
    portable: Vocabulary | None = None
    is_plain: bool = False
    stated: Schema | None = None
    wants_query: bool = False

    @property
    def schema(self) -> Schema:
        return self.stated or self.graph.schema

    @cached_property
    def prefixes(self) -> Prefixes:
        """The prefixes that shorten IRIs in its queries."""
        return schema_prefixes(self.schema)

    async def read(self, readings: Sequence[Reading], names: str = "") -> Sequence[BranchResult]:
        return [
            with_portable_query(
                await asyncio.wait_for(
                    run_in_thread(sql.run_reading, reading, index, self.engine, round=self.round),
                    self.settings.branch_seconds,
                ),
                reading,
                self.portable,
            )
            for index, reading in enumerate(readings)
        ]

    async def query(self, text: str, question: str | None, names: str = "") -> BranchResult:
        found: BranchResult = await run_in_thread(
            service("foreign_queries", "run_sparql", "A query"),
            text,
            self.source,
            self.schema,
            self.prefixes,
            self.labels,
            round=self.round,
            limit=self.settings.row_limit,
            seconds=self.settings.branch_seconds,
            inspect=self.sandbox.inspect_sparql,
            numbers=service("foreign_queries", "numbers")(question) if question is not None else None,
            portable=self.portable,
            is_plain=self.is_plain,
        )
        return found

    def describe(self, relations: Collection[str] | None, focus: Collection[str] | None = None) -> str:
        text: str = service("model_agents", "schema_sparql")(self.schema, self.prefixes, relations, focus)
        return text

    def table_of(self, thing: str) -> str:
        known = self.lexicon.thing(thing)
        groups = {group.relation: group for group in self.schema.groups}
        group = groups.get(known.relation) if known else None
        return ", ".join(map(self.prefixes.short, group.classes)) if group else ""

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        # the names that the question may mean were looked up before it was parsed
        return []

    async def look_up(self, wanted: LookUp) -> str:
        look_up, seconds = service("model_agents", "look_up_sparql"), self.settings.branch_seconds * LOOK_UP_SHARE
        about = wanted, self.source, self.schema, self.prefixes, self.labels
        seen: str = await run_in_thread(partial(look_up, *about, seconds=seconds))
        return seen


def sparql_database(
    graph: Graph, settings: Settings, sandbox: Sandbox, text: str, round: int = 1
) -> SparqlDatabase | None:
    """The database that agents ask by SPARQL, at the graph's endpoint or over its own triples; None if it has neither.
    Names in `text` are looked up at an endpoint. Blocking; raises ToolError if names can't be looked up."""
    if (remote := graph.remote) is not None:
        engine = sparql.endpoint_engine(remote.source, remote.endpoint, graph.schema, remote.labels)
        most, known = settings.endpoint_readings, remote.about(text)
        words = sparql.endpoint_vocabulary(remote.endpoint, graph.schema)
        return SparqlDatabase(
            graph,
            settings,
            sandbox,
            round,
            known,
            engine,
            remote.source,
            remote.labels,
            most,
            portable=words,
            is_plain=True,
        )
    if graph.triples is None:
        return None
    engine, labels = sparql.ingested_engine(graph.triples, graph.tables), sparql.ingested_labels(graph.tables)
    words = Vocabulary(graph.schema)
    return SparqlDatabase(
        graph, settings, sandbox, round, graph.lexicon, engine, graph.triples, labels, MAX_READINGS_RUN, portable=words
    )


def with_portable_query(found: BranchResult, reading: Reading, vocabulary: Vocabulary | None) -> BranchResult:
    """The result of a reading with its query for any endpoint that has the data as it was read, if there is one."""
    try:
        portable = standalone_query(reading.plan, vocabulary) if vocabulary is not None and found.queries else ""
    except ToolError:
        return found
    first = found.queries[:1]
    named = {query: replace(query, portable=portable) for query in first}
    rows = (
        replace(each, query=named.get(each.query, each.query)) if isinstance(each, Rows) and each.query else each
        for each in found.evidence
    )
    return replace(found, queries=(*named.values(), *found.queries[1:]), evidence=tuple(rows))
