"""Turn a plan's selects into SQL for one graph's tables: Select + Schema -> Statement."""

from nacre.errors import ToolError
from nacre.plans.sql.aggregates import aggregate_expression, mark_first_rows
from nacre.plans.sql.joins import SelectRows, quote_identifier
from nacre.plans.statement import OutputColumn, Statement
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select
from nacre.records.schema import Schema

# how a column with the raw text beside a parsed number is called
RAW_TEXT_SUFFIX = " (text)"


def to_sql(body: Select | Combine, schema: Schema) -> Statement:
    """The statement for a select, or for two selects combined as sets of things."""
    if isinstance(body, Combine):
        left, right = to_sql(body.left, schema), to_sql(body.right, schema)
        word = {"union": "UNION", "intersection": "INTERSECT", "difference": "EXCEPT"}[body.op]
        if not all(isinstance(answer, Attribute) for answer in body.left.answers):
            text = f"SELECT * FROM ({left.text})\n{word}\nSELECT * FROM ({right.text})"
            return Statement(text, left.params + right.params, left.outputs)
        # values of different things may be the same, so only they are compared
        shown = [i for i, output in enumerate(left.outputs) if output.role != "key"]
        columns = ", ".join(f"c{i}" for i in shown)
        text = f"SELECT {columns} FROM ({left.text})\n{word}\nSELECT {columns} FROM ({right.text})"
        return Statement(text, left.params + right.params, tuple(left.outputs[i] for i in shown))
    return _Writer(schema).statement(body)


def contributing_statement(select: Select, schema: Schema, variable: str) -> Statement:
    """The distinct things of one variable over the same conditions, in no order: what an aggregate rests on."""
    rows, params = _Writer(schema).things(select, variable)
    # in this order, so that the first of them come at once
    text = f"SELECT entity.iri AS c0, entity.label AS c1 FROM (\n{rows}\n) AS things CROSS JOIN entity"
    outputs = OutputColumn("iri", "key", variable), OutputColumn(variable, "label", variable)
    return Statement(f"{text} ON entity.id = things.k0", params, outputs)


def bindings_statement(select: Select, schema: Schema) -> Statement:
    """The distinct combinations of things that fit a select's variables, in no order."""
    names = [variable.name for variable in select.variables]
    rows, params = _Writer(schema).things(select, *names)
    columns = [_iri(f"k{i}") for i in range(len(names))]
    return Statement(
        f"SELECT {_numbered(columns)} FROM (\n{rows}\n)", params, tuple(OutputColumn("iri", "key", n) for n in names)
    )


def contributing_count_statement(select: Select, schema: Schema, variable: str) -> Statement:
    """How many things `contributing_statement` would give."""
    rows, params = _Writer(schema).things(select, variable)
    return Statement(f"SELECT count(*) AS c0 FROM (\n{rows}\n)", params, (OutputColumn("count", "number", variable),))


