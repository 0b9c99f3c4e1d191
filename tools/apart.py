"""A SELECT of somebody else, run in a process of its own: what no limit within stops is killed from outside."""

import asyncio
import logging
import multiprocessing
import resource
import signal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pebble import ProcessPool

from records.errors import ToolError
from records.evidence import Found

if TYPE_CHECKING:
    from stores.tables import Tables

# a statement in a process has SQLite's own limits besides
MOST_MEMORY = 2_000_000_000
PROCESSES = 2
OPEN_GRAPHS = 4


class Apart:
    """Runs queries in a few processes that are started when the first is needed, or by `warm`, and then kept.

    A query that takes longer than it may is ended with its process; the next one gets a new process.
    """

    def __init__(self, processes: int = PROCESSES) -> None:
        # the one way to start that takes nothing of this process along: no threads, no open files, no secrets in memory
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPool(processes, initializer=_bounded, context=context)

    def warm(self) -> None:
        """Start the processes now, while there is something else to wait for; it does not wait for them."""
        self._pool.schedule(_ready)

    async def run(self, tables: Path, text: str, *, round: int, limit: int, seconds: float) -> Found:
        """As `tools.written.run_written` over the file `tables`; raises ToolError `timeout`, or `unavailable` where no
        process can be had. A caller that is cancelled ends the process."""
        given = {"round": round, "limit": limit}
        # to start a process takes longer than the event loop may stand still
        running = await asyncio.to_thread(self._pool.schedule, _run, args=(tables, text), kwargs=given, timeout=seconds)
        try:
            return await asyncio.wrap_future(running)
        except TimeoutError:
            raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.") from None
        except (MemoryError, RuntimeError, OSError) as error:
            # pebble's ProcessExpired is a RuntimeError: the process died of the query, most likely for want of memory
            raise ToolError("too_large", f"The query broke off ({error}). Ask for less.") from None

    def close(self) -> None:
        """End all processes, whatever they do."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()


def _bounded() -> None:
    # who stops a command stops its processes in turn; on their own they would end in a traceback
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _ready() -> None:
    import tools.written  # noqa: F401


def _run(tables: Path, text: str, *, round: int, limit: int) -> Found:
    from tools.written import run_written

    return run_written(text, _tables(tables), round=round, limit=limit)


@lru_cache(OPEN_GRAPHS)
def _tables(path: Path) -> "Tables":
    from stores.tables import Tables

    return Tables(path)
