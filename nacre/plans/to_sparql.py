"""Turn a plan into SPARQL 1.1: Plan + Vocabulary -> SparqlQuery, with the same rows as the SQL of `to_sql`."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nacre.errors import ToolError
from nacre.language.data import phrase_list
from nacre.plans.selects import compare_periods
from nacre.plans.sparql_vocabulary import (
    XSD,
    SparqlQuery,
    TracedPattern,
    Vocabulary,
    class_pattern,
    derived_patterns,
    distinct_names,
    format_iri,
    format_literal,
    path_of,
    trace_membership,
    trace_statement,
    write_membership,
    write_statement,
)
from nacre.plans.sql_joins import RAW_TEXT_SUFFIX, OutputColumn, aggregate_output, compared_number, first_value_index
from nacre.records.plan import AGGREGATES, DATE_PARTS, Aggregate, Attribute, Combine, Filter, Itself, Select, Variable
from nacre.records.schema import Predicate
from nacre.stores.sparql_source import PART, READINGS, READS
from nacre.stores.sqlite.triples import TYPE


def to_sparql(body: Select | Combine, vocabulary: Vocabulary) -> SparqlQuery:
    """The query for a select, or two combined as sets of things; ToolError `type` if aggregates cannot be computed."""
    return _combine(body, vocabulary) if isinstance(body, Combine) else SparqlWriter(vocabulary, body).query()


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
    """Columns of a grouped select."""

    inner: tuple[str, ...]  # the variables of the collected rows
    computed: tuple[tuple[str, str], ...]  # variables and the expressions of each group
    outputs: tuple[OutputColumn, ...] = ()
    names: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()  # compare groups
    order: str = ""  # the variable that sorts them


class SparqlWriter:
    """Writes one select; selects within it have writers of their own."""

    def __init__(self, vocabulary: Vocabulary, select: Select, prefix: str = "", *, is_traced: bool = False) -> None:
        select = compare_periods(select, vocabulary.schema)
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
            conditions.append(f"({compared} {each.op} {format_literal(compared_number(each))})")
        return replace(columns, inner=tuple(inner), computed=tuple(computed), conditions=tuple(conditions))

    def _with_order(self, columns: _GroupedColumns) -> _GroupedColumns:
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
        if term.part == "" and column.low and column.high and predicate.shape in ("range", "pair"):
            low, high = (self.pattern.value(replace(term, part=part)) for part in ("low", "high"))
            found.append((OutputColumn(f"{name} (low)", "low", term.variable, unit), low))
            found.append((OutputColumn(f"{name} (high)", "high", term.variable, unit), high))
        else:
            found.append((OutputColumn(name, "value", term.variable, unit), self.pattern.value(term)))
        if column.text and column.text != column.value and term.part not in DATE_PARTS:
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
                has_letters = any(letter.isalpha() for value in values for letter in str(value))
                left = f"LCASE(STR({left}))" if has_letters else f"STR({left})"
            literals = [format_literal(v.lower() if isinstance(v, str) else v) for v in values if v is not None]
            is_list = op == "in" or (op == "=" and len(literals) > 1)
            text = f"{left} IN ({', '.join(literals)})" if is_list else f"{left} {op} {literals[0]}"
        return f"FILTER(!({text}))" if condition.negated else f"FILTER({text})"

    def _sub_select_condition(self, condition: Filter, left: str, select: Select) -> str:
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


# a variable of the select and a predicate
ValueKey = tuple[str, str]


@dataclass(frozen=True)
class ValueVariables:
    """The SPARQL variables of one predicate's value: the literal, its value, and the ends of a range."""

    raw: str
    value: str
    low: str
    high: str


