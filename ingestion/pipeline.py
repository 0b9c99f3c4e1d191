"""Ingest a graph: sources and texts -> a published version -> its vectors. Other layers give an ingested graph a new
version without its sources: tables and names are built from its triples, passages, documents and full-text index
copied. Passages have what such a layer derives after the next ingest."""

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from ingestion.documents import DocumentFile
from ingestion.index.passages import VectorTarget, index_vectors
from ingestion.layer.entries import PropertyEntry
from ingestion.layer.layer_file import LayerFiles, read_layer, read_layer_files
from ingestion.read.sources import ReadOptions, Source, Sources, fingerprint, rdf_files
from ingestion.stages import (
    NO_PROGRESS,
    OVERVIEW,
    STAGES,
    TABLES_ONLY,
    TRIPLES,
    WORDS_ONLY,
    Inputs,
    OnStage,
    Parsed,
    PassagesBuilt,
    Stage,
    StageContext,
    build_folder,
    exclusive_writer,
    matching_version,
    new_version_id,
    publish_vectors,
    publish_version,
    recorded_base,
    remove_unused,
    report_write_errors,
    run_stages,
    server_stage,
    switch_version,
    time_stage,
)
from nacre.errors import ConfigError, ToolError
from nacre.extension import service
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Servers, open_tables
from nacre.stores.lexical import LexicalIndex
from nacre.stores.sqlite.lexicon import spellings_folder
from nacre.stores.sqlite.passages import Documents, Passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.vectors import Embedder, open_collection, remove_embedding_cache
from nacre.stores.versions import Manifest, Pointer, VectorsManifest

log = logging.getLogger(__name__)

NO_EMBEDDER = "there was no embedder. Run: pip install 'nacre[bundled]' && nacre index --graph {}"

NO_VECTORS = "ingested with --no-vectors. Run: nacre index --graph {}"

TABLES = "ingested with --tables-only"


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


