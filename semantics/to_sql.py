"""Turn a plan's selects into SQL for one graph's tables: Select + Schema -> Statement."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from math import prod
from re import escape, findall
from typing import Literal

from records.errors import ToolError
from records.evidence import Cell
from records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select, Variable
from records.schema import Column, Relation, Schema

# how a column with the raw text beside a parsed number is called
RAW = " (text)"
ENTITY = Relation("entity", "table", "id", ())
# a class of so many things is read table by table, where that makes no more than so many selects
LARGE, MOST_ARMS = 10_000, 24


@dataclass(frozen=True)
class Output:
    """One column of a statement: what it shows. `role` "key" is an IRI that is not shown."""

    name: str
    role: Literal["key", "label", "value", "low", "high", "text", "number"]
    variable: str
    unit: str = ""


@dataclass(frozen=True)
class Statement:
    """SQL with bound parameters, and what each of its columns is."""

    text: str
    params: tuple[Cell, ...]
    outputs: tuple[Output, ...]


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


def contributing(select: Select, schema: Schema, variable: str) -> Statement:
    """The distinct things of one variable over the same conditions, in no order: what an aggregate rests on."""
    rows, params = _Writer(schema).things(select, variable)
    # in this order, so that the first of them come at once
    text = f"SELECT entity.iri AS c0, entity.label AS c1 FROM (\n{rows}\n) AS things CROSS JOIN entity"
    outputs = Output("iri", "key", variable), Output(variable, "label", variable)
    return Statement(f"{text} ON entity.id = things.k", params, outputs)


def number_contributing(select: Select, schema: Schema, variable: str) -> Statement:
    """How many things `contributing` would give."""
    rows, params = _Writer(schema).things(select, variable)
    return Statement(f"SELECT count(*) AS c0 FROM (\n{rows}\n)", params, (Output("count", "number", variable),))


def relation_of(variable: Variable, schema: Schema) -> Relation:
    """The relation whose rows a variable stands for: of its group, of its smallest class, or of all things."""
    for group in schema.groups:
        if group.classes and set(group.classes) == set(variable.classes) and group.without == variable.without:
            return schema.relation_of[group.relation]
    known = [schema.class_of[c] for c in variable.classes if c in schema.class_of]
    if not known:
        return ENTITY
    return schema.relation_of[min(known, key=lambda c: (c.count, c.iri)).relation]


def quoted(name: str) -> str:
    """An SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass
class _Writer:
    """Collects the FROM parts and parameters of one select; sub-selects have writers of their own."""

    schema: Schema
    prefix: str = ""
    joins: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    params: list[Cell] = field(default_factory=list)
    relations: dict[str, Relation] = field(default_factory=dict)
    literal_joins: dict[tuple[str, str], tuple[str, Column]] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def things(self, select: Select, variable: str) -> tuple[str, tuple[Cell, ...]]:
        """The distinct ids of one variable's things, and the parameters."""
        self._sources(select)
        self.where += [self._condition(f) for f in select.filters if not isinstance(f.left, Aggregate)]
        return self._distinct(f"{self._key(variable)} AS k")

    def statement(self, select: Select) -> Statement:
        self._sources(select)
        aggregated = [a for a in select.answers if isinstance(a, Aggregate)] or (
            [f.left for f in select.filters if isinstance(f.left, Aggregate)]
        )
        if aggregated or select.group or select.by:
            return self._grouped(select)
        answers = [a for a in select.answers if not isinstance(a, Aggregate)]
        if select.order is not None and select.limit is not None:
            return self._first(select, answers)
        parts, outputs = self._columns(answers)
        self.where += [self._condition(f) for f in select.filters]
        names = ", ".join(f"c{i}" for i in range(len(parts)))
        columns = ", ".join(f"{p} AS c{i}" for i, p in enumerate(parts))
        if select.order is None:
            shown = ", ".join(f"c{i}" for i, o in enumerate(outputs) if o.role != "key")
            inner, params = self._distinct(columns)
            return Statement(f"{inner}\nORDER BY {shown}", params, tuple(outputs))
        by = self._term(select.order.by)
        self.where.append(f"{by} IS NOT NULL")
        # joins may repeat a row, and places are counted over distinct ones
        inner, params = self._distinct(f"{columns}, {by} AS o")
        return Statement(_placed(inner, names, select, len(parts)), params, tuple(outputs))

    def _first(self, select: Select, answers: list[Attribute | Itself]) -> Statement:
        """The first by the order; names are looked up for them alone."""
        assert select.order is not None
        inner: list[str] = []
        shown: list[str] = []
        outputs: list[Output] = []
        for number, answer in enumerate(answers):
            inner.append(f"{self._key(answer.variable)} AS k{number}")
            iri = f"(SELECT iri FROM entity WHERE id = k{number})"
            if isinstance(answer, Itself):
                shown += [iri, f"(SELECT label FROM entity WHERE id = k{number})"]
                outputs += [Output("iri", "key", answer.variable), Output(answer.variable, "label", answer.variable)]
                continue
            for expression, output in self._shown(answer, sole=len(answers) == 1):
                if output.role != "key":
                    inner.append(f"{expression} AS v{len(shown)}")
                shown.append(iri if output.role == "key" else f"v{len(shown)}")
                outputs.append(output)
        self.where += [self._condition(f) for f in select.filters]
        by = self._term(select.order.by)
        self.where.append(f"{by} IS NOT NULL")
        rows, params = self._distinct(f"{', '.join(inner)}, {by} AS o")
        columns = ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(shown))
        return Statement(_placed(rows, columns, select, len(shown)), params, tuple(outputs))

    def _grouped(self, select: Select) -> Statement:
        """One row a group, or one row in all; distinct things are collected first, as joins may repeat them."""
        terms: list[Aggregate] = []
        order_by = select.order.by if select.order else None
        having = [f for f in select.filters if isinstance(f.left, Aggregate)]
        for term in (*select.answers, order_by, *(f.left for f in having)):
            if isinstance(term, Aggregate) and term not in terms:
                terms.append(term)
        keys = [self._key(name) for name in select.group] + [self._value(each) for each in select.by]
        parts = [f"{key} AS g{i}" for i, key in enumerate(keys)]
        if select.by:
            self.where += [f"{self._value(each)} IS NOT NULL" for each in select.by]
        # places of the answers among the inner columns, and what each column of the result is
        results: list[str] = []
        outputs: list[Output] = []
        for name in select.group:
            parts.append(f"(SELECT iri FROM entity WHERE id = {self._key(name)}) AS s{len(results)}")
            results.append(f"s{len(results)} AS c{len(results)}")
            outputs.append(Output("iri", "key", name))
        functions = {term: _function(term, i) for i, term in enumerate(terms)}
        for answer in select.answers:
            if isinstance(answer, Aggregate):
                results.append(f"{functions[answer]} AS c{len(results)}")
                outputs.append(self._aggregate_output(answer))
                continue
            for expression, output in self._shown(answer, sole=False):
                if output.role != "key":
                    parts.append(f"{expression} AS s{len(results)}")
                    results.append(f"s{len(results)} AS c{len(results)}")
                    outputs.append(output)
        for i, term in enumerate(terms):
            parts.append(f"{self._key(term.of.variable)} AS k{i}")
            if isinstance(term.of, Attribute):
                parts.append(f"{self._value(term.of)} AS x{i}")
        ordering = ""
        if order_by is not None and not isinstance(order_by, Aggregate):
            parts.append(f"{self._term(order_by)} AS p")
            ordering = ", p AS o"
        elif isinstance(order_by, Aggregate):
            ordering = f", {functions[order_by]} AS o"
        self.where += [self._condition(f) for f in select.filters if not isinstance(f.left, Aggregate)]
        inner, inner_params = self._distinct(", ".join(parts))
        self.params = list(inner_params)
        text = f"SELECT {', '.join(results)}{ordering} FROM (\n{inner}\n)"
        if keys:
            text += "\nGROUP BY " + ", ".join(f"g{i}" for i in range(len(keys)))
        if having:
            text += "\nHAVING " + " AND ".join(self._having(f, functions) for f in having)
        if ordering:
            text = _placed(text, ", ".join(f"c{i}" for i in range(len(results))), select, len(results))
        return Statement(text, tuple(self.params), tuple(outputs))

    def _having(self, condition: Filter, functions: dict[Aggregate, str]) -> str:
        assert isinstance(condition.left, Aggregate)
        value = condition.right
        if not isinstance(value, (int, float)):
            raise ToolError("type", "A count can only be compared with a number.")
        self.params.append(value)
        return f"{functions[condition.left]} {condition.op} ?"

    def _distinct(self, columns: str) -> tuple[str, tuple[Cell, ...]]:
        """The distinct rows of the columns, with their parameters; for each table of a large class on its own.

        SQLite would write the rows of a view that is joined into a table without indexes first.
        """
        body = "\n".join(self.joins) + ("\nWHERE " + "\n  AND ".join(self.where) if self.where else "")
        written = f"{columns}\n{body}"
        large = {name: tables for name in self.relations if (tables := self._tables(name))}
        if not large or prod(map(len, large.values())) > MOST_ARMS:
            return f"SELECT DISTINCT {written}", tuple(self.params)
        arms = []
        for chosen in product(*large.values()):
            arm = written
            for name, table in zip(large, chosen, strict=True):
                view, alias = self.relations[name], self._alias(name)
                rows = _rows_of(table, view, set(findall(rf"{escape(alias)}\.(\"(?:[^\"]|\"\")+\")", written)))
                arm = arm.replace(f" {quoted(view.name)} AS {alias}", f" {rows} AS {alias}", 1)
            arms.append(f"SELECT {'DISTINCT ' if prod(map(len, large.values())) == 1 else ''}{arm}")
        return "\nUNION\n".join(arms), tuple(self.params) * len(arms)

    def _tables(self, variable: str) -> list[Relation]:
        """The tables of a large class that can hold rows of a variable; empty where its relation is read as it is."""
        relation = self.relations[variable]
        known = next((c for c in self.schema.classes if c.relation == relation.name), None)
        if known is None or relation.kind != "view" or known.count < LARGE:
            return []
        groups = [g for g in self.schema.groups if g.relation in self.schema.groups_of_class.get(known.iri, ())]
        found = [self.schema.relation_of[group.relation] for group in groups]
        if sum(group.count for group in groups) != known.count or any(table.kind != "table" for table in found):
            return []
        return [
            table
            for table in found
            if all((column := _column(table, link)) and column.link for link in self.links[variable])
        ] or found[:1]

    def _columns(self, answers: list[Attribute | Itself]) -> tuple[list[str], list[Output]]:
        parts: list[str] = []
        outputs: list[Output] = []
        for answer in answers:
            for expression, output in self._shown(answer, sole=len(answers) == 1):
                parts.append(expression)
                outputs.append(output)
        return parts, outputs

    def ids(self, select: Select) -> tuple[str, list[Cell]]:
        """A sub-select with the ids of its only answer, for IN; or its only value, for a comparison."""
        answer = select.answers[0]
        inner = _Writer(self.schema, self.prefix + "_").statement(select)
        position = 0 if isinstance(answer, Itself) else _first_value(inner.outputs)
        if isinstance(answer, Itself):
            return f"SELECT id FROM entity WHERE iri IN (SELECT c{position} FROM (\n{inner.text}\n))", list(
                inner.params
            )
        return f"SELECT c{position} FROM (\n{inner.text}\n)", list(inner.params)

    def _sources(self, select: Select) -> None:
        done: list[str] = []
        waiting = list(select.variables)
        edges = list(select.edges)
        while waiting:
            # a variable linked to one already there comes next, so that every join has its condition
            linked = {e.object for e in edges if e.subject in done} | {e.subject for e in edges if e.object in done}
            variable = next((v for v in waiting if v.name in linked), waiting[0])
            waiting.remove(variable)
            relation = relation_of(variable, self.schema)
            self.relations[variable.name] = relation
            alias = self._alias(variable.name)
            self.joins.append(f"{'FROM' if not done else 'JOIN'} {quoted(relation.name)} AS {alias}")
            done.append(variable.name)
            here = [e for e in edges if e.subject in done and e.object in done]
            edges = [e for e in edges if e not in here]
            own = self.joins.pop()
            conditions = [c for e in here for c in self._edge(e.subject, e.predicate, e.object, variable.name)]
            self.joins.append(own)
            if len(done) > 1:
                self.joins[-1] += " ON " + (" AND ".join(conditions) or "1")
            else:
                self.where += conditions
            self._membership(variable)

    def _membership(self, variable: Variable) -> None:
        key = self._key(variable.name)
        relation = self.relations[variable.name]
        exact = any(g.relation == relation.name and g.without == variable.without for g in self.schema.groups)
        if not exact:
            for word, classes in (("IN", variable.classes), ("NOT IN", variable.without)):
                for iri in classes:
                    other = self.schema.class_of[iri].relation
                    if other != relation.name:
                        other_key = quoted(self.schema.relation_of[other].key)
                        self.where.append(f"{key} {word} (SELECT {other_key} FROM {quoted(other)})")
        if variable.keys:
            marks = ", ".join("?" * len(variable.keys))
            self.where.append(f"{key} IN (SELECT id FROM entity WHERE iri IN ({marks}))")
            self.params.extend(variable.keys)

    def _edge(self, subject: str, predicate: str, object_: str, last: str) -> list[str]:
        """The conditions of a link; `last` is the end that is joined now. A junction is joined before it."""
        subject_key, object_key = self._key(subject), self._key(object_)
        column = _column(self.relations[subject], predicate)
        if column and column.link:
            self.links[subject].add(predicate)
            return [f"{self._alias(subject)}.{quoted(column.link)} = {object_key}"]
        pairs = " UNION ALL ".join(
            f"SELECT {quoted(r.key)} AS s, {quoted(c.link)} AS o FROM {quoted(r.name)}"
            for r, c in _places(self.schema, predicate)
            if c.link
        )
        junction = self.schema.junctions.get(predicate)
        if junction:
            relation = self.schema.relation_of[junction]
            alias = f"{self.prefix}e{sum(' AS ' + self.prefix + 'e' in join for join in self.joins)}"
            ends = {
                subject: (f"{alias}.{quoted(relation.key)}", subject_key),
                object_: (f"{alias}.{quoted(relation.columns[0].link)}", object_key),
            }
            if len(ends) == 2 and self.joins:
                here, there = " = ".join(ends.pop(last)), " = ".join(*ends.values())
                self.joins.append(f"JOIN {quoted(junction)} AS {alias} ON {there}")
                return [here]
            pairs = f"SELECT {quoted(relation.key)}, {quoted(relation.columns[0].link)} FROM {quoted(junction)}"
        if not pairs:
            return ["0"]
        return [f"({subject_key}, {object_key}) IN ({pairs})"]

    def _literal(self, variable: str, predicate: str) -> tuple[str, Column]:
        """The alias and column that hold a predicate's literals for a variable, joining a junction where needed."""
        column = _column(self.relations[variable], predicate)
        if column and (column.value or column.text):
            return self._alias(variable), column
        found = self.literal_joins.get((variable, predicate))
        if found:
            return found
        alias = f"{self.prefix}l{len(self.literal_joins)}"
        places = [(r, c) for r, c in _places(self.schema, predicate) if c.value or c.text]
        if not places:
            self.joins.append(f"JOIN (SELECT NULL AS s, NULL AS value WHERE 0) AS {alias} ON 1")
            found = alias, Column(predicate, value="value")
        elif len(places) == 1:
            relation, column = places[0]
            self.joins.append(
                f"JOIN {quoted(relation.name)} AS {alias} ON {alias}.{quoted(relation.key)} = {self._key(variable)}"
            )
            found = alias, column
        else:
            names = {"value": "value", "low": "low", "high": "high", "text": "text"}
            kept = {k: n for k, n in names.items() if all(getattr(c, k) for _, c in places)}
            union = " UNION ALL ".join(
                f"SELECT {quoted(r.key)} AS s, "
                + ", ".join(f"{quoted(getattr(c, k))} AS {quoted(n)}" for k, n in kept.items())
                + f" FROM {quoted(r.name)}"
                for r, c in places
            )
            self.joins.append(f"JOIN ({union}) AS {alias} ON {alias}.s = {self._key(variable)}")
            found = alias, Column(predicate, **kept)
        self.literal_joins[(variable, predicate)] = found
        return found

    def _value(self, attribute: Attribute) -> str:
        alias, column = self._literal(attribute.variable, attribute.predicate)
        name = {"low": column.low, "high": column.high, "": ""}[attribute.part] or column.value or column.text
        return f"{alias}.{quoted(name)}"

    def _shown(self, term: Attribute | Itself, *, sole: bool) -> list[tuple[str, Output]]:
        """The columns that show an answer; the `sole` one has a value in every row."""
        if isinstance(term, Itself):
            alias = quoted(f"{self.prefix}{term.variable}_label")
            join = f"JOIN entity AS {alias} ON {alias}.id = {self._key(term.variable)}"
            if join not in self.joins:
                self.joins.append(join)
            return [
                (f"{alias}.iri", Output("iri", "key", term.variable)),
                (f"{alias}.label", Output(term.variable, "label", term.variable)),
            ]
        predicate = self.schema.predicate_of[term.predicate]
        alias, column = self._literal(term.variable, term.predicate)
        entity = f"(SELECT iri FROM entity WHERE id = {self._key(term.variable)})"
        found = [(entity, Output("iri", "key", term.variable))]
        name, unit = predicate.label, predicate.unit
        if term.part == "" and column.low and column.high and predicate.shape != "single":
            found.append((f"{alias}.{quoted(column.low)}", Output(f"{name} (low)", "low", term.variable, unit)))
            found.append((f"{alias}.{quoted(column.high)}", Output(f"{name} (high)", "high", term.variable, unit)))
        else:
            found.append((self._value(term), Output(name, "value", term.variable, unit)))
        if column.text and column.text != column.value:
            found.append((f"{alias}.{quoted(column.text)}", Output(name + RAW, "text", term.variable)))
        if sole:
            self.where.append(f"{alias}.{quoted(column.text or column.value)} IS NOT NULL")
        return found

    def _aggregate_output(self, term: Aggregate) -> Output:
        if isinstance(term.of, Itself):
            return Output("count", "number", term.of.variable)
        predicate = self.schema.predicate_of[term.of.predicate]
        unit = "" if term.function == "count" else predicate.unit
        return Output(f"{term.function} of {predicate.label}", "number", term.of.variable, unit)

    def _condition(self, condition: Filter) -> str:
        left = self._term(condition.left)
        if condition.op in ("known", "unknown"):
            text = f"{left} IS {'NOT ' if condition.op == 'known' else ''}NULL"
        elif isinstance(condition.right, Select):
            inner, params = self.ids(condition.right)
            self.params.extend(params)
            text = f"{left} {'IN' if condition.op in ('in', '=') else condition.op} ({inner})"
        elif isinstance(condition.right, Attribute):
            text = f"{left} {condition.op} {self._value(condition.right)}"
        elif condition.op == "contains":
            self.params.append(str(condition.right))
            text = f"instr(lower({left}), lower(?)) > 0"
        elif condition.op in ("starts", "ends"):
            text = str(condition.right)
            self.params += [len(text) if condition.op == "starts" else -len(text), text]
            own = f"substr({left}, 1, ?)" if condition.op == "starts" else f"substr({left}, ?)"
            text = f"lower({own}) = lower(?)"
        else:
            values = condition.right if isinstance(condition.right, tuple) else (condition.right,)
            self.params.extend(int(v) if isinstance(v, bool) else v for v in values)
            collate = " COLLATE NOCASE" if isinstance(values[0], str) else ""
            if condition.op in ("in", "=") and len(values) > 1:
                text = f"{left}{collate} IN ({', '.join('?' * len(values))})"
            else:
                text = f"{left} {'=' if condition.op == 'in' else condition.op} ?{collate}"
        return f"NOT ({text})" if condition.negated else text

    def _term(self, term: Attribute | Itself | Aggregate) -> str:
        if isinstance(term, Aggregate):
            raise ToolError("type", "An aggregate needs a group.")
        return self._key(term.variable) if isinstance(term, Itself) else self._value(term)

    def _alias(self, variable: str) -> str:
        return quoted(self.prefix + variable)

    def _key(self, variable: str) -> str:
        return f"{self._alias(variable)}.{quoted(self.relations[variable].key)}"


