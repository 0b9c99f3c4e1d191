"""Turn a plan into SPARQL 1.1: Plan + Vocabulary -> SparqlQuery; the counterpart of to_sql, row for row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.errors import ToolError
from nacre.plans.sparql.pattern import GraphPattern, Vocabulary, is_numeric, required_values
from nacre.plans.sparql.terms import XSD, format_literal
from nacre.plans.statement import RAW_TEXT_SUFFIX, OutputColumn
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select

_FARTHEST = {"min": "1e308", "max": "-1e308"}
_LAST_TEXT = {"min": '"\U0010ffff"', "max": '""'}


@dataclass(frozen=True)
class SparqlQuery:
    """A SELECT. `names[i]` is the variable that `outputs[i]` shows: a label's is that of its IRI. `ordered`: its order
    is asked for; `last_first`: what it shows is, in reverse."""

    text: str
    outputs: tuple[OutputColumn, ...]
    names: tuple[str, ...]
    ordered: bool = False
    last_first: bool = False
    params: tuple[Cell, ...] = ()


def to_sparql(body: Select | Combine, words: Vocabulary) -> SparqlQuery:
    """The query for a select, or for two selects combined as sets of things."""
    if isinstance(body, Combine):
        return _combined(body, words)
    return SparqlWriter(words, body).sparql()


def _has_letters(values: Sequence[object]) -> bool:
    return any(each.isalpha() for value in values for each in str(value))


def first_value_index(outputs: tuple[OutputColumn, ...]) -> int:
    """The index of the first output that shows a value."""
    return next((i for i, o in enumerate(outputs) if o.role in ("value", "low", "number")), 0)


def _combined(body: Combine, words: Vocabulary) -> SparqlQuery:
    left, right = SparqlWriter(words, body.left, "l").sparql(), SparqlWriter(words, body.right, "r").sparql()
    # values of different things may be the same, so only they are compared
    values = all(isinstance(answer, Attribute) for answer in body.left.answers)
    kept = [i for i, output in enumerate(left.outputs) if output.role != "key" or not values]
    fields = {i: f"?c{list(dict.fromkeys(left.names)).index(left.names[i])}" for i in kept}
    sides = []
    for side in (left, right):
        renamed = dict.fromkeys(f"({side.names[i]} AS {fields[i]})" for i in kept)
        sides.append(f"{{ SELECT DISTINCT {' '.join(renamed)} {{ {{\n{side.text}\n}} }} }}")
    joined = {
        "union": f"{sides[0]}\nUNION\n{sides[1]}",
        "intersection": f"{sides[0]}\n{sides[1]}",
        "difference": f"{sides[0]}\nMINUS {{ {sides[1]} }}",
    }[body.op]
    text = f"SELECT DISTINCT {' '.join(dict.fromkeys(fields.values()))} {{\n{joined}\n}}"
    return SparqlQuery(text, tuple(left.outputs[i] for i in kept), tuple(fields[i] for i in kept))


class SparqlWriter:
    """Writes one select; selects within it have writers of their own."""

    def __init__(self, words: Vocabulary, select: Select, prefix: str = "") -> None:
        self.words, self.select, self.prefix = words, select, prefix
        self.pattern = GraphPattern(words, select, prefix)
        self.stated: set[tuple[str, str]] = set()
        self.needed = required_values(select)

    def sparql(self) -> SparqlQuery:
        select = self.select
        gathers = any(isinstance(a, Aggregate) for a in select.answers)
        gathers = gathers or any(isinstance(f.left, Aggregate) for f in select.filters)
        if gathers or select.group or select.by:
            return self._grouped()
        answers = [a for a in select.answers if not isinstance(a, Aggregate)]
        outputs: list[OutputColumn] = []
        names: list[str] = []
        for answer in answers:
            for output, name in self._shown(answer, sole=len(answers) == 1):
                outputs.append(output)
                names.append(name)
        shown = " ".join(dict.fromkeys(names))
        if select.order is None or (isinstance(select.order.by, Itself) and select.limit is None):
            # names are not known to the query
            text = f"SELECT DISTINCT {shown} {{\n{self.group()}\n}}"
            last_first = select.order is not None and select.order.descending
            return SparqlQuery(text, tuple(outputs), tuple(names), last_first=last_first)
        order = self._ordered_by()
        # places are counted over distinct rows
        rows = f"SELECT DISTINCT {' '.join(dict.fromkeys((*names, order)))} {{\n{self.group()}\n}}"
        return SparqlQuery(self._placed(rows, shown, order), tuple(outputs), tuple(names), ordered=True)

    def group(self) -> str:
        """The lines of the group, conditions last."""
        conditions = [self._condition(f) for f in self.select.filters if not isinstance(f.left, Aggregate)]
        lines = self.pattern.lines(self.needed, self.stated)
        return "\n".join(f"  {line}" for line in (*lines, *conditions))

    def _ordered_by(self) -> str:
        assert self.select.order is not None
        return self._term(self.select.order.by)

    def _placed(self, rows: str, shown: str, order: str) -> str:
        """Keep the wanted places: what equals the last is kept, what equals one that is skipped is not."""
        select, prefix = self.select, self.prefix
        assert select.order is not None
        way, reach, beyond = ("DESC", ">=", "<") if select.order.descending else ("ASC", "<=", ">")
        ordering = f"ORDER BY {way}({order})" + "".join(f" {name}" for name in shown.split() if name != order)
        if select.limit is None:
            return f"SELECT {shown} {{ {{\n{rows}\n}} }}\n{ordering}"
        parts = [f"{{\n{rows}\n}}"]

        def place(name: str, number: int) -> str:
            # as in SQL: of the second best there is one wherever two share the first place
            apart = "DISTINCT " if select.offset else ""
            within = f"SELECT {apart}({order} AS {name}) {{ {{\n{rows}\n}} }} ORDER BY {way}({order}) LIMIT 1"
            return f"{{ {within}{f' OFFSET {number - 1}' if number > 1 else ''} }}"

        last = f"?{prefix}last"
        if select.offset + select.limit == 1:
            parts += [place(last, 1), f"FILTER({order} {reach} {last})"]
        else:
            found = place(last, select.offset + select.limit)
            parts += [f"OPTIONAL {found}", f"FILTER(!BOUND({last}) || {order} {reach} {last})"]
        if select.offset:
            before = f"?{prefix}before"
            parts += [place(before, select.offset), f"FILTER({order} {beyond} {before})"]
        return f"SELECT {shown} {{\n" + "\n".join(parts) + f"\n}}\n{ordering}"

    def _grouped(self) -> SparqlQuery:
        """One row a group, or one row in all; distinct things are collected first, as joins may repeat them."""
        select, pattern = self.select, self.pattern
        order_by = select.order.by if select.order else None
        having = [f for f in select.filters if isinstance(f.left, Aggregate)]
        keys = [pattern.names[name] for name in select.group] + [pattern.value(each) for each in select.by]
        inner, projected = list(keys), list(keys)
        outputs = [OutputColumn("iri", "key", name) for name in select.group]
        names = [pattern.names[name] for name in select.group]

        def gathered(term: Aggregate) -> str:
            thing = pattern.names[term.of.variable]
            inner.append(thing)
            if isinstance(term.of, Attribute):
                inner.append(pattern.value(term.of))
            return self._function(term)

        made: dict[str, str] = {}
        for answer in select.answers:
            if isinstance(answer, Aggregate):
                outputs.append(self._aggregate_output(answer))
                made[f"?{self.prefix}f{len(made)}"] = gathered(answer)
                names.append(list(made)[-1])
                continue
            for output, name in self._shown(answer, sole=False):
                if output.role == "key":
                    continue
                inner.append(name)
                outputs.append(output)
                if name not in keys:
                    made[f"?{self.prefix}f{len(made)}"] = f"SAMPLE({name})"
                    name = list(made)[-1]
                names.append(name)
        conditions: list[str] = []
        for each in having:
            assert isinstance(each.left, Aggregate)
            compared = gathered(each.left)
            if not keys:
                # some stores take HAVING with GROUP BY alone
                made[f"?{self.prefix}h{len(conditions)}"] = compared
                compared = list(made)[-1]
            conditions.append(f"({compared} {each.op} {_bound(each)})")
        order = ""
        if order_by is not None:
            order = f"?{self.prefix}o"
            if isinstance(order_by, Aggregate):
                ranked = gathered(order_by)
                order = next((name for name, text in made.items() if text == ranked), order)
                made[order] = ranked
            else:
                inner.append(self._term(order_by))
                made[order] = f"SAMPLE({inner[-1]})"
        rows = f"SELECT DISTINCT {' '.join(dict.fromkeys(inner))} {{\n{self.group()}\n}}"
        fields = " ".join((*dict.fromkeys(projected), *(f"({text} AS {name})" for name, text in made.items())))
        text = f"SELECT {fields} {{ {{\n{rows}\n}} }}"
        if keys:
            text += "\nGROUP BY " + " ".join(dict.fromkeys(keys))
        if conditions and keys:
            text += "\nHAVING " + " ".join(conditions)
        elif conditions:
            text = f"SELECT {' '.join(made)} {{ {{\n{text}\n}} FILTER({' && '.join(conditions)}) }}"
        shown = " ".join(dict.fromkeys(names))
        if order:
            text = self._placed(text, shown, order)
        elif set(names) != {*keys, *made}:
            text = f"SELECT {shown} {{ {{\n{text}\n}} }}"
        return SparqlQuery(text, tuple(outputs), tuple(names), ordered=bool(order))

    def _function(self, term: Aggregate) -> str:
        """An aggregate; over things without a value, of which SPARQL would say that all is an error."""
        if isinstance(term.of, Itself):
            return f"COUNT(DISTINCT {self.pattern.names[term.of.variable]})"
        value = self.pattern.value(term.of)
        if term.function == "count":
            return f"COUNT(DISTINCT {value})"
        if self.words.dialect == "virtuoso":
            # its aggregates leave out what has no value, its errors end the query, and it divides integers as integers
            whole = f"SUM(<{XSD}decimal>({value})) / COUNT({value})"
            return whole if term.function == "avg" else f"{term.function.upper()}({value})"
        if term.function in ("min", "max"):
            far = _FARTHEST if is_numeric(self.words.schema.predicate_of[term.of.predicate]) else _LAST_TEXT
            made = f"{term.function.upper()}(COALESCE({value}, {far[term.function]}))"
        else:
            made = f"SUM(COALESCE({value}, 0))" + (f" / COUNT({value})" if term.function == "avg" else "")
        return f"IF(COUNT({value}) = 0, 1/0, {made})"

    def _aggregate_output(self, term: Aggregate) -> OutputColumn:
        if isinstance(term.of, Itself):
            return OutputColumn("count", "number", term.of.variable)
        predicate = self.words.schema.predicate_of[term.of.predicate]
        unit = "" if term.function == "count" else predicate.unit
        return OutputColumn(f"{term.function} of {predicate.label}", "number", term.of.variable, unit)

    def _shown(self, term: Attribute | Itself, *, sole: bool) -> list[tuple[OutputColumn, str]]:
        """The columns that show an answer, each with its variable; the `sole` one has a value in every row."""
        thing = self.pattern.names[term.variable]
        found = [(OutputColumn("iri", "key", term.variable), thing)]
        if isinstance(term, Itself):
            return [*found, (OutputColumn(term.variable, "label", term.variable), thing)]
        predicate, column = self.words.schema.predicate_of[term.predicate], self.words.column(term.predicate)
        name, unit = predicate.label, predicate.unit
        if term.part == "" and column.low and column.high and predicate.shape != "single":
            ends = [replace(term, part="low"), replace(term, part="high")]
            found.append((OutputColumn(f"{name} (low)", "low", term.variable, unit), self.pattern.value(ends[0])))
            found.append((OutputColumn(f"{name} (high)", "high", term.variable, unit), self.pattern.value(ends[1])))
        else:
            found.append((OutputColumn(name, "value", term.variable, unit), self.pattern.value(term)))
        if column.text and column.text != column.value and term.part not in ("year", "month"):
            found.append((OutputColumn(name + RAW_TEXT_SUFFIX, "text", term.variable), self.pattern.raw(term)))
        if sole:
            (self.stated if column.text else self.needed).add((term.variable, term.predicate))
        return found

    def _condition(self, condition: Filter) -> str:
        left = self._term(condition.left)
        if isinstance(condition.right, Select):
            return self._within(condition, left, condition.right)
        if condition.op in ("known", "unknown"):
            text = f"{'' if condition.op == 'known' else '!'}BOUND({left})"
        elif isinstance(condition.right, Attribute):
            text = f"{left} {condition.op} {self._term(condition.right)}"
        elif condition.op in ("contains", "starts", "ends"):
            function = {"contains": "CONTAINS", "starts": "STRSTARTS", "ends": "STRENDS"}[condition.op]
            text = f"{function}(LCASE(STR({left})), {format_literal(str(condition.right).lower())})"
        else:
            values = condition.right if isinstance(condition.right, tuple) else (condition.right,)
            if isinstance(values[0], str):
                # case is nothing to dates; Virtuoso does not order what LCASE gives
                left = f"LCASE(STR({left}))" if _has_letters(values) else f"STR({left})"
            written = [format_literal(v.lower() if isinstance(v, str) else v) for v in values if v is not None]
            several = condition.op == "in" or (condition.op == "=" and len(written) > 1)
            text = f"{left} IN ({', '.join(written)})" if several else f"{left} {condition.op} {written[0]}"
        return f"FILTER(!({text}))" if condition.negated else f"FILTER({text})"

    def _within(self, condition: Filter, left: str, select: Select) -> str:
        """A condition against what another select gives."""
        depth = f"{self.prefix}q{self.select.filters.index(condition)}"
        inner = SparqlWriter(self.words, select, depth).sparql()
        if isinstance(condition.left, Itself):
            same = f"{{ SELECT DISTINCT ({inner.names[0]} AS {left}) {{ {{\n{inner.text}\n}} }} }}"
            if (condition.op in ("in", "=")) != condition.negated:
                return same
            if self.words.dialect == "virtuoso":
                # its MINUS does not see names that are given within
                return f"FILTER NOT EXISTS {{ {{ {inner.text} }} FILTER({inner.names[0]} = {left}) }}"
            return f"MINUS {{ {same} }}"
        name = inner.names[first_value_index(inner.outputs)]
        op = "=" if condition.op == "in" else condition.op
        given = f"{{ SELECT DISTINCT {name} {{ {{\n{inner.text}\n}} }} }}"
        if not condition.negated:
            return f"{given} FILTER({left} {op} {name})"
        return f"FILTER NOT EXISTS {{ {given} FILTER({left} {op} {name}) }}"

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self.pattern.names[term.variable] if isinstance(term, Itself) else self.pattern.value(term)


def _bound(condition: Filter) -> str:
    if not isinstance(condition.right, (int, float)):
        raise ToolError("type", "A count can only be compared with a number.")
    return format_literal(condition.right)
