"""The whole way of the data: sources and texts -> a published version of a graph."""

import gc
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from time import perf_counter

from ingestion.index.names import write_names
from ingestion.index.passages import Place, index_vectors, index_words
from ingestion.induce.annotations import read_annotations
from ingestion.induce.layout import Layout, induce
from ingestion.induce.load import write_layout
from ingestion.publish import building, new_version, publish, tidy, unchanged, writable
from ingestion.read.capsules import Facts
from ingestion.read.inputs import fingerprint, rdf_files
from ingestion.read.parse import parse
from ingestion.verbalise.passages import verbalise
from ingestion.verbalise.texts import Document, find_documents, text_passages
from records.errors import ConfigError, IngestionError
from records.facts import Passage
from records.schema import Schema
from stores import versions
from stores.lexicon_file import spellings_of
from stores.passages import Passages, write_passages
from stores.tables import Tables
from stores.vectors import Embedder
from stores.versions import Manifest

log = logging.getLogger(__name__)

OnStage = Callable[[str, int, int], None]
NO_EMBEDDER = "there was no embedder. Run: pip install 'nacre[bundled]' && nacre index --graph {}"


@dataclass(frozen=True)
class Ingested:
    """What an ingest made. `unchanged`: the version was there already, nothing was done; `embedded` counts passages."""

    name: str
    version: str
    schema: Schema
    seconds_by_stage: dict[str, float]
    unchanged: bool = False
    passages: int = 0
    embedded: int = 0


@dataclass
class _Work:
    """What the stages of one ingest hand on."""

    home: Path
    folder: Path
    manifest: Manifest
    progress: OnStage
    embedder: Embedder | None
    qdrant_url: str | None
    qdrant_key: str | None
    sources: Sequence[Path] = ()
    documents: Sequence[Document] = ()
    annotations: Path | None = None
    facts: Facts | None = None
    layout: Layout | None = None
    schema: Schema | None = None
    passages: int = 0
    embedded: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


def ingest(
    sources: Sequence[str],
    name: str,
    *,
    data: Path,
    texts: Sequence[str] = (),
    annotations: Path | None = None,
    tables_only: bool = False,
    no_vectors: bool = False,
    embedder: Embedder | None = None,
    qdrant_url: str | None = None,
    qdrant_key: str | None = None,
    on_stage: OnStage = lambda stage, done, total: None,
) -> Ingested:
    """Make `sources` (files, folders, globs, "-") and `texts` the whole content of graph `name`.

    Readers see the new version at its end, at once, or never: on any error or Ctrl-C the earlier one stays. The same
    input again is recognised before parsing. Raises IngestionError for what can't be read, ConfigError for the rest.
    """
    home = data / versions.check_name(name)
    embedder = None if tables_only or no_vectors else embedder
    with ExitStack() as stack:
        files = stack.enter_context(rdf_files(sources))
        documents = find_documents(texts)
        if annotations is not None and not annotations.is_file():
            raise IngestionError(f"{annotations}: no such file. Check the path given to --annotations.")
        stack.enter_context(_writer(home))
        inputs = fingerprint(files, documents, annotations)
        wanted = _planned(name, inputs, embedder, qdrant_url, _left_out(name, tables_only, no_vectors, embedder))
        if present := unchanged(home, wanted):
            # the ingest that made it may have been killed while it cleaned up
            tidy(home, qdrant_url, qdrant_key)
            return _present(home, present)
        folder = stack.enter_context(building(home, wanted.version, qdrant_url, qdrant_key))
        work = _Work(home, folder, wanted, on_stage, embedder, qdrant_url, qdrant_key)
        work.sources, work.documents, work.annotations = files, documents, annotations
        return _run(work, STAGES[:3] + STAGES[5:] if tables_only else STAGES)


def index(
    name: str,
    *,
    data: Path,
    embedder: Embedder | None,
    qdrant_url: str | None = None,
    qdrant_key: str | None = None,
    on_stage: OnStage = lambda stage, done, total: None,
) -> Ingested:
    """Build the indexes of a graph anew, for another embedder or after damage, as a version of its own.

    Its tables and passages are taken as they are. Raises ConfigError if it was ingested with --tables-only.
    """
    home = data / versions.check_name(name)
    with ExitStack() as stack:
        stack.enter_context(_writer(home))
        version = versions.current(home)
        if version is None:
            raise ConfigError(f"No graph named {name!r} in {data}/. Run: nacre ingest FILE.ttl --graph {name}")
        earlier = versions.manifest(home, version)
        old = versions.version_folder(home, version)
        if not (old / versions.PASSAGES).is_file():
            raise ConfigError(
                f"Graph {name!r} was ingested with --tables-only, there is nothing to index."
                f" Run: nacre ingest FILE.ttl --graph {name}"
            )
        wanted = _planned(name, earlier.inputs, embedder, qdrant_url, _left_out(name, False, False, embedder))
        folder = stack.enter_context(building(home, wanted.version, qdrant_url, qdrant_key))
        with writable(home):
            for file in (versions.TABLES, versions.LEXICON, versions.PASSAGES):
                shutil.copyfile(old / file, folder / file)
            words = spellings_of(Path(versions.LEXICON))
            shutil.copytree(old / words, folder / words)
        work = _Work(home, folder, wanted, on_stage, embedder, qdrant_url, qdrant_key)
        work.passages = earlier.passages
        return _run(work, STAGES[4:])


