"""Vector search: a text -> passages with the nearest vectors, in a folder or on a server."""

from collections.abc import Sequence
from typing import Any, Protocol

from nacre.errors import ConfigError
from nacre.stores.sqlite.passages import PassageHit


class Embedder(Protocol):
    """A model that embeds texts. Vectors of embedders with different names are not comparable."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector for each text, in order."""
        ...


class Collection(Protocol):
    """The vectors of one version, opened to read: `vectors_edge` or `vectors_server`."""

    def nearest(self, vector: Sequence[float], limit: int) -> list[PassageHit]: ...

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The vectors with these ids; unknown ids are left out."""
        ...

    def close(self) -> None: ...


class CollectionWriter(Protocol):
    """The vectors of a new version. `finish` makes them durable, `abandon` removes them."""

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


class Vectors:
    """A read-only handle on the vectors of one version.

    `failed` is the error of a server that did not answer. It is not queried again, so that a turn waits for it once;
    reopen the vectors to retry.
    """

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self.failed = ""
        self._collection = collection
        self._embedder = embedder

    def prepare(self, text: str) -> None:
        """Embed a text that will be searched for; the embedder caches recent vectors."""
        if text.strip():
            self._embedder.embed([text])

    def search(self, text: str, limit: int) -> list[PassageHit]:
        """The passages nearest to `text`, scored by cosine. Raises ConfigError if a server does not answer."""
        if not text.strip() or limit < 1:
            return []
        vector = [float(x) for x in self._embedder.embed([text])[0]]
        if self.failed:
            raise ConfigError(self.failed)
        try:
            found = self._collection.nearest(vector, limit)
        except ConfigError as error:
            self.failed = str(error)
            raise
        return sorted(found, key=lambda hit: (-hit.score, hit.id))

    def close(self) -> None:
        self._collection.close()
