"""Run one plan and read its values: Body + Tables -> the distinct cells, as an answer's `values` are."""

from records.errors import NacreError
from records.evidence import Cell
from records.plan import Body, Combine, Plan, Select
from semantics.run_plan import run_plan
from semantics.to_sql import RAW, to_sql
from stores.tables import Tables

SECONDS = 1.0
ROWS = 1000


def run_values(body: Body, tables: Tables) -> tuple[Cell, ...] | None:
    """All distinct cells row by row; None where it fails."""
    try:
        if isinstance(body, Select | Combine):
            statement = to_sql(body, tables.schema)
            shown = [i for i, output in enumerate(statement.outputs) if output.role not in ("key", "text")]
            rows = tables.run(statement.text, statement.params, limit=ROWS, seconds=SECONDS).rows
        else:
            table, _, _ = run_plan(Plan(body), tables, round=1)
            if table is None:
                return None
            shown = [i for i, name in enumerate(table.columns) if not name.endswith(RAW)]
            rows = list(table.rows)
    except NacreError:
        return None
    return tuple(dict.fromkeys(row[i] for row in rows for i in shown if row[i] is not None))
