"""Join the tables that a select reads: Select + Schema -> FROM, WHERE and the distinct rows as SqlText."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from re import escape, findall
from typing import Literal

from nacre.errors import ToolError
from nacre.language.data import word_map
from nacre.records.evidence import Cell
from nacre.records.plan import DATE_PARTS, Aggregate, Attribute, Edge, Filter, Itself, Select, Variable
from nacre.records.schema import Column, Relation, Schema
from nacre.stores.sqlite.tables import quote_identifier

RAW_TEXT_SUFFIX = " (text)"  # the end of the name of a column with the raw text of a parsed number


@dataclass(frozen=True)
class OutputColumn:
    """What a column of a statement shows. A column with the role "key" is an IRI that is not shown."""

    name: str
    role: Literal["key", "label", "value", "low", "high", "text", "number"]
    variable: str
    unit: str = ""


def first_value_index(outputs: Sequence[OutputColumn]) -> int:
    """The index of the first output that shows a value."""
    return next((i for i, output in enumerate(outputs) if output.role in ("value", "low", "number")), 0)


@dataclass(frozen=True)
class Statement:
    """SQL with bound parameters, and what each of its columns shows."""

    text: str
    params: tuple[Cell, ...]
    outputs: tuple[OutputColumn, ...]


# a statement -> its rows and whether there are more; None if it failed
RunStatement = Callable[[Statement], tuple[list[tuple[Cell, ...]], bool] | None]


def aggregate_output(term: Aggregate, schema: Schema) -> OutputColumn:
    """What a column with a computed number shows."""
    if isinstance(term.of, Itself):
        return OutputColumn("count", "number", term.of.variable)
    predicate = schema.predicate_of[term.of.predicate]
    unit = "" if term.function == "count" else predicate.unit
    adjective = word_map("wording", "aggregate_adjectives").get(term.function, "number of")
    return OutputColumn(f"{adjective} {predicate.label}", "number", term.of.variable, unit)


def compared_number(condition: Filter) -> float:
    """The number that an aggregate is compared with; ToolError `type` for anything else."""
    if not isinstance(condition.right, (int, float)):
        raise ToolError("type", "A count can only be compared with a number.")
    return condition.right


# a class of at least so many things is read table by table, if that gives at most so many selects
LARGE_CLASS, MAX_SELECTS = 10_000, 24


@dataclass(frozen=True)
class SqlText:
    """SQL text and the parameters of its question marks, in their order."""

    text: str
    params: tuple[Cell, ...] = ()


class JoinBuilder:
    """Collects the joins and conditions of one select; a sub-select's aliases begin with a `prefix`."""

    def __init__(self, schema: Schema, prefix: str = "") -> None:
        self._schema, self._prefix = schema, prefix
        self._joins: list[str] = []
        self._conditions: list[SqlText] = []
        self._relations: dict[str, Relation] = {}
        self._literals: dict[tuple[str, str], tuple[str, Column]] = {}
        self._linked_columns: dict[str, set[str]] = defaultdict(set)
        self._first_variable = ""
        # whether the joins may give several rows for one thing of the first variable
        self._is_repeating = False

    def join_variables(self, select: Select) -> None:
        """Join the relations of the select's variables along its edges."""
        joined: list[str] = []
        waiting = list(select.variables)
        edges = list(select.edges)
        while waiting:
            # a variable linked to one that is joined comes next, so that every join has its condition
            linked = {e.object for e in edges if e.subject in joined} | {e.subject for e in edges if e.object in joined}
            variable = next((v for v in waiting if v.name in linked), waiting[0])
            waiting.remove(variable)
            joined.append(variable.name)
            own = [e for e in edges if e.subject in joined and e.object in joined]
            edges = [e for e in edges if e not in own]
            self._join_variable(variable, own)

    def add_condition(self, condition: SqlText) -> None:
        """Add a condition to WHERE."""
        self._conditions.append(condition)

    def label_alias(self, variable: str) -> str:
        """The alias of the row of the entity table that has the IRI and label of a variable's thing."""
        alias = quote_identifier(f"{self._prefix}{variable}_label")
        join = f"JOIN entity AS {alias} ON {alias}.id = {self.key(variable)}"
        if join not in self._joins:
            self._joins.append(join)
        return alias

    def distinct_rows(self, columns: str, of: Collection[str]) -> SqlText:
        """The distinct rows of the columns; `of` are the variables whose things the columns tell apart.

        The view of a large class is replaced by its tables, a select for each: SQLite would write the rows of a joined
        view into a temporary table without indexes.
        """
        where = join_sql("\n  AND ", self._conditions)
        body = "\n".join(self._joins) + (f"\nWHERE {where.text}" if self._conditions else "")
        written = f"{columns}\n{body}"
        is_unique = self.is_unique(of)
        large = {name: tables for name in self._relations if (tables := self._class_tables(name))}
        if not large or prod(map(len, large.values())) > MAX_SELECTS:
            return SqlText(f"SELECT {'' if is_unique else 'DISTINCT '}{written}", where.params)
        is_single = prod(map(len, large.values())) == 1
        selects = []
        for chosen in product(*large.values()):
            text = written
            for name, table in zip(large, chosen, strict=True):
                view, alias = self._relations[name], self._alias(name)
                used = set(findall(rf"{escape(alias)}\.(\"(?:[^\"]|\"\")+\")", written))
                rows = _table_rows(table, view, used)
                text = text.replace(f" {quote_identifier(view.name)} AS {alias}", f" {rows} AS {alias}", 1)
            selects.append(f"SELECT {'DISTINCT ' if not is_unique and is_single else ''}{text}")
        union = ("\nUNION ALL\n" if is_unique else "\nUNION\n").join(selects)
        return SqlText(union, where.params * len(selects))

    def is_unique(self, of: Collection[str]) -> bool:
        """Whether rows that tell the things of these variables apart are distinct without DISTINCT."""
        return self._first_variable in of and not self._is_repeating

    def key(self, variable: str) -> str:
        """The id of a variable's thing."""
        return f"{self._alias(variable)}.{quote_identifier(self._relations[variable].key)}"

    def value(self, attribute: Attribute) -> str:
        """The value that an attribute is compared by: a number, an end of a range, a part of a date, or the text."""
        alias, column = self.literal_column(attribute.variable, attribute.predicate)
        part = attribute.part
        is_period = attribute.predicate in self._schema.periods and bool(column.low)
        start, size = DATE_PARTS.get(part, (0, 0))
        if is_period and size:
            # of a period within one year, month or day
            low, high = (f"{alias}.{quote_identifier(end)}" for end in (column.low, column.high))
            same = f"{low} >= '0' AND substr({low}, 1, {start + size - 1}) = substr({high}, 1, {start + size - 1})"
            value = f"CASE WHEN {same} THEN {low} END"
        else:
            name = {"low": column.low, "high": column.high}.get(part) or column.value or column.text
            value = f"{alias}.{quote_identifier(name)}"
        if part == "year":
            return f"CAST(substr({value}, 1, 4) AS INTEGER)"
        if part == "quarter":
            month = f"CAST(nullif(substr({value}, 6, 2), '') AS INTEGER)"
            return f"substr({value}, 1, 4) || '-Q' || (({month} + 2) / 3)"
        return f"substr({value}, {start}, {size})" if size else value

    def literal_column(self, variable: str, predicate: str) -> tuple[str, Column]:
        """The alias and column that hold a predicate's literals for a variable; joins a further table if needed."""
        column = predicate_column(self._relations[variable], predicate)
        if column and (column.value or column.text):
            return self._alias(variable), column
        if (variable, predicate) not in self._literals:
            self._literals[variable, predicate] = self._join_literals(variable, predicate)
        return self._literals[variable, predicate]

    def _join_variable(self, variable: Variable, edges: Sequence[Edge]) -> None:
        is_first = not self._relations
        relation = variable_relation(variable, self._schema)
        self._relations[variable.name] = relation
        self._first_variable = self._first_variable or variable.name
        conditions = [self._link_condition(edge, variable.name) for edge in edges]
        source = f"{quote_identifier(relation.name)} AS {self._alias(variable.name)}"
        if is_first:
            self._joins.append(f"FROM {source}")
            self._conditions += map(SqlText, conditions)
        else:
            # a link that is a column leads from a subject to one object at most
            ends = ((self._relations[e.subject], e.predicate) for e in edges if e.object == variable.name)
            self._is_repeating |= not any(column.link for end in ends if (column := predicate_column(*end)))
            self._joins.append(f"JOIN {source} ON {' AND '.join(conditions) or '1'}")
        self._conditions += self._memberships(variable)

    def _join_literals(self, variable: str, predicate: str) -> tuple[str, Column]:
        self._is_repeating = True
        alias = f"{self._prefix}l{len(self._literals)}"
        holders = [each for each in _table_columns(self._schema, predicate) if each[1].value or each[1].text]
        if not holders:
            self._joins.append(f"JOIN (SELECT NULL AS s, NULL AS value WHERE 0) AS {alias} ON 1")
            return alias, Column(predicate, value="value")
        if len(holders) == 1:
            relation, column = holders[0]
            own_key = f"{alias}.{quote_identifier(relation.key)}"
            self._joins.append(f"JOIN {quote_identifier(relation.name)} AS {alias} ON {own_key} = {self.key(variable)}")
            return alias, column
        parts = [part for part in ("value", "low", "high", "text") if all(getattr(c, part) for _, c in holders)]
        union = " UNION ALL ".join(
            f"SELECT {quote_identifier(r.key)} AS s, "
            + ", ".join(f"{quote_identifier(getattr(c, part))} AS {quote_identifier(part)}" for part in parts)
            + f" FROM {quote_identifier(r.name)}"
            for r, c in holders
        )
        self._joins.append(f"JOIN ({union}) AS {alias} ON {alias}.s = {self.key(variable)}")
        return alias, Column(predicate, **{part: part for part in parts})

    def _memberships(self, variable: Variable) -> list[SqlText]:
        """The conditions that a thing is of the variable's classes, of none of those it is without, and named."""
        key = self.key(variable.name)
        relation = self._relations[variable.name]
        classes = [("IN", iri) for iri in variable.classes] + [("NOT IN", iri) for iri in variable.without]
        others = [(word, iri) for word, iri in classes if self._schema.class_of[iri].relation != relation.name]
        is_group = others and any(
            group.relation == relation.name
            and group.without == variable.without
            and self._schema.with_parents(group.classes).issuperset(variable.classes)
            for group in self._schema.groups
        )
        found = [] if is_group else [SqlText(f"{key} {word} ({self._members(iri)})") for word, iri in others]
        if variable.any_of:
            found.append(SqlText(f"{key} IN ({' UNION '.join(map(self._members, variable.any_of))})"))
        if variable.keys:
            marks = ", ".join("?" * len(variable.keys))
            named = f"SELECT id FROM entity WHERE iri IN ({marks})"
            ids = self._with_parts(named, variable.below) if variable.below else named
            found.append(SqlText(f"{key} IN ({ids})", variable.keys))
        return found

    def _members(self, class_: str) -> str:
        relation = self._schema.relation_of[self._schema.class_of[class_].relation]
        return f"SELECT {quote_identifier(relation.key)} FROM {quote_identifier(relation.name)}"

    def _with_parts(self, named: str, below: Collection[str]) -> str:
        """The ids of named things and of all their parts, which the predicates `below` lead to."""
        steps = " UNION ALL ".join(
            f"SELECT {'o AS s, s AS o' if predicate.startswith('^') else 's, o'} FROM ({pairs})"
            for predicate in below
            if (pairs := self._link_pairs(predicate.removeprefix("^")))
        )
        if not steps:
            return named
        return (
            f"WITH RECURSIVE part(id) AS ({named} UNION SELECT way.s FROM part JOIN ({steps}) AS way "
            "ON way.o = part.id) SELECT id FROM part"
        )

    def _link_pairs(self, predicate: str) -> str:
        """The ids of both ends of all links by a predicate, as s and o; "" if the graph has none."""
        return " UNION ALL ".join(
            f"SELECT {quote_identifier(r.key)} AS s, {quote_identifier(c.link)} AS o FROM {quote_identifier(r.name)}"
            for r, c in link_columns(self._schema, predicate)
        )

    def _link_condition(self, edge: Edge, joined: str) -> str:
        """The condition of an edge; `joined` is the end that is joined now. A junction table is joined before it."""
        subject_key, object_key = self.key(edge.subject), self.key(edge.object)
        column = predicate_column(self._relations[edge.subject], edge.predicate)
        if column and column.link:
            self._linked_columns[edge.subject].add(edge.predicate)
            return f"{self._alias(edge.subject)}.{quote_identifier(column.link)} = {object_key}"
        junction = self._schema.junctions.get(edge.predicate)
        if junction:
            relation = self._schema.relation_of[junction]
            alias = f"{self._prefix}e{sum(f' AS {self._prefix}e' in join for join in self._joins)}"
            own_key, link = quote_identifier(relation.key), quote_identifier(relation.columns[0].link)
            ends = {edge.subject: f"{alias}.{own_key} = {subject_key}", edge.object: f"{alias}.{link} = {object_key}"}
            if len(ends) == 2 and self._joins:
                self._is_repeating = True
                condition = ends.pop(joined)
                self._joins.append(f"JOIN {quote_identifier(junction)} AS {alias} ON {''.join(ends.values())}")
                return condition
            pairs = f"SELECT {own_key}, {link} FROM {quote_identifier(junction)}"
        else:
            pairs = self._link_pairs(edge.predicate)
        return f"({subject_key}, {object_key}) IN ({pairs})" if pairs else "0"

    def _class_tables(self, variable: str) -> list[Relation]:
        """The tables that replace the view of a large class for a variable; empty if its relation is read as it is."""
        relation = self._relations[variable]
        known = next((c for c in self._schema.classes if c.relation == relation.name), None)
        if known is None or relation.kind != "view" or known.count < LARGE_CLASS:
            return []
        groups = [g for g in self._schema.groups if g.relation in self._schema.groups_of_class.get(known.iri, ())]
        tables = [self._schema.relation_of[group.relation] for group in groups]
        if sum(group.count for group in groups) != known.count or any(table.kind != "table" for table in tables):
            return []
        return [
            table
            for table in tables
            if all((column := predicate_column(table, link)) and column.link for link in self._linked_columns[variable])
        ] or tables[:1]

    def _alias(self, variable: str) -> str:
        return quote_identifier(self._prefix + variable)


