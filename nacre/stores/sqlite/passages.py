"""Read and write passages.sqlite: ids or a key -> passages; documents.sqlite: name -> text, pages, things."""

import json
import sqlite3
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple

from nacre.records.evidence import Passage, Sentence
from nacre.stores.sqlite.tables import insert_rows

# One row for each passage, since the number of rows determines the time. The first line of `sources` has numbers for
# each sentence: its length, its predicate, the length of its object, and that of its subject if it is not the key
# ("20 3 9;31 0 4 12"); or its length and its place in the document that is the key ("20@100-120"). The objects and
# subjects follow. A part of a long literal has both ("20 3 9@100-120"), with length -1 if the object is the sentence.
PASSAGES_DDL = """
CREATE TABLE passage (
    n INTEGER PRIMARY KEY, id INTEGER NOT NULL, key TEXT NOT NULL, part INTEGER NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, sources TEXT NOT NULL
);
CREATE TABLE predicate (n INTEGER PRIMARY KEY, iri TEXT NOT NULL);
"""

CACHED_PASSAGES = 256  # number of passages whose sentences are kept apart, some 10 KB each


class PassageHit(NamedTuple):
    """A passage that a search found; scores are comparable within one search only."""

    id: int
    score: float


def open_published(path: Path) -> sqlite3.Connection:
    """A read-only connection to a file of a version."""
    # immutable: a published file never changes, so SQLite needs no lock file and the folder may be read-only
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


class PublishedFile:
    """A read-only handle on a file of a version, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection = open_published(path)

    def close(self) -> None:
        """Close its connection."""
        with self._lock:
            self._connection.close()

    def _rows(self, sql: str, params: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, params).fetchall()


class Passages(PublishedFile):
    """The passages of a version."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.count = int(self._rows("SELECT count(*) FROM passage")[0][0])
        self._predicates = [row[0] for row in self._rows("SELECT iri FROM predicate ORDER BY n")]
        # the questions of a conversation find the same passages again
        self._split = lru_cache(CACHED_PASSAGES)(partial(decode_sentences, predicates=self._predicates))

    def get(self, ids: Sequence[int]) -> list[Passage]:
        """The passages with these ids, in that order; unknown ids are left out."""
        found = {passage.id: passage for passage in self._read(f"id IN ({','.join('?' * len(ids))})", ids)}
        return [found[i] for i in ids if i in found]

    def by_key(self, key: str, limit: int = -1) -> list[Passage]:
        """The first passages about one thing (its IRI) or of one document, in order; all of them for -1."""
        return self._read("key = ? ORDER BY part, id LIMIT ?", (key, limit))

    def _read(self, condition: str, params: Sequence[object]) -> list[Passage]:
        rows = self._rows(f"SELECT id, key, title, text, sources FROM passage WHERE {condition}", params)
        return [Passage(i, key, title, self._split(key, text, sources)) for i, key, title, text, sources in rows]

    def each(self) -> Iterator[tuple[int, str, str]]:
        """(id, title, text) of every passage, in the order they were written."""
        with closing(open_published(self.path)) as own:
            yield from own.execute("SELECT id, title, text FROM passage ORDER BY n")

    def written(self) -> list[int]:
        """The ids in the order the passages were written: those about one key one after the other."""
        return [row[0] for row in self._rows("SELECT id FROM passage ORDER BY n")]


def decode_sentences(key: str, text: str, sources: str, predicates: Sequence[str]) -> tuple[Sentence, ...]:
    """The sentences of an encoded passage."""
    sentences = []
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
            sentences.append(Sentence(said, (subject, predicates[predicate], object_), None, start, end))
        else:
            sentences.append(Sentence(said, None, key if span else None, start, end))
    return tuple(sentences)


class EncodedPassage(NamedTuple):
    """A passage as the file has it; `sources` has the numbers of predicates."""

    id: int
    key: str
    title: str
    text: str
    sources: str


PredicateNumbers = defaultdict[str, int]  # a new IRI gets the next number


