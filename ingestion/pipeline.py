"""The whole way of the data: sources and texts -> a published version of a graph -> its vectors."""

import logging
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ingestion.index.passages import VectorTarget, index_vectors
from ingestion.publish import (
    build_folder,
    exclusive_writer,
    matching_version,
    new_version_id,
    publish_vectors,
    publish_version,
    remove_unused,
    report_write_errors,
    switch_version,
)
from ingestion.read.documents.find import find_documents
from ingestion.read.inputs import fingerprint, rdf_files
from ingestion.read.sources import ReadOptions
from ingestion.stages import (
    STAGES,
    TABLES_ONLY,
    TRIPLES,
    WORDS_ONLY,
    Inputs,
    OnStage,
    PassagesBuilt,
    Stage,
    StageContext,
    run_stages,
    time_stage,
)
from nacre.errors import ConfigError, IngestionError
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.search import embedding_cache as embedded
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.search.vector_sets import open_collection
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.lexicon_file import spellings_folder
from nacre.stores.sqlite.passages import Passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.versions import Manifest, Pointer, VectorsManifest

log = logging.getLogger(__name__)

NO_PROGRESS: OnStage = lambda stage, done, total: None  # noqa: E731
NO_EMBEDDER = "there was no embedder. Run: pip install 'nacre[bundled]' && nacre index --graph {}"
NO_VECTORS = "ingested with --no-vectors. Run: nacre index --graph {}"
TABLES = "ingested with --tables-only"


@dataclass(frozen=True)
class IngestResult:
    """What an ingest made. `matching_version`: the version was there already; `texts` counts documents, `passages`
    theirs and those of the things, `vectors` the passages that search by meaning finds, `embedded` those embedded just
    now."""

    name: str
    version: str
    schema: Schema
    seconds_by_stage: dict[str, float]
    unchanged: bool = False
    passages: int = 0
    texts: int = 0
    vectors: int = 0
    embedded: int = 0


@dataclass(frozen=True)
class VectorServer:
    """The Qdrant server where vectors go; without a URL they go to the data folder."""

    url: str | None = None
    key: str | None = None