def ingest(
    sources: Sequence[str],
    name: str,
    *,
    data: Path,
    texts: Sequence[str] = (),
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
    reading: ReadOptions = ReadOptions(),  # noqa: B008 (immutable)
    tables_only: bool = False,
    no_vectors: bool = False,
    sparql: bool = False,
    tables: str = "",
    add: bool = False,
    embedder: Embedder | None = None,
    server: Servers = Servers(),  # noqa: B008 (immutable)
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Make `sources` (files, folders, globs, "-") and `texts` the content of graph `name`, or `add` them: `load_graph`,
    then `embed_graph`. Raises IngestionError for unreadable sources, ConfigError for invalid settings."""
    loaded = load_graph(
        sources,
        name,
        data=data,
        texts=texts,
        layers=layers,
        reading=reading,
        tables_only=tables_only,
        sparql=sparql,
        tables=tables,
        add=add,
        without=no_vectors_reason(name, no_vectors, embedder),
        server=server,
        on_stage=on_stage,
    )
    if tables_only or no_vectors or embedder is None:
        return loaded
    return _merge_results(loaded, embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage))


def no_vectors_reason(name: str, no_vectors: bool, embedder: Embedder | None) -> str:
    """Why a graph gets no vectors; "" if it gets them."""
    if no_vectors:
        return NO_VECTORS.format(name)
    return NO_EMBEDDER.format(name) if embedder is None else ""


def load_graph(
    sources: Sequence[str],
    name: str,
    *,
    data: Path,
    texts: Sequence[str] = (),
    loaded: Sequence[DocumentFile] = (),
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
    reading: ReadOptions = ReadOptions(),  # noqa: B008 (immutable)
    tables_only: bool = False,
    sparql: bool = False,
    tables: str = "",
    add: bool = False,
    without: str = "",
    server: Servers,
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Publish a version with tables, names and a full-text index in one step; after an error or Ctrl-C the earlier one
    stays. `without` says why `embed_graph` will add no vectors; `loaded` are documents beside `texts`, `sparql` adds a
    triple store, `tables` is the address of a PostgreSQL server for the tables ("": a file). `add`: what the graph has
    stays, but for a document or layer of the same name."""
    home = data / versions.check_name(name)
    address = service("server_tables", "address")(tables) if tables else ""
    with ExitStack() as stack:
        reading = replace(reading, base=reading.base or recorded_base(home), dates=_date_orders(layers))
        files = stack.enter_context(rdf_files(sources, reading))
        documents = service("documents", "find", "--texts")(texts, loaded) if texts or loaded else []
        stack.enter_context(exclusive_writer(home))
        with report_write_errors(home):
            versions.remove_damaged_pointer(home)
        given, copied = Inputs(files, tuple(documents), layers), list[Path]()
        pointer = versions.read_pointer(home) if add else None
        if pointer is not None:
            manifest = versions.read_manifest(home, pointer.version)
            folder = versions.version_folder(home, pointer.version)
            given = stack.enter_context(_with_stored(given, home, manifest, folder, server))
            address, sparql = address or manifest.tables, sparql or (folder / versions.TRIPLES).is_dir()
            copied = [each for each in (folder / versions.SHEETS,) if each.is_dir()]
        inputs = fingerprint(given.sources, given.documents, given.layers)
        left_out = dict.fromkeys(("lexical", "vector"), TABLES) if tables_only else {}
        without = TABLES if tables_only else without
        present = matching_version(home, inputs, left_out, address)
        if present and address and not _has_tables(versions.version_folder(home, present.version), server.databases):
            present = None
        if present and (not sparql or (versions.version_folder(home, present.version) / versions.TRIPLES).is_dir()):
            _record_reason(home, without)
            # the ingest that made it may have been killed during its cleanup
            remove_unused(home, server)
            return ingest_result(home, present, unchanged=True)
        wanted = Manifest(new_version_id(datetime.now(UTC), inputs), inputs=inputs, unavailable=left_out)
        wanted = replace(wanted, tables=address, base=reading.base)
        stages = (*(TABLES_ONLY if tables_only else STAGES), *((TRIPLES,) if sparql else ()))
        stages = (*stages, server_stage(address, name, server.databases)) if address else stages
        extracted = pointer.layers if pointer is not None else ""
        return build_version(home, wanted, given, stages, without, server, on_stage, copied, extracted)


@contextmanager
def _with_stored(given: Inputs, home: Path, manifest: Manifest, folder: Path, server: Servers) -> Iterator[Inputs]:
    """The inputs added to those of a version: its triples with what was left out, and its documents, as files that
    exist in the `with` block; and its layers."""
    from ingestion.index.triples import export_triples
    from ingestion.report import read_omissions

    if manifest.attached:
        raise ConfigError(f"Graph {home.name!r} is attached to {manifest.attached}: nothing can be added to it.")
    with TemporaryDirectory(prefix="nacre-stored-") as scratch:
        triples, documents = Path(scratch) / "triples.nq", dict[str, DocumentFile]()
        with closing(open_tables(folder, server.databases)) as tables, triples.open("wb") as out:
            export_triples(tables, out)
            left = read_omissions(tables).listed
        if (folder / versions.DOCUMENTS).is_file():
            with closing(Documents(folder / versions.DOCUMENTS)) as stored:
                write_loaded = service("documents", "write")
                for number, each in enumerate(stored.all()):
                    path = Path(scratch) / f"{number:06}.loaded"
                    write_loaded(path, each.title, list(each.parts()))
                    documents[each.name] = DocumentFile(path, each.name, each.source)
        documents.update((each.name, each) for each in given.documents)
        source = Source(str(triples), "N_QUADS", f"what {home.name!r} has", triples.name)
        stored_files = (source,) if triples.stat().st_size else ()
        files = replace(given.sources, files=(*stored_files, *given.sources.files), left=(*left, *given.sources.left))
        in_order = tuple(each for _, each in sorted(documents.items()))
        yield Inputs(files, in_order, read_layer_files(folder).replaced(given.layers.files))


def embed_graph(
    name: str, *, data: Path, embedder: Embedder, server: Servers, on_stage: OnStage = NO_PROGRESS
) -> IngestResult:
    """Build the vectors of the current version as a new set and switch readers to it; those made before a kill are
    kept. Nothing if this embedder made them. Raises ConfigError with the next step if the embedder or server fails."""
    home = data / versions.check_name(name)
    with exclusive_writer(home):
        pointer, manifest = indexable_version(home, data)
        if has_vectors(home, pointer, embedder, server):
            return ingest_result(home, manifest)
        stamp = new_version_id(datetime.now(UTC), embedder.name.encode().hex())
        vectors = f"{manifest.version}-{stamp}"
        wanted = VectorsManifest(manifest.version, embedder.name, f"nacre_{name}_{vectors}" if server.url else None)
        place = versions.vectors_folder(home, vectors)
        with build_folder(home, place, server) as folder:
            with report_write_errors(home):
                # written before anything on the server, so that the next writer can remove the remains of a killed one
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
                remove_embedding_cache(place.with_name(versions.EMBEDDED))
        return replace(ingest_result(home, manifest), seconds_by_stage=seconds, embedded=made.embedded)


def index_graph(
    name: str,
    *,
    data: Path,
    embedder: Embedder | None,
    server: Servers = Servers(),  # noqa: B008 (immutable)
    on_stage: OnStage = NO_PROGRESS,
) -> IngestResult:
    """Complete the vectors of a graph, or rebuild them for another embedder; both indexes in a new version if they are
    complete or the full-text index is unreadable. Raises ConfigError if ingested with --tables-only."""
    home = data / versions.check_name(name)
    with exclusive_writer(home):
        pointer, manifest = indexable_version(home, data)
        complete = embedder is None or has_vectors(home, pointer, embedder, server)
        folder = versions.version_folder(home, manifest.version)
        if complete or not has_word_index(folder):
            wanted = replace(manifest, version=new_version_id(datetime.now(UTC), manifest.inputs))
            copied = [folder / file for file in (versions.TABLES, versions.LEXICON, versions.PASSAGES)]
            copied.append(spellings_folder(folder / versions.LEXICON))
            optional = (folder / versions.DOCUMENTS, folder / versions.OVERVIEW, folder / versions.SERVER)
            copied += [file for file in optional if file.is_file()]
            copied += [folder / each for each in (versions.TRIPLES, versions.SHEETS) if (folder / each).is_dir()]
            made = PassagesBuilt(manifest.passages, manifest.texts)
            without = no_vectors_reason(name, False, embedder)
            loaded = build_version(home, wanted, made, WORDS_ONLY, without, server, on_stage, copied, pointer.layers)
        else:
            loaded = ingest_result(home, manifest)
    if embedder is None:
        return loaded
    return _merge_results(loaded, embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage))


