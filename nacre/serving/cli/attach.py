"""`nacre attach`: the address of a SPARQL endpoint -> a graph attached to it, and a summary of its contents."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.cli.ingest import suggest_questions
from nacre.serving.terminal.recheck import recheck_verified_questions
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from ingestion.attach.attach import AttachedGraph

MAX_CLASSES = 12


def attach(
    graph: Annotated[str, typer.Option("--graph", metavar="NAME", help="Name of the graph: a-z, 0-9 and -.")],
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="Address of a SPARQL 1.1 endpoint.")] = None,
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
) -> None:
    """Attach a SPARQL endpoint; its triples are not copied.

    Classes, properties, counts and samples are read by a limited number of queries and stored as a version.
    """
    from ingestion.attach.attach import attach_endpoint, attached_endpoint, attached_layers
    from ingestion.attach.budget import Budget
    from ingestion.layer.stored import load_layer_files
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.stores.sparql.endpoint_limits import configured_limits

    settings = Settings()
    if refresh == (url is not None):
        raise ConfigError(f"Pass an address or --refresh: nacre attach https://example.org/sparql --graph {graph}")
    graphs = tuple(named_graph or ())
    layers = load_layer_files(layer or (), packs=not no_packs)
    if url is None:
        present = attached_layers(graph, settings.data)
        layers = replace(present.replaced(layers.files), packs=present.packs and not no_packs)
        previous = attached_endpoint(graph, settings.data)
        url, graphs = previous.url, graphs or previous.graphs
    result = attach_endpoint(
        url,
        graph,
        data=settings.data,
        graphs=graphs,
        manners=configured_limits(settings)(url),
        budget=Budget(queries, seconds),
        layers=layers,
    )
    _print_summary(result)
    recheck_verified_questions(settings, graph)
    suggest_questions(graph)


def _print_summary(result: "AttachedGraph") -> None:
    schema, endpoint = result.schema, result.endpoint
    print_line(f"'{result.name}' is now version {result.version}, attached to {endpoint.url}.")
    width = max((len(c.label) for c in schema.shown_classes[:MAX_CLASSES]), default=0)
    for c in schema.shown_classes[:MAX_CLASSES]:
        print_line(f"  {c.label:<{width}} {c.count:>10,}")
    if len(schema.shown_classes) > MAX_CLASSES:
        print_line(f"  and {len(schema.shown_classes) - MAX_CLASSES} classes more")
    search = f"the text search of {endpoint.search}" if endpoint.search else "filters on whole and partial names"
    print_line(
        f"{schema.triples:,} triples, {len(schema.shown_predicates)} properties; names are searched by {search}."
    )
    derived = sum(bool(p.patterns) for p in schema.predicates) + sum(bool(c.pattern) for c in schema.classes)
    if derived:
        print_line(f"{derived} classes and properties are derived by layers; questions ask for what they stand for.")
    if result.sampled:
        print_line(
            "The endpoint could not list its classes in time, so these are the classes of a sample. Give it more time "
            "with --seconds, or name its graphs with --named-graph."
        )
    for problem in result.problems:
        print_line(f"warning: {problem}")
    print_line(f"{endpoint.queries} queries, {endpoint.seconds:.1f} s")
