"""Open a set of vectors by name, in the data folder or on a Qdrant server: name -> collection."""

import logging
from pathlib import Path

from nacre.errors import ConfigError
from nacre.stores import versions
from nacre.stores.search.vectors import Collection

log = logging.getLogger(__name__)


def open_collection(home: Path, vectors: str, url: str | None, key: str | None, *, patient: bool = False) -> Collection:
    """Open a set of vectors to read. If `patient`, wait longer for a slow server."""
    name = versions.read_vectors_manifest(home, vectors).collection
    if name is None:
        from nacre.stores.search.vectors_edge import EdgeCollection

        try:
            return EdgeCollection(versions.vectors_folder(home, vectors) / versions.SHARD)
        except ImportError as error:
            raise ConfigError("the vector engine is not installed. Run: pip install 'nacre[vectors]'") from error
    if url is None:
        raise ConfigError(f"the vectors are on a Qdrant server ({name}). Set NACRE_QDRANT_URL")
    from nacre.stores.search.vectors_server import ServerCollection

    return ServerCollection(url, key, name, patient=patient)


def drop_collection(url: str | None, key: str | None, collection: str) -> None:
    """Remove a collection from the Qdrant server, if one is configured."""
    if url is None:
        log.warning(
            "the Qdrant collection %s is no longer needed; NACRE_QDRANT_URL is not set, so it stays", collection
        )
        return
    from nacre.stores.search.vectors_server import delete_collection

    delete_collection(url, key, collection)
