"""Passages on disk: ids or a key -> passages with their sentences, from one passages.sqlite."""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from records.facts import Passage, Sentence, Source

DDL = """
CREATE TABLE passage (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, part INTEGER NOT NULL, title TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE sentence (
    n INTEGER PRIMARY KEY, text TEXT NOT NULL,
    subject TEXT, predicate TEXT, object TEXT, document TEXT, start INTEGER, stop INTEGER
);
"""
INSERT_SENTENCE = "INSERT INTO sentence VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class Hit(NamedTuple):
    """A passage that a search found; the greater the score, the better, within one search only."""

    id: int
    score: float


class Passages:
    """A read-only handle, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        # immutable: a published file never changes, and a read-only folder has no place for lock files
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.count = int(self._rows("SELECT count(*) FROM passage")[0][0])

    def get(self, ids: Sequence[int]) -> list[Passage]:
        """The passages with these ids, in their order; an unknown id is left out."""
        found: dict[int, Passage] = {}
        for chunk in _chunks(list(ids), 500):
            marks = ",".join("?" * len(chunk))
            for i, key, title, *span in self._rows(
                f"SELECT id, key, title, first, last FROM passage WHERE id IN ({marks})", chunk
            ):
                found[i] = Passage(i, key, title, tuple(self._sentences(key, span)))
        return [found[i] for i in ids if i in found]

    def by_key(self, key: str) -> list[Passage]:
        """All passages about one thing (its IRI) or of one document, from its beginning."""
        return self.get(
            [row[0] for row in self._rows("SELECT id FROM passage WHERE key = ? ORDER BY part, id", (key,))]
        )

    def each(self) -> Iterator[tuple[int, str, str]]:
        """(id, title, text) of every passage, in the order they were written; memory for a few hundred at a time."""
        position = 0
        while rows := self._rows(
            "SELECT id, title, first, last FROM passage WHERE first >= ? ORDER BY first LIMIT 500", (position,)
        ):
            position = rows[-1][3] + 1
            texts = [
                row[0]
                for row in self._rows("SELECT text FROM sentence WHERE n BETWEEN ? AND ?", (rows[0][2], rows[-1][3]))
            ]
            for i, title, first, last in rows:
                yield i, title, " ".join(texts[first - rows[0][2] : last + 1 - rows[0][2]])

    def ids(self) -> list[int]:
        return [row[0] for row in self._rows("SELECT id FROM passage ORDER BY id")]

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _sentences(self, key: str, span: Sequence[int]) -> Iterator[Sentence]:
        for text, s, p, o, document, start, stop in self._rows(
            "SELECT text, subject, predicate, object, document, start, stop FROM sentence"
            " WHERE n BETWEEN ? AND ? ORDER BY n",
            span,
        ):
            triple = (key if s is None else s, p, o) if p is not None else None
            yield Sentence(text, Source(triple, document, start or 0, stop or 0))

    def _rows(self, sql: str, params: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock:
            return self._connection.execute(sql, params).fetchall()


def write_passages(passages: Iterable[Passage], path: Path) -> int:
    """Write a new passages.sqlite; passages with the same id (so the same content) are kept once. Returns how many.

    The passages about one key come one after the other.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + DDL)
        connection.execute("BEGIN")
        waiting: list[tuple[object, ...]] = []
        last_key, part, count, written = "", -1, 0, 0
        for passage in passages:
            part = part + 1 if passage.key == last_key else 0
            last_key = passage.key
            span = (written + 1, written + len(passage.sentences))
            row = (passage.id, passage.key, part, passage.title, *span)
            if connection.execute("INSERT OR IGNORE INTO passage VALUES (?, ?, ?, ?, ?, ?)", row).rowcount == 1:
                waiting += _sentence_rows(passage, span[0])
                count, written = count + 1, span[1]
            if len(waiting) > 4096:
                connection.executemany(INSERT_SENTENCE, waiting)
                waiting.clear()
        connection.executemany(INSERT_SENTENCE, waiting)
        connection.execute("CREATE INDEX passage_key ON passage(key, part)")
        connection.execute("CREATE INDEX passage_first ON passage(first)")
        connection.execute("COMMIT")
    finally:
        connection.close()
    return count


def _sentence_rows(passage: Passage, first: int) -> Iterator[tuple[object, ...]]:
    """The subject is left out where it is the passage's key: it is long and nearly always so."""
    for n, (text, (triple, document, start, stop)) in enumerate(passage.sentences, first):
        if triple is not None:
            s, p, o = triple
            yield n, text, None if s == passage.key else s, p, o, None, None, None
        else:
            yield n, text, None, None, None, document, start, stop


def _chunks(ids: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
