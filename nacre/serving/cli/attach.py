"""`nacre attach`: the address of a SPARQL endpoint or a database -> a graph attached to it, and a summary of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.extension import service
from nacre.serving.cli.ingest import suggest_questions
from nacre.serving.cli.open_library import recheck_verified_questions
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.records.schema import Schema

MAX_CLASSES = 12


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
    from nacre.errors import ConfigError

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
