"""Extract triples from texts into a layer of their own beside a graph: texts + Graph -> Extracts -> a layer."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, groupby
from pathlib import Path

from agents.extractor import Extractor
from agents.result import NOTHING, Usage
from ingestion.publish import building, new_version, point, publish_layers, writable, writer
from ingestion.read.documents.find import find_documents
from ingestion.read.documents.load import load
from ingestion.verbalise.texts import Seen, text_passages
from nacre.errors import ConfigError
from nacre.language.tokens import name_tokens
from nacre.records.extracted import Claim, Extracted
from nacre.records.facts import Passage
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.extracted_triples import write_layer
from nacre.stores.sqlite.triples import Triples

log = logging.getLogger(__name__)

ALONE = 500


@dataclass(frozen=True)
class Extracts:
    """What texts state beside the graph. `known` are triples that the graph holds itself, `sentences` how many were
    read, `by` who read them."""

    triples: tuple[Extracted, ...]
    known: tuple[Extracted, ...]
    sentences: int
    documents: int
    by: str
    usage: Usage = NOTHING


def name_form(text: str) -> str:
    """A name as it is looked up in a layer.

    >>> name_form("University of Basel")
    'university of basel'
    """
    return " ".join(name_tokens(text))


def claims_of(graph: Graph, texts: Sequence[str]) -> Iterator[Claim]:
    """The sentences of the texts that are given, else of those that the graph was made with, document by document."""
    passages: Iterator[Passage]
    if texts:
        seen = Seen()
        passages = chain.from_iterable(
            text_passages(each.document.name, each.text, seen)
            for each in load(find_documents(texts))
            if each.text is not None
        )
    elif graph.passages is not None:
        stored = graph.passages
        ids = stored.written()
        passages = (each for start in range(0, len(ids), ALONE) for each in stored.get(ids[start : start + ALONE]))
    else:
        passages = iter(())
    for passage in passages:
        for sentence in passage.sentences:
            if sentence.document is not None:
                yield Claim(sentence.text, sentence.document, sentence.start, sentence.end, passage.title)


async def extract(
    graph: Graph,
    extractor: Extractor,
    texts: Sequence[str] = (),
    on_document: Callable[[str], None] = lambda document: None,
) -> Extracts:
    """What the texts state, each triple once a sentence; writes nothing.

    Raises ConfigError where there is no text, IngestionError for texts that can't be read.
    """
    if graph.stored is None:
        raise ConfigError(f"Graph {graph.name!r} is attached; triples are extracted beside ingested graphs alone.")
    found: list[Extracted] = []
    usage, by, sentences, documents = NOTHING, "rules", 0, 0
    for document, group in groupby(claims_of(graph, texts), key=lambda claim: claim.document):
        on_document(document)
        claims = list(group)
        sentences, documents = sentences + len(claims), documents + 1
        result = await extractor(claims, graph.lexicon)
        usage, by = usage + result.usage, by if " after " in by else result.by
        found += result.value
    if not sentences:
        raise ConfigError(f"There is no text to read. Run: nacre extract TEXTS --graph {graph.name}")
    held = _held(graph, found)
    known = tuple(each for each, there in zip(found, held, strict=True) if there)
    new = tuple(each for each, there in zip(found, held, strict=True) if not there)
    return Extracts(new, known, sentences, documents, by, usage)


def _held(graph: Graph, found: Sequence[Extracted]) -> list[bool]:
    """Which of the triples the graph has itself: the same property between the same ends."""
    triples = Triples(graph.tables)

    def there(each: Extracted) -> bool:
        if not (each.subject_key and each.relation_key):
            return False
        values = {value for _, _, value in triples.of(each.subject_key, each.relation_key)}
        return bool(values & {each.object_key, each.object})

    return [there(each) for each in found]


def keep_triples(home: Path, version: str, triples: Sequence[Extracted]) -> str:
    """Publish the triples as the layer of a version, in the place of an earlier one; returns its id.

    Raises ConfigError where the version is no longer the present one.
    """

    def build(folder: Path) -> None:
        write_layer(folder / versions.EXTRACTED, triples, name_form)

    return keep_layer(home, version, build)


def keep_layer(home: Path, version: str, build: Callable[[Path], None]) -> str:
    """Publish what `build` writes into a folder as the layers of a version; returns their id."""
    with writer(home):
        present = versions.pointer(home)
        if present is None or present.version != version:
            raise ConfigError(f"Graph {home.name!r} has changed meanwhile. Run the command again.")
        layers = new_version(datetime.now(UTC), sha256(f"{version}".encode()).hexdigest())
        with building(home, versions.layers_folder(home, layers), None, None) as folder:
            with writable(home):
                build(folder)
            publish_layers(home, folder, layers)
        return layers


def remove_layers(home: Path) -> bool:
    """Show the graph without its extracted layers again; says whether it had some."""
    with writer(home):
        present = versions.pointer(home)
        if present is None or not present.layers:
            return False
        point(home, replace(present, layers=""))
        with writable(home):
            versions.clean(home)
        return True
