"""Documents on disk: a name -> its text, where its pages begin, what it names; from one documents.sqlite."""

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
    """A document that was read. `source` is its file as it was given, `pages` where its pages begin, empty where it has
    none; places are characters of `text`."""

    name: str
    title: str
    source: str
    text: str
    pages: tuple[int, ...] = ()


class DocumentMention(NamedTuple):
    """A sentence of a document, by its place, and a thing of the graph (its IRI) that it names."""

    document: str
    start: int
    end: int
    thing: str


class SkippedDocument(NamedTuple):
    """A file that gave no passages: it can't be read, or says what another one says; `why` names that."""

    name: str
    kind: Literal["unreadable", "repeated"]
    why: str

    @property
    def words(self) -> str:
        """One line for a person."""
        return f"{self.name}: {self.why}"


class Documents:
    """A read-only handle, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        # immutable: a published file never changes, and a read-only folder has no place for lock files
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.count = int(self._rows("SELECT count(*) FROM document")[0][0])

    def part(self, name: str, start: int = 0, end: int | None = None) -> str | None:
        """The text of a document from `start` to `end` (characters); None where there is no such document."""
        length = -1 if end is None else max(0, end - start)
        column = "substr(text, ?)" if length < 0 else "substr(text, ?, ?)"
        given = (start + 1,) if length < 0 else (start + 1, length)
        found = self._rows(f"SELECT {column} FROM document WHERE name = ?", (*given, name))
        return str(found[0][0]) if found else None

    def page(self, name: str, place: int) -> int | None:
        """The page, from 1, on which a place lies; None where the document has no pages."""
        found = self._rows("SELECT pages FROM document WHERE name = ?", (name,))
        pages: list[int] = json.loads(found[0][0]) if found else []
        return bisect_right(pages, place) if pages else None

    def named_in(self, places: Sequence[SentencePlace]) -> dict[SentencePlace, tuple[str, ...]]:
        """The things that the sentences at these places name, in their order; places without any are left out."""
        found: dict[SentencePlace, tuple[str, ...]] = {}
        for document, start, end in dict.fromkeys(places):
            rows = self._rows(
                "SELECT thing FROM naming WHERE document = ? AND start = ? ORDER BY rowid", (document, start)
            )
            if rows:
                found[document, start, end] = tuple(row[0] for row in rows)
        return found

    def naming(self, thing: str, most: int) -> list[SentencePlace]:
        """Where sentences name a thing, the first `most` by document and place."""
        return [
            (str(name), int(start), int(stop))
            for name, start, stop in self._rows(
                "SELECT document, start, stop FROM naming WHERE thing = ? ORDER BY document, start LIMIT ?",
                (thing, most),
            )
        ]

    def left_out(self) -> list[SkippedDocument]:
        """The files that gave no passages."""
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

    `count` documents were kept so far; `last` is the file that was left out last, in words."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + DDL)
        self._connection.execute("BEGIN")
        self.count = 0
        self.last = ""

    def add(self, document: Document, namings: Iterable[DocumentMention] = ()) -> None:
        """Keep a document and what it names."""
        name, title, source, text, pages = document
        # a lone surrogate, which some files have, can't be written
        text = text.encode(errors="replace").decode()
        self._connection.execute(
            "INSERT INTO document VALUES (?, ?, ?, ?, ?)", (name, title, source, text, json.dumps(pages))
        )
        self._connection.executemany("INSERT INTO naming VALUES (?, ?, ?, ?)", namings)
        self.count += 1

    def leave_out(self, file: SkippedDocument) -> None:
        """Note a file that gave no passages."""
        self._connection.execute("INSERT INTO left_out VALUES (?, ?, ?)", file)
        self.last = file.words

    def __enter__(self) -> "DocumentsWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self._connection.execute("COMMIT")
            self._connection.executescript(INDEXES)
        self._connection.close()


def skipped_lines(files: Sequence[SkippedDocument], most: int | None = None) -> Iterator[str]:
    """What was left out, for a person: a line with the counts, then `most` of them.

    >>> list(left_out_lines([LeftOut("a.pdf", "unreadable", "no text in it")]))
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
