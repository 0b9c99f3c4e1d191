"""A graph at a glance: Graph -> SchemaOverview, words and a diagram of its largest classes and their links."""

from collections import Counter
from dataclasses import dataclass

from nacre.access.named_facts import engine_of
from nacre.language.data import load_language_data
from nacre.records.schema import Class
from nacre.stores.catalog import Graph
from nacre.wording.overview import (
    EXAMPLES,
    HEADERS,
    origin_sentence,
    overview_sentences,
    read_sentence,
    translated_origin,
)
from nacre.wording.translations import translated_overview

# classes of a small diagram and of one that can be searched, links for each class, names of a link
MOST_CLASSES, MOST_SEARCHED, LINKS_EACH, MOST_NAMES = 16, 400, 4, 6


@dataclass(frozen=True)
class ClassNode:
    """One class in the diagram, with its number of members. `is_plumbing` classes have no members, no name, or are
    terms of RDF, OWL, SKOS or SHACL."""

    iri: str
    label: str
    count: int
    is_plumbing: bool = False


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
    words: tuple[str, ...] = ()


def overview_words(graph: Graph, code: str = "en") -> tuple[str, ...]:
    """What the graph is about, how much it holds, by whom it was made and when it was read, in English, German or
    French; the words are those of an answer to "What is in this graph?"."""
    engine = engine_of(graph)
    if code == "en":
        sentences = [s.text for s in overview_sentences("contents", engine, 1) if s.title != EXAMPLES]
    else:
        about = translated_overview(graph.schema, code, is_short=False, has_examples=False)
        sentences = [about, translated_origin(engine, code)]
    return tuple(filter(None, [*sentences, read_sentence(graph.version, code)]))


def origin_words(graph: Graph, code: str = "en") -> str:
    """What the graph states of itself: authors, publisher, date, version, licence; and when it was read."""
    engine = engine_of(graph)
    if code == "en":
        origin = origin_sentence(engine)
        stated = origin.text if origin is not None else ""
    else:
        stated = translated_origin(engine, code)
    return " ".join(filter(None, (stated, read_sentence(graph.version, code))))


def schema_overview(graph: Graph, most: int = MOST_CLASSES) -> SchemaOverview:
    """The largest and best linked classes, the largest first, and the links between these. More than 16 classes are
    for a diagram that can be searched: it also has classes without members of their own."""
    schema = graph.schema
    home = {group.relation: own.iri for group in schema.groups if (own := schema.smallest_class(group.classes))}
    counts: Counter[str] = Counter()
    for group in schema.groups:
        if group.relation in home and not schema.class_of[home[group.relation]].hidden:
            counts[home[group.relation]] += group.count
    if most > MOST_CLASSES:
        counts.update({c.iri: 0 for c in schema.shown_classes})
    links: dict[tuple[str, str], Counter[str]] = {}
    for link in graph.lexicon.links:
        ends = home.get(link.subject), home.get(link.object)
        predicate = schema.predicate_of.get(link.predicate)
        if ends[0] and ends[1] and predicate is not None and not predicate.hidden:
            links.setdefault((ends[0], ends[1]), Counter())[link.predicate] += link.triples
    linked: Counter[str] = Counter()
    for (start, end), predicates in links.items():
        for iri in {start, end}:
            linked[iri] += sum(predicates.values())
    shown = sorted(counts, key=lambda iri: (-counts[iri] - linked[iri], iri))[:most]
    lines = []
    for (start, end), predicates in links.items():
        if {start, end} <= set(shown):
            names = tuple(schema.predicate_of[iri].label for iri, _ in predicates.most_common(MOST_NAMES))
            lines.append(ClassLink(start, end, names, sum(predicates.values())))
    return SchemaOverview(
        graph.name,
        graph.version,
        schema.entities,
        schema.triples,
        len(schema.shown_classes),
        sum(p.role == "fact" for p in schema.shown_predicates),
        tuple(sorted((_class_node(schema.class_of[iri]) for iri in shown), key=lambda c: (-c.count, c.iri))),
        tuple(sorted(lines, key=lambda line: (-line.triples, line.start, line.end))[: LINKS_EACH * most]),
    )


def _class_node(own: Class) -> ClassNode:
    machinery = tuple(load_language_data(HEADERS)["machinery"])
    is_plumbing = not own.count or not own.label or own.iri.startswith(("_:", *machinery))
    return ClassNode(own.iri, own.label, own.count, is_plumbing)
