"""`nacre ingest`, `index`: files -> a published version of a graph, and a summary; `nacre attach`: the address of an
endpoint or database -> an attached graph. Progress: a bar on a terminal, else one line per stage; on stderr."""

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extension import service, services
from nacre.records.threads import fast_imports
from nacre.serving.cli import options
from nacre.serving.cli.options import (
    configured_embedder,
    configured_servers,
    open_library,
    recheck_verified_questions,
)
from nacre.serving.cli.turn_display import adapt_commands, print_line, program_command
from nacre.stores.versions import version_folder

if TYPE_CHECKING:
    from ingestion.documents import DocumentFile
    from ingestion.pipeline import IngestResult
    from nacre.config.embedder import LocalEmbedder
    from nacre.config.settings import Settings
    from nacre.records.schema import Schema

MAX_CLASSES = 12

MAX_OMITTED = 10


TextsOption = Annotated[
    list[str] | None, typer.Option("--texts", metavar="PATH...", help="Documents: .md .txt .html .pdf .docx .csv .json")
]

TablesOption = Annotated[
    str, typer.Option("--tables", metavar="ADDRESS", help="PostgreSQL server for the tables, instead of a file.")
]

LoaderOption = Annotated[
    str | None,
    typer.Option("--loader", metavar="MODULE:CLASS", help="A LangChain document loader whose documents are added."),
]

LoaderArgsOption = Annotated[
    list[str] | None, typer.Option("--loader-args", metavar="NAME=VALUE...", help="Arguments of the loader.")
]

AnnotationsOption = Annotated[
    Path | None, typer.Option("--annotations", metavar="FILE", help="YAML that renames, comments or hides.")
]

LayerOption = Annotated[
    list[Path] | None, typer.Option("--layer", metavar="FILE", help="YAML with names and shortcuts; may be repeated.")
]

NO_INPUT = (
    "Nothing to ingest. Run: nacre ingest FILE.ttl --graph {graph},"
    " or for documents alone: nacre ingest --texts FOLDER --graph {graph}"
)


def _absolute(base: str) -> str:
    if base and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", base):
        raise ConfigError(f"--base {base!r} is not an absolute IRI. Use one such as https://example.org/data/")
    return base


BaseOption = Annotated[
    str,
    typer.Option(
        "--base", metavar="IRI", callback=_absolute, help="Base for relative IRIs, instead of one for each file."
    ),
]

ContextsOption = Annotated[
    list[str] | None, typer.Option("--context", metavar="URL=FILE", help="Local copy of a remote JSON-LD context.")
]

FetchContextsOption = Annotated[
    bool, typer.Option("--fetch-contexts", help="Download JSON-LD contexts that have no local copy.")
]

ExpansionOption = Annotated[
    int, typer.Option("--max-expansion", metavar="FACTOR", min=1, help="How many times its size a file may expand to.")
]

AddOption = Annotated[bool, typer.Option("--add", help="Keep what the graph has, and add to it.")]

SpellingsOption = Annotated[
    bool, typer.Option("--keep-spellings", help="Keep IRIs apart that differ in http, a last slash or %-codes.")
]


