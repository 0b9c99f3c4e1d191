"""Turn a plan's selects into SQL for one graph's tables: Select + Schema -> Statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nacre.errors import ToolError
from nacre.plans.sql.aggregates import aggregate_expression, mark_first_rows
from nacre.plans.sql.columns import (
    answer_columns,
    column_names,
    iri_of,
    label_of,
    number_columns,
    value_position,
)
from nacre.plans.sql.joins import JoinBuilder
from nacre.plans.sql.ranking import order_rows
from nacre.plans.sql.sql_text import SqlText, join_sql
from nacre.plans.statement import OutputColumn, Statement, aggregate_output
from nacre.records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select
from nacre.records.schema import Schema


def to_sql(body: Select | Combine, schema: Schema) -> Statement:
    """The statement for a select, or for two selects combined as sets of things.

    Raises ToolError `type` for a plan whose aggregates cannot be computed.
    """
    if isinstance(body, Combine):
        return _combine(body, schema)
    return _SelectWriter(schema).statement(body)


def contributing_statement(select: Select, schema: Schema, variable: str) -> Statement:
    """The distinct things of one variable that meet the conditions, in no order: the things behind an aggregate."""
    rows = _SelectWriter(schema).thing_ids(select, (variable,))
    # CROSS JOIN keeps this order of the loops, so that the first things come at once
    text = f"SELECT entity.iri AS c0, entity.label AS c1 FROM (\n{rows.text}\n) AS things CROSS JOIN entity"
    outputs = OutputColumn("iri", "key", variable), OutputColumn(variable, "label", variable)
    return Statement(f"{text} ON entity.id = things.k0", rows.params, outputs)


def bindings_statement(select: Select, schema: Schema) -> Statement:
    """The distinct combinations of things that fit a select's variables, in no order."""
    names = [variable.name for variable in select.variables]
    rows = _SelectWriter(schema).thing_ids(select, names)
    columns = number_columns([iri_of(f"k{i}") for i in range(len(names))])
    outputs = tuple(OutputColumn("iri", "key", name) for name in names)
    return Statement(f"SELECT {columns} FROM (\n{rows.text}\n)", rows.params, outputs)


def contributing_count_statement(select: Select, schema: Schema, variable: str) -> Statement:
    """The number of things that `contributing_statement` gives."""
    rows = _SelectWriter(schema).thing_ids(select, (variable,))
    outputs = (OutputColumn("count", "number", variable),)
    return Statement(f"SELECT count(*) AS c0 FROM (\n{rows.text}\n)", rows.params, outputs)


def kinds_statement(select: Select, schema: Schema, variable: str) -> Statement:
    """The number of things of one variable that meet the conditions, for each of the classes that it may be of."""
    counts = [(iri, contributing_count_statement(each, schema, variable)) for iri, each in each_kind(select, variable)]
    text = "\nUNION ALL\n".join(f"SELECT ? AS c0, c0 AS c1 FROM (\n{count.text}\n)" for _, count in counts)
    params = tuple(param for iri, count in counts for param in (iri, *count.params))
    return Statement(text, params, (OutputColumn("kind", "value", variable), OutputColumn("count", "number", variable)))


def each_kind(select: Select, variable: str) -> list[tuple[str, Select]]:
    """The select restricted to each class that a variable may be of, with the IRI of the class."""
    own = next(v for v in select.variables if v.name == variable)

    def restricted(iri: str) -> Select:
        kind = replace(own, classes=(iri,), any_of=())
        return replace(select, variables=tuple(kind if v is own else v for v in select.variables))

    return [(iri, restricted(iri)) for iri in own.any_of]


def _combine(body: Combine, schema: Schema) -> Statement:
    left, right = to_sql(body.left, schema), to_sql(body.right, schema)
    operator = {"union": "UNION", "intersection": "INTERSECT", "difference": "EXCEPT"}[body.op]
    params = left.params + right.params
    if not all(isinstance(answer, Attribute) for answer in body.left.answers):
        text = f"SELECT * FROM ({left.text})\n{operator}\nSELECT * FROM ({right.text})"
        return Statement(text, params, left.outputs)
    # different things may have the same value, so values are compared without their things
    shown = [i for i, output in enumerate(left.outputs) if output.role != "key"]
    columns = ", ".join(f"c{i}" for i in shown)
    text = f"SELECT {columns} FROM ({left.text})\n{operator}\nSELECT {columns} FROM ({right.text})"
    return Statement(text, params, tuple(left.outputs[i] for i in shown))


@dataclass(frozen=True)
class _GroupedColumns:
    """Columns of a grouped select: expressions of the inner rows, and of each group an expression or an aggregate."""

    inner: tuple[str, ...]
    results: tuple[str | Aggregate, ...]
    outputs: tuple[OutputColumn, ...]


