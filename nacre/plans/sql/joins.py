"""The rows that a select reads: Select + Schema -> FROM with its joins, WHERE and parameters, and the distinct rows."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import product
from math import prod
from re import escape, findall

from nacre.records.evidence import Cell
from nacre.records.plan import Attribute, Edge, Select, Variable
from nacre.records.schema import Column, Relation, Schema

ENTITY_RELATION = Relation("entity", "table", "id", ())
# a class of so many things is read table by table, where that makes no more than so many selects
LARGE, MOST_ARMS = 10_000, 24


def variable_relation(variable: Variable, schema: Schema) -> Relation:
    """The relation whose rows a variable stands for: of its group, of its smallest class, or of all things."""
    for group in schema.groups:
        if group.classes and set(group.classes) == set(variable.classes) and group.without == variable.without:
            return schema.relation_of[group.relation]
    known = [schema.class_of[c] for c in variable.classes if c in schema.class_of]
    if not known:
        return ENTITY_RELATION
    return schema.relation_of[min(known, key=lambda c: (c.count, c.iri)).relation]


def quote_identifier(name: str) -> str:
    """An SQL identifier.

    >>> quote_identifier('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass
class SelectRows:
    """Collects the FROM parts, conditions and parameters of one select.

    `repeating` says that the joins may give several rows for one thing of the `first` variable.
    """

    schema: Schema
    prefix: str = ""
    joins: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    params: list[Cell] = field(default_factory=list)
    relations: dict[str, Relation] = field(default_factory=dict)
    literal_joins: dict[tuple[str, str], tuple[str, Column]] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    first: str = ""
    repeating: bool = False

    def join(self, select: Select) -> None:
        """Join the relations of the select's variables along its links."""
        done: list[str] = []
        waiting = list(select.variables)
        edges = list(select.edges)
        while waiting:
            # a variable linked to one already there comes next, so that every join has its condition
            linked = {e.object for e in edges if e.subject in done} | {e.subject for e in edges if e.object in done}
            variable = next((v for v in waiting if v.name in linked), waiting[0])
            waiting.remove(variable)
            relation = variable_relation(variable, self.schema)
            self.relations[variable.name] = relation
            self.first = self.first or variable.name
            alias = self.alias(variable.name)
            self.joins.append(f"{'FROM' if not done else 'JOIN'} {quote_identifier(relation.name)} AS {alias}")
            done.append(variable.name)
            here = [e for e in edges if e.subject in done and e.object in done]
            edges = [e for e in edges if e not in here]
            own = self.joins.pop()
            conditions = [c for e in here for c in self._edge(e.subject, e.predicate, e.object, variable.name)]
            self.joins.append(own)
            if len(done) > 1:
                self.repeating |= not any(e.object == variable.name and self._is_single(e) for e in here)
                self.joins[-1] += " ON " + (" AND ".join(conditions) or "1")
            else:
                self.where += conditions
            self._membership(variable)

    def distinct(self, columns: str, of: Collection[str]) -> tuple[str, tuple[Cell, ...]]:
        """The distinct rows of the columns, with their parameters; for each table of a large class on its own.

        `of` are the variables whose things are told apart in the columns.

        SQLite would write the rows of a view that is joined into a table without indexes first.
        """
        body = "\n".join(self.joins) + ("\nWHERE " + "\n  AND ".join(self.where) if self.where else "")
        written = f"{columns}\n{body}"
        unique = self.is_unique(of)
        large = {name: tables for name in self.relations if (tables := self._tables(name))}
        if not large or prod(map(len, large.values())) > MOST_ARMS:
            return f"SELECT {'' if unique else 'DISTINCT '}{written}", tuple(self.params)
        arms = []
        for chosen in product(*large.values()):
            arm = written
            for name, table in zip(large, chosen, strict=True):
                view, alias = self.relations[name], self.alias(name)
                rows = _rows_of(table, view, set(findall(rf"{escape(alias)}\.(\"(?:[^\"]|\"\")+\")", written)))
                arm = arm.replace(f" {quote_identifier(view.name)} AS {alias}", f" {rows} AS {alias}", 1)
            arms.append(f"SELECT {'DISTINCT ' if not unique and prod(map(len, large.values())) == 1 else ''}{arm}")
        return ("\nUNION ALL\n" if unique else "\nUNION\n").join(arms), tuple(self.params) * len(arms)

    def is_unique(self, of: Collection[str]) -> bool:
        """Whether rows that tell the things of these variables apart are distinct already."""
        return self.first in of and not self.repeating

    def key(self, variable: str) -> str:
        """The id of a variable's thing."""
        return f"{self.alias(variable)}.{quote_identifier(self.relations[variable].key)}"

    def value(self, attribute: Attribute) -> str:
        """What an attribute is compared and computed by: its value, an end of its range or a part of its date, else its
        text."""
        alias, column = self.literal(attribute.variable, attribute.predicate)
        name = {"low": column.low, "high": column.high}.get(attribute.part) or column.value or column.text
        value = f"{alias}.{quote_identifier(name)}"
        if attribute.part == "year":
            return f"CAST(substr({value}, 1, 4) AS INTEGER)"
        return f"substr({value}, 1, 7)" if attribute.part == "month" else value

    def literal(self, variable: str, predicate: str) -> tuple[str, Column]:
        """The alias and column that hold a predicate's literals for a variable, joining a junction where needed."""
        column = _column(self.relations[variable], predicate)
        if column and (column.value or column.text):
            return self.alias(variable), column
        found = self.literal_joins.get((variable, predicate))
        if found:
            return found
        self.repeating = True
        alias = f"{self.prefix}l{len(self.literal_joins)}"
        places = [(r, c) for r, c in _places(self.schema, predicate) if c.value or c.text]
        if not places:
            self.joins.append(f"JOIN (SELECT NULL AS s, NULL AS value WHERE 0) AS {alias} ON 1")
            found = alias, Column(predicate, value="value")
        elif len(places) == 1:
            relation, column = places[0]
            self.joins.append(
                f"JOIN {quote_identifier(relation.name)} AS {alias} "
                f"ON {alias}.{quote_identifier(relation.key)} = {self.key(variable)}"
            )
            found = alias, column
        else:
            names = {"value": "value", "low": "low", "high": "high", "text": "text"}
            kept = {k: n for k, n in names.items() if all(getattr(c, k) for _, c in places)}
            union = " UNION ALL ".join(
                f"SELECT {quote_identifier(r.key)} AS s, "
                + ", ".join(f"{quote_identifier(getattr(c, k))} AS {quote_identifier(n)}" for k, n in kept.items())
                + f" FROM {quote_identifier(r.name)}"
                for r, c in places
            )
            self.joins.append(f"JOIN ({union}) AS {alias} ON {alias}.s = {self.key(variable)}")
            found = alias, Column(predicate, **kept)
        self.literal_joins[(variable, predicate)] = found
        return found

    def _membership(self, variable: Variable) -> None:
        key = self.key(variable.name)
        relation = self.relations[variable.name]
        exact = any(g.relation == relation.name and g.without == variable.without for g in self.schema.groups)
        if not exact:
            for word, classes in (("IN", variable.classes), ("NOT IN", variable.without)):
                for iri in classes:
                    other = self.schema.class_of[iri].relation
                    if other != relation.name:
                        other_key = quote_identifier(self.schema.relation_of[other].key)
                        self.where.append(f"{key} {word} (SELECT {other_key} FROM {quote_identifier(other)})")
        if variable.keys:
            marks = ", ".join("?" * len(variable.keys))
            named = f"SELECT id FROM entity WHERE iri IN ({marks})"
            self.where.append(f"{key} IN ({self._with_parts(named, variable.below) if variable.below else named})")
            self.params.extend(variable.keys)

    def _with_parts(self, named: str, below: Collection[str]) -> str:
        """The ids of things and of all that is below them."""
        ways = " UNION ALL ".join(
            f"SELECT {'o AS s, s AS o' if predicate.startswith('^') else 's, o'} FROM ({pairs})"
            for predicate in below
            if (pairs := self._pairs(predicate.removeprefix("^")))
        )
        if not ways:
            return named
        return (
            f"WITH RECURSIVE part(id) AS ({named} UNION SELECT way.s FROM part JOIN ({ways}) AS way "
            "ON way.o = part.id) SELECT id FROM part"
        )

    def _pairs(self, predicate: str) -> str:
        """The ids of the ends of all links by a predicate, as s and o; "" where there are none."""
        own = [
            f"SELECT {quote_identifier(r.key)} AS s, {quote_identifier(c.link)} AS o FROM {quote_identifier(r.name)}"
            for r, c in _linking(self.schema, predicate)
        ]
        return " UNION ALL ".join(own)

    def _is_single(self, edge: Edge) -> bool:
        """Whether a subject has one object at most: its link is a column."""
        column = _column(self.relations[edge.subject], edge.predicate)
        return bool(column and column.link)

    def _edge(self, subject: str, predicate: str, object_: str, last: str) -> list[str]:
        """The conditions of a link; `last` is the end that is joined now. A junction is joined before it."""
        subject_key, object_key = self.key(subject), self.key(object_)
        column = _column(self.relations[subject], predicate)
        if column and column.link:
            self.links[subject].add(predicate)
            return [f"{self.alias(subject)}.{quote_identifier(column.link)} = {object_key}"]
        junction = self.schema.junctions.get(predicate)
        if junction:
            relation = self.schema.relation_of[junction]
            alias = f"{self.prefix}e{sum(' AS ' + self.prefix + 'e' in join for join in self.joins)}"
            ends = {
                subject: (f"{alias}.{quote_identifier(relation.key)}", subject_key),
                object_: (f"{alias}.{quote_identifier(relation.columns[0].link)}", object_key),
            }
            if len(ends) == 2 and self.joins:
                self.repeating = True
                here, there = " = ".join(ends.pop(last)), " = ".join(*ends.values())
                self.joins.append(f"JOIN {quote_identifier(junction)} AS {alias} ON {there}")
                return [here]
            ends_shown = f"{quote_identifier(relation.key)}, {quote_identifier(relation.columns[0].link)}"
            pairs = f"SELECT {ends_shown} FROM {quote_identifier(junction)}"
        else:
            pairs = self._pairs(predicate)
        if not pairs:
            return ["0"]
        return [f"({subject_key}, {object_key}) IN ({pairs})"]

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

    def alias(self, variable: str) -> str:
        """What the relation of a variable is called."""
        return quote_identifier(self.prefix + variable)


def _rows_of(table: Relation, view: Relation, used: set[str]) -> str:
    """The rows that a table has in a class view, of the columns that are used."""
    own = {quote_identifier(view.key): quote_identifier(table.key)}
    for column in view.columns:
        theirs = _column(table, column.predicate) or Column(column.predicate)
        for part in ("value", "low", "high", "text", "link"):
            name, named = getattr(column, part), getattr(theirs, part)
            if name:
                own[quote_identifier(name)] = quote_identifier(named) if named else "NULL"
    return (
        f"(SELECT {', '.join(f'{own[name]} AS {name}' for name in sorted(used))} FROM {quote_identifier(table.name)})"
    )


def _column(relation: Relation, predicate: str) -> Column | None:
    return next((c for c in relation.columns if c.predicate == predicate), None)


def _linking(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Relations that together hold all links of a predicate, some perhaps twice: tables, then the views of classes."""
    found = [(r, c) for r, c in _places(schema, predicate) if c.link]
    covered = {r.name for r, _ in found}
    views = [(schema.relation_of[c.relation], set(schema.groups_of_class.get(c.iri, ()))) for c in schema.classes]
    views += [(schema.relation_of[g.relation], {g.relation}) for g in schema.groups]
    for view, groups in sorted(views, key=lambda each: -len(each[1])):
        column = _column(view, predicate)
        if column is not None and column.link and groups - covered:
            found.append((view, column))
            covered |= groups
    return found


def _places(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Every table (views repeat them) that holds values or links of a predicate."""
    return [(r, c) for r in schema.relations if r.kind != "view" for c in r.columns if c.predicate == predicate]
