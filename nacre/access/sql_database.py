"""An open graph as agents ask it by SQL: Graph + Settings -> Database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.answering.calibrate_rows import MAX_READINGS_RUN
from agents.database import Language
from agents.run_in_thread import run_in_thread
from nacre.access.queries import run_foreign_sql
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.records.evidence import BranchResult
from nacre.records.look_up import LookUp, Occurrence
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.schema_sql import schema_sql
from tools import lexical, sql
from tools.guards.origins import stated_numbers
from tools.guards.sandbox import Sandbox
from tools.model_column_names import name_columns

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# share of a branch's time for looking up values, and passages of a look-up (given)
LOOK_UP_SHARE = 0.2
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

    @property
    def schema(self) -> Schema:
        return self.graph.schema

    async def read(self, readings: Sequence[Reading], names: str = "") -> Sequence[BranchResult]:
        running = run_in_thread(sql.run_readings, readings, self.graph.tables, round=self.round, names=names)
        return await asyncio.wait_for(running, self.settings.branch_seconds)

    async def query(self, text: str, question: str | None) -> BranchResult:
        started = time.perf_counter()
        numbers = stated_numbers(question) if question is not None else None
        limit, seconds = self.settings.row_limit, self.settings.branch_seconds
        try:
            found = await run_foreign_sql(
                self.graph, text, self.sandbox, round=self.round, limit=limit, seconds=seconds, numbers=numbers
            )
            return name_columns(found, self.schema)
        except ToolError as error:
            return sql.failed_query(
                error, text, "", round=self.round, seconds=time.perf_counter() - started, by="model"
            )

    def describe(self, relations: Collection[str] | None) -> str:
        return self.graph.schema_text(schema_sql) if relations is None else schema_sql(self.graph.tables, relations)

    def table_of(self, thing: str) -> str:
        known = self.lexicon.thing(thing)
        return known.relation if known else ""

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        from tools.look_up.look_up_sql import find_occurrences

        seconds = self.settings.branch_seconds * LOOK_UP_SHARE
        return await run_in_thread(find_occurrences, phrases, self.graph.tables, seconds=seconds)

    async def look_up(self, wanted: LookUp) -> str:
        from tools.look_up.look_up_sql import look_up_sql

        if wanted.kind == "passages":
            return await self._passages(wanted.text)
        seconds = self.settings.branch_seconds * LOOK_UP_SHARE
        return await run_in_thread(look_up_sql, wanted, self.graph.tables, self.describe, seconds=seconds)

    async def _passages(self, text: str) -> str:
        index, passages = self.graph.lexical, self.graph.passages
        if index is None or passages is None:
            return "This graph has no passages."
        result = await run_in_thread(lexical.search, index, passages, text, text, round=self.round, limit=PASSAGES)
        return "\n".join(f"{each.title}: {each.text}" for each in result.evidence) or "No passage is about that."


def sql_database(
    graph: Graph, settings: Settings, sandbox: Sandbox, round: int = 1, lexicon: Lexicon | None = None
) -> SqlDatabase:
    """The SQL database that agents ask in one round; queries of models run in the sandbox. `lexicon` has the names that
    the conversation may mean, by default those of the graph."""
    return SqlDatabase(graph, settings, sandbox, round, lexicon or graph.lexicon)
