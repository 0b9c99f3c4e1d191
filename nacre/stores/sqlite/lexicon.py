"""Look up the names of a graph and the links between its tables on disk: lexicon file -> Lexicon."""

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from nacre.records.schema import Schema
from nacre.stores.search.spellings import MAX_EDITS, Spellings
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.lexicon_file import Row, spellings_folder

NameKind = Literal["class", "group", "predicate", "entity", "value"]

# maximum number of equal names, and of forms of one word
MAX_EQUAL_NAMES, MAX_FORMS = 4000, 200
_CACHED_WORDS = 16384
# short lists of names and words are cached, since questions repeat the same words
_CACHED_LISTS, _MAX_CACHED_LENGTH = 4096, 16
_MMAP_BYTES = 2**31
_ENTRY_COLUMNS = (
    "name.tokens, thing.kind, thing.target, thing.predicate, thing.label, thing.relation, thing.weight, thing.ends"
)


_JOIN_THING = "name ON name.n = described.name JOIN thing ON thing.n = name.thing"


class LexiconEntry(NamedTuple):
    """One name of an entity or a schema term. `tokens` are its normalised words.

    `target` is the IRI of a class, predicate or entity, the relation of a group, or the text of a value of `predicate`.
    `relation` is the table of an entity. `weight` is the prominence of an entity: its number of links, or -1 if only
    its IRI names it; 1 for schema terms. `ends` are the numbers of the predicates that lead to an entity, joined by
    spaces; None if unknown.
    """

    tokens: tuple[str, ...]
    kind: NameKind
    target: str
    predicate: str
    label: str
    relation: str
    weight: float
    ends: str | None = None


class LexiconWord(NamedTuple):
    """A word of names. `n` is its number, `names` and `things` count the names (of things) that contain it, `alone`: it
    is the whole name of a thing, `longest`: the words of the longest name that begins with it or a form of it."""

    n: int
    word: str
    lemma: str
    names: int
    things: int
    alone: bool
    longest: int


class LexiconThing(NamedTuple):
    """The label of a thing and its table."""

    label: str
    relation: str


class TableNameCounts(NamedTuple):
    """A table with the number of its named things, and of those whose only name is a code in their IRI."""

    relation: str
    things: int
    coded: int


class TableLink(NamedTuple):
    """The number of triples by which `predicate` links things of table `subject` to things of table `object`."""

    predicate: str
    subject: str
    object: str
    triples: int


def lexicon_row(name: LexiconEntry) -> Row:
    """A name as a row of the file."""
    return " ".join(name.tokens), *name[1:]


