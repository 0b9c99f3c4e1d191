"""Read and write triples that were extracted from texts, in one SQLite file: names or IRIs -> triples with sentences.

The file stores the triples as they were extracted, and separately which relations were condensed into another one.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nacre.records.extracted import ExtractedTriple, SourceSentence

DDL = """
CREATE TABLE triple (
    n INTEGER PRIMARY KEY, subject TEXT NOT NULL, subject_key TEXT NOT NULL, subject_form TEXT NOT NULL,
    relation TEXT NOT NULL, relation_key TEXT NOT NULL, object TEXT NOT NULL, object_key TEXT NOT NULL,
    object_form TEXT NOT NULL, kind TEXT NOT NULL, confidence REAL NOT NULL, pattern TEXT NOT NULL, by TEXT NOT NULL,
    sentence INTEGER NOT NULL REFERENCES sentence (n)
);
CREATE TABLE sentence (
    n INTEGER PRIMARY KEY, text TEXT NOT NULL, document TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    title TEXT NOT NULL, UNIQUE (document, first, last)
);
CREATE TABLE condensed (relation TEXT PRIMARY KEY, into_relation TEXT NOT NULL);
CREATE INDEX triple_subject_key ON triple (subject_key);
CREATE INDEX triple_object_key ON triple (object_key);
CREATE INDEX triple_subject ON triple (subject_form);
CREATE INDEX triple_object ON triple (object_form);
"""
_READ = """
SELECT subject, subject_key, {relation}, relation_key, object, object_key, kind, confidence, pattern, by,
    s.text, s.document, s.first, s.last, s.title
FROM triple JOIN sentence s ON s.n = triple.sentence {joined}
"""
ORIGINAL = _READ.format(relation="triple.relation", joined="")
CONDENSED = _READ.format(
    relation="coalesce(c.into_relation, triple.relation)",
    joined="LEFT JOIN condensed c ON c.relation = triple.relation",
)
# terms of one query
MAX_TERMS = 200
MAX_FOUND = 400


class ExtractedLayer:
    """A read-only handle, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        # immutable: a published file never changes, so SQLite needs no lock file and the folder may be read-only
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.count = int(self._rows("SELECT count(*) FROM triple")[0][0])

    def all(self, *, condensed: bool = False) -> list[ExtractedTriple]:
        """Every triple in the order of extraction, with its own or its condensed relation."""
        return [_read(row) for row in self._rows(f"{CONDENSED if condensed else ORIGINAL} ORDER BY triple.n")]

    def about(self, keys: Collection[str], forms: Collection[str]) -> list[ExtractedTriple]:
        """The condensed triples with one of these things, or a thing with one of these folded names, as subject or
        object; at most 400, by confidence."""
        wanted = [*sorted(keys)[:MAX_TERMS]], [*sorted(forms)[:MAX_TERMS]]
        marks = [",".join("?" * len(each)) or "NULL" for each in wanted]
        where = (
            f"subject_key IN ({marks[0]}) OR object_key IN ({marks[0]})"
            f" OR subject_form IN ({marks[1]}) OR object_form IN ({marks[1]})"
        )
        given = [*wanted[0], *wanted[0], *wanted[1], *wanted[1]]
        rows = self._rows(f"{CONDENSED} WHERE {where} ORDER BY confidence DESC, triple.n LIMIT {MAX_FOUND}", given)
        return [_read(row) for row in rows]

    def names(self, forms: Collection[str]) -> list[str]:
        """The folded names that are the name of a subject or an object."""
        found: set[str] = set()
        asked = sorted(forms)
        for start in range(0, len(asked), MAX_TERMS):
            part = asked[start : start + MAX_TERMS]
            marks = ",".join("?" * len(part))
            for side in ("subject_form", "object_form"):
                found.update(
                    row[0] for row in self._rows(f"SELECT DISTINCT {side} FROM triple WHERE {side} IN ({marks})", part)
                )
        return sorted(found)

    @property
    def condensed(self) -> Mapping[str, str]:
        """The condensed relations, each with the relation it was condensed into."""
        return dict(self._rows("SELECT relation, into_relation FROM condensed ORDER BY relation"))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _rows(self, sql: str, params: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, params).fetchall()


def write_layer(
    path: Path,
    triples: Iterable[ExtractedTriple],
    form: Callable[[str], str],
    *,
    condensed: Mapping[str, str] | None = None,
) -> int:
    """Write a new file; `form` folds names for lookup. Returns the number of triples."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {DDL} BEGIN")
        count = 0
        for each in triples:
            claim = each.claim
            place = (claim.document, claim.start, claim.end)
            connection.execute(
                "INSERT OR IGNORE INTO sentence (text, document, first, last, title) VALUES (?, ?, ?, ?, ?)",
                (claim.text, *place, claim.title),
            )
            found = connection.execute("SELECT n FROM sentence WHERE (document, first, last) = (?, ?, ?)", place)
            (sentence,) = found.fetchone()
            row = (
                each.subject, each.subject_key, form(each.subject), each.relation, each.relation_key,
                each.object, each.object_key, form(each.object), each.kind, each.confidence, each.pattern, each.by,
                sentence,
            )  # fmt: skip
            connection.execute(f"INSERT INTO triple VALUES (NULL, {','.join('?' * len(row))})", row)
            count += 1
        connection.executemany("INSERT INTO condensed VALUES (?, ?)", sorted((condensed or {}).items()))
        connection.execute("COMMIT")
    return count


def _read(row: tuple[Any, ...]) -> ExtractedTriple:
    return ExtractedTriple(*(*row[:10], SourceSentence(*row[10:])))
