"""Passages on disk: ids or a key -> passages with their sentences, from one passages.sqlite."""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.records.facts import Passage, Sentence

# One row a passage, since rows are what costs time. `sources` has a line of numbers, for each sentence its length, its
# predicate and the length of its object, and of its subject where that is not the key ("20 3 9;31 0 4 12"), or its
# length, its start and its end in the document that is the key ("20@100-120"); then come the objects and subjects. A
# part of a long literal has both ("20 3 9@100-120"), and the length -1 where the object is the sentence itself.
DDL = """
CREATE TABLE passage (
    n INTEGER PRIMARY KEY, id INTEGER NOT NULL, key TEXT NOT NULL, part INTEGER NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, sources TEXT NOT NULL
);
CREATE TABLE predicate (n INTEGER PRIMARY KEY, iri TEXT NOT NULL);
"""


class PassageHit(NamedTuple):
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
        self._predicates = [row[0] for row in self._rows("SELECT iri FROM predicate ORDER BY n")]

    def get(self, ids: Sequence[int]) -> list[Passage]:
        """The passages with these ids, in their order; an unknown id is left out."""
        found: dict[int, Passage] = {}
        for chunk in _chunks(list(ids), 500):
            marks = ",".join("?" * len(chunk))
            for i, key, title, text, sources in self._rows(
                f"SELECT id, key, title, text, sources FROM passage WHERE id IN ({marks})", chunk
            ):
                found[i] = Passage(i, key, title, tuple(self._sentences(key, text, sources)))
        return [found[i] for i in ids if i in found]

    def by_key(self, key: str) -> list[Passage]:
        """All passages about one thing (its IRI) or of one document, from its beginning."""
        return self.get(
            [row[0] for row in self._rows("SELECT id FROM passage WHERE key = ? ORDER BY part, id", (key,))]
        )

    def each(self) -> Iterator[tuple[int, str, str]]:
        """(id, title, text) of every passage, in the order they were written; memory for a few hundred at a time."""
        last = 0
        while rows := self._rows("SELECT n, id, title, text FROM passage WHERE n > ? ORDER BY n LIMIT 500", (last,)):
            last = rows[-1][0]
            for _, i, title, text in rows:
                yield i, title, text

    def ids(self) -> list[int]:
        return [row[0] for row in self._rows("SELECT id FROM passage ORDER BY id")]

    def written(self) -> list[int]:
        """The ids in the order the passages were written: those about one key one after the other."""
        return [row[0] for row in self._rows("SELECT id FROM passage ORDER BY n")]

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _sentences(self, key: str, text: str, sources: str) -> Iterator[Sentence]:
        numbers, _, terms = sources.partition("\n")
        at = place = 0
        for each in numbers.split(";"):
            own, _, span = each.partition("@")
            length, *triple = map(int, own.split())
            said = text[at : at + length]
            at += length + 1
            start, end = map(int, span.split("-")) if span else (0, 0)
            if triple:
                predicate, size, *other = triple
                object_ = said if size < 0 else terms[place : place + size]
                place += max(0, size)
                subject = terms[place : place + other[0]] if other else key
                place += other[0] if other else 0
                yield Sentence(said, (subject, self._predicates[predicate], object_), None, start, end)
            elif span:
                yield Sentence(said, None, key, start, end)
            else:
                yield Sentence(said)

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
        predicates: dict[str, int] = {}
        insert = "INSERT INTO passage (id, key, part, title, text, sources) VALUES (?, ?, ?, ?, ?, ?)"
        count = connection.executemany(insert, _rows_of(passages, predicates)).rowcount
        connection.executemany("INSERT INTO predicate VALUES (?, ?)", ((n, iri) for iri, n in predicates.items()))
        connection.execute("CREATE UNIQUE INDEX passage_id ON passage(id)")
        connection.execute("CREATE INDEX passage_key ON passage(key, part)")
        connection.execute("COMMIT")
    finally:
        connection.close()
    return max(0, count)


def _rows_of(passages: Iterable[Passage], predicates: dict[str, int]) -> Iterator[tuple[object, ...]]:
    seen: set[int] = set()
    last_key, part = "", -1
    for passage in passages:
        key = passage.key
        part = part + 1 if key == last_key else 0
        last_key = key
        if passage.id in seen:
            continue
        seen.add(passage.id)
        numbers, terms = [], []
        for text, triple, document, start, end in passage.sentences:
            if triple is not None:
                subject, iri, object_ = triple
                number = predicates.get(iri)
                if number is None:
                    number = predicates[iri] = len(predicates)
                itself = end > 0 and object_ == text
                own = f"{len(text)} {number} {-1 if itself else len(object_)}"
                terms.append("" if itself else object_)
                if subject != key:
                    own = f"{own} {len(subject)}"
                    terms.append(subject)
                numbers.append(f"{own}@{start}-{end}" if end else own)
            else:
                numbers.append(f"{len(text)}@{start}-{end}" if document is not None else str(len(text)))
        sources = f"{';'.join(numbers)}\n{''.join(terms)}"
        yield passage.id, key, part, passage.title, passage.text, sources


def _chunks(ids: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
