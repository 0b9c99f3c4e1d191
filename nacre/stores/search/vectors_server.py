"""Vectors on a Qdrant server: one collection for each set of vectors."""

import atexit
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

from nacre.errors import ConfigError
from nacre.stores.sqlite.passages import PassageHit

T = TypeVar("T")
BATCH = 256
# timeouts: a turn can answer without this branch, an ingest can't finish without it
TURN_SECONDS, INGEST_SECONDS = 3, 30


@lru_cache(maxsize=8)
def connect_qdrant(url: str, key: str | None = None, seconds: int = INGEST_SECONDS) -> Any:
    """The client of one server, shared by the process; sends nothing yet. ":memory:" is a server in this process."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise ConfigError("NACRE_QDRANT_URL is set. Run: pip install 'nacre[qdrant]'") from error

    # at the interpreter's exit the modules that closing needs may be gone already
    atexit.register(connect_qdrant.cache_clear)
    if url == ":memory:":
        return QdrantClient(":memory:")
    return QdrantClient(url=url, api_key=key, timeout=seconds, check_compatibility=False)


def _turn_client(url: str, key: str | None) -> Any:
    """The client with the timeout of a turn; the server in this process has one client."""
    return connect_qdrant(url, key) if url == ":memory:" else connect_qdrant(url, key, TURN_SECONDS)


class ServerCollection:
    """One collection, opened to read. If `patient`, it waits longer for a slow server."""

    def __init__(self, url: str, key: str | None, name: str, *, patient: bool = False) -> None:
        self._url = url
        self._client = connect_qdrant(url, key) if patient else _turn_client(url, key)
        self.name = name
        if not self._ask(lambda: self._client.collection_exists(name)):
            raise ConfigError(f"The Qdrant server at {url} has no collection {name}.")

    def nearest(self, vector: Sequence[float], limit: int) -> list[PassageHit]:
        points = self._ask(lambda: self._client.query_points(self.name, query=list(vector), limit=limit).points)
        return [PassageHit(int(point.id), float(point.score)) for point in points]

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        records = self._ask(
            lambda: self._client.retrieve(self.name, ids=list(ids), with_payload=False, with_vectors=True)
        )
        return {int(record.id): record.vector for record in records}

    def close(self) -> None:
        """Nothing to close: the process shares the client."""

    def _ask(self, call: Callable[[], T]) -> T:
        return _call(self._url, call)


class ServerWriter:
    """A new collection."""

    def __init__(self, url: str, key: str | None, name: str, size: int) -> None:
        from qdrant_client.models import Distance, VectorParams

        self._url = url
        self._client = connect_qdrant(url, key)
        self._name = name
        params = VectorParams(size=size, distance=Distance.COSINE)
        _call(url, lambda: self._client.create_collection(name, vectors_config=params))

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        from qdrant_client.models import PointStruct

        points = [PointStruct(id=i, vector=[float(x) for x in v]) for i, v in zip(ids, vectors, strict=True)]
        for start in range(0, len(points), BATCH):
            _call(self._url, partial(self._client.upsert, self._name, points=points[start : start + BATCH], wait=True))

    def finish(self) -> None:
        """Nothing to do: `add` has written every batch."""

    def abandon(self) -> None:
        _call(self._url, lambda: self._client.delete_collection(self._name))


def list_collections(url: str, key: str | None, prefix: str) -> list[str]:
    """The collections on the server whose names begin with `prefix`."""
    found = _call(url, lambda: connect_qdrant(url, key).get_collections().collections)
    return sorted(each.name for each in found if each.name.startswith(prefix))


def delete_collection(url: str, key: str | None, name: str) -> None:
    """Remove a collection; a missing one is no error."""
    _call(url, lambda: _turn_client(url, key).delete_collection(name))


def _call(url: str, call: Callable[[], T]) -> T:
    import httpx
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        return call()
    except (ResponseHandlingException, UnexpectedResponse, httpx.HTTPError, ConnectionError) as error:
        why = str(error).rstrip(".")
        raise ConfigError(f"The Qdrant server at {url} does not serve: {why}. Check NACRE_QDRANT_URL") from error
