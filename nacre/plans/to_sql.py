"""Turn a plan's selects into SQL for one graph's tables: Select + Schema -> Statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nacre.errors import ToolError
from nacre.plans.selects import compare_periods, measure_parts
from nacre.plans.sql_joins import (
    RAW_TEXT_SUFFIX,
    JoinBuilder,
    OutputColumn,
    SqlText,
    Statement,
    aggregate_output,
    compared_number,
    first_value_index,
)
from nacre.records.evidence import Table
from nacre.records.plan import (
    AGGREGATES,
    DATE_PARTS,
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Filter,
    Itself,
    Order,
    Plan,
    Select,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.stores.sqlite.tables import Tables, quote_identifier
from nacre.stores.sqlite.triples import Triple, TripleReader


def to_sql(body: Select | Combine, schema: Schema) -> Statement:
    """The statement for a select, or two combined as sets; ToolError `type` if aggregates cannot be computed."""
    return _combine(body, schema) if isinstance(body, Combine) else _SelectWriter(schema).statement(body)


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


def means_statement(select: Select, variable: str, values: Sequence[Attribute], schema: Schema) -> Statement:
    """One row with the mean of each value of a variable's things, how many of these have it, and the lowest and highest
    value. Several values must be columns of the table of the things."""
    rows = _SelectWriter(schema).thing_ids(select, (variable,), values)
    known = "count(DISTINCT CASE WHEN x{0} IS NOT NULL THEN k0 END)"
    numbers = {"mean": "avg(x{0})", "count": known, "lowest": "min(x{0})", "highest": "max(x{0})"}
    columns = number_columns([each.format(i) for i in range(len(values)) for each in numbers.values()])
    outputs = tuple(OutputColumn(name, "number", variable) for name in numbers) * len(values)
    return Statement(f"SELECT {columns} FROM (\n{rows.text}\n)", rows.params, outputs)


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

    def thing_ids(self, select: Select, variables: Sequence[str], values: Sequence[Attribute] = ()) -> SqlText:
        """The distinct ids of the things of variables, as k0, k1, ..., with values of theirs, as x0, x1, ..."""
        select = compare_periods(select, self._schema)
        self._joins.join_variables(select)
        self._add_filters(select)
        columns = [f"{self._joins.key(name)} AS k{i}" for i, name in enumerate(variables)]
        columns += (f"{self._joins.value(each)} AS x{i}" for i, each in enumerate(values))
        return self._joins.distinct_rows(", ".join(columns), variables)

    def statement(self, select: Select) -> Statement:
        select = compare_periods(select, self._schema)
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
            if (place := self._list_place(select)) is not None:
                text = f"SELECT {column_names(len(shown))} FROM (\n{rows.text}\n)\nORDER BY {place.text}, {order}"
                return Statement(text, rows.params + place.params, outputs)
            return Statement(f"{rows.text}\nORDER BY {order}", rows.params, outputs)
        by = select.order.by
        key = label_of(self._joins.key(by.variable)) if isinstance(by, Itself) else self._term(by)
        self._joins.add_condition(SqlText(f"{key} IS NOT NULL"))
        # joins may repeat a row, and places are counted over distinct rows
        rows = self._joins.distinct_rows(f"{columns}, {key} AS o", variables)
        ordered = order_rows(rows, column_names(len(shown)), select, len(shown))
        return Statement(ordered.text, ordered.params, outputs)

    def _list_place(self, select: Select) -> SqlText | None:
        """The row of each thing in a junction that has the order of the only list asked for."""
        if len(select.edges) != 1 or len(select.variables) != 2 or select.answers != (Itself(select.edges[0].object),):
            return None
        edge = select.edges[0]
        owner = next(each for each in select.variables if each.name == edge.subject)
        predicate, junction = self._schema.predicate_of[edge.predicate], self._schema.junctions.get(edge.predicate)
        if not (predicate.ordered and junction and len(owner.keys) == 1):
            return None
        columns = self._schema.relation_of[junction]
        id_of = "(SELECT id FROM entity WHERE iri = {})"
        key, link = quote_identifier(columns.key), quote_identifier(columns.columns[0].link)
        where = f"{key} = {id_of.format('?')} AND {link} = {id_of.format('c0')}"
        return SqlText(f"(SELECT min(rowid) FROM {quote_identifier(junction)} WHERE {where})", owner.keys)

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
        parts = (*select.answers, order_by, *(each.left for each in select.filters))
        terms = list(dict.fromkeys(each for each in parts if isinstance(each, Aggregate)))
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
        rows = mark_middle_rows(rows, terms, len(keys), several=several)
        unique = {each for each in variables if not several and self._joins.is_unique({each})}
        functions = {
            term: aggregate_expression(term, i, is_unique=term.of.variable in unique, several=several)
            for i, term in enumerate(terms)
        }
        results = [functions[each] if isinstance(each, Aggregate) else each for each in columns.results]
        ordering = f", {functions[order_by] if isinstance(order_by, Aggregate) else 'p'} AS o" if order_by else ""
        grouped = SqlText(f"SELECT {number_columns(results)}{ordering} FROM (\n{rows.text}\n)", rows.params)
        if keys:
            grouped = SqlText(f"{grouped.text}\nGROUP BY {', '.join(f'g{i}' for i in range(len(keys)))}", rows.params)
        if having:
            conditions = [f"{functions[each.left]} {each.op} ?" for each in having if isinstance(each.left, Aggregate)]
            numbers = tuple(map(compared_number, having))
            grouped = SqlText(f"{grouped.text}\nHAVING {' AND '.join(conditions)}", grouped.params + numbers)
        if ordering:
            grouped = order_rows(grouped, column_names(len(results)), select, len(results))
        elif select.group and terms and isinstance(select.answers[-1], Aggregate):
            # things by their numbers, which are in no order else
            number = columns.results.index(select.answers[-1])
            grouped = SqlText(f"{grouped.text}\nORDER BY c{number} DESC, {column_names(len(results))}", grouped.params)
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
        return SqlText(f"SELECT c{first_value_index(inner.outputs)} FROM (\n{inner.text}\n)", inner.params)

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self._joins.key(term.variable) if isinstance(term, Itself) else self._joins.value(term)


# an SQL expression and what it shows
ShownColumn = tuple[str, OutputColumn]


def answer_columns(term: Attribute | Itself, joins: JoinBuilder, schema: Schema, *, sole: bool) -> list[ShownColumn]:
    """The columns that show an answer, the IRI of its thing first; the `sole` answer has a value in every row."""
    if isinstance(term, Itself):
        alias = joins.label_alias(term.variable)
        return [
            (f"{alias}.iri", OutputColumn("iri", "key", term.variable)),
            (f"{alias}.label", OutputColumn(term.variable, "label", term.variable)),
        ]
    predicate = schema.predicate_of[term.predicate]
    alias, column = joins.literal_column(term.variable, term.predicate)
    name, unit = predicate.label, predicate.unit
    found = [(iri_of(joins.key(term.variable)), OutputColumn("iri", "key", term.variable))]
    if term.part == "" and column.low and column.high and predicate.shape in ("range", "pair"):
        low, high = (f"{alias}.{quote_identifier(end)}" for end in (column.low, column.high))
        found.append((low, OutputColumn(f"{name} (low)", "low", term.variable, unit)))
        found.append((high, OutputColumn(f"{name} (high)", "high", term.variable, unit)))
    else:
        found.append((joins.value(term), OutputColumn(name, "value", term.variable, unit)))
    if column.text and column.text != column.value and term.part not in DATE_PARTS:
        text = f"{alias}.{quote_identifier(column.text)}"
        found.append((text, OutputColumn(name + RAW_TEXT_SUFFIX, "text", term.variable)))
    if sole:
        joins.add_condition(SqlText(f"{alias}.{quote_identifier(column.text or column.value)} IS NOT NULL"))
    return found


def number_columns(expressions: Sequence[str]) -> str:
    """The expressions under the names c0, c1, ..."""
    return ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))


def column_names(count: int) -> str:
    """The names c0, c1, ... of so many columns."""
    return ", ".join(f"c{i}" for i in range(count))


def iri_of(key: str) -> str:
    """The IRI of the thing with an id."""
    return f"(SELECT iri FROM entity WHERE id = {key})"


def label_of(key: str) -> str:
    """The label of the thing with an id."""
    return f"(SELECT label FROM entity WHERE id = {key})"


def aggregate_expression(term: Aggregate, index: int, *, is_unique: bool, several: bool) -> str:
    """The SQL of an aggregate over the columns k (thing) and x (value) with its index.

    The rows are unique if each has a thing of its own. With aggregates over `several` variables, a thing's value
    counts only in the row that `mark_first_rows` marks.
    """
    if isinstance(term.of, Itself):
        return "count(*)" if is_unique else f"count(DISTINCT k{index})"
    if term.function == "count":
        return f"count(DISTINCT x{index})"
    function = AGGREGATES[term.function]
    marks = [f"{mark}{index} = 1" for mark, counts in (("n", several), ("m", function.middle)) if counts]
    return f"{function.sql}(x{index})" + (f" FILTER (WHERE {' AND '.join(marks)})" if marks else "")


def mark_first_rows(rows: SqlText, terms: Sequence[Aggregate], keys: int) -> SqlText:
    """The rows with a column n for each term: 1 where a thing and its value come first in their group."""
    groups = [f"g{i}" for i in range(keys)]
    marks = [
        f"row_number() OVER (PARTITION BY {', '.join((*groups, f'k{i}', f'x{i}'))}) AS n{i}"
        for i, term in enumerate(terms)
        if isinstance(term.of, Attribute)
    ]
    return SqlText(f"SELECT {', '.join(('*', *marks))} FROM (\n{rows.text}\n)", rows.params)


def mark_middle_rows(rows: SqlText, terms: Sequence[Aggregate], keys: int, *, several: bool) -> SqlText:
    """The rows with a column m for each median: 1 for the values in the middle of their group, one or two."""
    marks = []
    for i, term in enumerate(terms):
        if AGGREGATES[term.function].middle:
            counts = f"CASE WHEN x{i} IS NOT NULL{f' AND n{i} = 1' if several else ''} THEN 1 ELSE 0 END"
            group = ", ".join((*(f"g{key}" for key in range(keys)), counts))
            place = f"2 * row_number() OVER (PARTITION BY {group} ORDER BY x{i}) - count(*) OVER (PARTITION BY {group})"
            marks.append(f"CASE WHEN {counts} = 1 AND {place} BETWEEN 0 AND 2 THEN 1 END AS m{i}")
    return SqlText(f"SELECT {', '.join(('*', *marks))} FROM (\n{rows.text}\n)", rows.params) if marks else rows


def order_rows(rows: SqlText, columns: str, select: Select, count: int) -> SqlText:
    """The rows in the order of their column `o`, only the wanted places, as `count` columns. Ties share a place."""
    assert select.order is not None
    direction = " DESC" if select.order.descending else ""
    if select.limit is None:
        text = f"SELECT {columns} FROM (\n{rows.text}\n)\nORDER BY o{direction}, {column_names(count)}"
        return SqlText(text, rows.params)
    first, last = select.offset, select.offset + select.limit
    text = (
        f"WITH every AS (\n{rows.text}\n)\nSELECT {columns} FROM (\n{_ranked(select.order, first, last)}\n)\n"
        f"WHERE place > {first} AND place <= {last}\nORDER BY place, {column_names(count)}"
    )
    return SqlText(text, rows.params)


def _ranked(order: Order, first: int, last: int) -> str:
    """The rows that may have a wanted place, with their place.

    A wanted row is at least as good as the row in the last place, so only such rows are ranked. There is a second best
    even if two share the first place: after the first place, different values are counted.
    """
    direction = " DESC" if order.descending else ""
    distinct, rank = ("DISTINCT ", "dense_rank") if first else ("", "rank")
    best = f"SELECT {distinct}o FROM every ORDER BY o{direction} LIMIT {last}"
    worst = f"SELECT min(o) FROM ({best})" if order.descending else f"SELECT max(o) FROM ({best})"
    within = f"o {'>=' if order.descending else '<='} ({worst})"
    return f"SELECT *, {rank}() OVER (ORDER BY o{direction}) AS place FROM every WHERE {within}"


MAX_PROVENANCE_THINGS = 50
MAX_PROVENANCE_TRIPLES = 200


def trace_provenance(plan: Plan, table: Table, tables: Tables) -> list[Triple]:
    """The triples behind at most 50 rows, or behind 50 things that a row was computed from.

    For each thing: the links and values that the plan shows or compares, its class, and its name. Empty for two selects
    combined as sets, whose rows only the whole query explains.
    """
    triples = TripleReader(tables)
    body = plan.body
    listed = dict.fromkeys(key for row in table.keys[:MAX_PROVENANCE_THINGS] for key in row)
    keys = tuple(listed)[: 4 * MAX_PROVENANCE_THINGS]
    found: Iterator[Triple] = iter(())
    if isinstance(body, Select):
        tracer = _Tracer(tables, triples, table)
        found = (triple for part in measure_parts(body)[1:] or (body,) for triple in tracer.behind(part, keys))
    elif isinstance(body, Ask) and table.rows and table.rows[0][0]:
        found = _Tracer(tables, triples, table).behind(body.select, keys)
    elif isinstance(body, Compute):
        tracer = _Tracer(tables, triples, table)
        found = (triple for side in (body.left, body.right) for triple in tracer.behind(side, ()))
    unique: dict[Triple, None] = {}
    for triple in found:
        unique[triple] = None
        if len(unique) == MAX_PROVENANCE_TRIPLES:
            break
    return list(unique)


class _Tracer:
    """Finds the things that a select binds together, and their triples."""

    def __init__(self, tables: Tables, triples: TripleReader, table: Table) -> None:
        self.tables, self.triples = tables, triples
        self.shown = {str(cell) for row in table.rows for cell in row}

    def behind(self, select: Select, keys: tuple[str, ...]) -> Iterator[Triple]:
        narrowed = narrow_select(select, keys)
        answer = aggregated_value(narrowed.answers[0]).variable
        wanted = [aggregated_value(answer) for answer in narrowed.answers]
        named = {variable.name for variable in select.variables if variable.keys}
        bindings = list(self._bindings(narrowed, bool(keys)))
        self.triples.prepare(key for bound in bindings for key in bound.values())
        for bound in bindings:
            for edge in narrowed.edges:
                yield bound[edge.subject], edge.predicate, bound[edge.object]
            for attribute in wanted:
                if isinstance(attribute, Attribute):
                    yield from self._values(bound[attribute.variable], attribute.predicate)
            yield from self._conditions(select, bound)
            yield from self._itself(bound[answer], narrowed, answer)
            for variable, key in bound.items():
                name = self.triples.name_triple(key) if variable != answer else None
                if name and (variable in named or name[2] in self.shown):
                    yield name

    def _bindings(self, select: Select, named: bool) -> Iterator[dict[str, str]]:
        """The IRIs of variables, for at most 50 combinations; only `named` ones are few enough to sort by label."""
        wanted = replace(select, answers=tuple(Itself(variable.name) for variable in select.variables))
        statement = (to_sql if named else bindings_statement)(wanted, self.tables.schema)
        keys = [(i, o.variable) for i, o in enumerate(statement.outputs) if o.role == "key"]
        for row in self.tables.run(statement.text, statement.params, limit=MAX_PROVENANCE_THINGS).rows:
            yield {variable: str(row[i]) for i, variable in keys}

    def _values(self, subject: str, predicate: str) -> list[Triple]:
        found = self.triples.with_subject(subject, predicate)
        return [triple for triple in found if triple[2] in self.shown] or found

    def _conditions(self, select: Select, bound: dict[str, str]) -> Iterator[Triple]:
        terms: list[object] = [select.order.by if select.order else None]
        for condition in select.filters:
            if condition.op == "unknown" or condition.negated:
                continue
            terms += [condition.left, condition.right]
            if isinstance(condition.right, Select):
                yield from self._inner(condition, condition.right, bound)
        for term in terms:
            attribute = aggregated_value(term) if isinstance(term, Attribute | Aggregate) else None
            if isinstance(attribute, Attribute) and attribute.variable in bound:
                yield from self.triples.with_subject(bound[attribute.variable], attribute.predicate)

    def _inner(self, condition: Filter, select: Select, bound: dict[str, str]) -> Iterator[Triple]:
        """The triples behind a sub-select: only of the bound thing, if the condition is that it is among them."""
        keys = (bound[condition.left.variable],) if isinstance(condition.left, Itself) else ()
        yield from self.behind(select, keys)

    def _itself(self, key: str, select: Select, variable: str) -> Iterator[Triple]:
        classes = next(v.classes or v.any_of for v in select.variables if v.name == variable)
        members = self.tables.schema.class_of
        for iri in sorted(classes, key=lambda c: members[c].count if c in members else 0):
            if typed := self.triples.type_triple(key, iri):
                # the smallest class is enough
                yield typed
                break
        name = self.triples.name_triple(key)
        if name:
            yield name


def narrow_select(select: Select, keys: tuple[str, ...]) -> Select:
    """The select without order, groups and conditions on groups, restricted to the things of its result."""
    filters = tuple(f for f in select.filters if not isinstance(f.left, Aggregate))
    grouped = select.group[0] if select.group else None
    subject = grouped or aggregated_value(select.answers[0]).variable
    variables = tuple(
        replace(v, keys=tuple(k for k in keys if not v.keys or k in v.keys) or keys)
        if keys and v.name == subject
        else v
        for v in select.variables
    )
    return Select(select.answers, variables, select.edges, filters, order=None)
