"""A class as its page shows it: Graph + IRI -> ClassView with its properties and some members."""

from collections.abc import Iterator

from nacre.access.browse.remote_thing import remote_members
from nacre.access.browse.row_order import page_keys
from nacre.access.browse.table_source import row_conditions, table_source
from nacre.language.forms.nouns import plural
from nacre.records.browse import LONGEST_VALUE, ClassProperty, ClassView, FactEnd, TableRequest
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from tools.provenance.entity_ids import is_id, look_up_entities

MEMBERS = 50
PAGE_SECONDS = 4.0
# sample values of a property, and the rows that they are taken from
SAMPLES, SAMPLED_ROWS = 4, 200


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
        tuple(_property(p, own, graph) for p in _properties(own, schema)),
        tuple(_members(graph, own, search, skip)),
        skip,
    )


def _properties(own: Class, schema: Schema) -> list[Predicate]:
    had = [p for p in schema.shown_predicates if p.domains.get(own.iri) and p.role != "type"]
    return sorted(had, key=lambda p: (-p.domains[own.iri], p.label))


def _property(p: Predicate, own: Class, graph: Graph) -> ClassProperty:
    schema = graph.schema
    far = sorted((c for c in p.ranges if c in schema.class_of), key=lambda c: -p.ranges[c])[:3]
    leads = tuple(FactEnd(schema.class_of[c].label, c) for c in far)
    return ClassProperty(p.iri, p.label, p.comment, p.unit, p.domains[own.iri], leads, _samples(p, own, graph))


def _samples(p: Predicate, own: Class, graph: Graph) -> tuple[str, ...]:
    """Values that members of the class have: the schema's own if all subjects are members, else those of some rows."""
    if p.domains[own.iri] >= p.subjects:
        return (p.values or p.samples)[:SAMPLES]
    source = table_source(graph, own.iri) if graph.stored is not None else None
    column = source.column_of.get(p.iri) if source is not None else None
    if source is None or column is None or not column.column.value:
        return ()
    value, key = column.expressions("r")[0], quote_if_needed(source.relation.key)
    of = f"{quote_if_needed(source.relation.name)} r"
    if column.junction is not None:
        value = column.expressions("j")[0]
        of = (
            f"{of} JOIN {quote_if_needed(column.junction.name)} j ON j.{quote_if_needed(column.junction.key)} = r.{key}"
        )
    some = f"SELECT {value} AS v FROM {of} WHERE {value} IS NOT NULL LIMIT {SAMPLED_ROWS}"
    rows = graph.tables.run(f"SELECT DISTINCT v FROM ({some})", limit=SAMPLES, seconds=PAGE_SECONDS).rows
    return tuple(str(row[0])[:LONGEST_VALUE] for row in rows)


def _members(graph: Graph, own: Class, search: str, skip: int) -> Iterator[FactEnd]:
    if graph.stored is None:
        yield from remote_members(graph, own, MEMBERS, skip)
        return
    source = table_source(graph, own.iri)
    if source is None:
        return
    request = TableRequest(own.iri, search, skip=skip)
    keys = page_keys(graph.stored, source, request, row_conditions(source, request), MEMBERS)
    members = look_up_entities([key for key in keys if is_id(key)], graph.stored)
    for key in keys:
        if is_id(key):
            iri, label = members[key]
            yield FactEnd(label, iri)
