"""The resources of commands: settings -> library, embedder, Qdrant key. A wrong setting raises ConfigError."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.config.embedder import LocalEmbedder
    from nacre.config.settings import Settings
    from nacre.stores.catalog import Library
    from nacre.stores.servers import Servers


@contextmanager
def open_library(settings: "Settings") -> "Iterator[Library]":
    """The library without an embedder, which listing, reporting and exporting do not need."""
    from nacre.stores.catalog import Library
    from nacre.stores.databases.address import configured_database_limits
    from nacre.stores.sparql.endpoint_limits import configured_limits
    from nacre.stores.state.open import shared_state

    limits = configured_limits(settings), configured_database_limits(settings), shared_state(settings)
    library = Library(settings.data, None, settings.qdrant_url, qdrant_api_key(settings), *limits)
    try:
        yield library
    finally:
        library.close()


def configured_embedder(settings: "Settings") -> "LocalEmbedder | None":
    """The embedder that the settings name; raises ConfigError if it is not available."""
    from nacre.config.embedder import local_embedder
    from nacre.errors import ConfigError

    try:
        return local_embedder(settings.embedder)
    except ValueError as error:
        raise ConfigError(f"NACRE_EMBEDDER is {settings.embedder!r}. {error}") from error


def configured_servers(settings: "Settings") -> "Servers":
    """The servers that keep parts of graphs."""
    from nacre.stores.databases.address import configured_database_limits
    from nacre.stores.servers import Servers

    return Servers(settings.qdrant_url, qdrant_api_key(settings), configured_database_limits(settings))


def qdrant_api_key(settings: "Settings") -> str | None:
    """The key of the Qdrant server."""
    return settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
