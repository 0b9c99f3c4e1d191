"""An open graph as agents ask it, by SQL or by SPARQL: Graph + Settings -> Database.

SPARQL is asked at an endpoint or over the graph's own triples.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agents.answering.select_answer import MAX_READINGS_RUN
from agents.turn_view import Language
from nacre.access.queries import run_foreign_sql
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extension import service
from nacre.plans.run import Engine
from nacre.plans.sparql_engine import LabelLookup, sparql_engine, standalone_query
from nacre.plans.sparql_vocabulary import Prefixes, Vocabulary, schema_prefixes, schema_sparql
from nacre.records.evidence import BranchResult, LookUp, Occurrence, Rows
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Reading
from nacre.stores.sparql_source import OpenStore, OxigraphStore, SparqlSource
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.schema_sql import schema_sql
from tools import sparql, sql
from tools.sandbox import Sandbox
from tools.search_passages import LEXICAL, retrieve_sentences

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

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

    async def query(self, text: str, question: str | None) -> BranchResult:
        started = time.perf_counter()
        numbers = service("foreign_queries", "numbers")(question) if question is not None else None
        limit, seconds = self.settings.row_limit, self.settings.branch_seconds
        try:
            found = await run_foreign_sql(
                self.graph, text, self.sandbox, round=self.round, limit=limit, seconds=seconds, numbers=numbers
            )
            named: BranchResult = service("foreign_queries", "name_columns")(found, self.schema)
            return named
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
    """The SQL database that agents ask in one round; queries of models run in the sandbox. `lexicon` has the names that
    the conversation may mean, by default those of the graph."""
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

    async def query(self, text: str, question: str | None) -> BranchResult:
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
        return schema_sparql(self.schema, self.prefixes, relations, focus)

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


# graphs with more triples are not loaded into memory as they were read (given)
MAX_PLAIN_TRIPLES = 300_000

PLAIN_SECONDS = 30.0


def plain_database(
    graph: Graph, settings: Settings, sandbox: Sandbox, load: OpenStore, lexicon: Lexicon
) -> SparqlDatabase | None:
    """The database of an ingested graph as it was read, without what ingestion derived, in a process of the sandbox;
    `load` makes a store of the file of the tables. None for a graph without a file, and for a large one. Blocking."""
    if graph.stored is None or not graph.stored.is_local or graph.schema.triples > MAX_PLAIN_TRIPLES:
        return None
    source = OxigraphStore(graph.stored.path, load, sandbox.stores)
    # a version never changes
    schema = graph.schema.cache.get(
        (_stated_schema, settings.row_limit), lambda: _stated_schema(source, graph.schema, settings.row_limit)
    )
    words, labels = Vocabulary(graph.schema), sparql.ingested_labels(graph.stored)
    engine = sparql_engine(source, words, labels, tables=graph.stored)
    of = SparqlDatabase(graph, settings, sandbox, 1, lexicon, engine, source, labels, MAX_READINGS_RUN, portable=words)
    return replace(of, is_plain=True, stated=schema, wants_query=True)


def _stated_schema(source: SparqlSource, schema: Schema, limit: int) -> Schema:
    """The classes that the data states members of, also by a subclass, and its predicates with their languages."""
    classes = source.select("SELECT DISTINCT ?c { ?s a ?c }", limit=limit, seconds=PLAIN_SECONDS).rows
    stated = set(schema.with_parents([each.value for (each,) in classes if each is not None]))
    query = 'SELECT DISTINCT ?p ?l { ?s ?p ?o BIND(IF(isLiteral(?o), LANG(?o), "") AS ?l) }'
    languages: dict[str, set[str]] = defaultdict(set)
    for name, language in source.select(query, limit=10 * limit, seconds=PLAIN_SECONDS).rows:
        if name is not None:
            languages[name.value] |= {f"@{language.value}"} if language and language.value else set()
    return replace(
        schema,
        classes=tuple(replace(each, hidden=False) for each in schema.classes if each.iri in stated),
        predicates=tuple(
            replace(each, hidden=False, written=" or ".join(sorted(languages[each.iri])) or each.written)
            for each in schema.predicates
            if each.iri in languages
        ),
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