def build_version(
    home: Path,
    wanted: Manifest,
    given: Inputs | PassagesBuilt,
    stages: Sequence[Stage],
    without: str,
    server: Servers,
    on_stage: OnStage,
    copied: Sequence[Path] = (),
    layers: str = "",
) -> IngestResult:
    """Run the stages in a temporary folder, each on the result of the previous one, and publish it with the triples
    extracted from texts that are in `layers`."""
    with build_folder(home, versions.version_folder(home, wanted.version), server) as folder:
        with report_write_errors(home):
            for file in copied:
                (shutil.copytree if file.is_dir() else shutil.copyfile)(file, folder / file.name)
        with report_write_errors(home):
            made, seconds = run_stages(stages, given, StageContext(folder, on_stage))
        manifest = replace(wanted, passages=made.passages, texts=made.texts)
        with time_stage("publish", on_stage) as taken:
            publish_version(home, folder, manifest, without, layers)
    return replace(ingest_result(home, manifest), seconds_by_stage=seconds | taken)


def _has_tables(folder: Path, limits: DatabaseLimits) -> bool:
    """Whether the tables of a version can be read on their server."""
    try:
        with closing(open_tables(folder, limits)) as tables:
            tables.check_answers(5.0)
    except (ToolError, ConfigError) as error:
        log.info("%s is built again: %s", folder.name, error)
        return False
    return True


