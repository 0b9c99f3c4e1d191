"""A graph at a glance: Graph -> SchemaOverview of its largest classes and the links between them, for a diagram."""

from collections import Counter
from dataclasses import dataclass

from nacre.records.schema import Class, Schema
from nacre.stores.catalog import Graph

# more classes than these are not readable
MOST_CLASSES, MOST_LINKS, MOST_NAMES = 16, 60, 6


@dataclass(frozen=True)
class ClassNode:
    """One class in the diagram, with its number of members."""

    iri: str
    label: str
    count: int


@dataclass(frozen=True)
class ClassLink:
    """The links between the things of two classes: labels of predicates, the most frequent first, and triples."""

    start: str
    end: str
    predicates: tuple[str, ...]
    triples: int


@dataclass(frozen=True)
class SchemaOverview:
    """`classes` and `links` of the diagram; `all_classes` and `properties` are the numbers in the whole graph."""

    name: str
    version: str
    things: int
    triples: int
    all_classes: int
    properties: int
    classes: tuple[ClassNode, ...]
    links: tuple[ClassLink, ...]


def schema_overview(graph: Graph) -> SchemaOverview:
    """The largest and best linked classes, the largest first, and the links between these."""
    schema = graph.schema
    home = {group.relation: own.iri for group in schema.groups if (own := schema.smallest_class(group.classes))}
    counts: Counter[str] = Counter()
    for group in schema.groups:
        if group.relation in home and not schema.class_of[home[group.relation]].hidden:
            counts[home[group.relation]] += group.count
    links: dict[tuple[str, str], Counter[str]] = {}
    for link in graph.lexicon.links:
        ends = home.get(link.subject), home.get(link.object)
        if ends[0] and ends[1] and _is_shown(link.predicate, schema):
            links.setdefault((ends[0], ends[1]), Counter())[link.predicate] += link.triples
    linked: Counter[str] = Counter()
    for (start, end), predicates in links.items():
        for iri in {start, end}:
            linked[iri] += sum(predicates.values())
    shown = sorted(counts, key=lambda iri: (-counts[iri] - linked[iri], iri))[:MOST_CLASSES]
    lines = [
        ClassLink(
            start,
            end,
            tuple(schema.predicate_of[iri].label for iri, _ in predicates.most_common(MOST_NAMES)),
            sum(predicates.values()),
        )
        for (start, end), predicates in links.items()
        if start in shown and end in shown
    ]
    return SchemaOverview(
        graph.name,
        graph.version,
        schema.entities,
        schema.triples,
        len(schema.shown_classes),
        sum(p.role == "fact" for p in schema.shown_predicates),
        tuple(sorted((_class_node(schema.class_of[iri]) for iri in shown), key=lambda c: (-c.count, c.iri))),
        tuple(sorted(lines, key=lambda line: (-line.triples, line.start, line.end))[:MOST_LINKS]),
    )


def _is_shown(predicate: str, schema: Schema) -> bool:
    return predicate in schema.predicate_of and not schema.predicate_of[predicate].hidden


def _class_node(own: Class) -> ClassNode:
    return ClassNode(own.iri, own.label, own.count)
