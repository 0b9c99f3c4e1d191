"""Complete the schema of a graph from its extracted triples: ExtractedLayer + Graph -> proposals -> a layer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ingestion.extract import publish_triples
from ingestion.layer.from_texts import COMPLETION, CompletionLayer, completion_layer
from ingestion.layer.stored import LayerFiles, read_layer_files
from nacre.errors import ConfigError
from nacre.pyramid.proposals import Array, find_proposals
from nacre.pyramid.relations import ExtractedRelation, condense_relations, group_relations, relation_similarity
from nacre.records.extracted import EXTRACTED_NAMESPACE, Proposal
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.extracted_triples import ExtractedLayer
from nacre.stores.sqlite.triples import StatedTriples

ChangeLayers = Callable[[Callable[[LayerFiles], LayerFiles]], object]

# maximum number of compared relations, the most frequent ones (limits time and memory)
MAX_COMPARED = 800


@dataclass(frozen=True)
class SchemaCompletion:
    """The proposals, and which relations are condensed into another one."""

    proposals: tuple[Proposal, ...]
    condensed: Mapping[str, str]
    triples: int


def complete_schema(graph: Graph, embedder: Embedder, *, condensing: bool = True) -> SchemaCompletion:
    """What the extracted triples hold that the schema lacks, and their near-duplicate relations, unless they are not to
    be condensed; writes nothing.

    What an earlier completion added is proposed again. Raises ConfigError where nothing was extracted.
    """
    triples = _extracted(graph).all()
    lexicon = graph.lexicon
    labels = {group.relation: group.label for group in graph.schema.groups}

    def class_of(key: str) -> str:
        thing = lexicon.thing(key)
        return labels.get(thing.relation, thing.relation) if thing is not None else ""

    def embed(phrases: Sequence[str]) -> Array:
        return np.asarray(embedder.embed(list(phrases)), dtype=np.float64)

    known = group_relations(triples, class_of)
    condensed = _condensed(known, embed) if condensing else {}
    merged = group_relations(
        [replace(t, relation=condensed.get(t.relation.casefold(), t.relation)) for t in triples], class_of
    )
    keyed = [_with_key(each) for each in merged]
    found = find_proposals(keyed, _without_texts(graph.schema), embed)
    return SchemaCompletion(tuple(_with_names(each, condensed) for each in found), condensed, len(triples))


def _without_texts(schema: Schema) -> Schema:
    """The schema without the classes and properties of an earlier completion."""
    return replace(
        schema,
        classes=tuple(each for each in schema.classes if not each.iri.startswith(EXTRACTED_NAMESPACE)),
        predicates=tuple(each for each in schema.predicates if not each.iri.startswith(EXTRACTED_NAMESPACE)),
    )


def _condensed(known: Sequence[ExtractedRelation], embed: Callable[[Sequence[str]], Array]) -> Mapping[str, str]:
    several = [each for each in known if len(each.triples) > 1 and each.domain][:MAX_COMPARED]
    return (
        condense_relations(several, relation_similarity(several, embed([each.phrase for each in several])))
        if several
        else {}
    )


def _with_key(relation: ExtractedRelation) -> ExtractedRelation:
    """The property of the graph that a relation, or one condensed into it, expresses."""
    key = next((t.relation_key for t in relation.triples if t.relation_key), "")
    return replace(relation, key=key)


def _with_names(proposal: Proposal, condensed: Mapping[str, str]) -> Proposal:
    own = [name for name, into in condensed.items() if into in proposal.relations]
    return replace(proposal, relations=tuple(dict.fromkeys((*proposal.relations, *own))))


def publish_condensed(home: Path, graph: Graph, condensed: Mapping[str, str]) -> str:
    """Publish the layer with condensed relations (none: as extracted); its triples stay unchanged."""
    return publish_triples(home, graph.version, _extracted(graph).all(), condensed)


def apply_completion(home: Path, graph: Graph, completion: SchemaCompletion, change: ChangeLayers) -> CompletionLayer:
    """Condense the relations, and apply the proposals as a layer; `change` publishes a version of this graph."""
    written = completion_layer(completion.proposals, graph.schema, StatedTriples(graph.tables))
    publish_condensed(home, graph, completion.condensed)
    change(lambda present: present.replaced((written.file,)))
    return written


def remove_completion(home: Path, change: ChangeLayers) -> bool:
    """Remove the layer of an earlier completion; returns whether there was one. The extracted triples stay."""
    version = versions.current_version(home)
    files = read_layer_files(versions.version_folder(home, version)).files if version is not None else ()
    if COMPLETION not in {each.name for each in files}:
        return False
    change(lambda present: present.without(COMPLETION))
    return True


def _extracted(graph: Graph) -> ExtractedLayer:
    if graph.extracted is None:
        raise ConfigError(
            f"Nothing is extracted beside {graph.name!r} yet. Run: nacre extract --apply --graph {graph.name}"
        )
    return graph.extracted