def ingest(
    graph: Annotated[str, typer.Option("--graph", metavar="NAME", help="Name of the graph: a-z, 0-9 and -.")],
    sources: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE...]", help="File, folder, glob or -.")] = None,
    add: AddOption = False,
    texts: TextsOption = None,
    loader: LoaderOption = None,
    loader_args: LoaderArgsOption = None,
    annotations: AnnotationsOption = None,
    layer: LayerOption = None,
    no_packs: Annotated[bool, typer.Option("--no-packs", help="Leave out the layers of common vocabularies.")] = False,
    tables_only: Annotated[bool, typer.Option("--tables-only", help="Stop after the SQLite file.")] = False,
    no_vectors: Annotated[bool, typer.Option("--no-vectors", help="Do not build the vector index.")] = False,
    sparql: Annotated[bool, typer.Option("--sparql", help="Also build a triple store for SPARQL.")] = False,
    tables: TablesOption = "",
    strict: Annotated[bool, typer.Option("--strict", help="Fail on unreadable input instead of skipping it.")] = False,
    base: BaseOption = "",
    contexts: ContextsOption = None,
    fetch_contexts: FetchContextsOption = False,
    max_expansion: ExpansionOption = 40,
    spellings: SpellingsOption = False,
) -> int:
    """Build a graph from RDF files, documents, or both.

    They replace the graph's earlier content, or are added to it with --add. The graph answers as soon as its tables and
    word index are built; vectors for search by meaning follow, or are built by `nacre index`."""
    with fast_imports():
        from ingestion import pipeline
        from ingestion.layer.layer_file import load_layer_files
        from ingestion.read.sources import ReadOptions
        from nacre.config.settings import Settings

    if not (sources or texts or loader):
        raise ConfigError(NO_INPUT.format(graph=graph))
    settings = Settings()
    embedder = None if tables_only or no_vectors else configured_embedder(settings)
    with (
        show_progress() as on_stage,
        print_warnings("ingestion.layer.apply", "ingestion.read.parse"),
        _loaded_documents(loader, loader_args or []) as documents,
    ):
        loaded = pipeline.load_graph(
            *(sources or [], graph),
            data=settings.data,
            texts=texts or [],
            loaded=documents,
            layers=replace(load_layer_files(layer or (), annotations, packs=not no_packs), spellings=not spellings),
            tables_only=tables_only,
            sparql=sparql,
            tables=tables,
            add=add,
            reading=ReadOptions(strict, base, dict(map(_parse_context, contexts or [])), fetch_contexts, max_expansion),
            without=pipeline.no_vectors_reason(graph, no_vectors, embedder),
            server=configured_servers(settings),
            on_stage=on_stage,
        )
    _print_summary(loaded)
    recheck_verified_questions(settings, loaded.name)
    if not tables_only:
        suggest_questions(loaded.name)
    return _embed(graph, settings, embedder) if embedder is not None else 0


def index(graph: options.GraphOption = None) -> int:
    """Complete or rebuild the search indexes of a graph.

    Resumes the vectors of an interrupted ingest, builds them for another embedder, and rebuilds damaged indexes.
    """
    from ingestion import pipeline
    from nacre.config.settings import Settings

    settings = Settings()
    embedder = configured_embedder(settings)
    with open_library(settings) as library:
        name = library.resolve(graph)
    with _interruptible(name), show_progress() as on_stage:
        indexed = pipeline.index_graph(
            name,
            data=settings.data,
            embedder=embedder,
            server=configured_servers(settings),
            on_stage=on_stage,
        )
    print_line(f"'{name}' is now version {indexed.version}: {indexed.passages:,} passages, {_vectors(indexed)}.")
    recheck_verified_questions(settings, name)
    return 0


def _embed(name: str, settings: "Settings", embedder: "LocalEmbedder") -> int:
    from ingestion import pipeline

    server = configured_servers(settings)
    try:
        with _interruptible(name), show_progress() as on_stage:
            result = pipeline.embed_graph(name, data=settings.data, embedder=embedder, server=server, on_stage=on_stage)
    except (ConfigError, IngestionError) as error:
        why = str(error).rstrip(".")
        raise type(error)(f"{why}. {name!r} answers without search by meaning. Then run: nacre index") from error
    if result.seconds_by_stage:
        summary = _vectors(result) if result.vectors else "there are no long texts, so nothing was embedded"
        print_line(f"Search by meaning: {summary}, {sum(result.seconds_by_stage.values()):.1f} s")
    return 0


