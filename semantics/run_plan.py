"""Run a plan on one graph's tables: Plan -> rows with keys and units, and the queries that gave them."""

import time
from dataclasses import replace
from math import inf

from records.errors import ToolError
from records.evidence import Cell, Evidence, Query, QueryError, Table
from records.plan import Aggregate, Ask, Combine, Compute, Overview, Plan, Profile, Select
from semantics.measured import parted, with_measure
from semantics.profile import overview_sentences, profile_sentences
from semantics.statement import Output, Statement
from semantics.to_sql import contributing, number_contributing, to_sql
from semantics.to_words import to_words
from stores.tables import Tables

ROWS = 1000
CONTRIBUTING = 50


def run_plan(
    plan: Plan, tables: Tables, *, round: int, words: str = "", steps: float = inf
) -> tuple[Table | None, tuple[Query, ...], tuple[Evidence, ...]]:
    """The rows of a plan, its queries, and for a profile its sentences; `words` are the plan's, where they are known,
    and each query takes so many `steps` at most.

    Comparisons and yes/no give one row with one cell (1 or 0 for yes or no). A query that fails is told in its record.
    """
    runner = _Runner(tables, words or to_words(plan, tables.schema), round, steps)
    body = plan.body
    if isinstance(body, Profile):
        evidence = profile_sentences(body, tables, runner.run, round)
        return None, tuple(runner.queries), tuple(evidence)
    if isinstance(body, Overview):
        return None, (), overview_sentences(tables.schema, round)
    if isinstance(body, Ask):
        found = runner.table(body.select)
        yes = bool(found and found.rows)
        table = Table(("yes",), ((1 if yes else 0,),), found.keys[:1] if found and yes else ((),), ("",))
        return (table if found is not None else None), tuple(runner.queries), ()
    if isinstance(body, Compute):
        return runner.compute(body), tuple(runner.queries), ()
    return runner.table(body), tuple(runner.queries), ()


class _Runner:
    """Runs statements and keeps their records."""

    def __init__(self, tables: Tables, words: str, round: int, steps: float) -> None:
        self.tables, self.words, self.round, self.steps = tables, words, round, steps
        self.queries: list[Query] = []

    def run(self, statement: Statement, limit: int = ROWS) -> tuple[list[tuple[Cell, ...]], bool] | None:
        started = time.perf_counter()
        query = Query("sql", self.round, statement.text, self.words, statement.params)
        try:
            # a sorter that knows how many rows are wanted keeps no more
            text = f"{statement.text}\nLIMIT {limit + 1}"
            rows = self.tables.run(text, statement.params, limit=limit, steps=self.steps)
        except ToolError as error:
            took = time.perf_counter() - started
            self.queries.append(replace(query, error=QueryError(error.kind, str(error)), seconds=round(took, 6)))
            return None
        took = time.perf_counter() - started
        self.queries.append(replace(query, rows=len(rows.rows), truncated=rows.truncated, seconds=round(took, 6)))
        return rows.rows, rows.truncated

    def table(self, body: Select | Combine) -> Table | None:
        asked = with_measure(body)
        statement = to_sql(asked, self.tables.schema)
        found = self.run(statement)
        if found is None:
            return None
        table = table_of(statement, *found)
        if asked is not body:
            table = parted(table, len([o for o in to_sql(body, self.tables.schema).outputs if o.role != "key"]))
        aggregate = isinstance(body, Select) and next((a for a in body.answers if isinstance(a, Aggregate)), None)
        if isinstance(body, Select) and aggregate and not body.group:
            things = contributing(body, self.tables.schema, aggregate.of.variable)
            keys = self.run(things, CONTRIBUTING)
            if keys is not None:
                behind = tuple(str(row[0]) for row in keys[0])
                count = (
                    self._count(number_contributing(body, self.tables.schema, aggregate.of.variable))
                    if keys[1]
                    else len(behind)
                )
                return replace(table, keys=tuple(behind for _ in table.rows), contributing=count)
        return table

    def _count(self, things: Statement) -> int | None:
        found = self.run(things)
        return int(found[0][0][0] or 0) if found and found[0] else None

    def compute(self, body: Compute) -> Table | None:
        left, right = self.table(body.left), self.table(body.right)
        if left is None or right is None or not left.rows or not right.rows:
            return None
        a, b = left.rows[0][0], right.rows[0][0]
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return None
        keys = (left.keys[0] + right.keys[0],) if left.keys and right.keys else ((),)
        result: Cell
        name = "result"
        if body.op in ("-", "+", "*", "/"):
            if body.op == "/" and b == 0:
                return None
            result = {"-": a - b, "+": a + b, "*": a * b, "/": a / b if b else 0.0}[body.op]
        else:
            name = "yes"
            result = int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b, "!=": a != b}[body.op])
        unit = left.units[0]
        return Table((name, "left", "right"), ((result, a, b),), keys, ("" if name == "yes" else unit, unit, unit))


def table_of(statement: Statement, rows: list[tuple[Cell, ...]], truncated: bool) -> Table:
    """The rows that a statement gave, as a table: what is shown in columns, the keys beside them."""
    shown = [i for i, o in enumerate(statement.outputs) if o.role != "key"]
    keys = [i for i, o in enumerate(statement.outputs) if o.role == "key"]
    outputs: tuple[Output, ...] = statement.outputs
    return Table(
        tuple(outputs[i].name for i in shown),
        tuple(tuple(row[i] for i in shown) for row in rows),
        tuple(tuple(dict.fromkeys(str(row[i]) for i in keys)) for row in rows),
        tuple(outputs[i].unit for i in shown),
        truncated=truncated,
    )
