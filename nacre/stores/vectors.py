"""Vector search: a text -> passages with the nearest vectors, in a folder (Qdrant Edge, in process) or on a server. Any
number of processes may read a shard. Computed vectors not yet in a set are durable if the process is killed."""

import atexit
import errno
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nacre.errors import ConfigError, ToolError
from nacre.stores import versions
from nacre.stores.lexical import DamagedIndex, check_sizes, engine_panics, file_sizes
from nacre.stores.sqlite.passages import PassageHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Embedder(Protocol):
    """A model that embeds texts. Vectors of embedders with different names are not comparable."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector for each text, in order."""
        ...


# vectors of the labels of properties and classes, 1.5 KB each
MAX_LABEL_VECTORS = 8192

_label_vectors: dict[tuple[str, str], Any] = {}


def label_vectors(embedder: Embedder, labels: Sequence[str]) -> list[Any]:
    """The vectors of labels of a graph, in order. A label is embedded by the first question that needs it."""
    found = {label: _label_vectors.get((embedder.name, label)) for label in labels}
    missing = [label for label, vector in found.items() if vector is None]
    if missing:
        fresh = dict(zip(missing, embedder.embed(missing), strict=True))
        if len(_label_vectors) + len(fresh) > MAX_LABEL_VECTORS:
            _label_vectors.clear()
        _label_vectors.update({(embedder.name, label): vector for label, vector in fresh.items()})
        found |= fresh
    return [found[label] for label in labels]


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
    """A read-only handle on the vectors of one version. `failed` is the error of a server that did not answer. It is
    not queried again, so that a turn waits for it once; reopen the vectors to retry."""

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self.failed = ""
        self._collection = collection
        self._embedder = embedder

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


log = logging.getLogger(__name__)


def open_collection(
    home: Path, vectors: str, url: str | None, key: str | None, *, patient: bool = False, at_once: bool = False
) -> Collection:
    """Open a set of vectors to read; files at their first search, or `at_once`. If `patient`, wait longer for a slow
    server."""
    name = versions.read_vectors_manifest(home, vectors).collection
    if name is None:
        if find_spec("qdrant_edge") is None:
            raise ConfigError("the vector engine is not installed. Run: pip install 'nacre[vectors]'")
        collection = EdgeCollection(versions.vectors_folder(home, vectors) / versions.SHARD)
        if at_once:
            collection.open()
        return collection
    if url is None:
        raise ConfigError(f"the vectors are on a Qdrant server ({name}). Set NACRE_QDRANT_URL")

    return ServerCollection(url, key, name, patient=patient)


def drop_collection(url: str | None, key: str | None, collection: str) -> None:
    """Remove a collection from the Qdrant server, if one is configured."""
    if url is None:
        log.warning(
            "the Qdrant collection %s is no longer needed; NACRE_QDRANT_URL is not set, so it stays", collection
        )
        return

    delete_collection(url, key, collection)


NAME = "the index of vectors"

CHUNK = "chunk_"  # prefix of the files with the vectors themselves

SPARE_BYTES = 4 << 20  # upper limit of a shard's size without its points

POINT_BYTES = 1 << 10  # upper limit of a point's size without its vector