class _Writer:
    """Writes one select; sub-selects have writers of their own."""

    def __init__(self, schema: Schema, prefix: str = "") -> None:
        self._schema, self._prefix = schema, prefix
        self._rows = SelectRows(schema, prefix)

    def things(self, select: Select, *variables: str) -> tuple[str, tuple[Cell, ...]]:
        """The distinct ids of the things of variables, as k0 and so on, and the parameters."""
        self._rows.join(select)
        self._rows.where += [self._condition(f) for f in select.filters if not isinstance(f.left, Aggregate)]
        columns = ", ".join(f"{self._rows.key(name)} AS k{i}" for i, name in enumerate(variables))
        return self._rows.distinct(columns, variables)

    def statement(self, select: Select) -> Statement:
        self._rows.join(select)
        aggregated = [a for a in select.answers if isinstance(a, Aggregate)] or (
            [f.left for f in select.filters if isinstance(f.left, Aggregate)]
        )
        if aggregated or select.group or select.by:
            return self._grouped(select)
        answers = [a for a in select.answers if not isinstance(a, Aggregate)]
        of = {a.variable for a in answers}
        if select.order is not None and select.limit is not None:
            return self._first(select, answers)
        shown = [each for answer in answers for each in self._shown(answer, sole=len(answers) == 1)]
        parts, outputs = [expression for expression, _ in shown], [output for _, output in shown]
        self._rows.where += [self._condition(f) for f in select.filters]
        columns = _numbered(parts)
        if select.order is None:
            order = ", ".join(f"c{i}" for i, o in enumerate(outputs) if o.role != "key")
            inner, params = self._rows.distinct(columns, of)
            return Statement(f"{inner}\nORDER BY {order}", params, tuple(outputs))
        by = self._ordered_by(select.order.by)
        self._rows.where.append(f"{by} IS NOT NULL")
        # joins may repeat a row, and places are counted over distinct ones
        inner, params = self._rows.distinct(f"{columns}, {by} AS o", of)
        return Statement(_placed(inner, _names(len(parts)), select, len(parts)), params, tuple(outputs))

    def _first(self, select: Select, answers: list[Attribute | Itself]) -> Statement:
        """The first by the order; names are looked up for them alone."""
        assert select.order is not None
        inner: list[str] = []
        shown: list[str] = []
        outputs: list[OutputColumn] = []
        for number, answer in enumerate(answers):
            inner.append(f"{self._rows.key(answer.variable)} AS k{number}")
            iri = _iri(f"k{number}")
            if isinstance(answer, Itself):
                shown += [iri, _label(f"k{number}")]
                outputs += [
                    OutputColumn("iri", "key", answer.variable),
                    OutputColumn(answer.variable, "label", answer.variable),
                ]
                continue
            for expression, output in self._shown(answer, sole=len(answers) == 1):
                if output.role != "key":
                    inner.append(f"{expression} AS v{len(shown)}")
                shown.append(iri if output.role == "key" else f"v{len(shown)}")
                outputs.append(output)
        self._rows.where += [self._condition(f) for f in select.filters]
        by = self._term(select.order.by)
        self._rows.where.append(f"{by} IS NOT NULL")
        rows, params = self._rows.distinct(f"{', '.join(inner)}, {by} AS o", {a.variable for a in answers})
        return Statement(_placed(rows, _numbered(shown), select, len(shown)), params, tuple(outputs))

    def _grouped(self, select: Select) -> Statement:
        """One row a group, or one row in all; distinct things are collected first, as joins may repeat them."""
        terms: list[Aggregate] = []
        order_by = select.order.by if select.order else None
        having = [f for f in select.filters if isinstance(f.left, Aggregate)]
        for term in (*select.answers, order_by, *(f.left for f in having)):
            if isinstance(term, Aggregate) and term not in terms:
                terms.append(term)
        keys = [self._rows.key(name) for name in select.group] + [self._rows.value(each) for each in select.by]
        parts = [f"{key} AS g{i}" for i, key in enumerate(keys)]
        if select.by:
            self._rows.where += [f"{self._rows.value(each)} IS NOT NULL" for each in select.by]
        # what each column of the result is: an aggregate, or an expression over the inner columns
        results: list[str | Aggregate] = [_iri(f"g{i}") for i in range(len(select.group))]
        outputs = [OutputColumn("iri", "key", name) for name in select.group]
        for answer in select.answers:
            if isinstance(answer, Aggregate):
                results.append(answer)
                outputs.append(self._aggregate_output(answer))
            elif isinstance(answer, Itself) and answer.variable in select.group:
                # looked up once a group
                results.append(_label(f"g{select.group.index(answer.variable)}"))
                outputs.append(OutputColumn(answer.variable, "label", answer.variable))
            else:
                for expression, output in self._shown(answer, sole=False):
                    if output.role != "key":
                        if expression not in keys:
                            parts.append(f"{expression} AS s{len(results)}")
                        results.append(f"g{keys.index(expression)}" if expression in keys else f"s{len(results)}")
                        outputs.append(output)
        for i, term in enumerate(terms):
            parts.append(f"{self._rows.key(term.of.variable)} AS k{i}")
            if isinstance(term.of, Attribute):
                parts.append(f"{self._rows.value(term.of)} AS x{i}")
        if order_by is not None and not isinstance(order_by, Aggregate):
            parts.append(f"{self._term(order_by)} AS p")
        self._rows.where += [self._condition(f) for f in select.filters if not isinstance(f.left, Aggregate)]
        inner, inner_params = self._rows.distinct(", ".join(parts), {*select.group, *(t.of.variable for t in terms)})
        self._rows.params = list(inner_params)
        apart = len({term.of.variable for term in terms}) > 1
        if apart:
            inner = mark_first_rows(inner, terms, len(keys))
        functions = {
            term: aggregate_expression(term, i, not apart and self._rows.is_unique({term.of.variable}), apart)
            for i, term in enumerate(terms)
        }
        written = [functions[each] if isinstance(each, Aggregate) else each for each in results]
        ordering = f", {functions[order_by] if isinstance(order_by, Aggregate) else 'p'} AS o" if order_by else ""
        text = f"SELECT {_numbered(written)}{ordering} FROM (\n{inner}\n)"
        if keys:
            text += "\nGROUP BY " + ", ".join(f"g{i}" for i in range(len(keys)))
        if having:
            text += "\nHAVING " + " AND ".join(self._having(f, functions) for f in having)
        if ordering:
            text = _placed(text, _names(len(results)), select, len(results))
        return Statement(text, tuple(self._rows.params), tuple(outputs))

    def _having(self, condition: Filter, functions: dict[Aggregate, str]) -> str:
        assert isinstance(condition.left, Aggregate)
        value = condition.right
        if not isinstance(value, (int, float)):
            raise ToolError("type", "A count can only be compared with a number.")
        self._rows.params.append(value)
        return f"{functions[condition.left]} {condition.op} ?"

    def ids(self, select: Select) -> tuple[str, list[Cell]]:
        """A sub-select with the ids of its only answer, for IN; or its only value, for a comparison."""
        answer = select.answers[0]
        inner = _Writer(self._schema, self._prefix + "_").statement(select)
        position = 0 if isinstance(answer, Itself) else _first_value(inner.outputs)
        if isinstance(answer, Itself):
            return f"SELECT id FROM entity WHERE iri IN (SELECT c{position} FROM (\n{inner.text}\n))", list(
                inner.params
            )
        return f"SELECT c{position} FROM (\n{inner.text}\n)", list(inner.params)

    def _shown(self, term: Attribute | Itself, *, sole: bool) -> list[tuple[str, OutputColumn]]:
        """The columns that show an answer; the `sole` one has a value in every row."""
        if isinstance(term, Itself):
            alias = quote_identifier(f"{self._prefix}{term.variable}_label")
            join = f"JOIN entity AS {alias} ON {alias}.id = {self._rows.key(term.variable)}"
            if join not in self._rows.joins:
                self._rows.joins.append(join)
            return [
                (f"{alias}.iri", OutputColumn("iri", "key", term.variable)),
                (f"{alias}.label", OutputColumn(term.variable, "label", term.variable)),
            ]
        predicate = self._schema.predicate_of[term.predicate]
        alias, column = self._rows.literal(term.variable, term.predicate)
        found = [(_iri(self._rows.key(term.variable)), OutputColumn("iri", "key", term.variable))]
        name, unit = predicate.label, predicate.unit
        if term.part == "" and column.low and column.high and predicate.shape != "single":
            found.append(
                (f"{alias}.{quote_identifier(column.low)}", OutputColumn(f"{name} (low)", "low", term.variable, unit))
            )
            found.append(
                (
                    f"{alias}.{quote_identifier(column.high)}",
                    OutputColumn(f"{name} (high)", "high", term.variable, unit),
                )
            )
        else:
            found.append((self._rows.value(term), OutputColumn(name, "value", term.variable, unit)))
        if column.text and column.text != column.value and term.part not in ("year", "month"):
            found.append(
                (
                    f"{alias}.{quote_identifier(column.text)}",
                    OutputColumn(name + RAW_TEXT_SUFFIX, "text", term.variable),
                )
            )
        if sole:
            self._rows.where.append(f"{alias}.{quote_identifier(column.text or column.value)} IS NOT NULL")
        return found

    def _aggregate_output(self, term: Aggregate) -> OutputColumn:
        if isinstance(term.of, Itself):
            return OutputColumn("count", "number", term.of.variable)
        predicate = self._schema.predicate_of[term.of.predicate]
        unit = "" if term.function == "count" else predicate.unit
        return OutputColumn(f"{term.function} of {predicate.label}", "number", term.of.variable, unit)

    def _condition(self, condition: Filter) -> str:
        left = self._term(condition.left)
        if condition.op in ("known", "unknown"):
            text = f"{left} IS {'NOT ' if condition.op == 'known' else ''}NULL"
        elif isinstance(condition.right, Select):
            inner, params = self.ids(condition.right)
            self._rows.params.extend(params)
            text = f"{left} {'IN' if condition.op in ('in', '=') else condition.op} ({inner})"
        elif isinstance(condition.right, Attribute):
            text = f"{left} {condition.op} {self._rows.value(condition.right)}"
        elif condition.op == "contains":
            self._rows.params.append(str(condition.right))
            text = f"instr(lower({left}), lower(?)) > 0"
        elif condition.op in ("starts", "ends"):
            text = str(condition.right)
            self._rows.params += [len(text) if condition.op == "starts" else -len(text), text]
            own = f"substr({left}, 1, ?)" if condition.op == "starts" else f"substr({left}, ?)"
            text = f"lower({own}) = lower(?)"
        else:
            values = condition.right if isinstance(condition.right, tuple) else (condition.right,)
            self._rows.params.extend(int(v) if isinstance(v, bool) else v for v in values)
            collate = " COLLATE NOCASE" if isinstance(values[0], str) else ""
            if condition.op in ("in", "=") and len(values) > 1:
                text = f"{left}{collate} IN ({', '.join('?' * len(values))})"
            else:
                text = f"{left} {'=' if condition.op == 'in' else condition.op} ?{collate}"
        return f"NOT ({text})" if condition.negated else text

    def _ordered_by(self, by: Attribute | Itself | Aggregate) -> str:
        return _label(self._rows.key(by.variable)) if isinstance(by, Itself) else self._term(by)

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self._rows.key(term.variable) if isinstance(term, Itself) else self._rows.value(term)