def write_passages(
    passages: Iterable[Passage | EncodedPassage], path: Path, predicates: PredicateNumbers | None = None
) -> int:
    """Write passages.sqlite; returns their number (equal ids count once). The same keys must be consecutive, and
    encoded passages have the numbers of `predicates`."""
    predicates = PredicateNumbers(count().__next__) if predicates is None else predicates
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(
            "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + PASSAGES_DDL
        )
        insert_rows(connection, "passage (id, key, part, title, text, sources)", 6, _rows(passages, predicates))
        written = connection.total_changes
        connection.executemany("INSERT INTO predicate VALUES (?, ?)", ((n, iri) for iri, n in predicates.items()))
        connection.execute("CREATE UNIQUE INDEX passage_id ON passage(id)")
        connection.execute("CREATE INDEX passage_key ON passage(key, part)")
        connection.execute("COMMIT")
    finally:
        connection.close()
    return written


def _rows(passages: Iterable[Passage | EncodedPassage], predicates: PredicateNumbers) -> Iterator[tuple[object, ...]]:
    """The rows of distinct passages, in their order."""
    seen, last_key, part = set[int](), "", -1
    for passage in passages:
        row = passage if isinstance(passage, EncodedPassage) else _encode(passage, predicates)
        number, key, title, text, sources = row
        part = part + 1 if key == last_key else 0
        last_key = key
        if number not in seen:
            seen.add(number)
            yield number, key, part, title, text, sources


def _encode(passage: Passage, predicates: PredicateNumbers) -> EncodedPassage:
    encoded = [encode_sentence(sentence, passage.key, predicates) for sentence in passage.sentences]
    sources = f"{';'.join([own for own, _ in encoded])}\n{''.join([terms for _, terms in encoded])}"
    return EncodedPassage(passage.id, passage.key, passage.title, passage.text, sources)


def encode_sentence(sentence: Sentence, key: str, predicates: PredicateNumbers) -> tuple[str, str]:
    """The numbers of a sentence of the passage with this key, and its terms."""
    text, triple, document, start, end = sentence
    if triple is None:
        return f"{len(text)}@{start}-{end}" if document is not None else str(len(text)), ""
    subject, iri, terms = triple
    if end and terms == text:
        own, terms = f"{len(text)} {predicates[iri]} -1", ""
    else:
        own = f"{len(text)} {predicates[iri]} {len(terms)}"
    if subject != key:
        own, terms = f"{own} {len(subject)}", terms + subject
    return f"{own}@{start}-{end}" if end else own, terms


DOCUMENTS_DDL = """
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

    def parts(self) -> Iterator[tuple[int | None, str]]:
        """The number and text of each page that has one, or the whole text.

        >>> list(Document("a", "A", "a.pdf", "One.\\n\\nThree.", (0, 6, 6)).parts())
        [(1, 'One.'), (3, 'Three.')]
        """
        ends = (*self.pages[1:], len(self.text))
        for page, (start, end) in enumerate(zip(self.pages, ends, strict=False), 1):
            if start < end:
                yield page, self.text[start:end].rstrip("\n")
        if not self.pages:
            yield None, self.text


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


class Documents(PublishedFile):
    """The documents of a version."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.count = int(self._rows("SELECT count(*) FROM document")[0][0])

    def text(self, name: str, start: int = 0, end: int | None = None) -> str | None:
        """The text of a document from `start` to `end` (characters); None if there is no such document."""
        length = -1 if end is None else max(0, end - start)
        column = "substr(text, ?)" if length < 0 else "substr(text, ?, ?)"
        given = (start + 1,) if length < 0 else (start + 1, length)
        found = self._rows(f"SELECT {column} FROM document WHERE name = ?", (*given, name))
        return str(found[0][0]) if found else None

    def all(self) -> Iterator[Document]:
        """All documents, by name."""
        rows = self._rows("SELECT name, title, source, text, pages FROM document ORDER BY name")
        return (Document(row[0], row[1], row[2], row[3], tuple(json.loads(row[4]))) for row in rows)

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

    def skipped(self) -> list[SkippedDocument]:
        """The files without passages."""
        return [
            SkippedDocument(*row) for row in self._rows("SELECT name, kind, why FROM left_out ORDER BY kind DESC, name")
        ]


class DocumentsWriter:
    """Writes documents.sqlite one document at a time, as a context manager; counts them, notes the last skipped one."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + DOCUMENTS_DDL)
        self._connection.execute("BEGIN")
        self.count = 0
        self.last_skipped = ""

    def add(self, document: Document, mentions: Iterable[DocumentMention] = ()) -> None:
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
