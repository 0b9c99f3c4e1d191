"""The stages of an ingest, each a function of the one before: Inputs -> ... -> PassagesBuilt -> a published version.
The last one publishes a finished version in one step: temporary folder -> NAME/current."""

import errno
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ingestion.documents import DocumentFile
from ingestion.index.lexicon import write_names
from ingestion.index.passages import index_words, reported
from ingestion.index.triples import write_triples
from ingestion.induce.layout import Layout, induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.layer.apply import layer_facts
from ingestion.layer.layer_file import LayerFiles, write_layer_files
from ingestion.meaning.derive import STORED_RULES, Rule, all_rules, join_spellings
from ingestion.read.facts import Facts
from ingestion.read.parse import read_sources as read_sources
from ingestion.read.sources import FILE_ADDRESS, Sources
from nacre.errors import ConfigError, IngestionError, NacreError
from nacre.extension import service, services
from nacre.records.schema import LOCAL, Schema
from nacre.records.threads import collection_paused
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Servers
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.passages import DocumentsWriter, Passages, PredicateNumbers, write_passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.versions import BUILDING, LOCK, Manifest, Pointer, VectorsManifest, flush_and_rename

log = logging.getLogger(__name__)

OnStage = Callable[[str, int, int], None]

NO_PROGRESS: OnStage = lambda stage, done, total: None  # noqa: E731


class StageContext(NamedTuple):
    """The folder that the stages write to, and the progress callback (stage, done, total)."""

    folder: Path
    progress: OnStage


class Inputs(NamedTuple):
    """The user's input: RDF files, documents, semantic layers."""

    sources: Sources
    documents: tuple[DocumentFile, ...]
    layers: LayerFiles = LayerFiles()


class Parsed(NamedTuple):
    """The parsed triples."""

    inputs: Inputs
    facts: Facts


class TablesBuilt(NamedTuple):
    """The tables are written; `layout` has the columns of every predicate."""

    inputs: Inputs
    facts: Facts
    layout: Layout
    schema: Schema


class NamesBuilt(NamedTuple):
    """The lexicon is written too."""

    inputs: Inputs
    facts: Facts
    schema: Schema


class PassagesBuilt(NamedTuple):
    """The number of written passages, and of documents."""

    passages: int = 0
    texts: int = 0


class Stage(NamedTuple):
    """The name shown as progress, and the function: (previous result, context) -> next result."""

    name: str
    run: Callable[[Any, StageContext], object]


def parse_sources(inputs: Inputs, context: StageContext) -> Parsed:
    """RDF and tables -> facts."""
    return Parsed(
        inputs, read_sources(inputs.sources, context.folder / versions.SHEETS, partial(context.progress, "parse"))
    )


def build_tables(parsed: Parsed, context: StageContext, rules: Sequence[Rule] = ()) -> TablesBuilt:
    """Facts -> SQLite."""
    inputs, facts = parsed
    applied = layer_facts(facts, inputs.layers)
    write_layer_files(context.folder, inputs.layers)
    used = [rule for rule in rules or all_rules() if inputs.layers.spellings or rule is not join_spellings]
    layout = induce_layout(applied.facts, applied.layer, used)
    schema = write_layout(layout, context.folder / versions.TABLES, applied.layer)
    return TablesBuilt(inputs, applied.facts, layout, schema)


def build_names(built: TablesBuilt, context: StageContext) -> NamesBuilt:
    """Layout and schema -> the lexicon."""
    write_names(built.layout, built.schema, context.folder / versions.LEXICON)
    return NamesBuilt(built.inputs, built.facts, built.schema)


def build_overview(named: NamesBuilt, context: StageContext) -> NamesBuilt:
    """Tables and lexicon -> what questions about the graph as a whole need."""
    for write in services("overview"):
        write(context.folder, named.schema)
    return named


def build_passages(named: NamesBuilt, context: StageContext) -> PassagesBuilt:
    """Facts, schema and documents -> passages."""
    folder, documents, predicates = context.folder, named.inputs.documents, PredicateNumbers(count().__next__)
    with (
        closing(Lexicon(folder / versions.LEXICON, named.schema)) as lexicon,
        DocumentsWriter(folder / versions.DOCUMENTS) as writer,
    ):
        makers = services("fact_passages")
        made = (make(named.facts, named.schema, predicates) for make in makers)
        passages: Iterator[Any] = chain.from_iterable(made)
        if documents:
            of_documents = service("documents", "verbalise")
            strict = named.inputs.sources.reading.strict
            passages = chain(passages, of_documents(documents, lexicon, writer, strict=strict))
        passages = reported(passages, lambda done: context.progress("verbalise", done, 0))
        written = write_passages(passages, folder / versions.PASSAGES, predicates)
    if documents and not writer.count and not named.inputs.sources.files:
        raise IngestionError(f"{documents[0].path}: none of the documents given can be read. {writer.last_skipped}")
    return PassagesBuilt(written, writer.count)


