"""`nacre attach` and `nacre layer` for an endpoint: its address -> a graph attached to it, and a summary of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.layer.layer_file import LayerFiles, load_layer_files
from nacre.config.settings import Settings
from nacre.extensions.endpoints.attach import (
    AttachedGraph,
    attach_endpoint,
    attached_endpoint,
    attached_layers,
    change_attached_layers,
)
from nacre.extensions.endpoints.probe import Budget
from nacre.serving.cli.attach import print_classes
from nacre.serving.cli.ingest import show_progress
from nacre.serving.cli.open_library import print_change, recheck_verified_questions
from nacre.serving.cli.turn_display import print_line
from nacre.stores.addresses import configured_limits


def attach(
    url: str | None,
    graph: str,
    settings: Settings,
    named_graphs: Sequence[str],
    layer: Sequence[Path],
    *,
    packs: bool,
    budget: tuple[int, float],
) -> None:
    """Attach an endpoint, or the known one again, by at most so many queries in so many seconds."""
    layers, graphs = load_layer_files(layer, packs=packs), tuple(named_graphs)
    if url is None:
        present, previous = attached_layers(graph, settings.data), attached_endpoint(graph, settings.data)
        layers = replace(present.replaced(layers.files), packs=present.packs and packs)
        url, graphs = previous.url, graphs or previous.graphs
    limits = configured_limits(settings)(url)
    with show_progress() as on_stage:
        result = attach_endpoint(
            url,
            graph,
            data=settings.data,
            graphs=graphs,
            manners=limits,
            budget=Budget(*budget),
            layers=layers,
            on_stage=on_stage,
        )
    _print_summary(result)


def change_layers(graph: str, change: Callable[[LayerFiles], LayerFiles], settings: Settings) -> None:
    """Publish a version of an attached graph with changed layers."""
    attached = change_attached_layers(graph, change, data=settings.data, limits=configured_limits(settings))
    for problem in attached.problems:
        print_line(f"warning: {problem}")
    print_change(graph, attached.version, attached.endpoint.seconds)
    recheck_verified_questions(settings, graph)


def _print_summary(result: AttachedGraph) -> None:
    schema, endpoint = result.schema, result.endpoint
    print_line(f"'{result.name}' is now version {result.version}, attached to {endpoint.url}.")
    print_classes(schema)
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
