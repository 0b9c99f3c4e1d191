"""Run the body of a plan (Select, Ask, ...) body + Engine -> rows with keys and units, and the queries."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from math import inf

from nacre.errors import ToolError
from nacre.plans.durations import elapsed_time
from nacre.plans.missing_values import UNKNOWN_TRUTH, unstated_values
from nacre.plans.order_column import add_order_column, split_order_column
from nacre.plans.sparql.to_sparql import SparqlQuery
from nacre.plans.sql.to_sql import contributing_count_statement, contributing_statement, to_sql
from nacre.plans.statement import OutputColumn, Statement
from nacre.records.evidence import Cell, Evidence, Query, QueryError, Table
from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Combine,
    Compute,
    Itself,
    Profile,
    Select,
)
from nacre.records.schema import Schema
from nacre.stores.sqlite.tables import SqlResult, Tables

MAX_RESULT_ROWS = 1000
MAX_CONTRIBUTING = 50
# steps of SQLite for each query of a reading that stands beside the likeliest: a count by a value over 12,000 things, a
# filter over 40,000 (measured: 10 to 80 ms). Steps and not seconds, so that the same question has the same answer
ALTERNATIVE_STEPS = 200_000


# a description that is asked for, and the round -> its sentences
Describe = Callable[[Profile, int], tuple[Evidence, ...]]


def describe_nothing(profile: Profile, round: int) -> tuple[Evidence, ...]:
    """No sentences: for an engine over tables, whose descriptions read the tables."""
    return ()


@dataclass(frozen=True)
class Engine:
    """What plans run on: how their selects are written, and what fetches the rows.

    Rows come in the order of the outputs and within a limit; a reading beside the likeliest gets a smaller budget.
    Descriptions read the `tables` of the graph; without tables, `describe` gives them. If the store is `away`, each
    query costs a request, and the things behind a number are listed for the likeliest reading only. Ages are computed
    for `today`.
    """

    tool: str
    schema: Schema
    write: Callable[[Select | Combine], Statement | SparqlQuery]
    contributing: Callable[[Select, str], Statement | SparqlQuery]
    number_contributing: Callable[[Select, str], Statement | SparqlQuery]
    fetch: Callable[[Statement | SparqlQuery, int, bool], SqlResult]
    tables: Tables | None = None
    describe: Describe = describe_nothing
    away: bool = False
    today: Callable[[], date] = date.today


def tables_engine(tables: Tables) -> Engine:
    """SQL on the tables of a graph."""
    schema = tables.schema

    def fetch(statement: Statement | SparqlQuery, limit: int, beside: bool) -> SqlResult:
        # a sorter that knows how many rows are wanted keeps no more
        text = f"{statement.text}\nLIMIT {limit + 1}"
        return tables.run(text, statement.params, limit=limit, steps=ALTERNATIVE_STEPS if beside else inf)

    return Engine(
        "sql",
        schema,
        lambda body: to_sql(body, schema),
        lambda select, variable: contributing_statement(select, schema, variable),
        lambda select, variable: contributing_count_statement(select, schema, variable),
        fetch,
        tables,
    )


def run_body(
    body: Select | Combine | Ask | Compute, engine: Engine, *, words: str, round: int, beside: bool = False
) -> tuple[Table | None, tuple[Query, ...]]:
    """The rows of a plan and the queries that ran, with `words` for what they ask; a reading that stands `beside` the
    likeliest takes little.

    Comparisons and yes/no give one row with one cell: 1 or 0 for yes or no, None where the graph does not say. A query
    that fails is told in its record.
    """
    runner = QueryRunner(engine, words, round, beside)
    if isinstance(body, Ask):
        found = runner.table(body.select)
        yes = bool(found and found.rows)
        if (
            found is not None
            and not yes
            and any(runner.lacks(each) for each in unstated_values(body.select, engine.schema))
        ):
            return UNKNOWN_TRUTH, tuple(runner.queries)
        table = Table(("yes",), ((1 if yes else 0,),), found.keys[:1] if found and yes else ((),), ("",))
        return (table if found is not None else None), tuple(runner.queries)
    table_or_none = runner.compute(body) if isinstance(body, Compute) else runner.table(body)
    return table_or_none, tuple(runner.queries)


class QueryRunner:
    """Runs statements and keeps their records."""

    def __init__(self, engine: Engine, words: str, round: int, beside: bool) -> None:
        self.engine, self.words, self.round, self.beside = engine, words, round, beside
        self.queries: list[Query] = []

    def run(
        self, statement: Statement | SparqlQuery, limit: int = MAX_RESULT_ROWS
    ) -> tuple[list[tuple[Cell, ...]], bool] | None:
        started = time.perf_counter()
        query = Query(self.engine.tool, self.round, statement.text, self.words, statement.params)
        try:
            rows = self.engine.fetch(statement, limit, self.beside)
        except ToolError as error:
            took = time.perf_counter() - started
            self.queries.append(replace(query, error=QueryError(error.kind, str(error)), seconds=round(took, 6)))
            return None
        took = time.perf_counter() - started
        self.queries.append(replace(query, rows=len(rows.rows), truncated=rows.truncated, seconds=round(took, 6)))
        return rows.rows, rows.truncated

    def table(self, body: Select | Combine) -> Table | None:
        aggregate = (
            next((a for a in body.answers if isinstance(a, Aggregate)), None) if isinstance(body, Select) else None
        )
        counted = aggregate if self.engine.away and isinstance(body, Select) and not (body.group or body.by) else None
        if counted and isinstance(body, Select) and body.order is None:
            return self._counted(body, Aggregate("count", Itself(counted.of.variable)))
        asked = add_order_column(body)
        statement = self.engine.write(asked)
        found = self.run(statement)
        if found is None:
            return None
        table = build_table(statement, *found)
        if asked is not body:
            table = split_order_column(table, len([o for o in self.engine.write(body).outputs if o.role != "key"]))
        if isinstance(body, Select) and aggregate and not body.group:
            things = self.engine.contributing(body, aggregate.of.variable)
            keys = self.run(things, MAX_CONTRIBUTING)
            if keys is not None:
                behind = tuple(str(row[0]) for row in keys[0])
                count: int | None = len(behind)
                single = not body.by and aggregate.function == "count" and isinstance(aggregate.of, Itself)
                if keys[1] and single and table.rows:
                    count = int(table.rows[0][body.answers.index(aggregate)] or 0)
                elif keys[1]:
                    count = self._count(self.engine.number_contributing(body, aggregate.of.variable))
                return replace(table, keys=tuple(behind for _ in table.rows), contributing=count)
        return table

    def _counted(self, body: Select, number: Aggregate) -> Table | None:
        """The row of aggregates with the number of things behind it, by one query; which these are is asked when the
        row is cited."""
        own = number in body.answers
        statement = self.engine.write(body if own else replace(body, answers=(*body.answers, number)))
        found = self.run(statement)
        if found is None:
            return None
        table = build_table(statement, *found)
        place = body.answers.index(number) if own else len(table.columns) - 1
        behind = table.rows[0][place] if table.rows else None
        shown = len(table.columns) - (not own)
        return replace(
            table,
            columns=table.columns[:shown],
            rows=tuple(row[:shown] for row in table.rows),
            units=table.units[:shown],
            contributing=int(behind) if isinstance(behind, int | float) else None,
        )

    def lacks(self, select: Select) -> bool:
        """Whether a select that ran has no row."""
        found = self.table(select)
        return found is not None and not found.rows

    def _count(self, things: Statement | SparqlQuery) -> int | None:
        found = self.run(things)
        return int(found[0][0][0] or 0) if found and found[0] else None

    def compute(self, body: Compute) -> Table | None:
        left, right = self.table(body.left), self.table(body.right)
        if body.op in ELAPSED:
            return None if left is None or right is None else elapsed_time(body, left, right, self.engine.today())
        if left is None or right is None or not left.rows or not right.rows:
            return None
        a, b = left.rows[0][0], right.rows[0][0]
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return None
        keys = (left.keys[0] + right.keys[0],) if left.keys and right.keys else ((),)
        result: Cell
        name = "result"
        unit = left.units[0]
        if body.op in ARITHMETIC:
            if body.op in "/%" and b == 0:
                return None
            ratio = a / b if b else 0.0
            result = {"-": a - b, "+": a + b, "*": a * b, "/": ratio, "%": 100 * ratio}[body.op]
        else:
            name = "yes"
            result = int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b, "!=": a != b}[body.op])
        of_result = "%" if body.op == "%" else "" if name == "yes" else unit
        return Table((name, "left", "right"), ((result, a, b),), keys, (of_result, unit, unit))


def build_table(statement: Statement | SparqlQuery, rows: list[tuple[Cell, ...]], truncated: bool) -> Table:
    """The rows that a statement gave, as a table: what is shown in columns, the keys beside them."""
    shown = [i for i, o in enumerate(statement.outputs) if o.role != "key"]
    keys = [i for i, o in enumerate(statement.outputs) if o.role == "key"]
    outputs: tuple[OutputColumn, ...] = statement.outputs
    return Table(
        tuple(outputs[i].name for i in shown),
        tuple(tuple(row[i] for i in shown) for row in rows),
        tuple(tuple(dict.fromkeys(str(row[i]) for i in keys)) for row in rows),
        tuple(outputs[i].unit for i in shown),
        truncated=truncated,
    )