class Lexicon:
    """The names of one graph, safe to share between threads: each has its own connection.

    Only the names of classes and properties are loaded. Those of things and values are read from disk, where all
    processes share the page cache. The embedder, if any, compares words with classes and predicates by meaning.
    """

    def __init__(self, path: Path, schema: Schema, embedder: Embedder | None = None) -> None:
        self.schema = schema
        self.embedder = embedder
        self._path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: list[sqlite3.Connection] = []
        self._spellings = Spellings(spellings_folder(path))
        read = self._read
        self._endings = dict(read("SELECT n, predicate FROM ending"))
        self.schema_entries: Sequence[LexiconEntry] = tuple(
            sorted(self._names(f"SELECT {_ENTRY_COLUMNS} FROM described JOIN {_JOIN_THING}", ()))
        )
        self.table_counts: Sequence[TableNameCounts] = tuple(
            TableNameCounts(*row) for row in read("SELECT * FROM home")
        )
        self.facts: dict[tuple[str, str], int] = {(r, p): n for r, p, n in read("SELECT * FROM fact")}
        self.links: Sequence[TableLink] = tuple(TableLink(*row) for row in read("SELECT * FROM link"))
        # how many names of things there are
        self.thing_name_count = int(read("SELECT ifnull(max(n) + 1, 0) FROM name")[0][0]) - len(self.schema_entries)
        self.word = lru_cache(_CACHED_WORDS)(self._word)
        self.near = lru_cache(_CACHED_WORDS)(self._near)
        self._short_names = lru_cache(_CACHED_LISTS)(self._few_names)
        self._short_texts = lru_cache(_CACHED_LISTS)(self._few_texts)

    @property
    def of_schema(self) -> "Lexicon":
        """The lexicon for structures that depend on classes and properties only, which are built once."""
        return self

    def each(self) -> Iterator[LexiconEntry]:
        """Every name, the shortest first."""
        last = -1
        sql = (
            f"SELECT name.n, {_ENTRY_COLUMNS} FROM name JOIN thing ON thing.n = name.thing"
            " WHERE name.n > ? ORDER BY name.n LIMIT 500"
        )
        while found := self._read(sql, (last,)):
            last = found[-1][0]
            yield from (_name(row[1:]) for row in found)

    def exact(self, tokens: Sequence[str]) -> list[LexiconEntry]:
        """The names that are these words, at most `MAX_EQUAL_NAMES`."""
        return self._equal_names("tokens", tokens)

    def inflected(self, lemmas: Sequence[str]) -> list[LexiconEntry]:
        """The names of other words that have these lemmas, at most `MAX_EQUAL_NAMES`."""
        return self._equal_names("lemmas", lemmas)

    def of_lemma(self, lemma: str) -> list[str]:
        """The words of names of things that have this lemma."""
        return self._texts("SELECT word FROM word WHERE lemma = ? AND things > 0 ORDER BY word LIMIT ?", lemma)

    def of_part(self, part: str) -> list[str]:
        """The words of names of things that have this part as a short form."""
        return self._texts("SELECT word FROM part WHERE part = ? ORDER BY word LIMIT ?", part)

    def frequent(self, more_than: float) -> frozenset[str]:
        """The words that occur in more names of things than `more_than`, which must be 4 or more."""
        return frozenset(
            row[0] for row in self._read("SELECT word FROM word WHERE things > ? AND things > 4", (max(4, more_than),))
        )

    def find_containing(self, words: Sequence[Collection[str]], most: int) -> list[LexiconEntry]:
        """The shortest names of things that contain a word of each collection, in any order of the words."""
        wanted = self._match_query(words)
        if not wanted:
            return []
        matching = "SELECT rowid FROM holding WHERE holding MATCH ? ORDER BY rowid LIMIT ?"
        return self._names(
            f"SELECT {_ENTRY_COLUMNS} FROM ({matching}) AS found JOIN name ON name.n = found.rowid"
            " JOIN thing ON thing.n = name.thing ORDER BY name.n",
            (wanted, most),
        )

    def has_containing(self, words: Sequence[Collection[str]]) -> bool:
        """Whether a name of a thing contains a word of each collection."""
        wanted = self._match_query(words)
        return bool(wanted and self._read("SELECT rowid FROM holding WHERE holding MATCH ? LIMIT 1", (wanted,)))

    def thing(self, iri: str) -> LexiconThing | None:
        """The label and the table of the thing with this IRI; None if no table has it."""
        found = self._read("SELECT label, relation FROM thing WHERE target = ? AND kind = 'entity' LIMIT 1", (iri,))
        return LexiconThing(*found[0]) if found else None

    def leading_to(self, names: Collection[LexiconEntry]) -> frozenset[str] | None:
        """The predicates that lead to one of these entities; None if unknown."""
        if any(name.ends is None for name in names):
            return None
        return frozenset(self._endings[int(n)] for name in names for n in (name.ends or "").split())

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()
        self._local = threading.local()

    def _word(self, text: str) -> LexiconWord | None:
        """A word of names, or a lemma that names begin with; None for any other word."""
        found = self._read("SELECT n, word, lemma, names, things, alone, longest FROM word WHERE word = ?", (text,))
        return LexiconWord(*found[0]) if found else None

    def _near(self, text: str, edits: int = MAX_EDITS) -> tuple[str, ...]:
        """The words of names with the same or a similar spelling, sorted."""
        return tuple(sorted(self._spellings.near(text, edits)))

    def _match_query(self, words: Sequence[Collection[str]]) -> str:
        """A query of the full-text index, "" if a collection has no word of names."""
        numbers = [sorted(known.n for word in each if (known := self.word(word)) and known.things) for each in words]
        return " AND ".join(f"({' OR '.join(map(str, each))})" for each in numbers) if all(numbers) else ""

    def _equal_names(self, column: str, words: Sequence[str]) -> list[LexiconEntry]:
        sql = (
            f"SELECT {_ENTRY_COLUMNS} FROM (SELECT * FROM name WHERE {column} = ? ORDER BY n LIMIT ?) AS name"
            " JOIN thing ON thing.n = name.thing ORDER BY name.n"
        )
        text = " ".join(words)
        found = self._short_names(sql, text)
        return self._names(sql, (text, MAX_EQUAL_NAMES)) if len(found) > _MAX_CACHED_LENGTH else list(found)

    def _few_names(self, sql: str, text: str) -> tuple[LexiconEntry, ...]:
        return tuple(self._names(sql, (text, _MAX_CACHED_LENGTH + 1)))

    def _texts(self, sql: str, text: str) -> list[str]:
        found = self._short_texts(sql, text)
        return (
            [row[0] for row in self._read(sql, (text, MAX_FORMS))] if len(found) > _MAX_CACHED_LENGTH else list(found)
        )

    def _few_texts(self, sql: str, text: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._read(sql, (text, _MAX_CACHED_LENGTH + 1)))

    def _names(self, sql: str, params: Sequence[str | int]) -> list[LexiconEntry]:
        return [_name(row) for row in self._read(sql, params)]

    def _read(self, sql: str, params: Sequence[str | int | float] = ()) -> list[tuple]:  # type: ignore[type-arg]
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection.execute(sql, params).fetchall()

    def _connect(self) -> sqlite3.Connection:
        # immutable: a published file never changes, and a read-only folder has no place for lock files
        connection = sqlite3.connect(
            f"{self._path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        connection.execute(f"PRAGMA mmap_size={_MMAP_BYTES}")
        with self._lock:
            self._open.append(connection)
        return connection


def _name(row: tuple) -> LexiconEntry:  # type: ignore[type-arg]
    return LexiconEntry(tuple(row[0].split(" ")), *row[1:])
