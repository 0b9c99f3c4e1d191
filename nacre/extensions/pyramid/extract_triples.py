"""Extract triples from texts into a layer of a graph: texts + Graph -> TextExtraction -> a published layer."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from agents.turn_view import NO_USAGE, Usage
from ingestion.stages import (
    build_folder,
    exclusive_writer,
    new_version_id,
    publish_layers,
    report_write_errors,
    switch_version,
)
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.extensions.pyramid.extractor import Extractor
from nacre.language.tokens import name_tokens
from nacre.records.facts import EXTRACTED_NAMESPACE, ExtractedTriple, Passage, SourceSentence
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.graph import Servers
from nacre.stores.sqlite.triples import TripleReader, write_layer

log = logging.getLogger(__name__)

ALONE = 500


@dataclass(frozen=True)
class TextExtraction:
    """What texts state in addition to the graph. `known` are triples that the graph has too, `sentences` counts the
    sentences, `by` is the extractor."""

    triples: tuple[ExtractedTriple, ...]
    known: tuple[ExtractedTriple, ...]
    sentences: int
    documents: int
    by: str
    usage: Usage = NO_USAGE


def normalise_name(text: str) -> str:
    """A name in the form for lookup in a layer.

    >>> normalise_name("University of Basel")
    'university of basel'
    """
    return " ".join(name_tokens(text))


def read_source_sentences(graph: Graph, texts: Sequence[str]) -> Iterator[SourceSentence]:
    """The sentences of the given texts, else of the graph's documents, document by document."""
    passages: Iterator[Passage]
    if texts:
        passages = service("documents", "passages")(texts)
    elif graph.passages is not None:
        stored = graph.passages
        ids = stored.written()
        passages = (each for start in range(0, len(ids), ALONE) for each in stored.get(ids[start : start + ALONE]))
    else:
        passages = iter(())
    for passage in passages:
        for sentence in passage.sentences:
            if sentence.document is not None:
                yield SourceSentence(sentence.text, sentence.document, sentence.start, sentence.end, passage.title)


async def extract_triples(
    graph: Graph,
    extractor: Extractor,
    texts: Sequence[str] = (),
    on_document: Callable[[str], None] = lambda document: None,
) -> TextExtraction:
    """The triples that the texts state, once for each sentence; writes nothing. Raises ConfigError if there are no
    texts, IngestionError for unreadable texts."""
    if graph.stored is None:
        raise ConfigError(f"Graph {graph.name!r} is attached; triples are extracted beside ingested graphs alone.")
    found: list[ExtractedTriple] = []
    usage, by, sentences, documents = NO_USAGE, "rules", 0, 0
    for document, group in groupby(read_source_sentences(graph, texts), key=lambda claim: claim.document):
        on_document(document)
        claims = list(group)
        sentences, documents = sentences + len(claims), documents + 1
        result = await extractor(claims, graph.lexicon)
        usage, by = usage + result.usage, by if " after " in by else result.by
        found += map(_without_completion, result.value)
    if not sentences:
        raise ConfigError(f"There is no text to read. Run: nacre extract TEXTS --graph {graph.name}")
    held = _held(graph, found)
    known = tuple(each for each, there in zip(found, held, strict=True) if there)
    new = tuple(each for each, there in zip(found, held, strict=True) if not there)
    return TextExtraction(new, known, sentences, documents, by, usage)


def _without_completion(triple: ExtractedTriple) -> ExtractedTriple:
    """The triple without keys that only an earlier completion gave, which reads other triples than these."""
    subject, relation, object_ = (
        "" if key.startswith(EXTRACTED_NAMESPACE) else key
        for key in (triple.subject_key, triple.relation_key, triple.object_key)
    )
    return replace(triple, subject_key=subject, relation_key=relation, object_key=object_)


def _held(graph: Graph, found: Sequence[ExtractedTriple]) -> list[bool]:
    """The triples that the graph has too: the same property with the same subject and object."""
    triples = TripleReader(graph.tables)

    def there(each: ExtractedTriple) -> bool:
        if not (each.subject_key and each.relation_key):
            return False
        values = {value for _, _, value in triples.with_subject(each.subject_key, each.relation_key)}
        return bool(values & {each.object_key, each.object})

    return [there(each) for each in found]


def publish_triples(
    home: Path, version: str, triples: Sequence[ExtractedTriple], condensed: Mapping[str, str] | None = None
) -> str:
    """Publish the triples as the layer of a version, replacing an earlier one; returns its id. `condensed` has the
    relations that are read as another one. Raises ConfigError if the version is no longer the current one."""
    with exclusive_writer(home):
        present = versions.read_pointer(home)
        if present is None or present.version != version:
            raise ConfigError(f"Graph {home.name!r} has changed meanwhile. Run the command again.")
        layers = new_version_id(datetime.now(UTC), sha256(version.encode()).hexdigest())
        with build_folder(home, versions.layers_folder(home, layers), Servers()) as folder:
            with report_write_errors(home):
                write_layer(folder / versions.EXTRACTED, triples, normalise_name, condensed=condensed)
            publish_layers(home, folder, layers)
        return layers


def remove_layers(home: Path) -> bool:
    """Remove the extracted layers of a graph; returns whether it had any."""
    with exclusive_writer(home):
        present = versions.read_pointer(home)
        if present is None or not present.layers:
            return False
        switch_version(home, replace(present, layers=""))
        with report_write_errors(home):
            versions.remove_unused_versions(home, Servers().remove_parts)
        return True