def build_word_index(made: PassagesBuilt, context: StageContext) -> PassagesBuilt:
    """Passages -> the full-text index."""
    with closing(Passages(context.folder / versions.PASSAGES)) as passages:
        index_words(
            passages, context.folder / versions.LEXICAL, lambda done, total: context.progress("index", done, total)
        )
    return made


def build_triple_store(made: PassagesBuilt, context: StageContext) -> PassagesBuilt:
    """Tables -> the triple store for SPARQL."""
    with closing(Tables(context.folder / versions.TABLES)) as tables:
        write_triples(tables, context.folder / versions.TRIPLES)
    return made


TABLES_ONLY = (Stage("parse", parse_sources), Stage("tables", build_tables), Stage("names", build_names))

# of rows whose database stays as it is
STORED_TABLES = (TABLES_ONLY[0], Stage("tables", partial(build_tables, rules=STORED_RULES)), TABLES_ONLY[2])

WORDS_ONLY = (Stage("index", build_word_index),)

OVERVIEW = Stage("overview", build_overview)

STAGES = (*TABLES_ONLY, OVERVIEW, Stage("verbalise", build_passages), *WORDS_ONLY)

# runs last, if requested
TRIPLES = Stage("triples", build_triple_store)


def server_stage(address: str, graph: str, limits: DatabaseLimits) -> Stage:
    """The last stage where the tables of a graph lie on a server."""

    def move_tables(made: PassagesBuilt, context: StageContext) -> PassagesBuilt:
        publish = service("server_tables", "publish")
        publish(context.folder, address, graph, limits, lambda rows: context.progress("server", rows, 0))
        return made

    return Stage("server", move_tables)


def run_stages(
    stages: Sequence[Stage], given: Inputs | PassagesBuilt, context: StageContext
) -> tuple[PassagesBuilt, dict[str, float]]:
    """Run the stages in order; returns the last result, and seconds by stage."""
    value: object = given
    seconds: dict[str, float] = {}
    for stage in stages:
        with time_stage(stage.name, context.progress) as taken:
            value = stage.run(value, context)
        seconds |= taken
    return value if isinstance(value, PassagesBuilt) else PassagesBuilt(), seconds


@contextmanager
def time_stage(stage: str, progress: OnStage) -> Iterator[dict[str, float]]:
    """Report the start and end of a stage; afterwards the yielded dictionary has its seconds."""
    seconds: dict[str, float] = {}
    progress(stage, 0, 1)
    start = perf_counter()
    # collecting takes 20 % of an ingest, which makes millions of records without cycles
    with collection_paused():
        yield seconds
    seconds[stage] = perf_counter() - start
    progress(stage, 1, 1)
    log.info("%s: %.2f s", stage, seconds[stage])


WRITE_ERRORS = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOTDIR,
        errno.EEXIST,
        errno.ENOENT,
        errno.EIO,
    }
)

_FULL = re.compile(
    "disk is full|disk I/O error|readonly database|unable to open database|no space left on device", re.IGNORECASE
)


def new_version_id(now: datetime, inputs: str) -> str:
    """A version id; ids sort by time.

    >>> new_version_id(datetime(2030, 1, 2, 3, 4, 5), "9f86d081884c")
    '20300102T030405000000-9f86d081'
    """
    return f"{now:%Y%m%dT%H%M%S%f}-{inputs[:8]}"


@contextmanager
def build_folder(home: Path, place: Path, servers: Servers) -> Iterator[Path]:
    """A temporary folder for building what will be at `place`; the caller is the graph's only writer. If it is not
    published, it is removed at the end.

    The remains of killed builds are removed first. Raises IngestionError if nothing can be written.
    """
    folder = place.with_name(f".{place.name}{BUILDING}")
    with report_write_errors(home):
        place.parent.mkdir(parents=True, exist_ok=True)
        versions.remove_unused_versions(home, servers.remove_parts)
        folder.mkdir()
        (folder / LOCK).touch()
    pinned = versions.pin_folder(folder)
    try:
        yield folder
    finally:
        if pinned is not None:
            os.close(pinned)
        remove_unused(home, servers)


