"""Make passages searchable: passages.sqlite -> an index of words and one of vectors."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from records.errors import ConfigError
from stores import versions
from stores.catalog import open_collection
from stores.lexical import write_lexical
from stores.passages import Passages
from stores.vectors import Collection, CollectionWriter, Embedder
from stores.versions import Manifest

log = logging.getLogger(__name__)

BATCH = 512
Progress = Callable[[int, int], None]


class Place(NamedTuple):
    """Where vectors go: the graph's home, the folder of the version in the making, and the server, if there is one."""

    home: Path
    folder: Path
    manifest: Manifest
    qdrant_url: str | None
    qdrant_key: str | None


def index_words(passages: Passages, folder: Path, progress: Progress) -> int:
    """Index the words of all passages in a new folder; returns how many passages there are."""

    def counted() -> Iterator[tuple[int, str, str]]:
        for done, passage in enumerate(passages.each()):
            if done % 4096 == 0:
                progress(done, passages.count)
            yield passage

    return write_lexical(counted(), folder)


def index_vectors(passages: Passages, place: Place, embedder: Embedder, progress: Progress) -> int:
    """Write a vector for every passage; those of the version before (same embedder) are copied, the rest embedded.

    A passage's id is made of its text, so that the same id means the same vector. Returns how many were embedded;
    raises ConfigError for an embedder that does not work, and leaves no vectors then.
    """
    writer = _writer(place, embedder)
    try:
        with _earlier(place, embedder) as earlier:
            embedded = _write(passages, writer, embedder, earlier, progress)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    return embedded


def _write(
    passages: Passages, writer: CollectionWriter, embedder: Embedder, earlier: Collection | None, progress: Progress
) -> int:
    embedded = copied = 0
    waiting: list[int] = []
    ids = iter(passages.ids())
    while chunk := list(islice(ids, BATCH)):
        kept = earlier.fetch(chunk) if earlier is not None else {}
        if kept:
            writer.add(list(kept), list(kept.values()))
        waiting += [i for i in chunk if i not in kept]
        copied += len(kept)
        while len(waiting) >= BATCH:
            embedded += _embed(passages, writer, embedder, waiting[:BATCH])
            del waiting[:BATCH]
        progress(copied + embedded, passages.count)
    for start in range(0, len(waiting), BATCH // 4):
        embedded += _embed(passages, writer, embedder, waiting[start : start + BATCH // 4])
        progress(copied + embedded, passages.count)
    return embedded


@contextmanager
def _working(embedder: Embedder) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # onnxruntime, fastembed and what they load from each raise their own kinds
        raise ConfigError(
            f"The embedder {embedder.name} can't be used: {error}. Set NACRE_EMBEDDER=none to go without vectors."
        ) from error


def _writer(place: Place, embedder: Embedder) -> CollectionWriter:
    with _working(embedder):
        size = embedder.size
    if place.manifest.collection is not None and place.qdrant_url is not None:
        from stores.vectors_server import ServerWriter

        return ServerWriter(place.qdrant_url, place.qdrant_key, place.manifest.collection, size)
    from stores.vectors_edge import EdgeWriter

    return EdgeWriter(place.folder / versions.VECTORS, size)


@contextmanager
def _earlier(place: Place, embedder: Embedder) -> Iterator[Collection | None]:
    """The vectors of the version before, if the same embedder made them and they can be read."""
    collection = None
    try:
        version = versions.current(place.home)
        if version is not None:
            manifest = versions.manifest(place.home, version)
            if manifest.embedder == embedder.name:
                folder = versions.version_folder(place.home, version)
                collection = open_collection(folder, manifest, place.qdrant_url, place.qdrant_key, patient=True)
    except Exception as error:  # whatever is wrong with the old vectors, new ones can be made
        log.warning("the earlier vectors can't be read, all passages are embedded: %s", error)
    try:
        yield collection
    finally:
        if collection is not None:
            collection.close()


def _embed(passages: Passages, writer: CollectionWriter, embedder: Embedder, ids: list[int]) -> int:
    found = passages.get(ids)
    with _working(embedder):
        vectors = embedder.embed([f"{passage.title}\n{passage.text}" for passage in found])
    writer.add([passage.id for passage in found], vectors)
    return len(found)