def _parse(work: _Work) -> None:
    work.facts = parse(work.sources)


def _tables(work: _Work) -> None:
    assert work.facts is not None
    annotations = read_annotations(work.annotations) if work.annotations is not None else None
    work.layout = induce(work.facts)
    work.schema = write_layout(work.layout, work.folder / versions.TABLES, annotations)


def _names(work: _Work) -> None:
    assert work.layout is not None
    assert work.schema is not None
    layout, work.layout = work.layout, None
    write_names(layout, work.schema, work.folder / versions.LEXICON)


def _verbalise(work: _Work) -> None:
    assert work.facts is not None
    assert work.schema is not None
    facts, work.facts = work.facts, None

    def counted(passages: Iterator[Passage]) -> Iterator[Passage]:
        for done, passage in enumerate(passages):
            if done % 4096 == 0:
                work.progress("verbalise", done, 0)
            yield passage

    passages = chain(verbalise(facts, work.schema), text_passages(work.documents))
    work.passages = write_passages(counted(passages), work.folder / versions.PASSAGES)


def _index(work: _Work) -> None:
    passages = Passages(work.folder / versions.PASSAGES)
    try:
        both = 2 * passages.count
        index_words(passages, work.folder / versions.LEXICAL, lambda done, _: work.progress("index", done, both))
        if work.embedder is not None:
            place = Place(work.home, work.folder, work.manifest, work.qdrant_url, work.qdrant_key)
            work.embedded = index_vectors(
                passages, place, work.embedder, lambda done, total: work.progress("index", total + done, both)
            )
    finally:
        passages.close()


def _publish(work: _Work) -> None:
    work.manifest = replace(work.manifest, passages=work.passages)
    publish(work.home, work.folder, work.manifest)


# In order; `--tables-only` leaves out verbalise and index. `parse` groups the triples into capsules while it reads.
STAGES: tuple[tuple[str, Callable[[_Work], None]], ...] = (
    ("parse", _parse),
    ("tables", _tables),
    ("names", _names),
    ("verbalise", _verbalise),
    ("index", _index),
    ("publish", _publish),
)


def _run(work: _Work, stages: Sequence[tuple[str, Callable[[_Work], None]]]) -> Ingested:
    # before anything is made on a server, so that the next ingest knows what a killed one left there
    with writable(work.home):
        versions.write_manifest(work.folder, work.manifest)
    for name, stage in stages:
        work.progress(name, 0, 1)
        start = perf_counter()
        with writable(work.home), _no_collector():
            stage(work)
        work.seconds[name] = perf_counter() - start
        work.progress(name, 1, 1)
        log.info("%s: %.2f s", name, work.seconds[name])
    version = work.manifest.version
    schema = _schema(versions.version_folder(work.home, version))
    return Ingested(work.home.name, version, schema, work.seconds, False, work.passages, work.embedded)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Millions of small records are made that hold no cycles; looking for some takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _writer(home: Path) -> Iterator[None]:
    """Alone among the writers of this graph; a folder without a graph in it goes at the end."""
    with writable(home):
        home.mkdir(parents=True, exist_ok=True)
        lock = versions.writing(home)
        lock.__enter__()
    try:
        yield
    finally:
        if versions.current(home) is None and not any((home / "versions").glob("*")):
            shutil.rmtree(home, ignore_errors=True)
        lock.__exit__(None, None, None)


def _planned(
    name: str, inputs: str, embedder: Embedder | None, qdrant_url: str | None, unavailable: dict[str, str]
) -> Manifest:
    version = new_version(datetime.now(UTC), inputs)
    remote = embedder is not None and qdrant_url is not None
    return Manifest(
        version=version,
        inputs=inputs,
        embedder=embedder.name if embedder is not None else None,
        collection=f"nacre_{name}_{version}" if remote else None,
        unavailable=unavailable,
    )


def _left_out(name: str, tables_only: bool, no_vectors: bool, embedder: Embedder | None) -> dict[str, str]:
    if tables_only:
        return dict.fromkeys(("lexical", "vector"), "ingested with --tables-only")
    if no_vectors:
        return {"vector": f"ingested with --no-vectors. Run: nacre index --graph {name}"}
    return {} if embedder is not None else {"vector": NO_EMBEDDER.format(name)}


def _present(home: Path, manifest: Manifest) -> Ingested:
    schema = _schema(versions.version_folder(home, manifest.version))
    return Ingested(home.name, manifest.version, schema, {}, unchanged=True, passages=manifest.passages)


def _schema(folder: Path) -> Schema:
    tables = Tables(folder / versions.TABLES)
    try:
        return tables.schema
    finally:
        tables.close()
