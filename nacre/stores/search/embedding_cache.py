"""Computed vectors that are not yet in a set of vectors: id -> vector, durable if the process is killed."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

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