def _record_reason(home: Path, without: str) -> None:
    pointer = versions.read_pointer(home)
    if pointer is not None and pointer.without != without and (without or pointer.vectors is None):
        earlier = pointer.vectors or pointer.earlier
        switch_version(home, replace(pointer, vectors=None, earlier=earlier, without=without))


def _merge_results(loaded: IngestResult, made: IngestResult) -> IngestResult:
    seconds = loaded.seconds_by_stage | made.seconds_by_stage
    return replace(made, seconds_by_stage=seconds, unchanged=loaded.unchanged and not made.seconds_by_stage)


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


# what does not depend on a layer
_KEPT = (versions.PASSAGES, versions.LEXICAL, versions.DOCUMENTS, versions.SHEETS)


def change_layers(
    name: str,
    change: Callable[[LayerFiles], LayerFiles],
    *,
    data: Path,
    server: Servers,
    on_stage: OnStage,
    embedder: Embedder | None = None,
) -> IngestResult:
    """Publish a version with changed layers; the present one answers until then, and stays after an error. Raises
    IngestionError for a layer that can't be applied, ConfigError for an attached graph."""
    home = data / versions.check_name(name)
    with exclusive_writer(home):
        pointer = versions.read_pointer(home)
        if pointer is None:
            raise ConfigError(f"No graph named {name!r} in {data}/. Run: nacre ingest FILE.ttl --graph {name}")
        manifest = versions.read_manifest(home, pointer.version)
        if manifest.attached:
            raise ConfigError(f"Graph {name!r} is attached to {manifest.attached}: its triples are not here.")
        folder = versions.version_folder(home, pointer.version)
        layers = change(read_layer_files(folder))
        inputs = blake2b(f"{manifest.inputs}{layers}".encode(), digest_size=16).hexdigest()
        wanted = replace(manifest, version=new_version_id(datetime.now(UTC), inputs), inputs=inputs)
        kept = [folder / file for file in _KEPT if (folder / file).exists()]

        def read_version(given: Inputs, context: StageContext) -> object:
            from ingestion.report import version_facts

            return Parsed(given, version_facts(folder, server.databases))

        def keep_passages(built: object, context: StageContext) -> PassagesBuilt:
            return PassagesBuilt(manifest.passages, manifest.texts)

        _, *tables = TABLES_ONLY
        stages = [Stage("read", read_version), *tables, OVERVIEW, Stage("passages", keep_passages)]
        stages += [TRIPLES] if (folder / versions.TRIPLES).is_dir() else []
        if manifest.tables:
            stages.append(server_stage(manifest.tables, name, server.databases))
        given = Inputs(Sources(()), (), layers)
        loaded = build_version(home, wanted, given, stages, pointer.without, server, on_stage, kept, pointer.layers)
    if embedder is None or pointer.vectors is None:
        return loaded
    return embed_graph(name, data=data, embedder=embedder, server=server, on_stage=on_stage)


def _date_orders(layers: LayerFiles) -> dict[str, Literal["dmy", "mdy"]]:
    """The order of dates that layers state, by the names of columns in small letters."""
    stating = (each for each in layers.files if "dates" in each.text)
    entries = (entry for each in stating for entry in read_layer(Path(each.name), each.text).entries)
    return {e.key.casefold(): e.dates for e in entries if isinstance(e, PropertyEntry) and e.dates}
