"""Complete the schema of a graph from its extracted triples: ExtractedLayer + Graph -> proposals -> a layer.

The layer names classes and properties, and its rules have the statements of the texts: Proposals -> LayerFile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ingestion.index.triples import is_plain_iri, ntriples_literal
from ingestion.layer.edit import layer_text
from ingestion.layer.layer_file import LayerFile, LayerFiles, read_layer, read_layer_files
from ingestion.vocabulary import LABEL, TYPE
from nacre.errors import ConfigError
from nacre.extensions.pyramid.extract_triples import publish_triples
from nacre.extensions.pyramid.link_statements import MIN_STATEMENT_CONFIDENCE
from nacre.extensions.pyramid.proposals import (
    Array,
    condense_relations,
    find_proposals,
    group_relations,
    relation_similarity,
)
from nacre.language.sanitize import strip_control_characters
from nacre.language.tokens import name_tokens
from nacre.records.facts import EXTRACTED_NAMESPACE, ExtractedTriple, Proposal
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.triples import ExtractedLayer, StatedTriples

ChangeLayers = Callable[[Callable[[LayerFiles], LayerFiles]], object]

# maximum number of compared relations, the most frequent ones (limits time and memory)
MAX_COMPARED = 800


@dataclass(frozen=True)
class SchemaCompletion:
    """The proposals, and which relations are condensed into another one."""

    proposals: tuple[Proposal, ...]
    condensed: Mapping[str, str]
    triples: int


def complete_schema(graph: Graph, embedder: Embedder) -> SchemaCompletion:
    """What the extracted triples hold that the schema lacks, and their near-duplicate relations; writes nothing.

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
    several = [each for each in known if len(each.triples) > 1 and each.domain][:MAX_COMPARED]
    condensed: Mapping[str, str] = {}
    if several:
        similarity = relation_similarity(several, embed([each.phrase for each in several]))
        condensed = condense_relations(several, similarity)
    merged = group_relations(
        [replace(t, relation=condensed.get(t.relation.casefold(), t.relation)) for t in triples], class_of
    )
    # the property of the graph that a relation, or one condensed into it, expresses
    keyed = [replace(each, key=next((t.relation_key for t in each.triples if t.relation_key), "")) for each in merged]
    found = find_proposals(keyed, _without_texts(graph.schema), embed)
    return SchemaCompletion(tuple(_with_names(each, condensed) for each in found), condensed, len(triples))


def _without_texts(schema: Schema) -> Schema:
    """The schema without the classes and properties of an earlier completion."""
    return replace(
        schema,
        classes=tuple(each for each in schema.classes if not each.iri.startswith(EXTRACTED_NAMESPACE)),
        predicates=tuple(each for each in schema.predicates if not each.iri.startswith(EXTRACTED_NAMESPACE)),
    )


def _with_names(proposal: Proposal, condensed: Mapping[str, str]) -> Proposal:
    own = [name for name, into in condensed.items() if into in proposal.relations]
    return replace(proposal, relations=tuple(dict.fromkeys((*proposal.relations, *own))))


def publish_condensed(home: Path, graph: Graph, condensed: Mapping[str, str]) -> str:
    """Publish the layer with condensed relations (none: as extracted); its triples stay unchanged."""
    return publish_triples(home, graph.version, _extracted(graph).all(), condensed)


@dataclass(frozen=True)
class CompletionLayer:
    """The file, how many statements it has, and how many it can't have: about blank nodes, or too many for a file."""

    file: LayerFile
    statements: int
    left_out: int


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


COMPLETION = "completion.yaml"

# characters of all statements; a layer file has at most 1 MB
MAX_STATEMENTS = 900_000

# statements of a rule: four tokens each, and a query has at most 600 (given)
MAX_RULE = 120

_HEAD = "# Stated by the texts of the graph: nacre complete --apply. To undo: nacre complete --remove\n"


class Statement(NamedTuple):
    """A triple of the layer; subject and predicate are IRIs, the value is written as in SPARQL."""

    subject: str
    predicate: str
    value: str


def completion_layer(found: Sequence[Proposal], schema: Schema, stated: StatedTriples) -> CompletionLayer:
    """Write the proposals as a layer. `stated` are the triples of the graph: a property with one value keeps its own.
    Raises IngestionError for proposals that no layer can have."""
    every = dict.fromkeys(each for proposal in found for each in _statements(proposal, schema, stated))
    kept, size = [], 0
    for each in every:
        if is_plain_iri(each.subject) and (each.value.startswith('"') or is_plain_iri(each.value[1:-1])):
            size += len(each.subject) + len(each.value)
            kept += [each] if size <= MAX_STATEMENTS else []
    text = _HEAD + layer_text({**_names(found), "rules": list(_rules(kept))})
    read_layer(Path(COMPLETION), text)
    return CompletionLayer(LayerFile(COMPLETION, text), len(kept), len(every) - len(kept))


def _names(found: Sequence[Proposal]) -> Mapping[str, Mapping[str, Any]]:
    """What the new classes and properties are called."""
    classes = {_iri("class:", each.label): {"name": each.label} for each in found if each.kind == "class"}
    others: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}
    for each in found:
        if each.kind == "attribute" and not each.key:
            name = labels.setdefault(_iri("", each.label), each.label)
            others[name] += [relation for relation in each.relations if relation != name]
    properties = {
        iri: {"name": name} | ({"also": list(dict.fromkeys(others[name]))} if others[name] else {})
        for iri, name in labels.items()
    }
    return {"classes": classes, "properties": properties}


def _statements(proposal: Proposal, schema: Schema, stated: StatedTriples) -> Iterator[Statement]:
    """The statements of a proposal that are sure enough, with the names of things that the graph lacks."""
    for each in proposal.instances:
        if each.confidence < MIN_STATEMENT_CONFIDENCE:
            continue
        subject = each.subject_key or _iri("thing:", each.subject)
        predicate = TYPE if proposal.kind == "class" else proposal.key or _iri("", proposal.label)
        if proposal.key and not _may_have(subject, each, proposal.key, schema, stated):
            continue
        if not each.subject_key:
            yield Statement(subject, LABEL, _literal(each.subject))
        value = f"<{each.object_key}>" if each.object_key else _literal(each.object)
        yield Statement(subject, predicate, f"<{_iri('class:', proposal.label)}>" if predicate == TYPE else value)


def _may_have(subject: str, each: ExtractedTriple, key: str, schema: Schema, stated: StatedTriples) -> bool:
    """Whether a property of the graph allows the value, and does not have its only one."""
    predicate = schema.predicate_of.get(key)
    if predicate is None or not (predicate.has_links if each.object_key else predicate.has_literals):
        return False
    return not (predicate.functional and stated.with_subject(subject, key))


def _rules(statements: Sequence[Statement]) -> Iterator[str]:
    by_predicate: dict[str, list[Statement]] = defaultdict(list)
    for each in statements:
        by_predicate[each.predicate].append(each)
    for predicate, own in by_predicate.items():
        for start in range(0, len(own), MAX_RULE):
            rows = " ".join(f"(<{each.subject}> {each.value})" for each in own[start : start + MAX_RULE])
            yield f"CONSTRUCT {{ ?this <{predicate}> ?value }} WHERE {{ VALUES (?this ?value) {{ {rows} }} }}"


def _iri(kind: str, name: str) -> str:
    return f"{EXTRACTED_NAMESPACE}{kind}{'_'.join(name_tokens(name))}"


def _literal(text: str) -> str:
    return ntriples_literal(strip_control_characters(text), "", "")
