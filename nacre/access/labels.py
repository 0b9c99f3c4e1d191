"""The labels of IRIs: Graph + IRIs -> labels of classes, predicates and things."""

from collections.abc import Collection

from nacre.access.text_lexicon import endpoint_names
from nacre.stores.catalog import Graph

CHUNK_SIZE = 400


def look_up_labels(graph: Graph, iris: Collection[str]) -> dict[str, str]:
    """The labels of those classes, predicates and things that have one."""
    schema = graph.schema
    known = {iri: schema.class_of[iri].label for iri in iris if iri in schema.class_of}
    known |= {iri: schema.predicate_of[iri].label for iri in iris if iri in schema.predicate_of}
    rest = sorted({iri for iri in iris if iri not in known})
    if graph.stored is None:
        names = endpoint_names(graph)
        return known | (names.labels(rest) if names is not None and rest else {})
    for start in range(0, len(rest), CHUNK_SIZE):
        part = rest[start : start + CHUNK_SIZE]
        marks = ",".join("?" * len(part))
        rows = graph.stored.run(f"SELECT iri, label FROM entity WHERE iri IN ({marks})", part).rows
        known |= {str(row[0]): str(row[1]) for row in rows if row[1]}
    return known
