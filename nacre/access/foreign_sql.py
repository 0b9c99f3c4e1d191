"""Run SQL that a model or a client wrote: in a process that can be killed, or in the database that a graph is attached
to."""

import asyncio

from agents.run_in_thread import run_in_thread
from nacre.errors import ToolError
from nacre.records.evidence import BranchResult
from nacre.stores.graph import Graph
from tools.guards.sandbox import Sandbox
from tools.run_model_sql import run_model_sql


async def run_foreign_sql(
    graph: Graph, text: str, sandbox: Sandbox, *, round: int, limit: int, seconds: float
) -> BranchResult:
    """As `run_model_sql`. Raises ToolError `timeout` or `too_large`.

    The sandbox has no network, so a query over an attached database is guarded in this process, whose limits on its
    size bound the time, and the database stops it.
    """
    if graph.database is None:
        return await sandbox.run(graph.tables.path, text, round=round, limit=limit, seconds=seconds)
    running = run_in_thread(run_model_sql, text, graph.tables, round=round, limit=limit, seconds=seconds)
    try:
        return await asyncio.wait_for(running, 2 * seconds)
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {2 * seconds:g} seconds.") from None