class GraphPattern:
    """Names the values that a query uses, then writes its lines. A sub-select's names begin with a `prefix`."""

    def __init__(self, vocabulary: Vocabulary, select: Select, prefix: str = "", *, is_traced: bool = False) -> None:
        # what derived classes and properties read, by the thing they are of; only if `is_traced`
        self.traced: list[tuple[str, TracedPattern]] = []
        self._is_traced = is_traced
        self.values: dict[ValueKey, ValueVariables] = {}
        self._vocabulary, self._select = vocabulary, select
        self._date_parts: dict[str, str] = {}
        self._variables: Mapping[str, Variable] = {v.name: v for v in select.variables}
        words = [v if re.fullmatch("[a-zA-Z][a-zA-Z0-9]*", v) else f"n{i}" for i, v in enumerate(self._variables)]
        self.names = {name: f"?{prefix}{word}" for name, word in zip(self._variables, words, strict=True)}

    def value(self, attribute: Attribute) -> str:
        """The variable of a value, of an end of a range, or of a part of a date."""
        found = self._value_variables(attribute)
        column = self._vocabulary.column(attribute.predicate)
        if attribute.part in DATE_PARTS:
            name = f"{found.value}{attribute.part.removeprefix('year')[:1] or 'y'}"
            first, size = DATE_PARTS[attribute.part]
            start = f"SUBSTR(STR({found.value}), {first}, {size})"
            if attribute.predicate in self._vocabulary.schema.periods:
                # of a period within one year, month or day
                low, high = (f"SUBSTR({end}, 1, {first + size - 1})" for end in (found.low, found.high))
                start = f'IF({low} = {high} && {low} >= "0", {low if first == 1 else f"SUBSTR({low}, {first})"}, 1/0)'
            if attribute.part == "quarter":
                third = f"<{XSD}integer>(CEIL(<{XSD}integer>(SUBSTR({start}, 6, 2)) / 3))"
                start = f'CONCAT(SUBSTR({start}, 1, 4), "-Q", STR({third}))'
            self._date_parts[name] = f"<{XSD}integer>({start})" if attribute.part == "year" else start
            return name
        if attribute.part == "low" and column.low:
            return found.low
        return found.high if attribute.part == "high" and column.high else found.value

    def raw(self, attribute: Attribute) -> str:
        """The variable of the literal that a value is read from."""
        return self._value_variables(attribute).raw

    def lines(self, required: Collection[ValueKey], stated: Collection[ValueKey]) -> Iterator[str]:
        """Things, links and all values that were named before. A `required` value must be readable, a `stated` one must
        have a literal; other values are optional if things without them are shown."""
        for variable in self._select.variables:
            yield from self._named_things(variable)
        self.traced.clear()
        for number, edge in enumerate(self._select.edges):
            subject, target = self.names[edge.subject], self.names[edge.object]
            yield self._statement(edge.predicate, subject, target, f"{subject}_{target[1:]}_e{number}")
            known = self._vocabulary.schema.predicate_of.get(edge.predicate)
            if known is not None and known.has_literals:
                yield f"FILTER(!isLiteral({self.names[edge.object]}))"
        linked = {end for edge in self._select.edges for end in (edge.subject, edge.object)}
        for variable in self._select.variables:
            yield from self._memberships(variable, is_linked=variable.name in linked)
        may_lack, of = self._vocabulary.may_lack, self._variables
        present = {k for k in self.values if k in required or k in stated or not may_lack(of[k[0]], k[1])}
        for key in sorted(self.values, key=lambda each: each not in present):
            pattern = self._value_pattern(*key, is_required=key in required)
            yield pattern if key in present else f"OPTIONAL {{ {pattern} }}"
        for name, expression in self._date_parts.items():
            yield f"BIND({expression} AS {name})"
            if "IF(" in expression:
                yield f"FILTER(BOUND({name}))"

    def _value_variables(self, attribute: Attribute) -> ValueVariables:
        key = attribute.variable, attribute.predicate
        if key not in self.values:
            base = f"{self.names[attribute.variable]}_{len(self.values)}"
            self.values[key] = ValueVariables(f"{base}r", base, f"{base}l", f"{base}h")
        return self.values[key]

    def _named_things(self, variable: Variable) -> Iterator[str]:
        """The IRIs of a variable with known things; with `below` also all parts of these things."""
        if not variable.keys:
            return
        name, keys = self.names[variable.name], " ".join(map(format_iri, variable.keys))
        whole = f"{name}_whole" if variable.below else name
        yield f"VALUES {whole} {{ {keys} }}"
        if variable.below:
            steps = [f"^{self._step(p[1:])}" if p.startswith("^") else self._step(p) for p in variable.below]
            yield f"{name} ({'|'.join(steps)})* {whole} ."

    def _memberships(self, variable: Variable, *, is_linked: bool) -> Iterator[str]:
        name = self.names[variable.name]
        for index, class_ in enumerate(variable.classes):
            members = self._vocabulary.members(class_)
            if len(members) == 1:
                yield self._membership(class_, name, f"{name}_d{index}")
            else:
                yield f"VALUES {name}_c{index} {{ {' '.join(map(format_iri, members))} }} {name} a {name}_c{index} ."
        if variable.any_of:
            yield " UNION ".join(
                f"{{ {self._membership(each, name, f'{name}_u{i}').removesuffix(' .')} }}"
                for i, each in enumerate(dict.fromkeys(m for c in variable.any_of for m in self._vocabulary.members(c)))
            )
        if not (variable.classes or variable.keys or variable.any_of or is_linked):
            yield (
                f"{{ SELECT DISTINCT {name} {{ {{ {name} {name}_p {name}_o }} UNION "
                f"{{ {name}_s {name}_q {name} . FILTER(!isLiteral({name}) && {name}_q != {format_iri(TYPE)}) }} }} }}"
            )
        others = sorted({member for each in variable.without for member in self._vocabulary.members(each)})
        for number, other in enumerate(others):
            pattern = write_membership(self._vocabulary.schema, other, name, f"{name}_x{number}")
            yield f"FILTER NOT EXISTS {{ {pattern.removesuffix(' .')} }}"

    def _membership(self, class_: str, name: str, prefix: str) -> str:
        schema = self._vocabulary.schema
        if not self._is_traced or not class_pattern(schema, class_):
            return write_membership(schema, class_, name, prefix)
        found = trace_membership(schema, class_, name, prefix)
        self.traced.append((name, found))
        return found.text

    def _statement(self, predicate: str, subject: str, value: str, prefix: str) -> str:
        schema = self._vocabulary.schema
        if not self._is_traced or not derived_patterns(schema, predicate):
            return write_statement(schema, predicate, subject, value, prefix)
        found = trace_statement(schema, predicate, subject, value, prefix)
        self.traced.append((subject, found))
        return found.text

    def _step(self, predicate: str) -> str:
        """A property as a step of a path; a derived one as its path, if it has one."""
        paths = [found[1] for each in derived_patterns(self._vocabulary.schema, predicate) if (found := path_of(each))]
        return f"({'|'.join(paths)})" if paths else format_iri(predicate)

    def _value_pattern(self, variable: str, predicate: str, *, is_required: bool) -> str:
        found, known = self.values[variable, predicate], self._vocabulary.schema.predicate_of[predicate]
        text = self._statement(predicate, self.names[variable], found.raw, found.raw)
        if known.has_links:
            text += f" FILTER(isLiteral({found.raw}))"
        is_range = bool(self._vocabulary.column(predicate).low)
        if predicate in self._vocabulary.readings:
            # the value of a literal as an Oxigraph store keeps it beside the graph
            parts = [("value", found.value), *((("low", found.low), ("high", found.high)) if is_range else ())]
            values = " ; ".join(f"{format_iri(PART + part)} {name}" for part, name in parts)
            reads = format_iri(READS + predicate)
            reading = f"GRAPH {format_iri(READINGS)} {{ {found.value}n {reads} {found.raw} ; {values} }}"
            return f"{text} {reading if is_required else f'OPTIONAL {{ {reading} }}'}"
        factors = self._vocabulary.factors.get(predicate, {})
        bindings = _read_literal(LiteralReader(known, self._vocabulary.dialect, factors), found, is_range=is_range)
        text += "".join(f" BIND({expression} AS {name})" for name, expression in bindings)
        return f"{text} FILTER(BOUND({found.value}))" if is_required and known.unread else text


