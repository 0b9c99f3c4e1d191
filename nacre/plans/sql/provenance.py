"""Trace the rows of a plan to the triples they rest on: Plan + Table -> triples, those of the first rows first."""

from collections.abc import Iterator
from dataclasses import replace

from nacre.plans.sql.to_sql import bindings_statement, to_sql
from nacre.records.evidence import Table
from nacre.records.plan import Aggregate, Ask, Attribute, Compute, Filter, Itself, Plan, Select, aggregated_value
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import Triple, TripleReader

MAX_PROVENANCE_THINGS = 50
MAX_PROVENANCE_TRIPLES = 200


def trace_provenance(plan: Plan, table: Table, tables: Tables) -> list[Triple]:
    """The triples behind at most 50 rows, or behind 50 of the things that a row was counted or computed from.

    For each thing: its links and values that the plan asks for or sets conditions on, its class, and the name it is
    shown by. None for two selects combined as sets, whose rows only the query as a whole explains.
    """
    triples = TripleReader(tables)
    body = plan.body
    keys = tuple(dict.fromkeys(key for row in table.keys[:MAX_PROVENANCE_THINGS] for key in row))[
        : 4 * MAX_PROVENANCE_THINGS
    ]
    found: Iterator[Triple] = iter(())
    if isinstance(body, Select):
        found = _Tracer(tables, triples, table).behind(body, keys)
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
    """Finds the things that a select binds together, and says what is told of them."""

    def __init__(self, tables: Tables, triples: TripleReader, table: Table) -> None:
        self.tables, self.triples = tables, triples
        self.shown = {str(cell) for row in table.rows for cell in row}

    def behind(self, select: Select, keys: tuple[str, ...]) -> Iterator[Triple]:
        """What the select's rows rest on; `keys` are the things of its answers, where they are known."""
        about = narrow_select(select, keys)
        answer = aggregated_value(about.answers[0]).variable
        asked = [aggregated_value(answer) for answer in about.answers]
        named = {variable.name for variable in select.variables if variable.keys}
        for bound in self._bindings(about, bool(keys)):
            for edge in about.edges:
                yield bound[edge.subject], edge.predicate, bound[edge.object]
            for attribute in asked:
                if isinstance(attribute, Attribute):
                    yield from self._values(bound[attribute.variable], attribute.predicate)
            yield from self._conditions(select, bound)
            yield from self._itself(bound[answer], about, answer)
            for variable, key in bound.items():
                name = self.triples.name_triple(key) if variable != answer else None
                if name and (variable in named or name[2] in self.shown):
                    yield name

    def _bindings(self, select: Select, named: bool) -> Iterator[dict[str, str]]:
        """For each combination of things that fits, at most 50, the IRI of each variable; those of `named` things are
        in the order of their labels, as a row may rest on more things than can be sorted."""
        asked = replace(select, answers=tuple(Itself(variable.name) for variable in select.variables))
        statement = (to_sql if named else bindings_statement)(asked, self.tables.schema)
        keys = [(i, o.variable) for i, o in enumerate(statement.outputs) if o.role == "key"]
        for row in self.tables.run(statement.text, statement.params, limit=MAX_PROVENANCE_THINGS).rows:
            yield {variable: str(row[i]) for i, variable in keys}

    def _values(self, subject: str, predicate: str) -> list[Triple]:
        """The values, or of several those that are shown."""
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
        """What the things of a sub-select rest on: this thing alone, where the condition is that it is among them."""
        keys = (bound[condition.left.variable],) if isinstance(condition.left, Itself) else ()
        yield from self.behind(select, keys)

    def _itself(self, key: str, select: Select, variable: str) -> Iterator[Triple]:
        classes = next(v.classes for v in select.variables if v.name == variable)
        members = self.tables.schema.class_of
        for iri in sorted(classes, key=lambda c: members[c].count if c in members else 0):
            if typed := self.triples.type_triple(key, iri):
                # the most telling class is enough
                yield typed
                break
        name = self.triples.name_triple(key)
        if name:
            yield name


def narrow_select(select: Select, keys: tuple[str, ...]) -> Select:
    """The select without order, groups and conditions on them, about the things of its result alone."""
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
