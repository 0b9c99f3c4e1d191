"""Turn a plan into SPARQL 1.1: Plan + Vocabulary -> SparqlQuery, with the same rows as the SQL of `to_sql`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.errors import ToolError
from nacre.plans.sparql.aggregates import aggregate_expression
from nacre.plans.sparql.pattern import GraphPattern, ValueKey, required_values
from nacre.plans.sparql.query import SparqlQuery, distinct_names, first_value_index
from nacre.plans.sparql.terms import format_literal
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.plans.statement import RAW_TEXT_SUFFIX, OutputColumn, aggregate_output
from nacre.records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select


def to_sparql(body: Select | Combine, vocabulary: Vocabulary) -> SparqlQuery:
    """The query for a select, or for two selects combined as sets of things.

    Raises ToolError `type` for a plan whose aggregates cannot be computed.
    """
    if isinstance(body, Combine):
        return _combine(body, vocabulary)
    return SparqlWriter(vocabulary, body).query()


def _combine(body: Combine, vocabulary: Vocabulary) -> SparqlQuery:
    left, right = SparqlWriter(vocabulary, body.left, "l").query(), SparqlWriter(vocabulary, body.right, "r").query()
    # different things may have the same value, so values are compared without their things
    is_values = all(isinstance(answer, Attribute) for answer in body.left.answers)
    kept = [i for i, output in enumerate(left.outputs) if output.role != "key" or not is_values]
    columns = {i: f"?c{list(dict.fromkeys(left.names)).index(left.names[i])}" for i in kept}
    sides = []
    for side in (left, right):
        renamed = distinct_names([f"({side.names[i]} AS {columns[i]})" for i in kept])
        sides.append(f"{{ SELECT DISTINCT {renamed} {{ {{\n{side.text}\n}} }} }}")
    combined = {
        "union": f"{sides[0]}\nUNION\n{sides[1]}",
        "intersection": f"{sides[0]}\n{sides[1]}",
        "difference": f"{sides[0]}\nMINUS {{ {sides[1]} }}",
    }[body.op]
    text = f"SELECT DISTINCT {distinct_names(list(columns.values()))} {{\n{combined}\n}}"
    return SparqlQuery(text, tuple(left.outputs[i] for i in kept), tuple(columns[i] for i in kept))


@dataclass(frozen=True)
class _GroupedColumns:
    """Columns of a grouped select.

    `inner` are the variables of the collected rows, `computed` the expressions of each group by their variables;
    `conditions` compare groups, and `order` is the variable that sorts them, "" without an order.
    """

    inner: tuple[str, ...]
    computed: tuple[tuple[str, str], ...]
    outputs: tuple[OutputColumn, ...] = ()
    names: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    order: str = ""


class SparqlWriter:
    """Writes one select; selects within it have writers of their own."""

    def __init__(self, vocabulary: Vocabulary, select: Select, prefix: str = "", *, is_traced: bool = False) -> None:
        self._vocabulary, self._select, self._prefix = vocabulary, select, prefix
        self.pattern = GraphPattern(vocabulary, select, prefix, is_traced=is_traced)
        # values that must have a literal, and values that must be readable
        self._stated: set[ValueKey] = set()
        self._required = required_values(select)

    def query(self) -> SparqlQuery:
        """The query of the select, with what its columns show."""
        select = self._select
        is_aggregated = any(isinstance(answer, Aggregate) for answer in select.answers)
        is_aggregated = is_aggregated or any(isinstance(each.left, Aggregate) for each in select.filters)
        if is_aggregated or select.group or select.by:
            return self._grouped()
        answers = [answer for answer in select.answers if not isinstance(answer, Aggregate)]
        columns = [each for answer in answers for each in self._answer_columns(answer, sole=len(answers) == 1)]
        outputs, names = tuple(output for output, _ in columns), tuple(name for _, name in columns)
        shown = distinct_names(names)
        if select.order is None or (isinstance(select.order.by, Itself) and select.limit is None):
            # the query does not know labels, so rows are sorted by name after it ran
            text = f"SELECT DISTINCT {shown} {{\n{self.group()}\n}}"
            last_first = select.order is not None and select.order.descending
            return SparqlQuery(text, outputs, names, last_first=last_first)
        order = self._term(select.order.by)
        # places are counted over distinct rows
        rows = f"SELECT DISTINCT {distinct_names((*names, order))} {{\n{self.group()}\n}}"
        return SparqlQuery(self._order_rows(rows, shown, order), outputs, names, ordered=True)

    def group(self) -> str:
        """The lines of the group, conditions last."""
        conditions = [self._condition(each) for each in self._select.filters if not isinstance(each.left, Aggregate)]
        lines = self.pattern.lines(self._required, self._stated)
        return "\n".join(f"  {line}" for line in (*lines, *conditions))

    def _order_rows(self, rows: str, shown: str, order: str) -> str:
        """The rows in their order, only the wanted places: rows from the first to the last wanted value."""
        select, prefix = self._select, self._prefix
        assert select.order is not None
        direction, reaches, passes = ("DESC", ">=", "<") if select.order.descending else ("ASC", "<=", ">")
        ordering = f"ORDER BY {direction}({order})" + "".join(f" {name}" for name in shown.split() if name != order)
        if select.limit is None:
            return f"SELECT {shown} {{ {{\n{rows}\n}} }}\n{ordering}"
        parts = [f"{{\n{rows}\n}}"]

        def value_at(name: str, place: int) -> str:
            # as in SQL: there is a second best even if two share the first place
            distinct = "DISTINCT " if select.offset else ""
            within = f"SELECT {distinct}({order} AS {name}) {{ {{\n{rows}\n}} }} ORDER BY {direction}({order}) LIMIT 1"
            return f"{{ {within}{f' OFFSET {place - 1}' if place > 1 else ''} }}"

        last = f"?{prefix}last"
        if select.offset + select.limit == 1:
            parts += [value_at(last, 1), f"FILTER({order} {reaches} {last})"]
        else:
            found = value_at(last, select.offset + select.limit)
            parts += [f"OPTIONAL {found}", f"FILTER(!BOUND({last}) || {order} {reaches} {last})"]
        if select.offset:
            before = f"?{prefix}before"
            parts += [value_at(before, select.offset), f"FILTER({order} {passes} {before})"]
        return f"SELECT {shown} {{\n" + "\n".join(parts) + f"\n}}\n{ordering}"

    def _grouped(self) -> SparqlQuery:
        """One row for each group, or one row in all. Distinct things are collected first, as joins may repeat them."""
        select = self._select
        keys = [self.pattern.names[name] for name in select.group] + [self.pattern.value(each) for each in select.by]
        columns = self._grouped_answers(keys)
        columns = self._with_conditions(columns, has_keys=bool(keys))
        columns = self._with_order(columns)
        rows = f"SELECT DISTINCT {distinct_names((*keys, *columns.inner))} {{\n{self.group()}\n}}"
        expressions = [f"({expression} AS {name})" for name, expression in columns.computed]
        text = f"SELECT {' '.join((*dict.fromkeys(keys), *expressions))} {{ {{\n{rows}\n}} }}"
        computed = [name for name, _ in columns.computed]
        if keys:
            text += f"\nGROUP BY {distinct_names(keys)}"
        if columns.conditions and keys:
            text += "\nHAVING " + " ".join(columns.conditions)
        elif columns.conditions:
            text = f"SELECT {' '.join(computed)} {{ {{\n{text}\n}} FILTER({' && '.join(columns.conditions)}) }}"
        shown = distinct_names(columns.names)
        if columns.order:
            text = self._order_rows(text, shown, columns.order)
        elif set(columns.names) != {*keys, *computed}:
            text = f"SELECT {shown} {{ {{\n{text}\n}} }}"
        return SparqlQuery(text, columns.outputs, columns.names, ordered=bool(columns.order))

    def _grouped_answers(self, keys: Sequence[str]) -> _GroupedColumns:
        """The groups and the answers; `keys` are the variables that are grouped by."""
        select = self._select
        outputs = [OutputColumn("iri", "key", name) for name in select.group]
        names = [self.pattern.names[name] for name in select.group]
        inner: list[str] = []
        computed: list[tuple[str, str]] = []
        for answer in select.answers:
            if isinstance(answer, Aggregate):
                outputs.append(aggregate_output(answer, self._vocabulary.schema))
                inner += self._aggregate_inputs(answer)
                computed.append((f"?{self._prefix}f{len(computed)}", self._aggregate(answer)))
                names.append(computed[-1][0])
                continue
            for output, name in self._answer_columns(answer, sole=False):
                if output.role == "key":
                    continue
                inner.append(name)
                outputs.append(output)
                if name in keys:
                    names.append(name)
                else:
                    computed.append((f"?{self._prefix}f{len(computed)}", f"SAMPLE({name})"))
                    names.append(computed[-1][0])
        return _GroupedColumns(tuple(inner), tuple(computed), tuple(outputs), tuple(names))

    def _with_conditions(self, columns: _GroupedColumns, *, has_keys: bool) -> _GroupedColumns:
        """The columns with the conditions on aggregates."""
        inner, computed, conditions = list(columns.inner), list(columns.computed), list[str]()
        for each in self._select.filters:
            if not isinstance(each.left, Aggregate):
                continue
            inner += self._aggregate_inputs(each.left)
            compared = self._aggregate(each.left)
            if not has_keys:
                # some stores take HAVING only with GROUP BY
                computed.append((f"?{self._prefix}h{len(conditions)}", compared))
                compared = computed[-1][0]
            conditions.append(f"({compared} {each.op} {_number_literal(each)})")
        return replace(columns, inner=tuple(inner), computed=tuple(computed), conditions=tuple(conditions))

    def _with_order(self, columns: _GroupedColumns) -> _GroupedColumns:
        """The columns with what sorts the groups."""
        if self._select.order is None:
            return columns
        by = self._select.order.by
        order = f"?{self._prefix}o"
        if isinstance(by, Aggregate):
            expression = self._aggregate(by)
            known = next((name for name, text in columns.computed if text == expression), "")
            inner = (*columns.inner, *self._aggregate_inputs(by))
            if known:
                return replace(columns, inner=inner, order=known)
            return replace(columns, inner=inner, computed=(*columns.computed, (order, expression)), order=order)
        term = self._term(by)
        computed = (*columns.computed, (order, f"SAMPLE({term})"))
        return replace(columns, inner=(*columns.inner, term), computed=computed, order=order)

    def _aggregate_inputs(self, term: Aggregate) -> list[str]:
        """The variables of the things and values that are aggregated."""
        thing = self.pattern.names[term.of.variable]
        return [thing, self.pattern.value(term.of)] if isinstance(term.of, Attribute) else [thing]

    def _aggregate(self, term: Aggregate) -> str:
        value = self.pattern.value(term.of) if isinstance(term.of, Attribute) else self.pattern.names[term.of.variable]
        return aggregate_expression(term, value, self._vocabulary)

    def _answer_columns(self, term: Attribute | Itself, *, sole: bool) -> list[tuple[OutputColumn, str]]:
        """The columns that show an answer, each with its variable; the `sole` answer has a value in every row."""
        thing = self.pattern.names[term.variable]
        found = [(OutputColumn("iri", "key", term.variable), thing)]
        if isinstance(term, Itself):
            return [*found, (OutputColumn(term.variable, "label", term.variable), thing)]
        predicate = self._vocabulary.schema.predicate_of[term.predicate]
        column = self._vocabulary.column(term.predicate)
        name, unit = predicate.label, predicate.unit
        if term.part == "" and column.low and column.high and predicate.shape != "single":
            low, high = (self.pattern.value(replace(term, part=part)) for part in ("low", "high"))
            found.append((OutputColumn(f"{name} (low)", "low", term.variable, unit), low))
            found.append((OutputColumn(f"{name} (high)", "high", term.variable, unit), high))
        else:
            found.append((OutputColumn(name, "value", term.variable, unit), self.pattern.value(term)))
        if column.text and column.text != column.value and term.part not in ("year", "month"):
            found.append((OutputColumn(name + RAW_TEXT_SUFFIX, "text", term.variable), self.pattern.raw(term)))
        if sole:
            (self._stated if column.text else self._required).add((term.variable, term.predicate))
        return found

    def _condition(self, condition: Filter) -> str:
        left, right, op = self._term(condition.left), condition.right, condition.op
        if isinstance(right, Select):
            return self._sub_select_condition(condition, left, right)
        if op in ("known", "unknown"):
            text = f"{'' if op == 'known' else '!'}BOUND({left})"
        elif isinstance(right, Attribute):
            text = f"{left} {op} {self._term(right)}"
        elif op in ("contains", "starts", "ends"):
            function = {"contains": "CONTAINS", "starts": "STRSTARTS", "ends": "STRENDS"}[op]
            text = f"{function}(LCASE(STR({left})), {format_literal(str(right).lower())})"
        else:
            values = right if isinstance(right, tuple) else (right,)
            if isinstance(values[0], str):
                # dates need no lower case, and Virtuoso cannot order the result of LCASE
                left = f"LCASE(STR({left}))" if _has_letters(values) else f"STR({left})"
            literals = [format_literal(v.lower() if isinstance(v, str) else v) for v in values if v is not None]
            is_list = op == "in" or (op == "=" and len(literals) > 1)
            text = f"{left} IN ({', '.join(literals)})" if is_list else f"{left} {op} {literals[0]}"
        return f"FILTER(!({text}))" if condition.negated else f"FILTER({text})"

    def _sub_select_condition(self, condition: Filter, left: str, select: Select) -> str:
        """A comparison with the result of another select."""
        prefix = f"{self._prefix}q{self._select.filters.index(condition)}"
        inner = SparqlWriter(self._vocabulary, select, prefix).query()
        if isinstance(condition.left, Itself):
            same = f"{{ SELECT DISTINCT ({inner.names[0]} AS {left}) {{ {{\n{inner.text}\n}} }} }}"
            if (condition.op in ("in", "=")) != condition.negated:
                return same
            if self._vocabulary.dialect == "virtuoso":
                # the MINUS of Virtuoso ignores variables that are bound by an inner SELECT
                return f"FILTER NOT EXISTS {{ {{ {inner.text} }} FILTER({inner.names[0]} = {left}) }}"
            return f"MINUS {{ {same} }}"
        name = inner.names[first_value_index(inner.outputs)]
        op = "=" if condition.op == "in" else condition.op
        values = f"{{ SELECT DISTINCT {name} {{ {{\n{inner.text}\n}} }} }}"
        if not condition.negated:
            return f"{values} FILTER({left} {op} {name})"
        return f"FILTER NOT EXISTS {{ {values} FILTER({left} {op} {name}) }}"

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self.pattern.names[term.variable] if isinstance(term, Itself) else self.pattern.value(term)


def _number_literal(condition: Filter) -> str:
    if not isinstance(condition.right, (int, float)):
        raise ToolError("type", "A count can only be compared with a number.")
    return format_literal(condition.right)


def _has_letters(values: Sequence[object]) -> bool:
    return any(each.isalpha() for value in values for each in str(value))