@contextmanager
def _interruptible(name: str) -> Iterator[None]:
    """On Ctrl-C, say that the graph answers and how to resume the vectors."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Stopped. {name!r} answers without search by meaning. To continue: nacre index --graph {name}"
        ) from None


def _vectors(result: "IngestResult") -> str:
    return f"{result.vectors:,} vectors, {result.embedded:,} newly embedded"


def _print_summary(ingested: "IngestResult") -> None:
    schema = ingested.schema
    if ingested.unchanged:
        print_line(f"Nothing changed: '{ingested.name}' is still version {ingested.version}.")
    else:
        print_line(f"'{ingested.name}' is now version {ingested.version}.")
    classes = sorted(schema.shown_classes, key=lambda c: (-c.count, c.label, c.iri))
    width = max((len(c.label) for c in classes[:MAX_CLASSES]), default=0)
    for c in classes[:MAX_CLASSES]:
        print_line(f"  {c.label:<{width}} {c.count:>8,}")
    if len(classes) > MAX_CLASSES:
        print_line(
            adapt_commands(f"  and {len(classes) - MAX_CLASSES} classes more: nacre report --graph {ingested.name}")
        )
    seconds = sum(ingested.seconds_by_stage.values())
    texts = f"{ingested.texts:,} text{'' if ingested.texts == 1 else 's'}, " if ingested.texts else ""
    passages = f"{ingested.passages:,} passages, " if ingested.passages else ""
    print_line(f"{schema.triples:,} triples, {schema.entities:,} things, {texts}{passages}{seconds:.1f} s")
    _print_omissions(ingested.name)


def _print_omissions(name: str) -> None:
    """Print what could not be read, up to a limit, and what was not derived."""
    from ingestion.read.tables import read_sheet_reports, sheet_lines
    from ingestion.report import limit_lines, omission_lines, read_limits, read_omissions
    from nacre.stores.sqlite.passages import skipped_lines

    with open_library() as library, library.open(name) as graph:
        omitted, limits = read_omissions(graph.tables), read_limits(graph.tables)
        texts = graph.documents.skipped() if graph.documents is not None else []
        sheets = sheet_lines(read_sheet_reports(version_folder(library.data / name, graph.version)), MAX_OMITTED)
    for line in (
        *sheets,
        *limit_lines(limits),
        *omission_lines(omitted, MAX_OMITTED),
        *skipped_lines(texts, MAX_OMITTED),
    ):
        print_line(line)
    if max(len(omitted.listed), len(texts)) > MAX_OMITTED:
        print_line(adapt_commands(f"  All of them: nacre report --graph {name}"))


@contextmanager
def _loaded_documents(loader: str | None, arguments: list[str]) -> "Iterator[list[DocumentFile]]":
    if loader is None:
        if arguments:
            raise ConfigError("--loader-args are the arguments of a loader. Add: --loader MODULE:CLASS")
        yield []
        return
    if wrong := [each for each in arguments if not each.partition("=")[0].isidentifier() or "=" not in each]:
        raise ConfigError(f"--loader-args {wrong[0]!r}: use NAME=VALUE, for example: --loader-args query=lighthouse")
    given = {name: value for name, _, value in (each.partition("=") for each in arguments)}
    with service("documents", "load", "--loader")(loader, given) as found:
        yield found


def _parse_context(value: str) -> tuple[str, Path]:
    url, _, file = value.rpartition("=")
    if not url or not Path(file).is_file():
        raise ConfigError(f"--context {value!r}: use URL=FILE with an existing file.")
    return url, Path(file)


def suggest_questions(name: str) -> None:
    """Print three questions that this graph answers. What fails here is a warning: the graph is there."""
    with open_library() as library, library.open(name) as graph:
        prepared = graph.stored.overview if graph.stored is not None else None
        try:
            found = (each for find in services("examples") for each in find(graph))
            questions = prepared.examples if prepared is not None else tuple(found)
        except ToolError as error:
            print_line(f"warning: no examples of questions were found. {error} {name!r} can be asked.")
            return
    if questions:
        print_line("It answers, for example:")
    for question in questions:
        print_line(f'  {program_command()} ask "{question}" --graph {name}')


ProgressCallback = Callable[[str, int, int], None]

PROGRESS_SECONDS = 1.0  # between two reports of the progress within a stage (given)


@contextmanager
def print_warnings(*names: str) -> Iterator[None]:
    """Print the warnings of some loggers as lines on stderr."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger, level in levels.items():
        logger.addHandler(handler)
        logger.setLevel(min(level, logging.WARNING) if level else logging.WARNING)
        # the root logger has a handler too
        logger.propagate = False
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = True


@contextmanager
def show_progress() -> Iterator[ProgressCallback]:
    """The callback to which a pipeline reports its progress."""
    if sys.stderr.isatty():
        yield from _bar()
    else:
        yield from _lines()


