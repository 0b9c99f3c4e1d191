"""Run foreign SELECTs in processes: text -> rows; a query that exceeds its limits is killed with its process.
SPARQL is parsed there too, so that it can be judged (extension `foreign_queries`)."""

import asyncio
import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.extension import extensions, needed, service
from nacre.records.evidence import BranchResult
from nacre.records.threads import note_unfinished
from nacre.stores.killable_pool import KillablePool, pool_errors, wait_for_result

if TYPE_CHECKING:
    from nacre.stores.sqlite.tables import Tables

# a statement in a process has SQLite's own limits besides
MOST_MEMORY = 2_000_000_000

OPEN_GRAPHS = 4

# characters of a query
LONGEST = 10_000

# for parsing one SPARQL query; the longest that is let through takes 0.6 s (sparql_shape)
PARSE_SECONDS = 5.0


class Sandbox:
    """Runs queries in a few processes that are started when the first is needed, or by `warm`."""

    def __init__(self) -> None:
        places = (each.services.get(name, "") for each in extensions() for name in ("inspect", "run_sql"))
        guards = [place.partition(":")[0] for place in places if place]
        self._work = KillablePool(MOST_MEMORY, imports=["rdflib.plugins.sparql.parser", *guards])
        # one process for stores of triples, which it keeps in memory
        self.stores = KillablePool(MOST_MEMORY, 1)

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
        """As `run_model_sql` of the extension `foreign_queries` over the file `tables`; raises ToolError `timeout`, or
        `too_large` if the process died of it. A caller that is cancelled ends the process."""
        needed("foreign_queries", "A query")
        options = {"round": round, "limit": limit}
        running = self._work.start(_run, tables, text, seconds=seconds, numbers=numbers, **options)
        try:
            with pool_errors(seconds):
                rows: BranchResult = await asyncio.wrap_future(running)
        finally:
            note_unfinished(running.settled)
        return rows

    def inspect_sparql(self, text: str) -> Any:
        """The shape of a query, in a process that is ended when parsing takes too long; blocking. Raises ToolError."""
        needed("foreign_queries", "A query")
        with pool_errors(PARSE_SECONDS):
            return wait_for_result(self._work.start(_inspect, text, seconds=PARSE_SECONDS))

    def close(self) -> None:
        """End all processes, whatever they do."""
        self._work.close()
        self.stores.close()


def _inspect(text: str) -> Any:
    return service("foreign_queries", "inspect")(text)


def _run(tables: Path, text: str, *, round: int, limit: int, numbers: frozenset[float] | None) -> BranchResult:
    run = service("foreign_queries", "run_sql")
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    found: BranchResult = run(text, _tables(tables), round=round, limit=limit, numbers=numbers)
    return found


@lru_cache(OPEN_GRAPHS)
def _tables(path: Path) -> "Tables":
    from nacre.stores.sqlite.tables import Tables

    return Tables(path)
