"""Index passages: passages.sqlite -> a full-text index, and vectors of passages that vector search helps to find."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError
from nacre.records.facts import Passage
from nacre.stores import versions
from nacre.stores.search.lexical import write_lexical_index
from nacre.stores.search.vectors import Collection, CollectionWriter, Embedder, EmbeddingCache, open_collection
from nacre.stores.sqlite.passages import Passages
from nacre.stores.versions import VectorsManifest

log = logging.getLogger(__name__)

BATCH = 512  # number of passages that are read and written at once

EMBEDDING_BATCH = 128  # number of passages that are embedded at once, which a kill loses

# characters and spaces from which on a literal is prose, such as a comment (docs/research/quality-history.md)
PROSE_LENGTH = (80, 8)

# embedded passages of the texts of one thing: 30,000 characters, from their beginning
MAX_PROSE_PASSAGES = 32

# passages of short facts are embedded up to so many in a graph (docs/research/quality-history.md)
MAX_FACT_PASSAGES = 2000

Progress = Callable[[int, int], None]


class VectorTarget(NamedTuple):
    """The destination of vectors: the graph's folder, the folder of the new set, and the server, if any."""

    home: Path
    folder: Path
    manifest: VectorsManifest
    qdrant_url: str | None
    qdrant_key: str | None


class VectorCounts(NamedTuple):
    """The number of vectors in a set, and of those computed for it."""

    total: int
    embedded: int


def index_words(passages: Passages, folder: Path, progress: Progress) -> int:
    """Build the full-text index of all passages in a new folder; returns their number."""

    def counted() -> Iterator[tuple[int, str, str]]:
        for done, passage in enumerate(passages.each()):
            if done % 4096 == 0:
                progress(done, passages.count)
            yield passage

    return write_lexical_index(counted(), folder)


def index_vectors(passages: Passages, place: VectorTarget, embedder: Embedder, progress: Progress) -> VectorCounts:
    """Write a vector for every passage that search by meaning helps. Those of the version before (same embedder) are
    copied, the rest embedded.

    A passage's id is made of its text, so that the same id means the same vector. What was embedded is kept through a
    kill, in a file beside the sets, and taken from there the next time. Raises ConfigError for an embedder or a server
    that does not work.
    """
    with (
        _earlier(place, embedder) as earlier,
        closing(EmbeddingCache(place.folder.with_name(versions.EMBEDDED), embedder.name)) as kept,
    ):
        ids = ids_to_embed(passages)
        known = kept.ids()
        if earlier is not None:
            known.update(i for chunk in _chunks(ids, BATCH) for i in earlier.fetch(chunk))
        missing = [i for i in ids if i not in known]
        done = len(ids) - len(missing)
        progress(done, len(ids))
        for chunk in _chunks(missing, EMBEDDING_BATCH):
            _embed(passages, kept, embedder, chunk)
            done += len(chunk)
            progress(done, len(ids))
        _write(ids, _writer(place, embedder), kept, earlier)
    return VectorCounts(len(ids), len(missing))


def ids_to_embed(passages: Passages) -> list[int]:
    """The ids of what search by meaning helps: documents, the texts of things from their beginning, and cards where
    there are at most `MAX_FACT_PASSAGES`; sorted."""
    prose: list[int] = []
    cards: list[int] = []
    for _, parts in groupby(_each(passages), key=attrgetter("key")):
        texts = 0
        for passage in parts:
            if not is_prose(passage):
                cards.append(passage.id)
                continue
            texts += passage.sentences[0].document is None
            if texts <= MAX_PROSE_PASSAGES:
                prose.append(passage.id)
    return sorted(prose + cards if len(cards) <= MAX_FACT_PASSAGES else prose)


def is_prose(passage: Passage) -> bool:
    """Whether a passage is part of a document or of a thing's long text; other passages have short facts.

    >>> from nacre.records.facts import Sentence
    >>> is_prose(Passage(1, "d.md", "Oaks", (Sentence("Tall.", None, "d.md", 0, 5),)))
    True
    >>> is_prose(Passage(2, "http://ex/oak", "Oak", (Sentence("Oak is a tree.", ("http://ex/oak", "a", "b")),)))
    False
    """
    length, spaces = PROSE_LENGTH
    return any(
        sentence.document is not None
        or (
            sentence.triple is not None
            and len(sentence.triple[2]) >= length
            and sentence.triple[2].count(" ") >= spaces
        )
        for sentence in passage.sentences
    )


def _write(ids: list[int], writer: CollectionWriter, kept: EmbeddingCache, earlier: Collection | None) -> None:
    try:
        for chunk in _chunks(ids, BATCH):
            found = kept.fetch(chunk)
            if earlier is not None and len(found) < len(chunk):
                found |= earlier.fetch([i for i in chunk if i not in found])
            writer.add(list(found), list(found.values()))
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


@contextmanager
def _working(embedder: Embedder) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # onnxruntime, fastembed and what they load from each raise their own kinds
        raise ConfigError(
            f"The embedder {embedder.name} can't be used: {error}. Set NACRE_EMBEDDER=none to go without vectors."
        ) from error


def _writer(place: VectorTarget, embedder: Embedder) -> CollectionWriter:
    with _working(embedder):
        size = embedder.size
    if place.manifest.collection is not None and place.qdrant_url is not None:
        from nacre.stores.search.vectors import ServerWriter

        return ServerWriter(place.qdrant_url, place.qdrant_key, place.manifest.collection, size)
    from nacre.stores.search.vectors import EdgeWriter

    return EdgeWriter(place.folder / versions.SHARD, size)


@contextmanager
def _earlier(place: VectorTarget, embedder: Embedder) -> Iterator[Collection | None]:
    """The vectors of the previous version, if the same embedder made them and they are readable."""
    collection = None
    try:
        pointer = versions.read_pointer(place.home)
        vectors = (pointer.vectors or pointer.earlier) if pointer is not None else None
        if vectors is not None and versions.read_vectors_manifest(place.home, vectors).embedder == embedder.name:
            collection = open_collection(place.home, vectors, place.qdrant_url, place.qdrant_key, patient=True)
    except Exception as error:  # any error of the old vectors: they are computed again
        log.warning("the earlier vectors can't be read, all passages are embedded: %s", error)
    try:
        yield collection
    finally:
        if collection is not None:
            collection.close()


def _each(passages: Passages) -> Iterator[Passage]:
    for chunk in _chunks(passages.written(), BATCH):
        yield from passages.get(chunk)


def _embed(passages: Passages, kept: EmbeddingCache, embedder: Embedder, ids: Sequence[int]) -> None:
    found = passages.get(ids)
    with _working(embedder):
        vectors = embedder.embed([f"{passage.title}\n{passage.text}" for passage in found])
    kept.add([passage.id for passage in found], vectors)


def _chunks(ids: list[int], size: int) -> Iterator[list[int]]:
    each = iter(ids)
    while chunk := list(islice(each, size)):
        yield chunk
