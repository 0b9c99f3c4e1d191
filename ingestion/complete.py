"""Complete the shown schema of a graph from its extracted triples: ExtractedLayer + Graph -> proposals -> tables.

The tables of a completed graph are in the folder of its layer. The stages of an ingest build them from the graph's own
triples and those of the proposals. The ingested tables stay unchanged.
"""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ingestion.export import export_triples, ntriples_literal
from ingestion.extract import normalise_name, publish_layer
from ingestion.layer.stored import load_layer_files, read_layer_files
from ingestion.read.sources import Source, Sources
from ingestion.stages import TABLES_ONLY, Inputs, OnStage, StageContext, run_stages
from ingestion.vocabulary import ALTERNATIVE, LABEL, TYPE
from nacre.errors import ConfigError
from nacre.extraction.resolve import MIN_STATEMENT_CONFIDENCE
from nacre.language.tokens import name_tokens
from nacre.pyramid.proposals import Array, find_proposals
from nacre.pyramid.relations import ExtractedRelation, condense_relations, group_relations, relation_similarity
from nacre.records.extracted import EXTRACTED_NAMESPACE, ExtractedTriple
from nacre.records.proposal import Proposal
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.extracted_triples import ExtractedLayer, write_layer
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import TripleReader

log = logging.getLogger(__name__)

# maximum number of compared relations, the most frequent ones (limits time and memory)
MAX_COMPARED = 800
NONE_EXTRACTED = "Nothing is extracted beside {0!r} yet. Run: nacre extract --apply --graph {0}"


@dataclass(frozen=True)
class SchemaCompletion:
    """The proposals, and which relations are condensed into another one."""

    proposals: tuple[Proposal, ...]
    condensed: Mapping[str, str]
    triples: int


def complete_schema(graph: Graph, embedder: Embedder, *, condensing: bool = True) -> SchemaCompletion:
    """What the extracted triples hold that the schema lacks, and their near-duplicate relations, unless they are not to
    be condensed; writes nothing.

    `graph` is shown as it was ingested. Raises ConfigError where nothing was extracted.
    """
    if graph.extracted is None:
        raise ConfigError(NONE_EXTRACTED.format(graph.name))
    lexicon = graph.lexicon
    labels = {group.relation: group.label for group in graph.schema.groups}

    def class_of(key: str) -> str:
        thing = lexicon.thing(key)
        return labels.get(thing.relation, thing.relation) if thing is not None else ""

    def embed(phrases: Sequence[str]) -> Array:
        return np.asarray(embedder.embed(list(phrases)), dtype=np.float64)

    triples = graph.extracted.all()
    known = group_relations(triples, class_of)
    condensed = _condensed(known, embed) if condensing else {}
    merged = group_relations(
        [replace(t, relation=condensed.get(t.relation.casefold(), t.relation)) for t in triples], class_of
    )
    keyed = [_with_key(each) for each in merged]
    found = find_proposals(keyed, graph.schema, embed)
    return SchemaCompletion(tuple(_with_names(each, condensed) for each in found), condensed, len(triples))


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
    layer = _layer(graph)
    triples, completed = layer.all(), layer.meta("completed")
    earlier = versions.layers_folder(home, graph.layers)

    def build(folder: Path) -> None:
        meta = {"completed": completed} if completed else {}
        write_layer(folder / versions.EXTRACTED, triples, normalise_name, condensed=condensed, meta=meta)
        for file in earlier.iterdir():
            if file.name not in (versions.EXTRACTED, versions.LOCK):
                (shutil.copytree if file.is_dir() else shutil.copyfile)(file, folder / file.name)

    return publish_layer(home, graph.version, build)


def publish_completion(
    home: Path, graph: Graph, completion: SchemaCompletion, annotations: Path | None, on_stage: OnStage
) -> tuple[str, int]:
    """Publish a completed schema as a layer of the version; returns the layer's id and the number of added triples.

    The layers of the graph stay applied; `annotations` is one more file, if any.
    """
    layer = _layer(graph)
    triples = layer.all()
    added = 0
    applied = read_layer_files(versions.version_folder(home, graph.version))
    layers = applied.replaced(load_layer_files((), annotations).files)

    def build(folder: Path) -> None:
        nonlocal added
        meta = {"completed": [[p.domain, p.label, p.support] for p in completion.proposals]}
        write_layer(folder / versions.EXTRACTED, triples, normalise_name, condensed=completion.condensed, meta=meta)
        base, more = folder / "base.nq", folder / "more.nt"
        with base.open("wb") as out:
            export_triples(graph.tables, out)
        lines = completion_triples(completion.proposals, TripleReader(graph.tables), graph.tables)
        added = len(lines)
        more.write_text("".join(lines), encoding="utf-8")
        files = [Source(str(base), "N_QUADS", "the graph", "")]
        files += [Source(str(more), "N_TRIPLES", "its texts", "")] if lines else []
        run_stages(TABLES_ONLY, Inputs(Sources(tuple(files)), (), layers), StageContext(folder, on_stage))
        base.unlink()
        more.unlink()

    return publish_layer(home, graph.version, build), added


def completion_triples(found: Sequence[Proposal], held: TripleReader, tables: Tables) -> list[str]:
    """The triples of the proposals as distinct lines of N-Triples: labels of properties, then facts."""
    lines: dict[str, None] = {}
    for proposal in found:
        if proposal.kind == "class":
            kind = _iri("class", proposal.label)
            lines[_line(kind, LABEL, ntriples_literal(proposal.label, "", ""))] = None
        for each in proposal.instances:
            if each.confidence >= MIN_STATEMENT_CONFIDENCE:
                lines |= dict.fromkeys(_of(proposal, each, held, tables))
        if proposal.kind == "attribute" and not proposal.key:
            key = _iri("", proposal.label)
            lines[_line(key, LABEL, ntriples_literal(proposal.label, "", ""))] = None
            names = [name for name in proposal.relations if name != proposal.label]
            lines |= dict.fromkeys(_line(key, ALTERNATIVE, ntriples_literal(name, "", "")) for name in names)
    return list(lines)


def _of(proposal: Proposal, each: ExtractedTriple, held: TripleReader, tables: Tables) -> list[str]:
    """The lines of one triple; none if the graph's property does not allow the value or already has its only one."""
    subject = each.subject_key or _iri("thing", each.subject)
    naming = [] if each.subject_key else [_line(subject, LABEL, ntriples_literal(each.subject, "", ""))]
    if proposal.kind == "class":
        return [*naming, _line(subject, TYPE, f"<{_iri('class', proposal.label)}>")]
    value = f"<{each.object_key}>" if each.object_key else ntriples_literal(each.object, "", "")
    if not proposal.key:
        return [*naming, _line(subject, _iri("", proposal.label), value)]
    predicate = tables.schema.predicate_of.get(proposal.key)
    if predicate is None or not (predicate.has_links if each.object_key else predicate.has_literals):
        return []
    if predicate.functional and held.with_subject(subject, proposal.key):
        return []
    return [*naming, _line(subject, proposal.key, value)]


def _layer(graph: Graph) -> ExtractedLayer:
    if graph.extracted is None:
        raise ConfigError(NONE_EXTRACTED.format(graph.name))
    return graph.extracted


def _iri(kind: str, name: str) -> str:
    return (
        f"{EXTRACTED_NAMESPACE}{kind}/{'_'.join(name_tokens(name))}"
        if kind
        else f"{EXTRACTED_NAMESPACE}{'_'.join(name_tokens(name))}"
    )


def _line(subject: str, predicate: str, value: str) -> str:
    return f"<{subject}> <{predicate}> {value} .\n"