def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def on_stage(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield on_stage


def _lines() -> Iterator[ProgressCallback]:
    current, started, shown = "", time.perf_counter(), 0.0

    def print_stage() -> None:
        if current:
            sys.stderr.write(f"{current}: {time.perf_counter() - started:.1f} s\n")

    def on_stage(stage: str, done: int, total: int) -> None:
        nonlocal current, started, shown
        now = time.perf_counter()
        if stage != current:
            print_stage()
            current, started, shown = stage, now, now
        elif done > 1 and now - shown > PROGRESS_SECONDS:
            shown = now
            # the next line takes its place, as on a terminal
            sys.stderr.write(f"{stage}: {done:,}{f' of {total:,}' if total else ''}\r")
            sys.stderr.flush()

    yield on_stage
    print_stage()


def attach(
    graph: Annotated[str, typer.Option("--graph", metavar="NAME", help="Name of the graph: a-z, 0-9 and -.")],
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="Address of a SPARQL 1.1 endpoint, or of a database.")
    ] = None,
    named_graph: Annotated[
        list[str] | None, typer.Option("--named-graph", metavar="IRI", help="Query this named graph; may be repeated.")
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Read the schema again, at the known address.")] = False,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="Maximum time for reading the schema.")] = 60.0,
    queries: Annotated[int, typer.Option("--queries", min=10, help="Maximum number of queries.")] = 300,
    layer: Annotated[
        list[Path] | None,
        typer.Option("--layer", metavar="FILE", help="YAML with names and shortcuts; may be repeated."),
    ] = None,
    no_packs: Annotated[bool, typer.Option("--no-packs", help="Leave out the layers of common vocabularies.")] = False,
    schema: Annotated[
        list[str] | None, typer.Option("--schema", metavar="NAME", help="Read this schema of a database; repeatable.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="TABLE", help="Only these tables; * stands for any text.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="TABLE", help="Leave out these tables; repeatable.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep a copy of a database file, which is opened in processes of its own.")
    ] = False,
) -> None:
    """Attach a SPARQL endpoint or a relational database; its triples or rows are not copied.

    Classes, properties, counts and samples are read by a limited number of queries and stored as a version. A database
    is named by its address in SQLAlchemy: sqlite:///FILE, duckdb:///FILE, postgresql+psycopg://USER@HOST/NAME,
    mysql+pymysql://USER@HOST/NAME. Its names are read too.
    """
    from nacre.config.settings import Settings

    settings = Settings()
    selection = tuple(schema or ()), tuple(include or ()), tuple(exclude or ())
    if refresh == (url is not None):
        raise ConfigError(f"Pass an address or --refresh: nacre attach https://example.org/sparql --graph {graph}")
    packs = not no_packs
    if _is_database(url, graph, settings.data):
        service("databases", "attach")(url, graph, settings, selection, layer or (), packs=packs, keep=keep)
    else:
        if keep:
            raise ConfigError("--keep is for the file of a database: nacre attach sqlite:///FILE --keep --graph NAME")
        budget = queries, seconds
        service("endpoints", "attach")(url, graph, settings, named_graph or (), layer or (), packs=packs, budget=budget)
    recheck_verified_questions(settings, graph)
    suggest_questions(graph)


def _is_database(url: str | None, graph: str, data: Path) -> bool:
    """Whether a graph is, or will be, attached to a database rather than to an endpoint."""
    from nacre.stores import versions
    from nacre.stores.addresses import is_database_url

    if url is not None:
        return is_database_url(url)
    home = data / versions.check_name(graph)
    version = versions.current_version(home)
    return version is not None and (versions.version_folder(home, version) / versions.DATABASE).is_file()


def print_classes(schema: "Schema") -> None:
    """Print the first classes with their counts."""
    width = max((len(c.label) for c in schema.shown_classes[:MAX_CLASSES]), default=0)
    for c in schema.shown_classes[:MAX_CLASSES]:
        print_line(f"  {c.label:<{width}} {c.count:>10,}")
    if len(schema.shown_classes) > MAX_CLASSES:
        print_line(f"  and {len(schema.shown_classes) - MAX_CLASSES} classes more")
