"""Read and write documents in one documents.sqlite: name -> text, pages, and the things it mentions."""

import json
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

DDL = """
CREATE TABLE document (
    name TEXT PRIMARY KEY, title TEXT NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL, pages TEXT NOT NULL
);
CREATE TABLE naming (document TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, thing TEXT NOT NULL);
CREATE TABLE left_out (name TEXT NOT NULL, kind TEXT NOT NULL, why TEXT NOT NULL);
"""
INDEXES = """
CREATE INDEX naming_place ON naming(document, start);
CREATE INDEX naming_thing ON naming(thing);
"""

SentencePlace = tuple[str, int, int]


class Document(NamedTuple):
    """A document that was read. `source` is its file as the user gave it. `pages` are the offsets in `text` where its
    pages begin; empty for documents without pages."""

    name: str
    title: str
    source: str
    text: str
    pages: tuple[int, ...] = ()


class DocumentMention(NamedTuple):
    """A sentence of a document, by its place, and a thing (its IRI) that it mentions."""

    document: str
    start: int
    end: int
    thing: str


class SkippedDocument(NamedTuple):
    """A file without passages: it can't be read, or repeats another one; `why` has the reason."""

    name: str
    kind: Literal["unreadable", "repeated"]
    why: str

    @property
    def words(self) -> str:
        """One line of text for the user."""
        return f"{self.name}: {self.why}"


class Documents:
    """A read-only handle, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        # immutable: a published file never changes, so SQLite needs no lock file and the folder may be read-only
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.count = int(self._rows("SELECT count(*) FROM document")[0][0])

    def text(self, name: str, start: int = 0, end: int | None = None) -> str | None:
        """The text of a document from `start` to `end` (characters); None if there is no such document."""
        length = -1 if end is None else max(0, end - start)
        column = "substr(text, ?)" if length < 0 else "substr(text, ?, ?)"
        given = (start + 1,) if length < 0 else (start + 1, length)
        found = self._rows(f"SELECT {column} FROM document WHERE name = ?", (*given, name))
        return str(found[0][0]) if found else None

    def page(self, name: str, place: int) -> int | None:
        """The number of the page, from 1, that contains an offset; None if the document has no pages."""
        found = self._rows("SELECT pages FROM document WHERE name = ?", (name,))
        pages: list[int] = json.loads(found[0][0]) if found else []
        return bisect_right(pages, place) if pages else None

    def mentioned_in(self, places: Sequence[SentencePlace]) -> dict[SentencePlace, tuple[str, ...]]:
        """The things that the sentences at these places mention, in order; places without mentions are left out."""
        found: dict[SentencePlace, tuple[str, ...]] = {}
        for document, start, end in dict.fromkeys(places):
            rows = self._rows(
                "SELECT thing FROM naming WHERE document = ? AND start = ? ORDER BY rowid", (document, start)
            )
            if rows:
                found[document, start, end] = tuple(row[0] for row in rows)
        return found

    def mentions_of(self, thing: str, most: int) -> list[SentencePlace]:
        """The places of sentences that mention a thing, the first `most` by document and place."""
        return [
            (str(name), int(start), int(stop))
            for name, start, stop in self._rows(
                "SELECT document, start, stop FROM naming WHERE thing = ? ORDER BY document, start LIMIT ?",
                (thing, most),
            )
        ]

    def skipped(self) -> list[SkippedDocument]:
        """The files without passages."""
        return [
            SkippedDocument(*row) for row in self._rows("SELECT name, kind, why FROM left_out ORDER BY kind DESC, name")
        ]

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _rows(self, sql: str, params: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock:
            return self._connection.execute(sql, params).fetchall()


class DocumentsWriter:
    """Writes a new documents.sqlite, one document at a time; use it as a context manager.

    `count` is the number of documents so far; `last_skipped` describes the file that was skipped last."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + DDL)
        self._connection.execute("BEGIN")
        self.count = 0
        self.last_skipped = ""

    def add(self, document: Document, mentions: Iterable[DocumentMention] = ()) -> None:
        """Add a document and its mentions."""
        name, title, source, text, pages = document
        # some files contain lone surrogates, which can't be encoded
        text = text.encode(errors="replace").decode()
        self._connection.execute(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?)", (name, title, source, text, json.dumps(pages))
        )
        self._connection.executemany("INSERT INTO naming VALUES (?, ?, ?, ?)", mentions)
        self.count += 1

    def skip(self, file: SkippedDocument) -> None:
        """Record a file without passages."""
        self._connection.execute("INSERT INTO left_out VALUES (?, ?, ?)", file)
        self.last_skipped = file.words

    def __enter__(self) -> "DocumentsWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self._connection.execute("COMMIT")
            self._connection.executescript(INDEXES)
        self._connection.close()


def skipped_lines(files: Sequence[SkippedDocument], most: int | None = None) -> Iterator[str]:
    """A summary of skipped documents: a line with the counts, then the first `most` documents.

    >>> list(skipped_lines([SkippedDocument("a.pdf", "unreadable", "no text in it")]))
    ['Documents left out: 1 that cannot be read.', '  a.pdf: no text in it']
    """
    unreadable = sum(file.kind == "unreadable" for file in files)
    counts = [f"{unreadable:,} that cannot be read"] if unreadable else []
    counts += [f"{len(files) - unreadable:,} that repeat another"] if len(files) > unreadable else []
    if counts:
        yield f"Documents left out: {', '.join(counts)}."
        yield from (f"  {file.words}" for file in files[:most])
        if len(files) > len(files[:most]):
            yield f"  and {len(files) - len(files[:most]):,} more"
