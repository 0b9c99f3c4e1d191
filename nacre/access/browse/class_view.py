"""A class as its page shows it: Graph + IRI -> ClassView with its properties and some members."""

from collections.abc import Iterator

from nacre.access.browse.remote_thing import remote_members
from nacre.language.forms.nouns import plural
from nacre.records.browse import ClassProperty, ClassView, FactEnd
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed

MEMBERS = 50
PAGE_SECONDS = 4.0


def class_view(graph: Graph, iri: str, search: str = "", skip: int = 0) -> ClassView | None:
    """A class with at most 50 of its members, those whose names contain `search`; None if it is unknown."""
    schema = graph.schema
    own = schema.class_of.get(iri)
    if own is None:
        return None
    return ClassView(
        iri,
        own.label,
        plural(own.label),
        own.comment,
        own.count,
        tuple(FactEnd(schema.class_of[p].label, p) for p in own.parents if p in schema.class_of),
        tuple(FactEnd(c.label, c.iri) for c in schema.shown_classes if iri in c.parents),
        tuple(_property(p, own, schema) for p in _properties(own, schema)),
        tuple(_members(graph, own, search, skip)),
        skip,
    )


def _properties(own: Class, schema: Schema) -> list[Predicate]:
    had = [p for p in schema.shown_predicates if p.domains.get(own.iri) and p.role != "type"]
    return sorted(had, key=lambda p: (-p.domains[own.iri], p.label))


def _property(p: Predicate, own: Class, schema: Schema) -> ClassProperty:
    far = sorted((c for c in p.ranges if c in schema.class_of), key=lambda c: -p.ranges[c])[:3]
    leads = tuple(FactEnd(schema.class_of[c].label, c) for c in far)
    return ClassProperty(p.iri, p.label, p.comment, p.unit, p.domains[own.iri], leads, (p.values or p.samples)[:4])


def _members(graph: Graph, own: Class, search: str, skip: int) -> Iterator[FactEnd]:
    if graph.stored is None:
        yield from remote_members(graph, own, MEMBERS, skip)
        return
    relation = graph.schema.relation_of.get(own.relation)
    if relation is None:
        return
    key = quote_if_needed(relation.key)
    like = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    query = (
        f"SELECT e.iri, e.label FROM {quote_if_needed(relation.name)} r JOIN entity e ON e.id = r.{key} "
        f"WHERE e.label LIKE ? ESCAPE '\\' ORDER BY e.label, e.iri LIMIT {MEMBERS} OFFSET {skip}"
    )
    for iri, label in graph.stored.run(query, (like,), limit=MEMBERS, seconds=PAGE_SECONDS).rows:
        yield FactEnd(str(label or iri), str(iri))
