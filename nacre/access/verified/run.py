"""Run what answers a verified question: open graph + plan or query -> its values, rows and query.

Queries that people wrote pass the same guard and sandbox as any other; plans run like readings.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from agents.database import Database
from agents.run_in_thread import run_in_thread
from nacre.access.queries import query_sparql, query_sql
from nacre.access.sparql_database import sparql_database
from nacre.access.sql_database import sql_database
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.records.answer import Value
from nacre.records.evidence import Cell, Rows
from nacre.records.json_form import from_json
from nacre.records.plan import Plan
from nacre.records.turn import Reading
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion
from nacre.stores.graph import Graph
from nacre.wording.answers.answer import verbalise_result
from nacre.wording.phrases.plan import verbalise_plan
from tools.guards.sandbox import Sandbox


@dataclass(frozen=True)
class GivenAnswer:
    """What a plan or query gives now. `values` are the answer as data, each once; `words` say what was asked, if a plan
    was. `is_prose`: a description answers, which has no values."""

    values: tuple[Value, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    words: str = ""
    query: str = ""
    truncated: bool = False
    is_prose: bool = False


async def run_verified(graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    """What the plan or query of an entry gives in this version. Raises ToolError if it can't run."""
    if entry.query is not None:
        return await run_query(graph, entry.query, settings, sandbox)
    try:
        plan = from_json(Plan, entry.plan)
    except ValidationError as error:
        raise ToolError("type", "Its plan was written by another version of nacre. Confirm it again.") from error
    return await _run_plan(graph, plan, entry.standalone, settings, sandbox)


async def run_query(graph: Graph, query: VerifiedQuery, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    """What a query gives as it is written. Raises ToolError, also if the guard refuses it."""
    run = query_sql if query["tool"] == "sql" else query_sparql
    result = await run(graph, query["text"], settings, sandbox, settings.row_limit)
    if result.note:
        # a repair suits a query that a model writes now; stored ones must give what they say, or nothing
        raise ToolError("empty", f"As written, the query fails or gives nothing. This one runs: {result.query}")
    values = tuple(dict.fromkeys(cell for row in result.rows for cell in row if cell is not None))
    return GivenAnswer(values, result.columns, result.rows, "", result.query, result.truncated)


async def _run_plan(graph: Graph, plan: Plan, question: str, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    # as likely as can be: it is run first and with the whole budget
    reading = Reading(plan, 0.0, 1.0, await run_in_thread(verbalise_plan, plan, graph.schema))
    database: Database = sql_database(graph, settings, sandbox)
    if graph.stored is None:
        remote = await run_in_thread(sparql_database, graph, settings, sandbox, question)
        if remote is None:
            raise ToolError("unavailable", f"Graph {graph.name!r} can't be asked now.")
        database = remote
    try:
        found = await database.read([reading])
    except TimeoutError:
        raise ToolError("timeout", f"It took longer than {settings.branch_seconds:g} seconds.") from None
    result = found[0]
    if result.error is not None:
        raise ToolError(result.error.kind, result.error.message)
    rows = next((each for each in result.evidence if isinstance(each, Rows)), None)
    text = result.queries[0].text if result.queries else ""
    if rows is None:
        return GivenAnswer((), words=reading.words, query=text, is_prose=bool(result.evidence))
    said = await run_in_thread(verbalise_result, plan, rows.table, graph.schema, question)
    values = tuple(dict.fromkeys(said.values))
    return GivenAnswer(values, rows.table.columns, rows.table.rows, reading.words, text, rows.table.truncated)
