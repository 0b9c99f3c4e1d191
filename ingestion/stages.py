"""The stages of an ingest, each a function of the previous result: Inputs -> ... -> PassagesBuilt."""

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ingestion.index.names import write_names
from ingestion.index.passages import index_words
from ingestion.index.triples import write_triples
from ingestion.induce.layout import Layout, induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.layer.apply import layer_facts
from ingestion.layer.stored import LayerFiles, write_layer_files
from ingestion.overview import write_overview
from ingestion.read.capsules import Facts
from ingestion.read.documents.find import DocumentFile
from ingestion.read.parse import read_sources as read_sources
from ingestion.read.sources import Sources
from ingestion.server.publish_tables import TablesTarget, publish_tables
from ingestion.verbalise.documents import verbalise_documents
from ingestion.verbalise.passages import verbalise
from nacre.errors import IngestionError
from nacre.records.facts import Passage
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.sqlite.documents import DocumentsWriter
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.passages import Passages, write_passages
from nacre.stores.sqlite.tables import Tables

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
    """RDF -> facts."""
    return Parsed(inputs, read_sources(inputs.sources))


def build_tables(parsed: Parsed, context: StageContext) -> TablesBuilt:
    """Facts -> SQLite."""
    inputs, facts = parsed
    applied = layer_facts(facts, inputs.layers)
    write_layer_files(context.folder, inputs.layers)
    layout = induce_layout(applied.facts, applied.layer)
    schema = write_layout(layout, context.folder / versions.TABLES, applied.layer)
    return TablesBuilt(inputs, applied.facts, layout, schema)


def build_names(built: TablesBuilt, context: StageContext) -> NamesBuilt:
    """Layout and schema -> the lexicon."""
    write_names(built.layout, built.schema, context.folder / versions.LEXICON)
    return NamesBuilt(built.inputs, built.facts, built.schema)


def build_overview(named: NamesBuilt, context: StageContext) -> NamesBuilt:
    """Tables and lexicon -> what questions about the graph as a whole need."""
    write_overview(context.folder, named.schema)
    return named


def build_passages(named: NamesBuilt, context: StageContext) -> PassagesBuilt:
    """Facts, schema and documents -> passages."""

    def counted(passages: Iterator[Passage]) -> Iterator[Passage]:
        for done, passage in enumerate(passages):
            if done % 4096 == 0:
                context.progress("verbalise", done, 0)
            yield passage

    folder, documents = context.folder, named.inputs.documents
    with (
        closing(Lexicon(folder / versions.LEXICON, named.schema)) as lexicon,
        DocumentsWriter(folder / versions.DOCUMENTS) as writer,
    ):
        document_passages = verbalise_documents(documents, lexicon, writer, strict=named.inputs.sources.reading.strict)
        passages = chain(verbalise(named.facts, named.schema), document_passages)
        written = write_passages(counted(passages), folder / versions.PASSAGES)
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
WORDS_ONLY = (Stage("index", build_word_index),)
OVERVIEW = Stage("overview", build_overview)
STAGES = (*TABLES_ONLY, OVERVIEW, Stage("verbalise", build_passages), *WORDS_ONLY)
# runs last, if requested
TRIPLES = Stage("triples", build_triple_store)


def server_stage(target: TablesTarget) -> Stage:
    """The last stage where the tables of a graph lie on a server."""

    def move_tables(made: PassagesBuilt, context: StageContext) -> PassagesBuilt:
        publish_tables(context.folder, target, lambda rows: context.progress("server", rows, 0))
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
    with _no_collector():
        yield seconds
    seconds[stage] = perf_counter() - start
    progress(stage, 1, 1)
    log.info("%s: %.2f s", stage, seconds[stage])


@contextmanager
def _no_collector() -> Iterator[None]:
    """Disable garbage collection: an ingest creates millions of records without cycles, and collecting takes 20 % of
    it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
