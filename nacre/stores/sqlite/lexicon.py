"""The names of a graph, looked up on disk, and which tables are linked by what: lexicon file -> Lexicon."""

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from nacre.records.schema import Schema
from nacre.stores.search.spellings import EDITS, Spellings
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.lexicon_file import Row, spellings_folder

NameKind = Literal["class", "group", "predicate", "entity", "value"]

# names of one wording, and forms of one word, that are looked at
MOST_ALIKE, MOST_FORMS = 4000, 200
_REMEMBERED = 16384
# lists of names and words are remembered where they are short: questions are made of the same words again and again
_LISTS, _SHORT = 4096, 16
_MAPPED = 2**31
_NAME = "name.tokens, thing.kind, thing.target, thing.predicate, thing.label, thing.relation, thing.weight, thing.ends"


_OF = "name ON name.n = described.name JOIN thing ON thing.n = name.thing"


class LexiconEntry(NamedTuple):
    """One name of one thing. `tokens` are its normalised words.

    `target` is the IRI of a class, predicate or entity, the relation of a group, or the text of a value of `predicate`.
    `relation` is the table an entity lies in. `weight` is how prominent an entity is: its number of links, or -1 where
    only its IRI names it; 1 for the rest. `ends` are the numbers of the predicates that lead to an entity, joined by
    spaces; None where that is not known.
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
    """A word of names: how many names hold it, how many of these are of things, whether it is a thing's whole name,
    and how many words a name has at most that begins with it or with a form of it. `n` is its number."""

    n: int
    word: str
    lemma: str
    names: int
    things: int
    alone: bool
    longest: int


class LexiconThing(NamedTuple):
    """What a thing is called, and the table it lies in."""

    label: str
    relation: str


class TableNameCounts(NamedTuple):
    """A table: how many things with names lie in it, and how many of them only a code in their IRI names."""

    relation: str
    things: int
    coded: int


class TableLink(NamedTuple):
    """How often `predicate` links a thing of table `subject` to one of table `object`."""

    predicate: str
    subject: str
    object: str
    triples: int


def lexicon_row(name: LexiconEntry) -> Row:
    """A name as it is written into the file."""
    return " ".join(name.tokens), *name[1:]


class Lexicon:
    """The names of one graph, safe to share between threads: each has its own connection.

    Opening reads the names of classes and properties alone; those of things and values stay on the disk, where all
    processes share what the system has cached of them. With an embedder, words that name nothing may still be near in
    meaning to a class or a predicate.
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
        self.described: Sequence[LexiconEntry] = tuple(
            sorted(self._names(f"SELECT {_NAME} FROM described JOIN {_OF}", ()))
        )
        self.homes: Sequence[TableNameCounts] = tuple(TableNameCounts(*row) for row in read("SELECT * FROM home"))
        self.facts: dict[tuple[str, str], int] = {(r, p): n for r, p, n in read("SELECT * FROM fact")}
        self.links: Sequence[TableLink] = tuple(TableLink(*row) for row in read("SELECT * FROM link"))
        # how many names things have
        self.said = int(read("SELECT ifnull(max(n) + 1, 0) FROM name")[0][0]) - len(self.described)
        self.word = lru_cache(_REMEMBERED)(self._word)
        self.near = lru_cache(_REMEMBERED)(self._near)
        self._short_names = lru_cache(_LISTS)(self._few_names)
        self._short_texts = lru_cache(_LISTS)(self._few_texts)

    @property
    def of_schema(self) -> "Lexicon":
        """The lexicon on which whatever depends on classes and properties alone may be built once."""
        return self

    def each(self) -> Iterator[LexiconEntry]:
        """Every name, the shortest first."""
        last = -1
        after = f"SELECT name.n, {_NAME} FROM name JOIN thing ON thing.n = name.thing WHERE name.n > ? ORDER BY name.n"
        while found := self._read(f"{after} LIMIT 500", (last,)):
            last = found[-1][0]
            yield from (_name(row[1:]) for row in found)

    def exact(self, tokens: Sequence[str]) -> list[LexiconEntry]:
        """The names that are these words, at most `MOST_ALIKE`."""
        return self._alike("tokens", tokens)

    def inflected(self, lemmas: Sequence[str]) -> list[LexiconEntry]:
        """The names of other words that have these lemmas, at most `MOST_ALIKE`."""
        return self._alike("lemmas", lemmas)

    def of_lemma(self, lemma: str) -> list[str]:
        """The words of names of things that have this lemma."""
        return self._texts("SELECT word FROM word WHERE lemma = ? AND things > 0 ORDER BY word LIMIT ?", lemma)

    def of_part(self, part: str) -> list[str]:
        """The words of names of things of which this is a part that people say instead."""
        return self._texts("SELECT word FROM part WHERE part = ? ORDER BY word LIMIT ?", part)

    def frequent(self, more_than: float) -> frozenset[str]:
        """The words that more names of things than this hold, which must be 4 or more."""
        return frozenset(
            row[0] for row in self._read("SELECT word FROM word WHERE things > ? AND things > 4", (max(4, more_than),))
        )

    def holding(self, words: Sequence[Collection[str]], most: int) -> list[LexiconEntry]:
        """The shortest names of things that hold, of each collection, one of the words; in any order of them."""
        wanted = self._wanted(words)
        if not wanted:
            return []
        matching = "SELECT rowid FROM holding WHERE holding MATCH ? ORDER BY rowid LIMIT ?"
        return self._names(
            f"SELECT {_NAME} FROM ({matching}) AS found JOIN name ON name.n = found.rowid"
            " JOIN thing ON thing.n = name.thing ORDER BY name.n",
            (wanted, most),
        )

    def is_held(self, words: Sequence[Collection[str]]) -> bool:
        """Whether the name of a thing holds, of each collection, one of the words."""
        wanted = self._wanted(words)
        return bool(wanted and self._read("SELECT rowid FROM holding WHERE holding MATCH ? LIMIT 1", (wanted,)))

    def thing(self, iri: str) -> LexiconThing | None:
        """What the thing with this IRI is called; None where no table shows it."""
        found = self._read("SELECT label, relation FROM thing WHERE target = ? AND kind = 'entity' LIMIT 1", (iri,))
        return LexiconThing(*found[0]) if found else None

    def leading_to(self, names: Collection[LexiconEntry]) -> frozenset[str] | None:
        """The predicates by which something leads to one of these entities; None where that is not known."""
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
        self._spellings.close()

    def _word(self, text: str) -> LexiconWord | None:
        """A word of names, or a lemma with which names begin; None where it is neither."""
        found = self._read("SELECT n, word, lemma, names, things, alone, longest FROM word WHERE word = ?", (text,))
        return LexiconWord(*found[0]) if found else None

    def _near(self, text: str, edits: int = EDITS) -> tuple[str, ...]:
        """The words of names that are spelt like this one or almost so, sorted."""
        return tuple(sorted(self._spellings.near(text, edits)))

    def _wanted(self, words: Sequence[Collection[str]]) -> str:
        """A query of the full-text index, "" where a collection has no word that names hold."""
        numbers = [sorted(known.n for word in each if (known := self.word(word)) and known.things) for each in words]
        return " AND ".join(f"({' OR '.join(map(str, each))})" for each in numbers) if all(numbers) else ""

    def _alike(self, column: str, words: Sequence[str]) -> list[LexiconEntry]:
        sql = (
            f"SELECT {_NAME} FROM (SELECT * FROM name WHERE {column} = ? ORDER BY n LIMIT ?) AS name"
            " JOIN thing ON thing.n = name.thing ORDER BY name.n"
        )
        text = " ".join(words)
        found = self._short_names(sql, text)
        return self._names(sql, (text, MOST_ALIKE)) if len(found) > _SHORT else list(found)

    def _few_names(self, sql: str, text: str) -> tuple[LexiconEntry, ...]:
        return tuple(self._names(sql, (text, _SHORT + 1)))

    def _texts(self, sql: str, text: str) -> list[str]:
        found = self._short_texts(sql, text)
        return [row[0] for row in self._read(sql, (text, MOST_FORMS))] if len(found) > _SHORT else list(found)

    def _few_texts(self, sql: str, text: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._read(sql, (text, _SHORT + 1)))

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
        connection.execute(f"PRAGMA mmap_size={_MAPPED}")
        with self._lock:
            self._open.append(connection)
        return connection


def _name(row: tuple) -> LexiconEntry:  # type: ignore[type-arg]
    return LexiconEntry(tuple(row[0].split(" ")), *row[1:])