def _rows_of(table: Relation, view: Relation, used: set[str]) -> str:
    """The rows that a table has in a class view, of the columns that are used."""
    own = {quoted(view.key): quoted(table.key)}
    for column in view.columns:
        theirs = _column(table, column.predicate) or Column(column.predicate)
        for part in ("value", "low", "high", "text", "link"):
            name, named = getattr(column, part), getattr(theirs, part)
            if name:
                own[quoted(name)] = quoted(named) if named else "NULL"
    return f"(SELECT {', '.join(f'{own[name]} AS {name}' for name in sorted(used))} FROM {quoted(table.name)})"


def _first_value(outputs: tuple[Output, ...]) -> int:
    return next(i for i, o in enumerate(outputs) if o.role in ("value", "low", "number"))


def _placed(text: str, columns: str, select: Select, count: int) -> str:
    """Keep the wanted places of the order `o`, shown as so many columns: ties share a place."""
    assert select.order is not None
    direction = " DESC" if select.order.descending else ""
    names = ", ".join(f"c{i}" for i in range(count))
    if select.limit is None:
        return f"SELECT {columns} FROM (\n{text}\n)\nORDER BY o{direction}, {names}"
    ranked = f"SELECT *, rank() OVER (ORDER BY o{direction}) AS place FROM (\n{text}\n)"
    low, high = select.offset, select.offset + select.limit
    return f"SELECT {columns} FROM (\n{ranked}\n)\nWHERE place > {low} AND place <= {high}\nORDER BY place, {names}"


def _function(term: Aggregate, index: int) -> str:
    if isinstance(term.of, Itself):
        return f"count(DISTINCT k{index})"
    return f"count(DISTINCT x{index})" if term.function == "count" else f"{term.function}(x{index})"


def _column(relation: Relation, predicate: str) -> Column | None:
    return next((c for c in relation.columns if c.predicate == predicate), None)


def _places(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Every table (views repeat them) that holds values or links of a predicate."""
    return [(r, c) for r in schema.relations if r.kind != "view" for c in r.columns if c.predicate == predicate]
