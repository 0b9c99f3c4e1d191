"""The linkers over one lexicon, built once a version: Lexicon -> LinkingIndex."""

from dataclasses import dataclass
from functools import lru_cache

from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.names.value_linker import ValueLinker
from nacre.understanding.linking.schema.schema_linker import SchemaLinker


@dataclass(frozen=True)
class LinkingIndex:
    """What linking and parsing look up. It never changes after it is built."""

    lexicon: Lexicon
    graph: SchemaGraph
    schema_linker: SchemaLinker
    value_linker: ValueLinker


def build_linking_index(lexicon: Lexicon) -> LinkingIndex:
    """The linkers of a lexicon. Lexicons that share a schema share the graph and the schema linker."""
    graph, schema_linker = _schema_parts(lexicon.of_schema)
    return LinkingIndex(lexicon, graph, schema_linker, ValueLinker(lexicon, graph))


@lru_cache(maxsize=8)
def _schema_parts(lexicon: Lexicon) -> tuple[SchemaGraph, SchemaLinker]:
    graph = SchemaGraph(lexicon)
    return graph, SchemaLinker(lexicon, graph)
