"""Trace the rows of a plan to the triples behind them: Plan + Table -> triples, those of the first rows first."""

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
    """The triples behind at most 50 rows, or behind 50 things that a row was computed from.

    For each thing: the links and values that the plan shows or compares, its class, and its name. Empty for two selects
    combined as sets, whose rows only the whole query explains.
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
    """Finds the things that a select binds together, and their triples."""

    def __init__(self, tables: Tables, triples: TripleReader, table: Table) -> None:
        self.tables, self.triples = tables, triples
        self.shown = {str(cell) for row in table.rows for cell in row}

    def behind(self, select: Select, keys: tuple[str, ...]) -> Iterator[Triple]:
        """The triples behind the select's rows; `keys` are the known things of its answers."""
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
        """The IRI of each variable, for at most 50 combinations of things that fit.

        Only combinations of `named` things are sorted by label: a row may rest on too many things to sort.
        """
        wanted = replace(select, answers=tuple(Itself(variable.name) for variable in select.variables))
        statement = (to_sql if named else bindings_statement)(wanted, self.tables.schema)
        keys = [(i, o.variable) for i, o in enumerate(statement.outputs) if o.role == "key"]
        for row in self.tables.run(statement.text, statement.params, limit=MAX_PROVENANCE_THINGS).rows:
            yield {variable: str(row[i]) for i, variable in keys}

    def _values(self, subject: str, predicate: str) -> list[Triple]:
        """The values that the rows show, or all values."""
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