def required_values(select: Select) -> set[ValueKey]:
    """The values without which a row cannot be in the result: conditions, groups or the order compare them."""
    terms: list[object] = [select.order.by if select.order else None, *select.by]
    for condition in select.filters:
        if not isinstance(condition.left, Aggregate) and (
            condition.op not in ("known", "unknown") or (condition.op == "known") != condition.negated
        ):
            terms += [condition.left, condition.right]
    return {(term.variable, term.predicate) for term in terms if isinstance(term, Attribute)}


@dataclass(frozen=True)
class LiteralReader:
    """Writes how the literals of a predicate are read by a source that has only the literals."""

    predicate: Predicate
    dialect: str
    factors: Mapping[str, float]

    def value(self, literal: str) -> str:
        """The value of a literal; an error, and so unbound, for a literal that has none."""
        if self.predicate.unit:
            units = "|".join(re.escape(unit) for unit in (self.predicate.unit, *self.factors))
            about = "|".join(phrase_list("ingestion", "approximations"))
            form = format_literal(f"^[^0-9a-z]*(({about}|{units}) *)?{_AMOUNT} *({units})?( *[(].*)?$")
            return f'IF(REGEX(STR({literal}), {form}, "i"), {self._number(literal, _FIRST_NUMBER)}, ?none)'
        if self.predicate.datatype in ("integer", "real"):
            datatype = {"integer": "integer", "real": "double"}[self.predicate.datatype]
            plain = f'REPLACE(STR({literal}), ",", "")'
            if self.dialect == "virtuoso":
                return self._cast(datatype, plain)
            return f"COALESCE({self._cast(datatype, literal)}, {self._cast(datatype, plain)})"
        if self.predicate.datatype == "boolean":
            return f'IF(LCASE(STR({literal})) IN ("true", "1"), 1, 0)'
        return self._cast("integer", f"STR({literal})") if self.predicate.datatype == "year" else f"STR({literal})"

    def ends(self, literal: str) -> tuple[str, str]:
        """The lower and the upper end of a range; the upper end is an error for a single number."""
        return self._number(literal, _FIRST_NUMBER), self._number(literal, _SECOND_NUMBER)

    def _number(self, literal: str, expression: str) -> str:
        number = self._cast("double", f'REPLACE(REPLACE(STR({literal}), ",", ""), {expression})')
        for unit, factor in (each for each in self.factors.items() if each[1] != 1):
            ending = format_literal(f"[0-9] *{re.escape(unit)} *$")
            number += f" * IF(REGEX(STR({literal}), {ending}), {format_literal(float(factor))}, 1)"
        return f"({number})"

    def _cast(self, datatype: str, text: str) -> str:
        if self.dialect != "virtuoso":
            return f"<{XSD}{datatype}>({text})"
        # A failed cast ends the query in Virtuoso, so only numbers are cast; nothing binds ?none. Virtuoso shows six
        # digits of a double, but all digits of a decimal.
        return f"IF(REGEX({text}, {_NUMBER}), <{XSD}{datatype.replace('double', 'decimal')}>({text}), ?none)"


