"""`nacre attach`: the address of a SPARQL endpoint -> a graph that lies there, and what it holds in words."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.cli.ingest import suggest_questions
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from ingestion.attach.attach import AttachedGraph

MAX_CLASSES = 12


def attach(
    graph: Annotated[str, typer.Option("--graph", metavar="NAME", help="Name of the graph: a-z, 0-9 and -.")],
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="Address of a SPARQL 1.1 endpoint.")] = None,
    named_graph: Annotated[
        list[str] | None, typer.Option("--named-graph", metavar="IRI", help="Ask this named graph; may be repeated.")
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Look at the schema again, at the address that is known.")
    ] = False,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long looking at it may take.")] = 60.0,
    queries: Annotated[int, typer.Option("--queries", min=10, help="How many queries it may take.")] = 300,
) -> None:
    """Answer over a SPARQL endpoint; its triples stay where they are.

    Classes, properties, counts and samples are found by a bounded number of queries and kept as a version.
    """
    from ingestion.attach.attach import attach_endpoint as attached
    from ingestion.attach.attach import attached_endpoint
    from ingestion.attach.budget import Budget
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.stores.sparql.endpoint_limits import configured_limits

    settings = Settings()
    if refresh == (url is not None):
        raise ConfigError(f"Give an address or --refresh: nacre attach https://example.org/sparql --graph {graph}")
    graphs = tuple(named_graph or ())
    if url is None:
        known = attached_endpoint(graph, settings.data)
        url, graphs = known.url, graphs or known.graphs
    made = attached(
        url,
        graph,
        data=settings.data,
        graphs=graphs,
        manners=configured_limits(settings)(url),
        budget=Budget(queries, seconds),
    )
    _tell(made)
    suggest_questions(graph)


def _tell(made: "AttachedGraph") -> None:
    schema, endpoint = made.schema, made.endpoint
    print_line(f"'{made.name}' is now version {made.version}, attached to {endpoint.url}.")
    width = max((len(c.label) for c in schema.classes[:MAX_CLASSES]), default=0)
    for c in schema.classes[:MAX_CLASSES]:
        print_line(f"  {c.label:<{width}} {c.count:>10,}")
    if len(schema.classes) > MAX_CLASSES:
        print_line(f"  and {len(schema.classes) - MAX_CLASSES} classes more")
    search = f"the text search of {endpoint.search}" if endpoint.search else "whole and partial names, by its filters"
    print_line(f"{schema.triples:,} triples, {len(schema.predicates)} properties; names are found by {search}.")
    print_line(f"{endpoint.queries} queries, {endpoint.seconds:.1f} s")
