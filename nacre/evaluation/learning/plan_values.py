"""Run one plan: Body + Tables -> its distinct cells, in the form of an answer's `values`."""

from nacre.errors import NacreError
from nacre.plans.run import build_table
from nacre.plans.sql.to_sql import to_sql
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Body, Combine, Plan, Select
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.ranking.calibrate import table_outcome
from nacre.wording.run_plan import run_plan

MAX_SECONDS = 1.0
MAX_ROWS = 1000


def plan_values(body: Body, tables: Tables) -> tuple[Cell, ...] | None:
    """All distinct cells row by row, or one boolean for a yes/no question; None if the plan fails."""
    table: Table | None
    try:
        if isinstance(body, Select | Combine):
            # only the rows are needed, not their provenance
            statement = to_sql(body, tables.schema)
            result = tables.run(statement.text, statement.params, limit=MAX_ROWS, seconds=MAX_SECONDS)
            table = build_table(statement, result.rows, result.truncated)
        else:
            table, _, _ = run_plan(Plan(body), tables, round=1)
    except NacreError:
        return None
    return table_outcome(table).values