class EdgeCollection:
    """A shard that is opened to read at its first search: opening and closing it takes a tenth of the time of a first
    question, and few questions need it. Qdrant Edge writes to the files it opens, so it gets a private copy of the
    small files and links to the large ones. If the folder is read-only, Edge can't open linked files, so they are
    copied too."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        self._lock = threading.Lock()
        self._shard: Any = None
        self._folder = folder.absolute()
        # the large files are mapped into memory from the original folder
        self._sizes = file_sizes(self._folder, (str(each.relative_to(self._folder)) for each in _chunks(self._folder)))

    def open(self) -> Any:
        """The shard, which is opened if it is not open yet."""
        with self._lock:
            if self._shard is None:
                self._shard = self._load()
            return self._shard

    def _load(self) -> Any:
        from qdrant_edge import EdgeShard

        try:
            # the shard has all files open: they are removed at once, so that a process that is killed leaves none
            with tempfile.TemporaryDirectory(prefix="nacre-vectors-", ignore_cleanup_errors=True) as private:
                _mirror(self._folder, Path(private))
                _require_space(private, SPARE_BYTES + _unallocated_bytes(private))
                with engine_panics(NAME):
                    return EdgeShard.load(private)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise ConfigError(
                    f"no space left in {tempfile.gettempdir()}. Free some, or set TMPDIR to a folder on another disk"
                ) from error
            raise

    def nearest(self, vector: Sequence[float], limit: int) -> list[PassageHit]:
        from qdrant_edge import Query, QueryRequest

        request = QueryRequest(query=Query.Nearest(list(vector)), limit=limit)
        with self._reading() as shard:
            return [PassageHit(int(point.id), float(point.score)) for point in shard.query(request)]

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        with self._reading() as shard:
            return {int(record.id): record.vector for record in shard.retrieve(list(ids), False, True)}

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{NAME} is {error}") from None
        shard = self.open()
        with engine_panics(NAME):
            yield shard

    def close(self) -> None:
        with self._lock:
            if self._shard is not None:
                self._shard.close()
                self._shard = None


class EdgeWriter:
    """A new shard in a new folder."""

    def __init__(self, folder: Path, size: int) -> None:
        from qdrant_edge import Distance, EdgeConfig, EdgeShard, EdgeVectorParams

        folder.mkdir(parents=True)
        _require_space(folder, SPARE_BYTES)
        self._folder = folder
        self._point_bytes = POINT_BYTES + 4 * size
        # no write-ahead log: the folder is published complete or removed, and with a log only one process could open it
        config = EdgeConfig(vectors=EdgeVectorParams(size=size, distance=Distance.Cosine), wal_enabled=False)
        self._shard: Any = EdgeShard.create(str(folder), config)

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        from qdrant_edge import Point, UpdateOperation

        _require_space(self._folder, SPARE_BYTES + len(ids) * self._point_bytes)
        points = [Point(i, [float(x) for x in vector]) for i, vector in zip(ids, vectors, strict=True)]
        self._shard.update(UpdateOperation.upsert_points(points))

    def finish(self) -> None:
        self._shard.flush()
        self._shard.close()

    def abandon(self) -> None:
        self._shard.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _mirror(source: Path, target: Path) -> None:
    for here, folders, files in os.walk(source):
        there = target / Path(here).relative_to(source)
        if (
            any(name.startswith(CHUNK) for name in files)
            and all(os.access(os.path.join(here, name), os.W_OK) for name in files)
            and _unallocated_bytes(here) <= _free(here)
        ):
            there.symlink_to(here)  # link the folder: Qdrant Edge does not follow links to single files
            folders.clear()
            continue
        there.mkdir(exist_ok=True)
        for name in files:
            _copy(os.path.join(here, name), there / name)


def _require_space(folder: str | Path, size: int) -> None:
    """Raise OSError if less space is free: Edge writes to mapped memory, and a full disk would end the process."""
    if _free(folder) < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _free(folder: str | Path) -> int:
    return shutil.disk_usage(folder).free


def _chunks(folder: str | Path) -> list[Path]:
    return [path for path in Path(folder).rglob(f"{CHUNK}*") if not path.is_dir()]


def _unallocated_bytes(folder: str | Path) -> int:
    """Bytes of sparse vector files that are not allocated yet; on some file systems, reading allocates them."""
    files = [path.stat() for path in _chunks(folder)]
    return sum(max(0, status.st_size - status.st_blocks * 512) for status in files)


def _copy(source: str, target: Path) -> None:
    """Copy a sparse file with its holes: most files of a small shard are 32 MB of holes."""
    with open(source, "rb") as origin, target.open("wb") as copy:
        size = os.fstat(origin.fileno()).st_size
        copy.truncate(size)
        position = 0
        while position < size:
            try:
                start = os.lseek(origin.fileno(), position, os.SEEK_DATA)
            except OSError:  # only a hole follows
                return
            position = os.lseek(origin.fileno(), start, os.SEEK_HOLE)
            for at in range(start, position, 1 << 20):
                os.pwrite(copy.fileno(), os.pread(origin.fileno(), min(1 << 20, position - at), at), at)


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


LAYOUT = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS vector (id INTEGER PRIMARY KEY, floats BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS embedder (name TEXT NOT NULL);
"""


class EmbeddingCache:
    """A SQLite file for the graph's only writer. If another embedder filled it or it is damaged, it is emptied."""

    def __init__(self, path: Path, embedder: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        try:
            self._connection = _open(path, embedder)
        except sqlite3.OperationalError:  # it can't be written
            raise
        except sqlite3.DatabaseError:
            remove_embedding_cache(path)
            self._connection = _open(path, embedder)

    def ids(self) -> set[int]:
        """The ids of the cached vectors."""
        return {row[0] for row in self._connection.execute("SELECT id FROM vector")}

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Store vectors durably."""
        import numpy as np

        rows = ((i, np.asarray(v, dtype=np.float32).tobytes()) for i, v in zip(ids, vectors, strict=True))
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The vectors with these ids (a few hundred at most); unknown ids are left out."""
        import numpy as np

        marks = ",".join("?" * len(ids))
        rows = self._connection.execute(f"SELECT id, floats FROM vector WHERE id IN ({marks})", ids)
        return {i: np.frombuffer(floats, dtype=np.float32).tolist() for i, floats in rows}

    def close(self) -> None:
        self._connection.close()


def remove_embedding_cache(path: Path) -> None:
    """Remove the file and SQLite's files beside it."""
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        each.unlink(missing_ok=True)


def _open(path: Path, embedder: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        connection.executescript(LAYOUT)
        if connection.execute("SELECT name FROM embedder").fetchall() != [(embedder,)]:
            with connection:
                connection.execute("DELETE FROM vector")
                connection.execute("DELETE FROM embedder")
                connection.execute("INSERT INTO embedder VALUES (?)", (embedder,))
    except BaseException:
        connection.close()
        raise
    return connection