class _SelectWriter:
    """Writes one select; sub-selects have writers of their own."""

    def __init__(self, schema: Schema, prefix: str = "") -> None:
        self._schema, self._prefix = schema, prefix
        self._joins = JoinBuilder(schema, prefix)

    def thing_ids(self, select: Select, variables: Sequence[str]) -> SqlText:
        """The distinct ids of the things of variables, as k0, k1, ..."""
        self._joins.join_variables(select)
        self._add_filters(select)
        columns = ", ".join(f"{self._joins.key(name)} AS k{i}" for i, name in enumerate(variables))
        return self._joins.distinct_rows(columns, variables)

    def statement(self, select: Select) -> Statement:
        """The statement of a select, with what its columns show."""
        self._joins.join_variables(select)
        is_aggregated = any(isinstance(answer, Aggregate) for answer in select.answers)
        is_aggregated = is_aggregated or any(isinstance(each.left, Aggregate) for each in select.filters)
        if is_aggregated or select.group or select.by:
            return self._grouped(select)
        answers = [answer for answer in select.answers if not isinstance(answer, Aggregate)]
        if select.order is not None and select.limit is not None:
            return self._first_places(select, answers)
        return self._all_rows(select, answers)

    def _all_rows(self, select: Select, answers: Sequence[Attribute | Itself]) -> Statement:
        variables = {answer.variable for answer in answers}
        sole = len(answers) == 1
        shown = [each for answer in answers for each in answer_columns(answer, self._joins, self._schema, sole=sole)]
        outputs = tuple(output for _, output in shown)
        self._add_filters(select)
        columns = number_columns([expression for expression, _ in shown])
        if select.order is None:
            order = ", ".join(f"c{i}" for i, output in enumerate(outputs) if output.role != "key")
            rows = self._joins.distinct_rows(columns, variables)
            return Statement(f"{rows.text}\nORDER BY {order}", rows.params, outputs)
        by = select.order.by
        key = label_of(self._joins.key(by.variable)) if isinstance(by, Itself) else self._term(by)
        self._joins.add_condition(SqlText(f"{key} IS NOT NULL"))
        # joins may repeat a row, and places are counted over distinct rows
        rows = self._joins.distinct_rows(f"{columns}, {key} AS o", variables)
        ordered = order_rows(rows, column_names(len(shown)), select, len(shown))
        return Statement(ordered.text, ordered.params, outputs)

    def _first_places(self, select: Select, answers: Sequence[Attribute | Itself]) -> Statement:
        """The first rows by the order; only their labels are looked up."""
        assert select.order is not None
        inner: list[str] = []
        shown: list[str] = []
        outputs: list[OutputColumn] = []
        for number, answer in enumerate(answers):
            inner.append(f"{self._joins.key(answer.variable)} AS k{number}")
            iri = iri_of(f"k{number}")
            if isinstance(answer, Itself):
                shown += [iri, label_of(f"k{number}")]
                outputs += [
                    OutputColumn("iri", "key", answer.variable),
                    OutputColumn(answer.variable, "label", answer.variable),
                ]
                continue
            for expression, output in answer_columns(answer, self._joins, self._schema, sole=len(answers) == 1):
                if output.role != "key":
                    inner.append(f"{expression} AS v{len(shown)}")
                shown.append(iri if output.role == "key" else f"v{len(shown)}")
                outputs.append(output)
        self._add_filters(select)
        by = self._term(select.order.by)
        self._joins.add_condition(SqlText(f"{by} IS NOT NULL"))
        variables = {answer.variable for answer in answers}
        rows = self._joins.distinct_rows(f"{', '.join(inner)}, {by} AS o", variables)
        ordered = order_rows(rows, number_columns(shown), select, len(shown))
        return Statement(ordered.text, ordered.params, tuple(outputs))

    def _grouped(self, select: Select) -> Statement:
        """One row for each group, or one row in all. Distinct things are collected first, as joins may repeat them."""
        order_by = select.order.by if select.order else None
        having = [each for each in select.filters if isinstance(each.left, Aggregate)]
        terms = _aggregates(select)
        keys = [self._joins.key(name) for name in select.group] + [self._joins.value(each) for each in select.by]
        for each in select.by:
            self._joins.add_condition(SqlText(f"{self._joins.value(each)} IS NOT NULL"))
        columns = self._grouped_columns(select, keys)
        inner = [*(f"{key} AS g{i}" for i, key in enumerate(keys)), *columns.inner, *self._aggregate_inputs(terms)]
        if order_by is not None and not isinstance(order_by, Aggregate):
            inner.append(f"{self._term(order_by)} AS p")
        self._add_filters(select)
        variables = {term.of.variable for term in terms}
        rows = self._joins.distinct_rows(", ".join(inner), {*select.group, *variables})
        several = len(variables) > 1
        if several:
            rows = mark_first_rows(rows, terms, len(keys))
        functions = {
            term: aggregate_expression(
                term, i, is_unique=not several and self._joins.is_unique({term.of.variable}), several=several
            )
            for i, term in enumerate(terms)
        }
        results = [functions[each] if isinstance(each, Aggregate) else each for each in columns.results]
        ordering = f", {functions[order_by] if isinstance(order_by, Aggregate) else 'p'} AS o" if order_by else ""
        grouped = SqlText(f"SELECT {number_columns(results)}{ordering} FROM (\n{rows.text}\n)", rows.params)
        if keys:
            grouped = SqlText(f"{grouped.text}\nGROUP BY {', '.join(f'g{i}' for i in range(len(keys)))}", rows.params)
        if having:
            condition = join_sql(" AND ", [_having(each, functions) for each in having])
            grouped = SqlText(f"{grouped.text}\nHAVING {condition.text}", grouped.params + condition.params)
        if ordering:
            grouped = order_rows(grouped, column_names(len(results)), select, len(results))
        return Statement(grouped.text, grouped.params, columns.outputs)

    def _grouped_columns(self, select: Select, keys: Sequence[str]) -> _GroupedColumns:
        """The groups and the answers; `keys` are the expressions of what is grouped by, as g0, g1, ..."""
        inner: list[str] = []
        results: list[str | Aggregate] = [iri_of(f"g{i}") for i in range(len(select.group))]
        outputs = [OutputColumn("iri", "key", name) for name in select.group]
        for answer in select.answers:
            if isinstance(answer, Aggregate):
                results.append(answer)
                outputs.append(aggregate_output(answer, self._schema))
                continue
            if isinstance(answer, Itself) and answer.variable in select.group:
                # the label is looked up once for each group
                results.append(label_of(f"g{select.group.index(answer.variable)}"))
                outputs.append(OutputColumn(answer.variable, "label", answer.variable))
                continue
            for expression, output in answer_columns(answer, self._joins, self._schema, sole=False):
                if output.role == "key":
                    continue
                if expression in keys:
                    results.append(f"g{keys.index(expression)}")
                else:
                    inner.append(f"{expression} AS s{len(results)}")
                    results.append(f"s{len(results)}")
                outputs.append(output)
        return _GroupedColumns(tuple(inner), tuple(results), tuple(outputs))

    def _aggregate_inputs(self, terms: Sequence[Aggregate]) -> list[str]:
        """The things and values that are aggregated, as k0, x0, k1, ..."""
        found: list[str] = []
        for i, term in enumerate(terms):
            found.append(f"{self._joins.key(term.of.variable)} AS k{i}")
            if isinstance(term.of, Attribute):
                found.append(f"{self._joins.value(term.of)} AS x{i}")
        return found

    def _add_filters(self, select: Select) -> None:
        conditions = [self._condition(each) for each in select.filters if not isinstance(each.left, Aggregate)]
        for condition in conditions:
            self._joins.add_condition(condition)

    def _condition(self, condition: Filter) -> SqlText:
        left = self._term(condition.left)
        found = self._comparison(condition, left)
        return SqlText(f"NOT ({found.text})", found.params) if condition.negated else found

    def _comparison(self, condition: Filter, left: str) -> SqlText:
        right, op = condition.right, condition.op
        if op in ("known", "unknown"):
            return SqlText(f"{left} IS {'NOT ' if op == 'known' else ''}NULL")
        if isinstance(right, Select):
            inner = self._sub_select(right)
            return SqlText(f"{left} {'IN' if op in ('in', '=') else op} ({inner.text})", inner.params)
        if isinstance(right, Attribute):
            return SqlText(f"{left} {op} {self._joins.value(right)}")
        if op == "contains":
            return SqlText(f"instr(lower({left}), lower(?)) > 0", (str(right),))
        if op in ("starts", "ends"):
            text = str(right)
            part = f"substr({left}, 1, ?)" if op == "starts" else f"substr({left}, ?)"
            return SqlText(f"lower({part}) = lower(?)", (len(text) if op == "starts" else -len(text), text))
        values = right if isinstance(right, tuple) else (right,)
        params = tuple(int(value) if isinstance(value, bool) else value for value in values)
        collate = " COLLATE NOCASE" if isinstance(values[0], str) else ""
        if op in ("in", "=") and len(values) > 1:
            return SqlText(f"{left}{collate} IN ({', '.join('?' * len(values))})", params)
        return SqlText(f"{left} {'=' if op == 'in' else op} ?{collate}", params)

    def _sub_select(self, select: Select) -> SqlText:
        """The ids of the only answer of a sub-select, for IN; or its only value, for a comparison."""
        inner = _SelectWriter(self._schema, self._prefix + "_").statement(select)
        if isinstance(select.answers[0], Itself):
            text = f"SELECT id FROM entity WHERE iri IN (SELECT c0 FROM (\n{inner.text}\n))"
            return SqlText(text, inner.params)
        return SqlText(f"SELECT c{value_position(inner.outputs)} FROM (\n{inner.text}\n)", inner.params)

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self._joins.key(term.variable) if isinstance(term, Itself) else self._joins.value(term)


def _aggregates(select: Select) -> list[Aggregate]:
    """All aggregates of a select, each once: of its answers, its order and its conditions."""
    terms = (*select.answers, select.order.by if select.order else None, *(each.left for each in select.filters))
    return list(dict.fromkeys(term for term in terms if isinstance(term, Aggregate)))


def _having(condition: Filter, functions: Mapping[Aggregate, str]) -> SqlText:
    assert isinstance(condition.left, Aggregate)
    if not isinstance(condition.right, (int, float)):
        raise ToolError("type", "A count can only be compared with a number.")
    return SqlText(f"{functions[condition.left]} {condition.op} ?", (condition.right,))
