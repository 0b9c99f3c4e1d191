"""Vectors that were made and are not in a set of vectors yet: id -> vector, kept through a kill."""

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
    """A file of its own for the graph's only writer. It begins empty where another embedder filled it or it is damaged:
    its vectors can be made again."""

    def __init__(self, path: Path, embedder: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        try:
            self._connection = _opened(path, embedder)
        except sqlite3.OperationalError:  # it can't be written, whatever is in it
            raise
        except sqlite3.DatabaseError:
            remove_embedding_cache(path)
            self._connection = _opened(path, embedder)

    def ids(self) -> set[int]:
        """What is there already."""
        return {row[0] for row in self._connection.execute("SELECT id FROM vector")}

    def add(self, ids: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        """Keep vectors; when this returns, a kill does not lose them."""
        import numpy as np

        rows = ((i, np.asarray(v, dtype=np.float32).tobytes()) for i, v in zip(ids, vectors, strict=True))
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)

    def fetch(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The vectors with these ids, at most some hundreds; unknown ids are left out."""
        import numpy as np

        marks = ",".join("?" * len(ids))
        rows = self._connection.execute(f"SELECT id, floats FROM vector WHERE id IN ({marks})", ids)
        return {i: np.frombuffer(floats, dtype=np.float32).tolist() for i, floats in rows}

    def close(self) -> None:
        self._connection.close()


def remove_embedding_cache(path: Path) -> None:
    """Remove the file and what SQLite keeps beside it."""
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        each.unlink(missing_ok=True)


def _opened(path: Path, embedder: str) -> sqlite3.Connection:
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
