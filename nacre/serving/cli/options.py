"""What commands share: options -> the context of a turn; settings -> library, embedder, Qdrant key; settings + change
of layers -> a published version with its verified questions checked; user modules that shadow Nacre's packages."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.extension import service, services
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from graph.context import Context
    from ingestion.layer.layer_file import LayerFiles
    from nacre.config.embedder import LocalEmbedder
    from nacre.config.settings import Settings
    from nacre.stores.catalog import Library, Servers
    from nacre.stores.state.conversations import Conversations


def _complete_graph(incomplete: str) -> list[str]:
    """The names of graphs with this prefix, for shell completion."""
    with open_library() as library:
        return [name for name in library.names() if name.startswith(incomplete)]


GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="NAME",
        help="The graph; may be omitted if there is only one.",
        autocompletion=_complete_graph,
    ),
]

ReasonerOption = Annotated[
    str | None,
    typer.Option("--reasoner", "--mind", metavar="rules|model", help="Who answers (model if NACRE_MODEL is set)."),
]

BranchesOption = Annotated[
    str | None,
    typer.Option(
        "--branches",
        metavar="sql,vector,...",
        help="The branches of retrieval; by default all except sparql and triples.",
    ),
]

LimitOption = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")]


def split_names(*values: str) -> list[str]:
    """The names in an option, which may be repeated: each value has some, separated by commas."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def turn_context(settings: "Settings", reasoner: str | None, branches: str | None) -> "Context":
    """The context of a turn; raises ConfigError for a reasoner or branch that is not available."""
    from graph.context import parse_context

    names = None if branches is None else split_names(branches)
    return parse_context({"mind": check_reasoner(settings, reasoner), "branches": names})


def check_reasoner(settings: "Settings", reasoner: str | None) -> str | None:
    """The requested reasoner, None if none is requested; raises ConfigError if a model is requested but not set."""
    if reasoner == "model" and not settings.model:
        raise ConfigError(
            "No model is set. Run: nacre model get, then set NACRE_MODEL=local (or openai:NAME, ollama:NAME); "
            "or pass --reasoner rules."
        )
    return reasoner or None


@contextmanager
def open_library(settings: "Settings | None" = None, embedder: "LocalEmbedder | None" = None) -> "Iterator[Library]":
    """The library; listing, reporting and exporting need no embedder."""
    from nacre.config.settings import Settings
    from nacre.stores.addresses import configured_database_limits, configured_limits
    from nacre.stores.catalog import Library
    from nacre.stores.state.database import shared_state

    settings = settings or Settings()
    limits = configured_limits(settings), configured_database_limits(settings), shared_state(settings)
    library = Library(settings.data, embedder, settings.qdrant_url, qdrant_api_key(settings), *limits)
    try:
        yield library
    finally:
        library.close()


@contextmanager
def open_conversations() -> "Iterator[Conversations | None]":
    """The conversations of the settings; None if none was ever stored. Raises ConfigError."""
    from graph.builder import THREADS
    from nacre.config.settings import Settings
    from nacre.stores.state.conversations import Conversations
    from nacre.stores.state.database import StorageError, open_state, unusable_state

    settings = Settings()
    if settings.database_url is None and not (settings.data / THREADS).exists():
        yield None
        return
    database = open_state(settings, THREADS)
    try:
        yield Conversations(database)
    except StorageError as error:
        raise unusable_state(database, error) from error
    finally:
        database.close()


def configured_embedder(settings: "Settings") -> "LocalEmbedder | None":
    """The embedder that the settings name; raises ConfigError if it is not available."""
    from nacre.config.embedder import local_embedder

    try:
        return local_embedder(settings.embedder)
    except ValueError as error:
        raise ConfigError(f"NACRE_EMBEDDER is {settings.embedder!r}. {error}") from error


def configured_servers(settings: "Settings") -> "Servers":
    """The servers that keep parts of graphs."""
    from nacre.stores.addresses import configured_database_limits
    from nacre.stores.catalog import Servers

    return Servers(settings.qdrant_url, qdrant_api_key(settings), configured_database_limits(settings))


def qdrant_api_key(settings: "Settings") -> str | None:
    """The key of the Qdrant server."""
    return settings.qdrant_key.get_secret_value() if settings.qdrant_key else None


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

    for file, extension in ((versions.DATABASE, "databases"), (versions.ENDPOINT, "endpoints")):
        if (_version_folder(settings, name) / file).is_file():
            service(extension, "change_layers", "The graph")(name, change, settings)
            return
    from ingestion.pipeline import change_layers
    from nacre.serving.cli.ingest import print_warnings, show_progress

    with show_progress() as on_stage, print_warnings("ingestion.layer.apply"):
        changed = change_layers(
            name,
            change,
            data=settings.data,
            server=configured_servers(settings),
            on_stage=on_stage,
            embedder=configured_embedder(settings),
        )
    print_change(name, changed.version, sum(changed.seconds_by_stage.values()))
    recheck_verified_questions(settings, name)


def _version_folder(settings: "Settings", name: str) -> Path:
    from nacre.stores import versions

    home = settings.data / name
    version = versions.current_version(home)
    if version is None:
        raise ConfigError(f"No graph named {name!r}. Run: nacre ingest FILE.ttl --graph {name}")
    return versions.version_folder(home, version)


def print_change(name: str, version: str, seconds: float) -> None:
    """Print what was published, and how long that took."""
    print_line(f"'{name}' is now version {version}, {seconds:.1f} s.")


def recheck_verified_questions(settings: "Settings", name: str) -> None:
    """Run those of an earlier version again, and print which are not used any more."""
    for recheck in services("recheck"):
        recheck(settings, name)


# top-level packages of Nacre, whose names a script's own modules may have
TOP_LEVEL_PACKAGES = ("agents", "graph", "ingestion", "tools")


class PackageCollision(ConfigError, ImportError):
    """A module of the user shadows a package of Nacre."""


def check_packages() -> None:
    """Raises PackageCollision if `import tools` (agents, graph, ingestion) gives a module of the user."""
    home = Path(__file__).resolve().parents[3]
    for name in TOP_LEVEL_PACKAGES:
        origin = _module_file(name)
        if origin is None or origin.resolve() != home / name / "__init__.py":
            raise PackageCollision(
                f"{origin or name} is imported instead of Nacre's package {name!r}. Rename it, or start from another "
                "folder: a script's own folder comes first."
            )


def _module_file(name: str) -> Path | None:
    module = sys.modules.get(name)
    if module is not None:
        origin = getattr(module, "__file__", None)
    else:
        spec = find_spec(name)
        origin = spec.origin if spec else None
    return Path(origin) if origin else None
