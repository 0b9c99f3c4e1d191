"""`nacre attach` and `nacre layer` for a database: its address -> a graph attached to it, and a summary of it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

from ingestion.layer.layer_file import LayerFiles, load_layer_files, read_layer_files
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import (
    AttachedResult,
    attach_database,
    known_database,
    schema_differences,
)
from nacre.extensions.databases.attached import AttachedDatabase
from nacre.extensions.databases.connection import confine_process
from nacre.extensions.databases.reflect import Selection
from nacre.records.json_form import from_json
from nacre.serving.cli.ingest import print_classes, show_progress
from nacre.serving.cli.options import graph_version, print_change
from nacre.serving.cli.turn_display import print_line
from nacre.stores.addresses import configured_database_limits
from nacre.stores.versions import DATABASE


def attach(
    url: str | None,
    graph: str,
    settings: Settings,
    selection: tuple[tuple[str, ...], ...],
    layer: Sequence[Path],
    *,
    packs: bool,
    keep: bool,
) -> None:
    """Attach a database, or the known one again if there is no address."""
    layers = load_layer_files(layer, packs=packs)
    known = known_database(graph, settings.data) if url is None else None
    if known is not None:
        present = read_layer_files(graph_version(graph)[2])
        layers = replace(present.replaced(layers.files), packs=present.packs and packs)
        url, keep = known.url, keep or bool(known.kept)
        kept = zip(selection, (known.schemas, known.include, known.exclude), strict=True)
        selection = tuple(given or before for given, before in kept)
    if keep:
        confine_process()
    with show_progress() as on_stage:
        result = attach_database(
            url or "",
            graph,
            data=settings.data,
            selection=Selection(*selection),
            limits=configured_database_limits(settings),
            layers=layers,
            keep=keep,
            on_stage=on_stage,
        )
    _print_summary(result)
    if known is not None:
        changes = list(schema_differences(known, result.database))
        print_line("Changed since it was attached:" if changes else "Its tables and columns are the same as before.")
        for change in changes[:MAX_CHANGES]:
            print_line(f"  {change}")
        if len(changes) > MAX_CHANGES:
            print_line(f"  and {len(changes) - MAX_CHANGES} more")


def change_layers(graph: str, change: Callable[[LayerFiles], LayerFiles], settings: Settings) -> None:
    """Publish a version of an attached graph with changed layers."""
    known = known_database(graph, settings.data)
    assert known is not None
    result = attach_database(
        known.url,
        graph,
        data=settings.data,
        selection=Selection(known.schemas, known.include, known.exclude),
        limits=configured_database_limits(settings),
        layers=change(read_layer_files(graph_version(graph)[2])),
        keep=bool(known.kept),
    )
    for problem in result.problems:
        print_line(f"warning: {problem}")
    print_change(graph, result.version, result.database.seconds)


def _print_summary(result: AttachedResult) -> None:
    print_line(f"'{result.name}' is now version {result.version}, attached to {result.database.url}.")
    print_classes(result.schema)
    print_line(f"{result.schema.entities:,} rows, {len(result.schema.shown_predicates)} properties.")
    targets = {each.relation: each.table for each in result.database.tables}
    for table in result.database.tables:
        verb = "tells" if len(table.key) == 1 else "tell"
        if table.guessed:
            print_line(f"guess: {table.table} has no declared key; {', '.join(table.key)} {verb} its rows apart.")
        for link in table.links:
            if link.guessed:
                print_line(f"guess: {table.table}.{', '.join(link.columns)} refers to {targets[link.target]}.")
    for problem in result.problems:
        print_line(f"warning: {shorten(problem, MAX_WARNING, placeholder=' ...')}")
    if result.problems:
        print_line(f"All of what is left out: nacre report --graph {result.name}")
    print_line(f"{result.database.seconds:.1f} s")


# changes of a refreshed database that are printed
MAX_CHANGES = 40

# characters of a warning that lists tables
MAX_WARNING = 400


def report(folder: Path) -> tuple[str, ...]:
    """What of a database is not in a version that is attached to it, and why."""
    return from_json(AttachedDatabase, json.loads((folder / DATABASE).read_text(encoding="utf-8"))).left_out
