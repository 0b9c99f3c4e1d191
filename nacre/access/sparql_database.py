"""An open graph as agents ask it by SPARQL, at an endpoint or over its own triples: Graph + Settings -> Database."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agents.answering.calibrate_rows import MAX_READINGS_RUN
from agents.database import Language
from agents.run_in_thread import run_in_thread
from nacre.access.text_lexicon import endpoint_names
from nacre.config.settings import Settings
from nacre.plans.run import Engine
from nacre.plans.sparql.engine import LabelLookup
from nacre.plans.sparql.schema import Prefixes, schema_prefixes, schema_sparql
from nacre.records.evidence import BranchResult
from nacre.records.look_up import LookUp, Occurrence
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.sparql.sparql_source import SparqlSource
from nacre.stores.sqlite.lexicon import Lexicon
from tools import sparql, sql
from tools.guards.origins import stated_numbers
from tools.guards.sandbox import Sandbox
from tools.look_up.look_up_sparql import look_up_sparql
from tools.run_model_sparql import run_model_sparql

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# share of a branch's time for looking up values (given)
LOOK_UP_SHARE = 0.2


@dataclass(frozen=True)
class SparqlDatabase:
    """The `Database` of one round in SPARQL; its protocol documents the methods."""

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

    @property
    def schema(self) -> Schema:
        return self.graph.schema

    @cached_property
    def prefixes(self) -> Prefixes:
        """The prefixes that shorten IRIs in its queries."""
        return schema_prefixes(self.graph.schema)

    async def read(self, readings: Sequence[Reading], names: str = "") -> Sequence[BranchResult]:
        return [
            await asyncio.wait_for(
                run_in_thread(sql.run_reading, reading, index, self.engine, round=self.round),
                self.settings.branch_seconds,
            )
            for index, reading in enumerate(readings)
        ]

    async def query(self, text: str, question: str | None) -> BranchResult:
        return await run_in_thread(
            run_model_sparql,
            text,
            self.source,
            self.schema,
            self.prefixes,
            self.labels,
            round=self.round,
            limit=self.settings.row_limit,
            seconds=self.settings.branch_seconds,
            inspect=self.sandbox.inspect_sparql,
            numbers=stated_numbers(question) if question is not None else None,
        )

    def describe(self, relations: Collection[str] | None) -> str:
        return schema_sparql(self.schema, self.prefixes, relations)

    def table_of(self, thing: str) -> str:
        known = self.lexicon.thing(thing)
        groups = {group.relation: group for group in self.schema.groups}
        group = groups.get(known.relation) if known else None
        return ", ".join(map(self.prefixes.short, group.classes)) if group else ""

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        # the names that the question may mean were looked up before it was parsed
        return []

    async def look_up(self, wanted: LookUp) -> str:
        seconds = self.settings.branch_seconds * LOOK_UP_SHARE
        return await run_in_thread(
            look_up_sparql, wanted, self.source, self.schema, self.prefixes, self.labels, seconds=seconds
        )


def sparql_database(
    graph: Graph, settings: Settings, sandbox: Sandbox, text: str, round: int = 1
) -> SparqlDatabase | None:
    """The database that agents ask by SPARQL, at the graph's endpoint or over its own triples; None if it has neither.

    Names in `text` are looked up at an endpoint. Blocking; raises ToolError if names can't be looked up.
    """
    names = endpoint_names(graph)
    if names is not None and graph.remote is not None:
        engine = sparql.endpoint_engine(graph.remote, names.endpoint, graph.schema, names.labels)
        most, known = settings.endpoint_readings, names.about(text)
        return SparqlDatabase(graph, settings, sandbox, round, known, engine, graph.remote, names.labels, most)
    if graph.triples is None:
        return None
    engine, labels = sparql.ingested_engine(graph.triples, graph.tables), sparql.ingested_labels(graph.tables)
    return SparqlDatabase(
        graph, settings, sandbox, round, graph.lexicon, engine, graph.triples, labels, MAX_READINGS_RUN
    )
