"""The state of a graph between ingests: what was made, which indexes are complete."""

import logging
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nacre.errors import ConfigError
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.search.vector_sets import open_collection
from nacre.stores.search.vectors import Embedder
from nacre.stores.servers import Servers
from nacre.stores.sqlite.tables import Tables
from nacre.stores.versions import Manifest, Pointer

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IngestResult:
    """The result of an ingest. `unchanged`: the version existed already. `texts` counts documents, `passages` those of
    documents and things, `vectors` the embedded passages, `embedded` those that this ingest embedded."""

    name: str
    version: str
    schema: Schema
    seconds_by_stage: dict[str, float]
    unchanged: bool = False
    passages: int = 0
    texts: int = 0
    vectors: int = 0
    embedded: int = 0


def ingest_result(home: Path, manifest: Manifest, unchanged: bool = False) -> IngestResult:
    """The result for the current version of a graph."""
    pointer = versions.read_pointer(home)
    vectors = pointer.vectors if pointer is not None and pointer.version == manifest.version else None
    count = versions.read_vectors_manifest(home, vectors).count if vectors is not None else 0
    tables = Tables(versions.version_folder(home, manifest.version) / versions.TABLES)
    with closing(tables):
        schema = tables.schema
    return IngestResult(home.name, manifest.version, schema, {}, unchanged, manifest.passages, manifest.texts, count)


def indexable_version(home: Path, data: Path) -> tuple[Pointer, Manifest]:
    """The current version of a graph with passages; raises ConfigError with the next command otherwise."""
    pointer = versions.read_pointer(home)
    if pointer is None:
        raise ConfigError(f"No graph named {home.name!r} in {data}/. Run: nacre ingest FILE.ttl --graph {home.name}")
    manifest = versions.read_manifest(home, pointer.version)
    if manifest.attached:
        raise ConfigError(
            f"Graph {home.name!r} is attached to {manifest.attached}: nothing of it is indexed here."
            f" To look at its schema again, run: nacre attach --refresh --graph {home.name}"
        )
    if not (versions.version_folder(home, pointer.version) / versions.PASSAGES).is_file():
        raise ConfigError(
            f"Graph {home.name!r} was ingested with --tables-only, there is nothing to index."
            f" Run: nacre ingest FILE.ttl --graph {home.name}"
        )
    return pointer, manifest


def has_vectors(home: Path, pointer: Pointer, embedder: Embedder, server: Servers) -> bool:
    """Whether the vectors of the current version are complete, made by this embedder, in this place, and readable."""
    if pointer.vectors is None:
        return False
    try:
        manifest = versions.read_vectors_manifest(home, pointer.vectors)
        if manifest.embedder != embedder.name or (manifest.collection is None) != (server.url is None):
            return False
        open_collection(home, pointer.vectors, server.url, server.key, patient=True).close()
    except Exception as error:  # each engine raises its own kinds of errors
        log.warning("the vectors of %s can't be read and are rebuilt: %s", home.name, error)
        return False
    return True


def has_word_index(folder: Path) -> bool:
    """Whether the full-text index of a version can be opened."""
    try:
        LexicalIndex(folder / versions.LEXICAL)
    except Exception as error:  # as above
        log.warning("the index of words in %s can't be read and is rebuilt: %s", folder, error)
        return False
    return True
