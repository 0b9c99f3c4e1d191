"""Versions of graphs that differ in their layers: settings + change -> a published version, printed."""

from pathlib import Path
from typing import TYPE_CHECKING

from nacre.serving.terminal.open_library import configured_embedder, configured_servers, open_library
from nacre.serving.terminal.recheck import recheck_verified_questions
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingestion.layer.stored import LayerFiles
    from nacre.config.settings import Settings


def graph_version(graph: str | None) -> "tuple[Settings, str, Path]":
    """The settings, the name of the graph, and the folder of its version."""
    from nacre.config.settings import Settings

    settings = Settings()
    with open_library(settings) as library:
        name = library.resolve(graph)
    return settings, name, _version_folder(settings, name)


def is_attached(folder: Path) -> bool:
    """Whether a version is attached to an endpoint."""
    from nacre.stores import versions

    return not (folder / versions.TABLES).is_file()


def publish_layer_change(settings: "Settings", name: str, change: "Callable[[LayerFiles], LayerFiles]") -> None:
    """Publish a version of a graph with changed layers."""
    from nacre.stores import versions

    if (_version_folder(settings, name) / versions.DATABASE).is_file():
        from ingestion.database.attach_database import change_database_layers
        from nacre.stores.databases.address import configured_database_limits

        limits_of_database = configured_database_limits(settings)
        changed_graph = change_database_layers(name, change, data=settings.data, limits=limits_of_database)
        for left_out in changed_graph.problems:
            print_line(f"warning: {left_out}")
        _print_change(name, changed_graph.version, changed_graph.database.seconds)
        return
    if is_attached(_version_folder(settings, name)):
        from ingestion.attach.attach import change_attached_layers
        from nacre.stores.sparql.endpoint_limits import configured_limits

        limits = configured_limits(settings)
        attached = change_attached_layers(name, change, data=settings.data, limits=limits)
        for problem in attached.problems:
            print_line(f"warning: {problem}")
        _print_change(name, attached.version, attached.endpoint.seconds)
        recheck_verified_questions(settings, name)
        return
    from ingestion.apply_layers import change_layers
    from nacre.serving.terminal.progress import print_warnings, show_progress

    with show_progress() as on_stage, print_warnings("ingestion.layer.apply"):
        changed = change_layers(
            name,
            change,
            data=settings.data,
            server=configured_servers(settings),
            on_stage=on_stage,
            embedder=configured_embedder(settings),
        )
    _print_change(name, changed.version, sum(changed.seconds_by_stage.values()))
    recheck_verified_questions(settings, name)


def _version_folder(settings: "Settings", name: str) -> Path:
    from nacre.errors import ConfigError
    from nacre.stores import versions

    home = settings.data / name
    version = versions.current_version(home)
    if version is None:
        raise ConfigError(f"No graph named {name!r}. Run: nacre ingest FILE.ttl --graph {name}")
    return versions.version_folder(home, version)


def _print_change(name: str, version: str, seconds: float) -> None:
    print_line(f"'{name}' is now version {version}, {seconds:.1f} s.")
