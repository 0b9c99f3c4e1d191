"""Things and class members of an attached graph, by a few queries at its endpoint: Graph + IRI -> Thing, FactEnds."""

from collections.abc import Iterator, Sequence

from nacre.access.labels import look_up_labels
from nacre.plans.sparql.derived import write_membership
from nacre.plans.sparql.terms import format_iri as iri_term
from nacre.records.browse import LONGEST_VALUE, PAGE_LIMITS, BrowseLimits, FactEnd, PredicateFacts, Thing
from nacre.records.schema import Class, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sparql.sparql_source import SparqlTerm
from nacre.stores.sqlite.triples import TYPE

# rows of one query
MAX_ROWS = 300

Row = tuple[SparqlTerm | None, ...]


def remote_thing(graph: Graph, iri: str, bounds: BrowseLimits = PAGE_LIMITS) -> Thing | None:
    """A thing with its facts in both directions; None if it has none. Raises ToolError."""
    remote, term, schema = graph.remote, iri_term(iri), graph.schema
    if remote is None:
        return None
    outgoing = remote.select(f"SELECT ?p ?o {{ {term} ?p ?o }}", limit=MAX_ROWS, seconds=bounds.seconds)
    incoming = remote.select(
        f"SELECT ?p ?s {{ ?s ?p {term} }} LIMIT {MAX_ROWS + 1}", limit=MAX_ROWS, seconds=bounds.seconds
    )
    out, into = outgoing.rows, incoming.rows
    if not out and not into:
        return None
    ends = [(p.value, o) for p, o in out if p is not None and o is not None]
    labels = look_up_labels(graph, {iri, *(t.value for row in (*out, *into) for t in row[1:] if t and t.kind == "iri")})
    own = [o.value for p, o in ends if p == TYPE and o.value in schema.class_of]
    kinds = tuple(FactEnd(schema.class_of[each].label, each) for each in own)
    facts, linking = (
        _facts(rows, schema, labels, bounds, usual) for rows, usual in ((out, bounds.values), (into, bounds.linking))
    )
    complete = not (outgoing.truncated or incoming.truncated)
    return Thing(iri, labels.get(iri, iri), kinds, facts, linking, complete=complete)


def remote_members(graph: Graph, own: Class, most: int, skip: int) -> Iterator[FactEnd]:
    """Some members of a class, in the order of their IRIs. Raises ToolError."""
    if graph.remote is None:
        return
    members = write_membership(graph.schema, own.iri, "?s", "?c")
    query = f"SELECT DISTINCT ?s {{ {members} }} ORDER BY ?s LIMIT {most} OFFSET {skip}"
    rows = graph.remote.select(query, limit=most, seconds=PAGE_LIMITS.seconds).rows
    iris = [row[0].value for row in rows if row[0] is not None]
    labels = look_up_labels(graph, iris)
    yield from (FactEnd(labels.get(iri, iri), iri) for iri in iris)


def _facts(
    rows: Sequence[Row], schema: Schema, labels: dict[str, str], bounds: BrowseLimits, usual: int
) -> tuple[PredicateFacts, ...]:
    """Rows of a predicate and an end, grouped by predicate."""
    grouped: dict[str, list[FactEnd]] = {}
    for predicate, end in rows:
        if predicate is not None and end is not None and predicate.value != TYPE:
            value = end.value
            far = FactEnd(labels.get(value, value), value) if end.kind == "iri" else FactEnd(value[:LONGEST_VALUE])
            grouped.setdefault(predicate.value, []).append(far)
    facts = []
    for iri, ends in grouped.items():
        most = bounds.most(iri, usual)
        known = schema.predicate_of.get(iri)
        label, unit = (known.label, known.unit) if known else (iri, "")
        facts.append(PredicateFacts(iri, label, unit, tuple(ends[:most]), max(0, len(ends) - most)))
    return tuple(facts)