def _table_rows(table: Relation, view: Relation, used: Collection[str]) -> str:
    """The rows of a table under the column names of a class view, only the `used` columns."""
    own = {quote_identifier(view.key): quote_identifier(table.key)}
    for column in view.columns:
        theirs = predicate_column(table, column.predicate) or Column(column.predicate)
        for part in ("value", "low", "high", "text", "link"):
            name, named = getattr(column, part), getattr(theirs, part)
            if name:
                own[quote_identifier(name)] = quote_identifier(named) if named else "NULL"
    columns = ", ".join(f"{own[name]} AS {name}" for name in sorted(used))
    return f"(SELECT {columns} FROM {quote_identifier(table.name)})"


ENTITY_RELATION = Relation("entity", "table", "id", ())  # the table of all things


def variable_relation(variable: Variable, schema: Schema) -> Relation:
    """The relation whose rows a variable stands for: of its group, of its smallest class, or of all things."""
    for group in schema.groups:
        if group.classes and set(group.classes) == set(variable.classes) and group.without == variable.without:
            return schema.relation_of[group.relation]
    own = schema.smallest_class(variable.classes)
    return ENTITY_RELATION if own is None else schema.relation_of[own.relation]


def predicate_column(relation: Relation, predicate: str) -> Column | None:
    """The column of a relation that holds a predicate; None if it has none."""
    return next((c for c in relation.columns if c.predicate == predicate), None)


def link_columns(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Relations that together hold all links of a predicate: tables, then class views. A link may occur in several."""
    found = [(r, c) for r, c in _table_columns(schema, predicate) if c.link]
    covered = {r.name for r, _ in found}
    views = [(schema.relation_of[c.relation], set(schema.groups_of_class.get(c.iri, ()))) for c in schema.classes]
    views += [(schema.relation_of[g.relation], {g.relation}) for g in schema.groups]
    for view, groups in sorted(views, key=lambda each: -len(each[1])):
        column = predicate_column(view, predicate)
        if column is not None and column.link and groups - covered:
            found.append((view, column))
            covered |= groups
    return found


def _table_columns(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    return [(r, c) for r in schema.relations if r.kind != "view" for c in r.columns if c.predicate == predicate]


def join_sql(separator: str, parts: Iterable[SqlText]) -> SqlText:
    """The parts one after the other, with their parameters in the same order."""
    listed = tuple(parts)
    return SqlText(separator.join(part.text for part in listed), tuple(p for part in listed for p in part.params))
