"""Commands on existing graphs: `nacre graphs`, `report`, `export`, `remove`, `doctor`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from nacre.serving.cli.groups.shares import open_shared_answers
from nacre.serving.terminal import options
from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.open_library import open_library
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph, Library
    from nacre.stores.sqlite.tables import Tables


def graphs() -> None:
    """List the graphs with version and size."""
    from nacre.errors import ConfigError

    with _open_library() as library:
        names = library.names()
        if not names:
            print_line(adapt_commands(f"No graph in {library.data}/ yet. Run: nacre ingest FILE.ttl --graph NAME"))
        width = max((len(name) for name in names), default=0)
        for name in names:
            try:
                with library.open(name) as graph:
                    lacks = sorted(library.missing_branches(name).items()) if not graph.attached else []
                    missing = "; ".join(f"no {branch}: {why}" for branch, why in lacks)
                    missing = f"attached to {graph.attached}" if graph.attached else missing
                    size = f"{len(graph.schema.classes):>4} classes {graph.schema.triples:>10,} triples"
                    texts = f"  + {graph.extracted.count:,} triples from texts" if graph.extracted else ""
                    print_line(
                        f"{name:<{width}}  {graph.version}  {size}{texts}{'  (' + missing + ')' if missing else ''}"
                    )
            except ConfigError as error:
                print_line(f"{name:<{width}}  {error}")


def report(
    graph: options.GraphOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    suggest: Annotated[
        bool,
        typer.Option("--suggest-annotations", help="Print a template for --annotations, fully commented out."),
    ] = False,
) -> None:
    """Report where every triple of a graph is stored."""
    from ingestion.layer.format.template import suggest_annotations
    from ingestion.report import build_report, report_text
    from nacre.records.json_form import to_json

    with _open_graph(graph) as opened:
        if suggest:
            sys.stdout.write(suggest_annotations(opened.schema))
            return
        result = build_report(_local_tables(opened), opened.documents)
    if as_json:
        sys.stdout.write(json.dumps(to_json(result), ensure_ascii=False) + "\n")
    else:
        print_line(report_text(result))


def export(
    graph: options.GraphOption = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="nt|nq", help="nq is the default if there are named graphs.")
    ] = None,
) -> None:
    """Write the triples of a graph to stdout."""
    from ingestion.export import export_triples
    from nacre.errors import ConfigError

    if form not in (None, "nt", "nq"):
        raise ConfigError(f"No format named {form!r}. Use --format nt or --format nq.")
    with _open_tables(graph) as (_, tables):
        export_triples(tables, sys.stdout.buffer, cast(Literal["nt", "nq"] | None, form))
        sys.stdout.buffer.flush()


def remove(graph: options.GraphOption = None) -> None:
    """Remove a graph and all its versions."""
    from nacre.errors import ConfigError

    if graph is None:
        raise ConfigError("Which graph? Name the graph to delete: nacre remove --graph NAME")
    with _open_library() as library:
        name = library.resolve(graph)
        library.remove(name)
        with open_shared_answers() as shared:
            # a later graph of this name must not bring them back
            withdrawn = 0 if shared is None else shared.revoke_graph(name)
        more = f" {withdrawn} shared answers about it are withdrawn." if withdrawn else ""
        print_line(f"Removed '{name}'.{more}")


def doctor() -> int:
    """Check the installation and print next steps."""
    from nacre.config.settings import Settings
    from nacre.serving.terminal.doctor import check_installation

    broken = False
    for finding in check_installation(Settings()):
        print_line(adapt_commands(finding.line()), "33" if finding.next_step else "")
        broken = broken or finding.broken
    return 1 if broken else 0


@contextmanager
def _open_library() -> "Iterator[Library]":
    from nacre.config.settings import Settings

    with open_library(Settings()) as library:
        yield library


@contextmanager
def _open_graph(name: str | None) -> "Iterator[Graph]":
    with _open_library() as library, library.open(library.resolve(name)) as graph:
        yield graph


@contextmanager
def _open_tables(name: str | None) -> "Iterator[tuple[str, Tables]]":
    with _open_graph(name) as graph:
        yield graph.name, _local_tables(graph)


def _local_tables(graph: "Graph") -> "Tables":
    """The tables of an ingested graph; raises ConfigError if its rows are in a database."""
    from nacre.errors import ConfigError

    if graph.database is not None:
        raise ConfigError(f"Graph {graph.name!r} is attached to {graph.attached}: its rows are there, not here.")
    return graph.tables
