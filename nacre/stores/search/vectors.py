"""Search by meaning: a text -> passages whose vectors are nearest, wherever the vectors lie."""

from collections.abc import Sequence
from typing import Any, Protocol

from nacre.errors import ConfigError
from nacre.stores.sqlite.passages import PassageHit


class Embedder(Protocol):
    """A model that turns texts into vectors; vectors of different names can't be compared."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector a text, in the order given."""
        ...


class Collection(Protocol):
    """Where the vectors of one version lie: `stores.vectors_edge` or `stores.vectors_server`."""

    def nearest(self, vector: Sequence[float], limit: int) -> list[PassageHit]: ...

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The vectors with these ids; unknown ids are left out."""
        ...

    def close(self) -> None: ...


class CollectionWriter(Protocol):
    """The vectors of a version in the making. `finish` makes them durable; `abandon` leaves nothing behind."""

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


class Vectors:
    """A read-only handle on the vectors of one version. `failed` says why a server did not answer, once it did not: it
    is not asked again, so that a turn waits for it once; open the vectors anew to see whether it is back."""

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self.failed = ""
        self._collection = collection
        self._embedder = embedder

    def prepare(self, text: str) -> None:
        """Make the vector of a text that will be searched for: an embedder remembers the last ones."""
        if text.strip():
            self._embedder.embed([text])

    def search(self, text: str, limit: int) -> list[PassageHit]:
        """The passages nearest to `text`, scored by cosine. Raises ConfigError where a server does not answer."""
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