def _first_value(outputs: tuple[OutputColumn, ...]) -> int:
    return next(i for i, o in enumerate(outputs) if o.role in ("value", "low", "number"))


def _placed(text: str, columns: str, select: Select, count: int) -> str:
    """Keep the wanted places of the order `o`, shown as so many columns: ties share a place."""
    assert select.order is not None
    direction = " DESC" if select.order.descending else ""
    names = _names(count)
    if select.limit is None:
        return f"SELECT {columns} FROM (\n{text}\n)\nORDER BY o{direction}, {names}"
    low, high = select.offset, select.offset + select.limit
    # whatever has a wanted place is no worse than the last of so many, and those few alone are ranked
    # of the second best there is one wherever two share the first place
    apart, rank = ("DISTINCT ", "dense_rank") if low else ("", "rank")
    best = f"SELECT {apart}o FROM every ORDER BY o{direction} LIMIT {high}"
    worst = f"SELECT min(o) FROM ({best})" if select.order.descending else f"SELECT max(o) FROM ({best})"
    within = f"o {'>=' if select.order.descending else '<='} ({worst})"
    ranked = f"SELECT *, {rank}() OVER (ORDER BY o{direction}) AS place FROM every WHERE {within}"
    return (
        f"WITH every AS (\n{text}\n)\nSELECT {columns} FROM (\n{ranked}\n)\n"
        f"WHERE place > {low} AND place <= {high}\nORDER BY place, {names}"
    )


def _numbered(expressions: list[str]) -> str:
    return ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))


def _names(count: int) -> str:
    return ", ".join(f"c{i}" for i in range(count))


def _iri(key: str) -> str:
    return f"(SELECT iri FROM entity WHERE id = {key})"


def _label(key: str) -> str:
    return f"(SELECT label FROM entity WHERE id = {key})"
