"""What commands open: settings -> the library, the embedder, the key; for people, a wrong setting is a ConfigError."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.config.embedder import LocalEmbedder
    from nacre.config.settings import Settings
    from nacre.stores.catalog import Library


@contextmanager
def library_of(settings: "Settings") -> "Iterator[Library]":
    """All graphs, without an embedder: listing, reporting and exporting need no vectors."""
    from nacre.stores.catalog import Library
    from nacre.stores.sparql.endpoint_limits import manners_of

    library = Library(settings.data, None, settings.qdrant_url, key_of(settings), manners_of(settings))
    try:
        yield library
    finally:
        library.close()


def embedder_of(settings: "Settings") -> "LocalEmbedder | None":
    """The embedder that the settings name; raises ConfigError where it can't be had."""
    from nacre.config.embedder import embedder
    from nacre.errors import ConfigError

    try:
        return embedder(settings.embedder)
    except ValueError as error:
        raise ConfigError(f"NACRE_EMBEDDER is {settings.embedder!r}. {error}") from error


def key_of(settings: "Settings") -> str | None:
    """The key of the Qdrant server."""
    return settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
