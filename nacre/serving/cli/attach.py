"""`nacre attach`: the address of a SPARQL endpoint -> a graph that lies there, and what it holds in words."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.cli.ingest import suggest
from nacre.serving.terminal.turn_display import say

if TYPE_CHECKING:
    from ingestion.attach.attach import Attached

MOST_CLASSES = 12


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
    from ingestion.attach.attach import attach as attached
    from ingestion.attach.attach import attached_to
    from ingestion.attach.budget import Budget
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.stores.sparql.endpoint_limits import manners_of

    settings = Settings()
    if refresh == (url is not None):
        raise ConfigError(f"Give an address or --refresh: nacre attach https://example.org/sparql --graph {graph}")
    graphs = tuple(named_graph or ())
    if url is None:
        known = attached_to(graph, settings.data)
        url, graphs = known.url, graphs or known.graphs
    made = attached(
        url,
        graph,
        data=settings.data,
        graphs=graphs,
        manners=manners_of(settings)(url),
        budget=Budget(queries, seconds),
    )
    _tell(made)
    suggest(graph)


def _tell(made: "Attached") -> None:
    schema, endpoint = made.schema, made.endpoint
    say(f"'{made.name}' is now version {made.version}, attached to {endpoint.url}.")
    width = max((len(c.label) for c in schema.classes[:MOST_CLASSES]), default=0)
    for c in schema.classes[:MOST_CLASSES]:
        say(f"  {c.label:<{width}} {c.count:>10,}")
    if len(schema.classes) > MOST_CLASSES:
        say(f"  and {len(schema.classes) - MOST_CLASSES} classes more")
    search = f"the text search of {endpoint.search}" if endpoint.search else "whole and partial names, by its filters"
    say(f"{schema.triples:,} triples, {len(schema.predicates)} properties; names are found by {search}.")
    say(f"{endpoint.queries} queries, {endpoint.seconds:.1f} s")
