"""Run one plan and read its values: Body + Tables -> the distinct cells, as an answer's `values` are."""

from nacre.errors import NacreError
from nacre.plans.run import build_table
from nacre.plans.sql.to_sql import to_sql
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Body, Combine, Plan, Select
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.ranking.calibrate import table_outcome
from nacre.wording.run_plan import run_plan

SECONDS = 1.0
ROWS = 1000


def plan_values(body: Body, tables: Tables) -> tuple[Cell, ...] | None:
    """All distinct cells row by row, of yes/no one boolean; None where it fails."""
    table: Table | None
    try:
        if isinstance(body, Select | Combine):
            # only the rows: what contributes to them is not looked up
            statement = to_sql(body, tables.schema)
            found = tables.run(statement.text, statement.params, limit=ROWS, seconds=SECONDS)
            table = build_table(statement, found.rows, found.truncated)
        else:
            table, _, _ = run_plan(Plan(body), tables, round=1)
    except NacreError:
        return None
    return table_outcome(table).values