@contextmanager
def exclusive_writer(home: Path) -> Iterator[None]:
    """Hold the lock of the graph's only writer; a folder without a graph is removed at the end."""
    with report_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        lock = versions.writer_lock(home)
        lock.__enter__()
    try:
        yield
    finally:
        if versions.current_version(home) is None and not any((home / "versions").glob("*")):
            shutil.rmtree(home, ignore_errors=True)
        lock.__exit__(None, None, None)


def remove_unused(home: Path, servers: Servers) -> None:
    """Remove the remains of killed builds and unused versions; the caller is the graph's only writer."""
    with suppress(OSError):
        versions.remove_unused_versions(home, servers.remove_parts)


def publish_version(home: Path, folder: Path, manifest: Manifest, without: str, layers: str = "") -> None:
    """Flush everything to disk, rename the folder to its version and switch the readers to it. Earlier vectors stay to
    be copied; `without` is why none will follow. `layers` are the triples extracted from texts."""
    with report_write_errors(home):
        present = versions.read_pointer(home)
        earlier = (present.vectors or present.earlier) if present is not None else None
        versions.write_manifest(folder, manifest)
        flush_and_rename(folder, versions.version_folder(home, manifest.version))
        switch_version(home, Pointer(manifest.version, earlier=earlier, without=without, layers=layers))


def publish_vectors(home: Path, folder: Path, vectors: str, manifest: VectorsManifest) -> None:
    """Publish a set of vectors of the current version."""
    with report_write_errors(home):
        versions.write_manifest(folder, manifest)
        flush_and_rename(folder, versions.vectors_folder(home, vectors))
        present = versions.read_pointer(home)
        layers = present.layers if present is not None else ""
        switch_version(home, Pointer(manifest.version, vectors, layers=layers))


def publish_layers(home: Path, folder: Path, layers: str) -> None:
    """Publish the extracted layers of the current version."""
    with report_write_errors(home):
        present = versions.read_pointer(home)
        if present is None:
            raise IngestionError(f"The graph {home.name!r} is gone. Run: nacre ingest FILE.ttl --graph {home.name}")
        flush_and_rename(folder, versions.layers_folder(home, layers))
        switch_version(home, replace(present, layers=layers))


def switch_version(home: Path, pointer: Pointer) -> None:
    """Switch the readers in one step. Raises IngestionError."""
    with report_write_errors(home):
        versions.switch_version(home, pointer)


def matching_version(home: Path, inputs: str, unavailable: dict[str, str], tables: str = "") -> Manifest | None:
    """The current version, if complete and made from the same input in the same way, for tables in the same place."""
    present = readable_manifest(home)
    if present is None or (present.inputs, present.unavailable, present.tables) != (inputs, unavailable, tables):
        return None
    folder = versions.version_folder(home, present.version)
    needed = [versions.TABLES, versions.LEXICON]
    needed += [] if "lexical" in unavailable else [versions.PASSAGES, versions.LEXICAL]
    return present if all((folder / each).exists() for each in needed) else None


def readable_manifest(home: Path) -> Manifest | None:
    """The manifest of the current version; None if it can't be read."""
    try:
        version = versions.current_version(home)
        return versions.read_manifest(home, version) if version is not None else None
    except (OSError, ConfigError):
        return None


def recorded_base(home: Path) -> str:
    """The base of relative IRIs that a graph has had so far; for a new graph, one with its name."""
    present = readable_manifest(home)
    return f"{LOCAL}{home.name}/" if present is None or present.attached else present.base or FILE_ADDRESS


@contextmanager
def report_write_errors(home: Path) -> Iterator[None]:
    """Turn errors of writing into IngestionError with the place and the reason."""
    try:
        yield
    except NacreError:
        raise
    except Exception as error:  # each engine raises its own kinds of errors
        number = error.errno if isinstance(error, OSError) else None
        full = _FULL.search(str(error))
        if number not in WRITE_ERRORS and not full:
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or (full[0] if full else str(error))
        raise IngestionError(
            f"Can't write to {home}: {reason.lower()}."
            " Check its permissions and free space, or set NACRE_DATA to another folder."
        ) from error
