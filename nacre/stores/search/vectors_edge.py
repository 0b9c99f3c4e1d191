"""Vectors in a folder, searched in process (Qdrant Edge); any number of processes may read the shard."""

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError, ToolError
from nacre.stores.search.file_integrity import DamagedIndex, check_sizes, engine_panics, file_sizes
from nacre.stores.sqlite.passages import PassageHit

NAME = "the index of vectors"
CHUNK = "chunk_"  # prefix of the files with the vectors themselves
SPARE_BYTES = 4 << 20  # upper limit of a shard's size without its points
POINT_BYTES = 1 << 10  # upper limit of a point's size without its vector


class EdgeCollection:
    """A shard opened to read. Qdrant Edge writes to the files it opens, so it gets a private copy of the small files
    and links to the large ones. If the folder is read-only, Edge can't open linked files, so they are copied too."""

    def __init__(self, folder: Path) -> None:
        from qdrant_edge import EdgeShard

        self._lock = threading.Lock()
        self._shard: Any = None
        self._folder = folder.absolute()
        # the large files are mapped into memory from the original folder
        self._sizes = file_sizes(self._folder, (str(each.relative_to(self._folder)) for each in _chunks(self._folder)))
        try:
            # the shard has all files open: they are removed at once, so that a process that is killed leaves none
            with tempfile.TemporaryDirectory(prefix="nacre-vectors-", ignore_cleanup_errors=True) as private:
                _mirror(self._folder, Path(private))
                _require_space(private, SPARE_BYTES + _unallocated_bytes(private))
                with engine_panics(NAME):
                    self._shard = EdgeShard.load(private)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise ConfigError(
                    f"no space left in {tempfile.gettempdir()}. Free some, or set TMPDIR to a folder on another disk"
                ) from error
            raise

    def nearest(self, vector: Sequence[float], limit: int) -> list[PassageHit]:
        from qdrant_edge import Query, QueryRequest

        request = QueryRequest(query=Query.Nearest(list(vector)), limit=limit)
        with self._reading():
            return [PassageHit(int(point.id), float(point.score)) for point in self._shard.query(request)]

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        with self._reading():
            return {int(record.id): record.vector for record in self._shard.retrieve(list(ids), False, True)}

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """As `IndexFolder.reading`."""
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{NAME} is {error}") from None
        with engine_panics(NAME):
            yield

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
            and _writable(here, files)
            and _unallocated_bytes(here) <= _free(here)
        ):
            there.symlink_to(here)  # link the folder: Qdrant Edge does not follow links to single files
            folders.clear()
            continue
        there.mkdir(exist_ok=True)
        for name in files:
            _copy(os.path.join(here, name), there / name)


def _writable(folder: str, files: list[str]) -> bool:
    return all(os.access(os.path.join(folder, name), os.W_OK) for name in files)


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
