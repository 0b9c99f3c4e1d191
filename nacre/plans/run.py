"""Run the body of a plan: Select, Combine, Ask or Compute + Engine -> rows with keys and units, and the queries."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import groupby, product
from math import inf
from typing import Any

from nacre.errors import ToolError
from nacre.language.data import WORDS
from nacre.language.tokens import name_order, split_name
from nacre.language.values import is_plain_number
from nacre.plans import selects
from nacre.plans.selects import join_spellings, other_spellings
from nacre.plans.sparql_vocabulary import SparqlQuery
from nacre.plans.sql_joins import RAW_TEXT_SUFFIX, Statement
from nacre.plans.to_sql import contributing_count_statement, contributing_statement, kinds_statement, to_sql
from nacre.records.evidence import Cell, Evidence, KindCount, Mark, MarkedThings, Query, QueryError, Table
from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Edge,
    Filter,
    Itself,
    PlanTerm,
    Profile,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import DEPRECATED, EXACT_MATCH, RECORDS, Schema
from nacre.stores.sqlite.tables import SqlResult, Tables

MAX_RESULT_ROWS = 1000
MAX_CONTRIBUTING = 50

# SQLite steps for each query of an alternative reading: a count by a value over 12,000 things, or a filter over 40,000
# (measured: 10 to 80 ms). Steps instead of seconds give the same question the same answer.
ALTERNATIVE_STEPS = 200_000

# a description that is asked for, and the round -> its sentences
Describe = Callable[[Profile, int], tuple[Evidence, ...]]


@dataclass(frozen=True)
class Engine:
    """What plans run on: how their selects are written, and what fetches the rows.

    Rows come in the order of the outputs and within a limit; an alternative reading gets a smaller budget (the last
    argument of `fetch`). Descriptions read the `tables` of the graph; without tables, `describe` gives them. `show`
    gives the text and the parameters of a query as the store gets them. If the store is remote, each query costs a
    request, and the things behind a number are listed only when it is cited. Ages are computed for `today`.
    """

    tool: str
    schema: Schema
    write: Callable[[Select | Combine], Statement | SparqlQuery]
    write_contributing: Callable[[Select, str], Statement | SparqlQuery]
    write_contributing_count: Callable[[Select, str], Statement | SparqlQuery]
    write_kinds: Callable[[Select, str], Statement | SparqlQuery]
    fetch: Callable[[Statement | SparqlQuery, int, bool], SqlResult]
    tables: Tables | None = None
    describe: Describe = lambda profile, round: ()
    show: Callable[[Statement | SparqlQuery], tuple[str, tuple[Cell, ...]]] = lambda query: (query.text, query.params)
    is_remote: bool = False
    today: Callable[[], date] = date.today


def tables_engine(tables: Tables) -> Engine:
    """SQL on the tables of a graph."""
    schema = tables.schema

    def fetch(statement: Statement | SparqlQuery, limit: int, is_alternative: bool) -> SqlResult:
        # with a limit, SQLite's sorter keeps only so many rows; a database gets it from `Tables.run`, so that the query
        # is the one that is shown and is translated once
        text = f"{statement.text}\nLIMIT {limit + 1}" if tables.is_local else statement.text
        return tables.run(text, statement.params, limit=limit, steps=ALTERNATIVE_STEPS if is_alternative else inf)

    def show(statement: Statement | SparqlQuery) -> tuple[str, tuple[Cell, ...]]:
        return tables.shown(statement.text, statement.params)

    return Engine(
        "sql",
        schema,
        lambda body: to_sql(body, schema),
        lambda select, variable: contributing_statement(select, schema, variable),
        lambda select, variable: contributing_count_statement(select, schema, variable),
        lambda select, variable: kinds_statement(select, schema, variable),
        fetch,
        tables,
        show=show,
    )


def run_body(
    body: Select | Combine | Ask | Compute, engine: Engine, *, words: str, round: int, is_alternative: bool = False
) -> tuple[Table | None, tuple[Query, ...]]:
    """The rows of a plan and the queries that ran, with `words` for what they ask.

    Comparisons and yes-or-no questions give one row with one cell: 1 for yes, 0 for no, None if the graph does not
    say. The record of a failed query has its error.
    """
    runner, asked = QueryRunner(engine, words, round, is_alternative), body
    if isinstance(body := join_spellings(body, engine.schema), Ask):
        return _truth(body, runner), tuple(runner.queries)
    table = runner.compute(body) if isinstance(body, Compute) else runner.table(body)
    if table is not None and isinstance(asked, Select) and not is_alternative:
        others = other_spellings(asked, engine.schema, lambda *one: runner.run(engine.write_contributing(*one)))
        table = replace(table, spellings=tuple(others))
    return table, tuple(runner.queries)


def _truth(body: Ask, runner: "QueryRunner") -> Table | None:
    """One row that says whether the select of a yes-or-no question has rows."""
    found = runner.rows(body.select)
    if found is None:
        return None
    if found.rows:
        return Table(("yes",), ((1,),), found.keys[:1], ("",))
    if any(runner.is_empty(each) for each in selects.unstated_values(body.select, runner.engine.schema)):
        return selects.UNKNOWN_TRUTH
    table, (thing, *others) = Table(("yes",), ((0,),), ((),), ("",)), body.select.variables
    if others or body.select.filters or not (thing.keys and thing.classes and thing.any_of):
        return table
    # what a named thing is instead, if the question is only whether it is of a class
    anything = replace(body.select, variables=(replace(thing, classes=(), without=()),))
    return replace(table, kinds=runner.kinds(anything, thing.name))


MARKS: dict[Mark, str] = {"deprecated": DEPRECATED, "several records": RECORDS, "exact match": EXACT_MATCH}


def _with_mark(select: Select, thing: Variable, mark: Mark) -> Select:
    """The select of those things alone that have a mark."""
    if mark == "exact match":
        same = Variable("same", thing.classes, thing.without, any_of=thing.any_of)
        edge = Edge(thing.name, EXACT_MATCH, same.name)
        return replace(select, variables=(*select.variables, same), edges=(*select.edges, edge))
    value = Attribute(thing.name, MARKS[mark])
    condition = Filter(value, "=", True) if mark == "deprecated" else Filter(value, "known")
    return replace(select, filters=(*select.filters, condition))


class QueryRunner:
    """Runs the queries of one plan and records them."""

    def __init__(self, engine: Engine, words: str, round: int, is_alternative: bool) -> None:
        self.engine, self.words, self.round, self.is_alternative = engine, words, round, is_alternative
        self.queries: list[Query] = []

    def run(
        self, statement: Statement | SparqlQuery, limit: int = MAX_RESULT_ROWS
    ) -> tuple[list[tuple[Cell, ...]], bool] | None:
        """The rows of a statement and whether there are more; None if it failed."""
        started = time.perf_counter()
        text, params = statement.text, statement.params
        failure, found = None, SqlResult((), [], False)
        try:
            text, params = self.engine.show(statement)
            found = self.engine.fetch(statement, limit, self.is_alternative)
        except ToolError as error:
            failure = QueryError(error.kind, str(error))
        outcome = len(found.rows), found.truncated, failure, round(time.perf_counter() - started, 6)
        self.queries.append(Query(self.engine.tool, self.round, text, self.words, params, *outcome))
        return (found.rows, found.truncated) if failure is None else None

    def table(self, body: Select | Combine) -> Table | None:
        """The rows of a select, with the things behind an aggregate and their kinds; None if its query failed."""
        table = self.rows(body)
        if table is None or self.is_alternative or not isinstance(body, Select):
            return table
        table = replace(self._with_kinds(table, body), possible=self._possible(table, body))
        return replace(table, marked=tuple(self._marked(table, body)))

    def _marked(self, table: Table, body: Select) -> Iterator[MarkedThings]:
        """Deprecated things; of counted things also those with several records or an exact match."""
        asked, is_counted = aggregated_value(body.answers[0]), isinstance(body.answers[0], Aggregate)
        marks = [mark for mark, iri in MARKS.items() if iri in self.engine.schema.predicate_of]
        if body.group or body.by or body.limit or table.truncated or self.engine.is_remote or not table.rows:
            return
        if not marks or not isinstance(asked, Itself):
            return
        thing = next(each for each in body.variables if each.name == asked.variable)
        for mark in marks:
            if (mark == "deprecated" or is_counted) and MARKS[mark] not in selects.predicates_of(body):
                select = replace(_with_mark(body, thing, mark), order=None)
                found = self.run(self.engine.write_contributing(select, thing.name))
                if found and found[0]:
                    yield MarkedThings(mark, tuple(str(row[1]) for row in found[0]))

    def _possible(self, table: Table, body: Select) -> tuple[str, ...]:
        """The names of the things that may fit a select beside those that surely do, as their dates are not exact."""
        schema, variable = self.engine.schema, selects.answer_variable(body)
        if not schema.periods or body.group or body.by or table.truncated:
            return ()
        sure = replace(body, order=None, limit=None, offset=0)
        loose = selects.compare_periods(sure, schema, possible=True)
        own: set[Cell] = set()
        if body.order is not None and body.limit is not None and isinstance(body.order.by, Attribute):
            # what may be before the last of the rows
            is_late, by = body.order.descending, body.order.by
            ends = replace(by, part="low" if is_late else "high"), replace(by, part="high" if is_late else "low")
            found = (
                self.run(self.engine.write(replace(body, answers=(ends[0],))))
                if by.predicate in schema.periods
                else None
            )
            days = [row[-1] for row in found[0] if row[-1] is not None] if found else []
            if not days or body.offset:
                return ()
            loose = replace(loose, filters=(*loose.filters, Filter(ends[1], ">" if is_late else "<", days[-1])))
            own = {key for keys in table.keys for key in keys}
        elif loose == selects.compare_periods(sure, schema):
            return ()
        else:
            found = self.run(self.engine.write_contributing(sure, variable))
            own = {row[0] for row in found[0]} if found else set()
        found = self.run(self.engine.write_contributing(loose, variable))
        others = [str(row[1]) for row in found[0] if row[0] not in own] if found else []
        return tuple(sorted(others)[:MAX_CONTRIBUTING])

    def _with_kinds(self, table: Table, body: Select | Combine) -> Table:
        """The table with the numbers of things of each kind, if those asked for are of several classes."""
        if not isinstance(body, Select) or not table.rows or table.truncated:
            return table
        variable = _mixed_variable(body)
        if not variable:
            return table
        kinds = self.kinds(body, variable)
        total = int(table.rows[0][0] or 0) if isinstance(body.answers[0], Aggregate) else len(table.rows)
        # things of two of the classes would count twice
        return replace(table, kinds=kinds) if sum(kind.count for kind in kinds) == total else table

    def kinds(self, select: Select, variable: str) -> tuple[KindCount, ...]:
        """How many things of a variable are of each class that it may be of, most first."""
        found = self.run(self.engine.write_kinds(select, variable))
        counts = {str(kind): int(count) for kind, count in found[0] if isinstance(count, int | float)} if found else {}
        classes = (c for c in self.engine.schema.classes if counts.get(c.iri))
        kinds = (KindCount(c.iri, c.label, counts[c.iri]) for c in classes)
        return tuple(sorted(kinds, key=lambda kind: -kind.count))

    def rows(self, body: Select | Combine) -> Table | None:
        """The rows of a select, with the things behind an aggregate; None if its query failed."""
        body = selects.extreme_period(body, self.engine.schema) if isinstance(body, Select) else body
        answers = body.answers if isinstance(body, Select) else ()
        parts = selects.measure_parts(body) if isinstance(body, Select) else ()
        if isinstance(body, Select) and (len(parts) > 2 or (parts and body.zeros and body.group)):
            beside = self._side_by_side(parts[0], parts[1:], body)
            if beside is not None:
                return beside
        aggregate = next((answer for answer in answers if isinstance(answer, Aggregate)), None)
        is_one_row = isinstance(body, Select) and not (body.group or body.by) and body.order is None
        if self.engine.is_remote and isinstance(body, Select) and aggregate and is_one_row:
            return self._remote_aggregate(body, Aggregate("count", Itself(aggregate.of.variable)))
        extended = add_order_column(body)
        statement = self.engine.write(extended)
        found = self.run(statement)
        if found is None:
            return None
        table = build_table(statement, *found)
        if extended is not body:
            table = split_order_column(table, len([o for o in self.engine.write(body).outputs if o.role != "key"]))
        if isinstance(body, Select) and aggregate and not body.group:
            table = self._with_contributing(table, body, aggregate)
        return _in_order_of_names(table, body) if isinstance(body, Select) else table

    def _side_by_side(self, groups: Select, parts: Sequence[Select], body: Select) -> Table | None:
        """The numbers of each group, each computed apart so that no join repeats what it is computed over or leaves out
        a group. None if some cannot be shown so. Things that nothing is computed for have rows with 0 if most have any:
        of the terms of a vocabulary few are used."""
        found: dict[tuple[Any, ...], tuple[tuple[str, ...], dict[PlanTerm, Cell]]] = {}
        shown: dict[PlanTerm, tuple[str, str]] = {}

        def add(table: Table, answers: Sequence[PlanTerm]) -> None:
            for row, keys in zip(table.rows, table.keys, strict=True):
                # groups by a value have the things behind their numbers as keys
                cells = found.setdefault((keys if body.group else (), row[0]), (keys, {}))[1]
                cells.update(zip(answers, row, strict=True))

        for part in parts:
            table = self.rows(part)
            if table is None or table.truncated or len(table.columns) != len(part.answers):
                return None
            add(table, part.answers)
            shown |= dict(zip(part.answers, zip(table.columns, table.units, strict=True), strict=True))
        empty = {a: 0 for a in body.answers if isinstance(a, Aggregate) and a.function in ("count", "sum")}
        # what no row of a database adds up to is 0; what no triple states is unknown, but what is not there is none
        is_database = self.engine.tables is not None and not self.engine.tables.has_triples
        has_zeros = any(a.function == "count" or is_database for a in empty)
        everything = self.rows(groups) if body.zeros and body.group and found and has_zeros else None
        if everything and not everything.truncated and len(everything.rows) <= 2 * len(found):
            add(everything, groups.answers)
        rows = tuple(tuple((empty | cells).get(each) for each in body.answers) for _, cells in found.values())
        columns, units = zip(*(shown[each] for each in body.answers), strict=True)
        return Table(columns, rows, tuple(keys for keys, _ in found.values()), units)

    def _with_contributing(self, table: Table, body: Select, aggregate: Aggregate) -> Table:
        """The row of an aggregate with the first things behind it and their number."""
        found = self.run(self.engine.write_contributing(body, aggregate.of.variable), MAX_CONTRIBUTING)
        if found is None:
            return table
        rows, has_more = found
        keys = tuple(str(row[0]) for row in rows)
        count: int | None = len(keys)
        is_plain_count = not body.by and aggregate.function == "count" and isinstance(aggregate.of, Itself)
        if has_more and is_plain_count and table.rows:
            count = int(table.rows[0][body.answers.index(aggregate)] or 0)
        elif has_more:
            total = self.run(self.engine.write_contributing_count(body, aggregate.of.variable))
            count = int(total[0][0][0] or 0) if total and total[0] else None
        return replace(table, keys=tuple(keys for _ in table.rows), contributing=count)

    def _remote_aggregate(self, body: Select, number: Aggregate) -> Table | None:
        """The row of aggregates with the number of things behind it, from one query."""
        is_own = number in body.answers
        statement = self.engine.write(body if is_own else replace(body, answers=(*body.answers, number)))
        found = self.run(statement)
        if found is None:
            return None
        table = build_table(statement, *found)
        place = body.answers.index(number) if is_own else len(table.columns) - 1
        count = table.rows[0][place] if table.rows else None
        shown = len(table.columns) - (not is_own)
        return replace(
            table,
            columns=table.columns[:shown],
            rows=tuple(row[:shown] for row in table.rows),
            units=table.units[:shown],
            contributing=int(count) if isinstance(count, int | float) else None,
        )

    def is_empty(self, select: Select) -> bool:
        """Whether a select ran and has no rows."""
        found = self.rows(select)
        return found is not None and not found.rows

    def compute(self, body: Compute) -> Table | None:
        """One row: the result of a comparison or calculation, and both numbers; None if either is missing."""
        left, right = self.table(body.left), self.table(body.right)
        if left is None or right is None:
            return None
        if body.op in ELAPSED:
            return elapsed_time(body, left, right, self.engine.today())
        if not left.rows or not right.rows:
            return None
        a, b = left.rows[0][0], right.rows[0][0]
        keys = (left.keys[0] + right.keys[0],) if left.keys and right.keys else ((),)
        unit = left.units[0]
        if body.op not in ARITHMETIC:
            schema = self.engine.schema
            ends = [selects.extreme_period(each, schema) for each in (body.left, body.right)]
            dates = [each.answers[0] for each in ends]
            is_dated = all(isinstance(each, Attribute) and each.predicate in schema.periods for each in dates)
            holds = self._order_of_periods(body.op, *ends) if is_dated else _holds(body.op, a, b)
            if holds is None:
                return None
            return Table(("yes", "left", "right"), ((int(holds), a, b),), keys, ("", unit, unit))
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return None
        if body.op in "/%" and b == 0:
            return None
        ratio = a / b if b else 0.0
        result = {"-": a - b, "+": a + b, "*": a * b, "/": ratio, "%": 100 * ratio}[body.op]
        result_unit = "%" if body.op == "%" else unit
        return Table(("result", "left", "right"), ((result, a, b),), keys, (result_unit, unit, unit))

    def _order_of_periods(self, op: str, left: Select, right: Select) -> bool | None:
        """Whether a date is before or after another one; None if the two are not exact enough to say."""
        days = []
        for select, part in product((left, right), ("low", "high")):
            answer: Any = select.answers[0]
            found = self.run(self.engine.write(replace(select, answers=(replace(answer, part=part),))))
            days.append(found[0][0][-1] if found and found[0] else None)
        if None in days:
            return None
        first, last = _holds(op, days[0], days[3]), _holds(op, days[1], days[2])
        return first if first == last else None


def _holds(op: str, a: Any, b: Any) -> bool | None:
    """Whether a comparison of two numbers, or of two dates, holds; None for other cells."""
    if not any(isinstance(a, kind) and isinstance(b, kind) for kind in (int | float, str)):
        return None
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b, "!=": a != b}[op])


def _mixed_variable(body: Select) -> str:
    """The variable whose things, or their number, are all that is asked for, if they may be of several classes."""
    answer = body.answers[0]
    is_count = isinstance(answer, Aggregate) and answer.function == "count"
    of = answer.of if isinstance(answer, Aggregate) else answer
    if len(body.answers) > 1 or not isinstance(of, Itself) or not (is_count or of is answer):
        return ""
    if body.group or body.by or body.limit or any(isinstance(each.left, Aggregate) for each in body.filters):
        return ""
    own = (v for v in body.variables if v.name == of.variable)
    return next((v.name for v in own if v.any_of and not (v.classes or v.keys)), "")


def _in_order_of_names(table: Table, body: Select) -> Table:
    """The table with names as people sort them, if its rows, or those with the same number, are in their order."""
    order, rows, places = body.order, table.rows, list[int]()
    if (
        body.limit
        or table.truncated
        or not (order is None or (order.by == body.answers[0] and order.by.kind == "itself"))
    ):
        return table
    # without an order, groups are in that of their numbers
    is_by_number = bool(body.group) and order is None and isinstance(body.answers[-1], Aggregate)
    for _, alike in groupby(range(len(rows)), key=lambda i: is_by_number and rows[i][-1]):
        run = list(alike)
        names = [rows[i][0] for i in run]
        if order is not None or (all(isinstance(name, str) for name in names) and names == sorted(names, key=str)):
            run.sort(key=lambda i: name_order(str(rows[i][0])), reverse=order is not None and order.descending)
        places += run
    return replace(table, rows=tuple(rows[i] for i in places), keys=tuple(table.keys[i] for i in places))


def build_table(statement: Statement | SparqlQuery, rows: Sequence[tuple[Cell, ...]], truncated: bool) -> Table:
    """The rows that a statement gave, as a table: what is shown in columns, the keys beside them."""
    shown = [(i, output) for i, output in enumerate(statement.outputs) if output.role != "key"]
    keys = [i for i, output in enumerate(statement.outputs) if output.role == "key"]
    names, units = (tuple(getattr(output, each) for _, output in shown) for each in ("name", "unit"))
    # decimals do not add up to 553.5799999999999
    cells = (
        tuple(float(f"{c:.14g}") if o.role == "number" and isinstance(c := row[i], float) else row[i] for i, o in shown)
        for row in rows
    )
    links = tuple(tuple(dict.fromkeys(str(row[i]) for i in keys)) for row in rows)
    return Table(names, tuple(cells), links, units, truncated=truncated)


def add_order_column(body: Select | Combine) -> Select | Combine:
    """The select with its order as a further answer; the same select if it has that answer or cannot have it."""
    if isinstance(body, Combine) or body.order is None or body.limit is None:
        return body
    by = body.order.by
    grouped = bool(body.group or body.by) or any(isinstance(a, Aggregate) for a in body.answers)
    # follow-ups remember the answer by its keys, so no other thing may come in
    own = {a.variable for a in body.answers if not isinstance(a, Aggregate)}
    fits = isinstance(by, Aggregate) if grouped else isinstance(by, Attribute) and by.variable in own
    return replace(body, answers=(*body.answers, by)) if fits and by not in body.answers else body


def split_order_column(table: Table, shown: int) -> Table:
    """The first `shown` columns, with the column after them as `measured`; a range keeps its raw text.

    >>> found = split_order_column(Table(("name", "height"), (("A", 3),), units=("", "m")), 1)
    >>> found.rows, found.measured, found.measured_unit
    ((('A',),), (3,), 'm')
    """
    further = len(table.columns) - shown
    raw = further > 1 and table.columns[-1].endswith(RAW_TEXT_SUFFIX)
    measured = tuple(
        _cell(row[shown], row[-1] if raw else None, table.units[shown], further == 1 + raw) for row in table.rows
    )
    return replace(
        table,
        columns=table.columns[:shown],
        rows=tuple(row[:shown] for row in table.rows),
        units=table.units[:shown],
        measured=measured if further == 1 or raw else (),
        measured_name=table.columns[shown],
        measured_unit=table.units[shown],
    )


def _cell(value: Cell, raw: Cell, unit: str, single: bool) -> Cell:
    """The value, or its raw text if that says more than the number."""
    plain = raw is None or is_plain_number(str(raw), unit)
    return value if plain and single else raw


_DATE = re.compile(r"(-?\d{4})(?:-(\d\d)-(\d\d))?(?:[T ](\d\d):(\d\d).*)?")
_COLUMNS = ("result", "to", "from")
AGE_COLUMNS = ("result", "today", "from")

MIN_YEARS, MIN_DAYS = 3, 1  # from so many years on a time is given in years, below so many days in hours

UNIT_SECONDS = {"minutes": 60, "hours": 3600, "days": 86400}


def elapsed_time(body: Compute, left: Table, right: Table, today: date) -> Table:
    """One row: the time in the unit that is asked for, the later and the earlier date.

    No row if a date is missing, has several values, cannot be read, or lies after the other. Less than a day is given
    in hours.
    """
    now = body.op == "age" and (body.left == body.right or not left.rows)
    until: Cell = today.isoformat() if now else _only_value(left)
    since = _only_value(right)
    first, last = _parse_date(since), _parse_date(until)
    if first is None or last is None or last[0] < first[0] or (first[1] and last[1] and last[1] < first[1]):
        return Table(_COLUMNS, ())
    keys = (tuple(dict.fromkeys(left.keys[0] + right.keys[0])),) if left.keys and right.keys else ((),)
    timed = _time_of_day_span(body, since, until)
    if timed is not None:
        return Table(_COLUMNS, ((timed[0], until, since),), keys, (timed[1], "", ""))
    if body.op in ("hours", "minutes"):
        return Table(_COLUMNS, ())
    years = last[0] - first[0]
    if first[1] is not None and last[1] is not None:
        years -= (last[1].month, last[1].day) < (first[1].month, first[1].day)
    if body.op == "days" and years == 0 and (first[1] is None or last[1] is None):
        return Table(_COLUMNS, ())
    if body.op != "days" or first[1] is None or last[1] is None or years >= MIN_YEARS:
        columns = AGE_COLUMNS if now else _COLUMNS
        return Table(columns, ((years, until, since),), keys, ("years", "", ""))
    # the days of an event without hours are all its days
    is_event = body.left.variables == body.right.variables
    whole = is_event and len(str(since)) == len(str(until)) == len("2000-01-01")
    days = (last[1] - first[1]).days + whole
    return Table(_COLUMNS, ((days, until, since),), keys, ("days", "", ""))


def is_life_span(body: Compute, schema: Schema) -> bool:
    """Whether the years begin with a birth or foundation, and so are an age."""
    began = body.right.answers[0]
    if not isinstance(began, Attribute):
        return True
    words = split_name(schema.predicate_of[began.predicate].label).casefold().split()
    return not WORDS["life_start"].isdisjoint(words)


def _time_of_day_span(body: Compute, since: Cell, until: Cell) -> tuple[int | float, str] | None:
    """The time and its unit if both ends have a time of day and hours or minutes matter; else None."""
    ends = [_moment(each) for each in (since, until)]
    if body.op not in UNIT_SECONDS or ends[0] is None or ends[1] is None or ends[1] < ends[0]:
        return None
    seconds = (ends[1] - ends[0]).total_seconds()
    unit = "hours" if body.op == "days" and seconds < MIN_DAYS * UNIT_SECONDS["days"] else body.op
    if unit == "days":
        return None
    taken = round(seconds / UNIT_SECONDS[unit], 2)
    return int(taken) if taken.is_integer() else taken, unit


def _moment(cell: Cell) -> datetime | None:
    """A date with a time of day, without its zone; None for other dates."""
    found = _DATE.fullmatch(str(cell))
    if found is None or found[4] is None:
        return None
    try:
        return datetime.fromisoformat(found[0]).replace(tzinfo=None)
    except ValueError:
        return None


def _only_value(table: Table) -> Cell:
    """The only value of a table; None if it has several."""
    values = {row[0] for row in table.rows}
    return values.pop() if len(values) == 1 else None


def _parse_date(cell: Cell) -> tuple[int, date | None] | None:
    """The year, and the day if it is stated; None if the cell is no date."""
    found = _DATE.fullmatch(str(cell).removesuffix(".0"))
    if found is None:
        return None
    year, month, day = found[1], found[2], found[3]
    try:
        return int(year), date(int(year), int(month), int(day)) if month else None
    except ValueError:
        return None
