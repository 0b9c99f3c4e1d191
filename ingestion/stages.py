"""The stages of a version in the making, each a function of what the one before gave: Inputs -> ... ->
PassagesBuilt."""

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
from ingestion.induce.annotations import read_annotations
from ingestion.induce.layout import Layout, induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.read.capsules import Facts
from ingestion.read.documents.find import DocumentFile
from ingestion.read.parse import read_sources as read_sources
from ingestion.read.sources import Sources
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


class StageContext(NamedTuple):
    """Where the stages write, and whom they tell how far they are: stage, done, total."""

    folder: Path
    progress: OnStage


class Inputs(NamedTuple):
    """What is given by the user: RDF files, texts, annotations."""

    sources: Sources
    documents: tuple[DocumentFile, ...]
    annotations: Path | None


class Parsed(NamedTuple):
    """All triples, grouped into capsules while they were read."""

    inputs: Inputs
    facts: Facts


class TablesBuilt(NamedTuple):
    """The tables are written; `layout` is where every predicate lies in them."""

    inputs: Inputs
    facts: Facts
    layout: Layout
    schema: Schema


class NamesBuilt(NamedTuple):
    """The names are written too."""

    inputs: Inputs
    facts: Facts
    schema: Schema


class PassagesBuilt(NamedTuple):
    """How many passages were written, and of how many documents."""

    passages: int = 0
    texts: int = 0


class Stage(NamedTuple):
    """A name, as progress shows it, and what is done: (what the stage before gave, workshop) -> what the next gets."""

    name: str
    run: Callable[[Any, StageContext], object]


def parse_sources(inputs: Inputs, workshop: StageContext) -> Parsed:
    """RDF -> facts."""
    return Parsed(inputs, read_sources(inputs.sources))


def build_tables(parsed: Parsed, workshop: StageContext) -> TablesBuilt:
    """Facts -> SQLite."""
    inputs, facts = parsed
    annotations = read_annotations(inputs.annotations) if inputs.annotations is not None else None
    layout = induce_layout(facts)
    return TablesBuilt(inputs, facts, layout, write_layout(layout, workshop.folder / versions.TABLES, annotations))


def build_names(tabled: TablesBuilt, workshop: StageContext) -> NamesBuilt:
    """Layout and schema -> the lexicon."""
    write_names(tabled.layout, tabled.schema, workshop.folder / versions.LEXICON)
    return NamesBuilt(tabled.inputs, tabled.facts, tabled.schema)


def build_passages(named: NamesBuilt, workshop: StageContext) -> PassagesBuilt:
    """Facts, schema and documents -> passages."""

    def counted(passages: Iterator[Passage]) -> Iterator[Passage]:
        for done, passage in enumerate(passages):
            if done % 4096 == 0:
                workshop.progress("verbalise", done, 0)
            yield passage

    folder, documents = workshop.folder, named.inputs.documents
    with (
        closing(Lexicon(folder / versions.LEXICON, named.schema)) as lexicon,
        DocumentsWriter(folder / versions.DOCUMENTS) as writer,
    ):
        told = verbalise_documents(documents, lexicon, writer, strict=named.inputs.sources.reading.strict)
        passages = chain(verbalise(named.facts, named.schema), told)
        written = write_passages(counted(passages), folder / versions.PASSAGES)
    if documents and not writer.count and not named.inputs.sources.files:
        raise IngestionError(f"{documents[0].path}: none of the documents given can be read. {writer.last_skipped}")
    return PassagesBuilt(written, writer.count)


def build_word_index(made: PassagesBuilt, workshop: StageContext) -> PassagesBuilt:
    """Passages -> the index of words."""
    with closing(Passages(workshop.folder / versions.PASSAGES)) as passages:
        index_words(
            passages, workshop.folder / versions.LEXICAL, lambda done, total: workshop.progress("index", done, total)
        )
    return made


def build_triple_store(made: PassagesBuilt, workshop: StageContext) -> PassagesBuilt:
    """The tables -> a store that answers SPARQL."""
    with closing(Tables(workshop.folder / versions.TABLES)) as tables:
        write_triples(tables, workshop.folder / versions.TRIPLES)
    return made


TABLES_ONLY = (Stage("parse", parse_sources), Stage("tables", build_tables), Stage("names", build_names))
WORDS_ONLY = (Stage("index", build_word_index),)
STAGES = (*TABLES_ONLY, Stage("verbalise", build_passages), *WORDS_ONLY)
# after the others, where it is asked for
TRIPLES = Stage("triples", build_triple_store)


def run_stages(
    stages: Sequence[Stage], given: Inputs | PassagesBuilt, workshop: StageContext
) -> tuple[PassagesBuilt, dict[str, float]]:
    """Run stages one after the other; returns what was made, and seconds by stage."""
    value: object = given
    seconds: dict[str, float] = {}
    for stage in stages:
        with time_stage(stage.name, workshop.progress) as taken:
            value = stage.run(value, workshop)
        seconds |= taken
    return value if isinstance(value, PassagesBuilt) else PassagesBuilt(), seconds


@contextmanager
def time_stage(stage: str, progress: OnStage) -> Iterator[dict[str, float]]:
    """Tell that a stage begins and ends; the seconds it took are in the yielded dictionary then."""
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
    """Millions of small records are made that hold no cycles; looking for some takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
