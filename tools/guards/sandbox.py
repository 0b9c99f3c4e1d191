"""Run foreign SELECTs in processes: text -> rows; a query that exceeds its limits is killed with its process."""

import asyncio
import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.records.cancellation import note_unfinished
from nacre.records.evidence import BranchResult
from nacre.stores.processes.killable_pool import KillablePool, pool_errors, wait_for_result
from tools.guards.sparql_shape import QueryShape, inspect_query

if TYPE_CHECKING:
    from nacre.stores.sqlite.tables import Tables

# a statement in a process has SQLite's own limits besides
MOST_MEMORY = 2_000_000_000
OPEN_GRAPHS = 4
# for parsing one SPARQL query; the longest that is let through takes 0.6 s (sparql_shape)
PARSE_SECONDS = 5.0


class Sandbox:
    """Runs queries in a few processes that are started when the first is needed, or by `warm`."""

    def __init__(self) -> None:
        self._work = KillablePool(MOST_MEMORY, prepare=_import_guards)

    def warm(self) -> None:
        """Start the processes now, while there is something else to wait for; it does not wait for them."""
        self._work.warm()

    async def run(
        self,
        tables: Path,
        text: str,
        *,
        round: int,
        limit: int,
        seconds: float,
        numbers: frozenset[float] | None = None,
    ) -> BranchResult:
        """As `tools.run_model_sql` over the file `tables`; raises ToolError `timeout`, or `too_large` if the process
        died of it. A caller that is cancelled ends the process."""
        options = {"round": round, "limit": limit}
        running = self._work.start(_run, tables, text, seconds=seconds, numbers=numbers, **options)
        try:
            with pool_errors(seconds):
                rows: BranchResult = await asyncio.wrap_future(running)
        finally:
            note_unfinished(running.settled)
        return rows

    def inspect_sparql(self, text: str) -> QueryShape:
        """`inspect_query`, in a process that is ended when parsing takes too long; blocking. Raises ToolError."""
        with pool_errors(PARSE_SECONDS):
            shape: QueryShape = wait_for_result(self._work.start(inspect_query, text, seconds=PARSE_SECONDS))
        return shape

    def close(self) -> None:
        """End all processes, whatever they do."""
        self._work.close()


def _import_guards() -> None:
    import rdflib.plugins.sparql.parser  # noqa: F401

    import tools.run_model_sql  # noqa: F401


def _run(tables: Path, text: str, *, round: int, limit: int, numbers: frozenset[float] | None) -> BranchResult:
    from tools.run_model_sql import run_model_sql

    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    return run_model_sql(text, _tables(tables), round=round, limit=limit, numbers=numbers)


@lru_cache(OPEN_GRAPHS)
def _tables(path: Path) -> "Tables":
    from nacre.stores.sqlite.tables import Tables

    return Tables(path)