def ingest(
    sources: Sequence[str],
    name: str,
    *,
    data: Path,
    texts: Sequence[str] = (),
    annotations: Path | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 (immutable)
    tables_only: bool = False,
    no_vectors: bool = False,
    sparql: bool = False,
    embedder: Embedder | None = None,
    qdrant_url: str | None = None,
    qdrant_key: str | None = None,
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Make `sources` (files, folders, globs, "-") and `texts` the whole content of graph `name`: `load_graph`, then
    `embed_graph`.

    Readers see the new version as soon as its tables, names and words are there, and its vectors later. Raises
    IngestionError for what can't be read, ConfigError for the rest.
    """
    server = VectorServer(qdrant_url, qdrant_key)
    loaded = load_graph(
        sources,
        name,
        data=data,
        texts=texts,
        annotations=annotations,
        reading=reading,
        tables_only=tables_only,
        sparql=sparql,
        without=no_vectors_reason(name, no_vectors, embedder),
        server=server,
        on_stage=on_stage,
    )
    if tables_only or no_vectors or embedder is None:
        return loaded
    return _after(loaded, embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage))


def no_vectors_reason(name: str, no_vectors: bool, embedder: Embedder | None) -> str:
    """Why a graph is to have no vectors; "" where it is to have them."""
    if no_vectors:
        return NO_VECTORS.format(name)
    return NO_EMBEDDER.format(name) if embedder is None else ""


def load_graph(
    sources: Sequence[str],
    name: str,
    *,
    data: Path,
    texts: Sequence[str] = (),
    annotations: Path | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 (immutable)
    tables_only: bool = False,
    sparql: bool = False,
    without: str = "",
    server: VectorServer,
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Publish a version with tables, names and an index of words; vectors are left to `embed_graph`, or `without` says
    why there will be none; `sparql` adds a store of triples.

    Readers see it at its end, at once, or never: on any error or Ctrl-C the earlier one stays. The same input again is
    recognised before parsing.
    """
    home = data / versions.check_name(name)
    with ExitStack() as stack:
        files = stack.enter_context(rdf_files(sources, reading))
        documents = find_documents(texts)
        if annotations is not None and not annotations.is_file():
            raise IngestionError(f"{annotations}: no such file. Check the path given to --annotations.")
        stack.enter_context(exclusive_writer(home))
        with report_write_errors(home):
            versions.remove_damaged_pointer(home)
        inputs = fingerprint(files, documents, annotations)
        left_out = dict.fromkeys(("lexical", "vector"), TABLES) if tables_only else {}
        without = TABLES if tables_only else without
        present = matching_version(home, inputs, left_out)
        if present and (not sparql or (versions.version_folder(home, present.version) / versions.TRIPLES).is_dir()):
            _explained(home, without)
            # the ingest that made it may have been killed while it cleaned up
            remove_unused(home, server.url, server.key)
            return _ingested(home, present, unchanged=True)
        wanted = Manifest(new_version_id(datetime.now(UTC), inputs), inputs=inputs, unavailable=left_out)
        given = Inputs(files, tuple(documents), annotations)
        stages = (*(TABLES_ONLY if tables_only else STAGES), *((TRIPLES,) if sparql else ()))
        return _build(home, wanted, given, stages, without, server, on_stage)


def embed_graph(
    name: str, *, data: Path, embedder: Embedder, server: VectorServer, on_stage: OnStage = NO_PROGRESS
) -> IngestResult:
    """Make the vectors of the present version, as a set of their own, and switch the readers to it.

    Does nothing where they are there, made by this embedder. What was embedded before a kill or Ctrl-C is not embedded
    again. Raises ConfigError, with what to do, where the embedder or the server does not work.
    """
    home = data / versions.check_name(name)
    with exclusive_writer(home):
        pointer, manifest = _present(home, data)
        if _have_vectors(home, pointer, embedder, server):
            return _ingested(home, manifest)
        stamp = new_version_id(datetime.now(UTC), embedder.name.encode().hex())
        vectors = f"{manifest.version}-{stamp}"
        wanted = VectorsManifest(manifest.version, embedder.name, f"nacre_{name}_{vectors}" if server.url else None)
        place = versions.vectors_folder(home, vectors)
        with build_folder(home, place, server.url, server.key) as folder:
            with report_write_errors(home):
                # before anything is made on a server, so that the next writer knows what a killed one left there
                versions.write_manifest(folder, wanted)
            passages = Passages(versions.version_folder(home, manifest.version) / versions.PASSAGES)
            with closing(passages), time_stage("vectors", on_stage) as seconds, report_write_errors(home):
                made = index_vectors(
                    passages,
                    VectorTarget(home, folder, wanted, server.url, server.key),
                    embedder,
                    lambda done, total: on_stage("vectors", done, total),
                )
                publish_vectors(home, folder, vectors, replace(wanted, count=made.total))
                embedded.remove_embedding_cache(place.with_name(versions.EMBEDDED))
        return replace(_ingested(home, manifest), seconds_by_stage=seconds, embedded=made.embedded)


def index_graph(
    name: str,
    *,
    data: Path,
    embedder: Embedder | None,
    qdrant_url: str | None = None,
    qdrant_key: str | None = None,
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Complete the vectors of a graph, or make them for another embedder. Where there is nothing to complete, or the
    index of words can't be read, both are built anew, as a version of its own.

    Its tables and passages are taken as they are. Raises ConfigError if it was ingested with --tables-only.
    """
    home = data / versions.check_name(name)
    server = VectorServer(qdrant_url, qdrant_key)
    with exclusive_writer(home):
        pointer, manifest = _present(home, data)
        complete = embedder is None or _have_vectors(home, pointer, embedder, server)
        folder = versions.version_folder(home, manifest.version)
        if complete or not _have_words(folder):
            wanted = replace(manifest, version=new_version_id(datetime.now(UTC), manifest.inputs))
            copied = [folder / file for file in (versions.TABLES, versions.LEXICON, versions.PASSAGES)]
            copied.append(spellings_folder(folder / versions.LEXICON))
            copied += [folder / versions.DOCUMENTS] if (folder / versions.DOCUMENTS).is_file() else []
            copied += [folder / versions.TRIPLES] if (folder / versions.TRIPLES).is_dir() else []
            made = PassagesBuilt(manifest.passages, manifest.texts)
            without = no_vectors_reason(name, False, embedder)
            loaded = _build(home, wanted, made, WORDS_ONLY, without, server, on_stage, copied)
        else:
            loaded = _ingested(home, manifest)
    if embedder is None:
        return loaded
    return _after(loaded, embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage))


def _build(
    home: Path,
    wanted: Manifest,
    given: Inputs | PassagesBuilt,
    stages: Sequence[Stage],
    without: str,
    server: VectorServer,
    on_stage: OnStage,
    copied: Sequence[Path] = (),
) -> IngestResult:
    """Run the stages in a folder aside, each on what the one before gave, and publish it."""
    with build_folder(home, versions.version_folder(home, wanted.version), server.url, server.key) as folder:
        with report_write_errors(home):
            for file in copied:
                (shutil.copytree if file.is_dir() else shutil.copyfile)(file, folder / file.name)
        with report_write_errors(home):
            made, seconds = run_stages(stages, given, StageContext(folder, on_stage))
        manifest = replace(wanted, passages=made.passages, texts=made.texts)
        with time_stage("publish", on_stage) as taken:
            publish_version(home, folder, manifest, without)
    return replace(_ingested(home, manifest), seconds_by_stage=seconds | taken)


def _present(home: Path, data: Path) -> tuple[Pointer, Manifest]:
    pointer = versions.read_pointer(home)
    if pointer is None:
        raise ConfigError(f"No graph named {home.name!r} in {data}/. Run: nacre ingest FILE.ttl --graph {home.name}")
    manifest = versions.read_manifest(home, pointer.version)
    if manifest.endpoint:
        raise ConfigError(
            f"Graph {home.name!r} is attached to {manifest.endpoint}: nothing of it is indexed here."
            f" To look at its schema again, run: nacre attach --refresh --graph {home.name}"
        )
    if not (versions.version_folder(home, pointer.version) / versions.PASSAGES).is_file():
        raise ConfigError(
            f"Graph {home.name!r} was ingested with --tables-only, there is nothing to index."
            f" Run: nacre ingest FILE.ttl --graph {home.name}"
        )
    return pointer, manifest


def _explained(home: Path, without: str) -> None:
    """Keep why the present version is without vectors, or that they are to come."""
    pointer = versions.read_pointer(home)
    if pointer is not None and pointer.without != without and (without or pointer.vectors is None):
        earlier = pointer.vectors or pointer.earlier
        switch_version(home, replace(pointer, vectors=None, earlier=earlier, without=without))


def _have_vectors(home: Path, pointer: Pointer, embedder: Embedder, server: VectorServer) -> bool:
    """Whether the vectors of the present version are complete, made by this embedder, here, and can be opened."""
    if pointer.vectors is None:
        return False
    try:
        manifest = versions.read_vectors_manifest(home, pointer.vectors)
        if manifest.embedder != embedder.name or (manifest.collection is None) != (server.url is None):
            return False
        open_collection(home, pointer.vectors, server.url, server.key, patient=True).close()
    except Exception as error:  # the stores' engines each raise their own kinds
        log.warning("the vectors of %s can't be read and are made anew: %s", home.name, error)
        return False
    return True


def _have_words(folder: Path) -> bool:
    try:
        LexicalIndex(folder / versions.LEXICAL).close()
    except Exception as error:  # as above
        log.warning("the index of words in %s can't be read and is made anew: %s", folder, error)
        return False
    return True


def _after(loaded: IngestResult, made: IngestResult) -> IngestResult:
    seconds = loaded.seconds_by_stage | made.seconds_by_stage
    return replace(made, seconds_by_stage=seconds, unchanged=loaded.unchanged and not made.seconds_by_stage)


def _ingested(home: Path, manifest: Manifest, unchanged: bool = False) -> IngestResult:
    pointer = versions.read_pointer(home)
    vectors = pointer.vectors if pointer is not None and pointer.version == manifest.version else None
    count = versions.read_vectors_manifest(home, vectors).count if vectors is not None else 0
    tables = Tables(versions.version_folder(home, manifest.version) / versions.TABLES)
    with closing(tables):
        schema = tables.schema
    return IngestResult(home.name, manifest.version, schema, {}, unchanged, manifest.passages, manifest.texts, count)