def _read_literal(reader: LiteralReader, found: ValueVariables, *, is_range: bool) -> list[tuple[str, str]]:
    """Variables with the expressions that read a literal: its value, or both ends of a range and their middle."""
    if not is_range:
        return [(found.value, reader.value(found.raw))]
    low, high = reader.ends(found.raw)
    return [
        (found.low, low),
        (found.high, f"COALESCE({high}, {found.low})"),
        (found.value, f"({found.low} + {found.high}) / 2"),
    ]


_NUMERIC = frozenset({"integer", "real", "year", "boolean"})

# arguments of REPLACE: the first number of a text, the second one, and the form of a whole number
_FIRST_NUMBER = r'"^[^0-9-]*(-?[0-9]+\\.?[0-9]*([eE][-+]?[0-9]+)?).*$", "$1"'
_AMOUNT = r"[0-9]([0-9.,]|e[-+]?[0-9])*"

_SECOND_NUMBER = r'"^[^0-9]*[0-9]+\\.?[0-9]*[^0-9.]+([0-9]+\\.?[0-9]*)[^0-9]*$", "$1"'
_NUMBER = r'"^[+-]?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?$"'


_FARTHEST_NUMBER = {"min": "1e308", "max": "-1e308"}  # a value that no minimum or maximum of others equals

_FARTHEST_TEXT = {"min": '"\U0010ffff"', "max": '""'}


def aggregate_expression(term: Aggregate, value: str, vocabulary: Vocabulary) -> str:
    """An aggregate over a variable; COALESCE keeps an unbound value from making it an error."""
    function = AGGREGATES[term.function]
    if not function.sparql:
        raise ToolError("refused", f"SPARQL has no aggregate {term.function!r}.")
    if isinstance(term.of, Itself) or function.kind == "count":
        return AGGREGATES["count"].sparql.format(value, value)
    if vocabulary.dialect == "virtuoso":
        # Virtuoso's aggregates skip unbound values, its errors end the query, and it divides integers as integers
        return function.sparql.format(f"<{XSD}decimal>({value})" if function.kind == "mean" else value, value)
    default = "0"
    if function.kind == "extreme":
        is_number = vocabulary.schema.predicate_of[term.of.predicate].datatype in _NUMERIC
        default = (_FARTHEST_NUMBER if is_number else _FARTHEST_TEXT)[term.function]
    return f"IF(COUNT({value}) = 0, 1/0, {function.sparql.format(f'COALESCE({value}, {default})', value)})"
