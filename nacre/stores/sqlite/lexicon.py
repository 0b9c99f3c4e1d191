"""Look up the names of a graph and the links between its tables: lexicon file -> Lexicon; names -> that file, by words.
Names are numbered by length: the shortest with a word come first. `longest`: words of the longest name that begins
with a word or a form of it; `part`: short forms of longer codes; `described`: names of classes, properties, values."""

import shutil
import sqlite3
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, count, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from nacre.records.schema import Schema
from nacre.stores.lexical import IndexFolder, seal_folder
from nacre.stores.sqlite.passages import open_published
from nacre.stores.sqlite.tables import insert_rows
from nacre.stores.vectors import Embedder

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


# kind, target, predicate, label, relation, weight and ends, as in LexiconEntry
NamedThing = tuple[str, str, str, str, str, float, str | None]

# before them tokens joined by spaces
Row = tuple[str, str, str, str, str, str, float, str | None]


def lexicon_row(name: LexiconEntry) -> Row:
    """A name as a row of the file."""
    return " ".join(name.tokens), *name[1:]


# an insertion, deletion, substitution or swap of neighbours is one edit
MAX_EDITS = 2


class Lexicon:
    """The names of one graph, safe to share between threads. Only names of classes and properties are loaded, others
    are read from disk, in the shared page cache. The embedder, if any, compares words with classes and predicates."""

    # whether all names that were looked for could be read
    is_complete = True

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
        self.thing_name_count = int(read("SELECT ifnull(max(n) + 1, 0) FROM name")[0][0]) - len(self.schema_entries)
        self.word = lru_cache(_CACHED_WORDS)(self._word)
        self.near = lru_cache(_CACHED_WORDS)(self._near)
        self._short_names = lru_cache(_CACHED_LISTS)(
            lambda sql, text: tuple(self._names(sql, (text, _MAX_CACHED_LENGTH + 1)))
        )
        self._short_texts = lru_cache(_CACHED_LISTS)(
            lambda sql, text: tuple(row[0] for row in self._read(sql, (text, _MAX_CACHED_LENGTH + 1)))
        )

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
        return self._equal_names("tokens", tokens) if all(map(self.word, tokens)) else []

    def inflected(self, lemmas: Sequence[str]) -> list[LexiconEntry]:
        """The names of other words that have these lemmas, at most `MAX_EQUAL_NAMES`."""
        return self._equal_names("lemmas", lemmas)

    def of_lemma(self, lemma: str) -> list[str]:
        """The words of names of things that have this lemma."""
        return self._texts("SELECT word FROM word WHERE lemma = ? AND things > 0 ORDER BY word LIMIT ?", lemma)

    def beginning(self, text: str) -> list[str]:
        """The words that begin so."""
        return self._texts("SELECT word FROM word WHERE word GLOB ? ORDER BY word LIMIT ?", f"{text}*")

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

    def _texts(self, sql: str, text: str) -> list[str]:
        found = self._short_texts(sql, text)
        return (
            [row[0] for row in self._read(sql, (text, MAX_FORMS))] if len(found) > _MAX_CACHED_LENGTH else list(found)
        )

    def _names(self, sql: str, params: Sequence[str | int]) -> list[LexiconEntry]:
        return [_name(row) for row in self._read(sql, params)]

    def _read(self, sql: str, params: Sequence[str | int | float] = ()) -> list[tuple]:  # type: ignore[type-arg]
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection.execute(sql, params).fetchall()

    def _connect(self) -> sqlite3.Connection:
        connection = open_published(self._path)
        connection.execute(f"PRAGMA mmap_size={_MMAP_BYTES}")
        with self._lock:
            self._open.append(connection)
        return connection


def _name(row: tuple) -> LexiconEntry:  # type: ignore[type-arg]
    return LexiconEntry(tuple(row[0].split(" ")), *row[1:])


# number, tokens, number of the thing, lemmas
NameRow = tuple[int, str, int, str | None]

# a word -> its lemma and its short forms
Forms = Callable[[str], tuple[str, tuple[str, ...]]]

# names that are written at once
_CHUNK = 20_000

LAYOUT = """
CREATE TABLE thing (n INTEGER PRIMARY KEY, kind TEXT, target TEXT, predicate TEXT, label TEXT, relation TEXT,
  weight REAL, ends TEXT);
CREATE TABLE ending (n INTEGER PRIMARY KEY, predicate TEXT);
CREATE TABLE name (n INTEGER PRIMARY KEY, tokens TEXT, thing INTEGER, lemmas TEXT);
CREATE TABLE described (name INTEGER PRIMARY KEY);
CREATE TABLE word (n INTEGER PRIMARY KEY, word TEXT, lemma TEXT, names INTEGER, things INTEGER, alone INTEGER,
  longest INTEGER);
CREATE TABLE part (part TEXT, word TEXT, PRIMARY KEY (part, word)) WITHOUT ROWID;
CREATE TABLE home (relation TEXT, things INTEGER, coded INTEGER);
CREATE TABLE fact (relation TEXT, predicate TEXT, subjects INTEGER);
CREATE TABLE link (predicate TEXT, subject TEXT, object TEXT, triples INTEGER);
CREATE VIRTUAL TABLE holding USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii');
-- 16 MB in memory instead of 1 MB: fewer parts that are merged
INSERT INTO holding(holding, rank) VALUES ('hashsize', 16777216);
"""

INDEXES = """
CREATE INDEX name_tokens ON name(tokens);
CREATE INDEX name_lemmas ON name(lemmas) WHERE lemmas IS NOT NULL;
CREATE INDEX thing_target ON thing(target) WHERE kind = 'entity';
CREATE UNIQUE INDEX word_word ON word(word);
CREATE INDEX word_lemma ON word(lemma) WHERE things > 0;
CREATE INDEX word_things ON word(things) WHERE things > 4;
INSERT INTO described SELECT name.n FROM name JOIN thing ON thing.n = name.thing WHERE thing.kind <> 'entity';
INSERT INTO holding(holding) VALUES ('optimize');
ANALYZE;
"""


def spellings_folder(path: Path) -> Path:
    """The folder of the spelling index of a lexicon file."""
    return path.with_suffix(".words")


def write_lexicon(
    path: Path,
    names: Iterable[Row],
    facts: Iterable[tuple[str, str, int]],
    links: Iterable[tuple[str, str, str, int]],
    forms: Forms,
    endings: Sequence[str] = (),
    named: Iterable[tuple[NamedThing, list[str]]] = (),
) -> int:
    """Write a lexicon file; returns the number of names. `names` are distinct, and those of one thing are consecutive;
    `named` are further things with all names of each. `endings` are the predicates of the numbers in `ends`."""
    path.unlink(missing_ok=True)
    shutil.rmtree(spellings_folder(path), ignore_errors=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + LAYOUT)
        things = _Things()
        by_thing = ((thing, [row[0] for row in rows]) for thing, rows in groupby(names, itemgetter(slice(1, None))))
        numbered = things.number_things(chain(by_thing, named))
        insert_rows(db, "thing", 8, numbered)
        insert_rows(db, "home", 3, things.table_counts())
        words, start, total = _Words(forms, things.entities), 0, sum(len(of) for _, of in things.names.values())
        waiting: list[tuple[Iterator[NameRow], Iterator[tuple[int, str]]]] = []
        for size, (texts, of) in sorted(things.names.items()):
            for block, at in enumerate(range(0, len(of), _CHUNK)):
                chunk = texts[block].split("\n") if at + _CHUNK <= len(of) else texts[block:]
                waiting.append(words.add_names(start, size, chunk, of[at : at + _CHUNK]))
                start += len(chunk)
                if len(chunk) == _CHUNK or start == total:
                    rows, held = (chain.from_iterable(each) for each in zip(*waiting, strict=True))
                    insert_rows(db, "name", 4, rows)
                    db.executemany("INSERT INTO holding(rowid, words) VALUES (?,?)", held)
                    waiting.clear()
        insert_rows(db, "word", 7, words.rows())
        insert_rows(db, "part", 2, sorted(words.parts()))
        insert_rows(db, "ending", 2, enumerate(endings))
        insert_rows(db, "fact", 3, sorted(facts))
        insert_rows(db, "link", 4, sorted(links))
        db.executescript(INDEXES)
    finally:
        db.close()
    write_spellings(sorted(w for w in words.place if any(map(str.isalpha, w))), spellings_folder(path))
    return start


class _Things:
    """Numbers things in their order, and collects their names and the counts of their tables."""

    def __init__(self) -> None:
        # the names and the numbers of their things by number of words; full chunks of names are joined by line breaks
        self.names: defaultdict[int, tuple[list[str], array[int]]] = defaultdict(lambda: ([], array("i")))
        self.entities = bytearray()
        self._count: dict[str, int] = {}
        self._coded: dict[str, int] = {}

    def number_things(
        self, named: Iterable[tuple[NamedThing, list[str]]]
    ) -> Iterator[tuple[int, str, str, str, str, str, float, str | None]]:
        number = 0
        for thing, names in named:
            if not names:
                continue
            for tokens in names:
                texts, things = self.names[tokens.count(" ") + 1]
                texts.append(tokens)
                things.append(number)
                if not len(things) % _CHUNK:
                    texts[-_CHUNK:] = ["\n".join(texts[-_CHUNK:])]
            kind, target, _, label, relation, _, _ = thing
            self.entities.append(kind == "entity")
            if kind == "entity":
                self._count[relation] = self._count.get(relation, 0) + 1
                # a label such as "meas 03" is only the end of the IRI
                tail = target[-len(label) :]
                if tail[:1] == label[:1] and tail in (label, label.replace(" ", "_"), label.replace(" ", "-")):
                    self._coded[relation] = self._coded.get(relation, 0) + any(map(str.isdigit, label))
            yield number, *thing
            number += 1

    def table_counts(self) -> list[tuple[str, int, int]]:
        """(table, number of its things, number of things whose only name is a code in their IRI)."""
        return sorted((relation, count, self._coded.get(relation, 0)) for relation, count in self._count.items())


class _Words:
    """Numbers the words of names in the order of their first lookup, and counts them."""

    def __init__(self, forms: Forms, entities: bytearray) -> None:
        self.place: defaultdict[str, int] = defaultdict(count().__next__)
        self._entities = entities
        self._forms = forms
        self._form: list[tuple[str, tuple[str, ...]]] = []
        # for each word whether its lemma is another word, and the number of names, and of names of things, with it
        self._inflected = bytearray()
        self._counts: list[Any] = [array("q"), array("q")]
        self._whole_names: set[int] = set()
        self._longest: dict[str, int] = {}

    def add_names(
        self, start: int, size: int, names: Sequence[str], things: "array[int]"
    ) -> tuple[Iterator[NameRow], Iterator[tuple[int, str]]]:
        """Count the words of names of `size` words, shortest first, numbered from `start` on. Returns their rows, and
        for each name of a thing the numbers of its words, which any tokenizer splits in the same way."""
        import numpy as np

        words = " ".join(names).split(" ")
        numbers = np.fromiter(map(self.place.__getitem__, words), np.int32, len(words)).reshape(-1, size)
        new = islice(reversed(self.place), len(self.place) - len(self._form))
        for word in list(new)[::-1]:
            self._form.append(self._forms(word))
            self._inflected.append(self._form[-1][0] != word)
        of_thing = np.frombuffer(self._entities, np.bool_)[things]
        once = np.sort(numbers, axis=1)
        distinct = np.ones_like(once, dtype=bool)
        distinct[:, 1:] = once[:, 1:] != once[:, :-1]
        for index, kept in enumerate((distinct, distinct & of_thing[:, None])):
            found = np.bincount(once[kept], minlength=len(self.place))
            found[: len(self._counts[index])] += self._counts[index]
            self._counts[index] = found
        if size == 1:
            self._whole_names.update(numbers[of_thing, 0].tolist())
        self._longest.update(dict.fromkeys(words[::size], size))
        lemmas: list[str | None] = [None] * len(names)
        inflected = np.frombuffer(bytes(self._inflected), np.bool_)[numbers].any(axis=1)
        for at in np.flatnonzero(inflected).tolist():
            forms = [self._form[number][0] for number in numbers[at].tolist()]
            self._longest[forms[0]] = size
            lemmas[at] = " ".join(forms)
        named = zip(range(start, start + len(names)), names, things, lemmas, strict=True)
        written = map(" ".join, zip(*(map(str, column) for column in numbers[of_thing].T.tolist()), strict=True))
        return named, zip((start + np.flatnonzero(of_thing)).tolist(), written, strict=True)

    def rows(self) -> Iterator[tuple[int, str, str, int, int, int, int]]:
        """The rows of all words, then of lemmas that names begin with and that are not words of names."""
        counts = zip(self.place.items(), *(found.tolist() for found in self._counts), strict=True)
        for (word, at), names, things in counts:
            yield at, word, self._form[at][0], names, things, at in self._whole_names, self._longest.get(word, 0)
        others = sorted(word for word in self._longest if word not in self.place)
        for at, word in enumerate(others, len(self.place)):
            yield at, word, word, 0, 0, 0, self._longest[word]

    def parts(self) -> Iterator[tuple[str, str]]:
        for word, at in self.place.items():
            if self._form[at][1] and self._counts[1][at]:
                for part in self._form[at][1]:
                    yield part, word


# maximum number of words for each edit distance
MAX_HITS = 1000


class Spellings:
    """A read-only handle on the words of one graph, safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._index = IndexFolder(folder, "the index of spellings")

    def near(self, word: str, edits: int = MAX_EDITS) -> set[str]:
        """The indexed words within an edit distance of `edits`, including the word itself if it is indexed."""
        import tantivy

        schema, searcher = self._index.schema, self._index.searcher
        found: set[str] = set()
        # one edit first, so that the limit does not drop the nearest words
        for distance in range(1, edits + 1):
            query = tantivy.Query.fuzzy_term_query(schema, "word", word, distance=distance)
            with self._index.reading():
                hits = searcher.search(query, limit=MAX_HITS, count=False).hits
                found |= {str(searcher.doc(address)["word"][0]) for _, address in hits}
        return found


def write_spellings(words: Iterable[str], folder: Path) -> None:
    """Index distinct words in a new folder."""
    import tantivy

    folder.mkdir(parents=True)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("word", stored=True, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer: Any = index.writer(heap_size=50_000_000, num_threads=1)
    for word in words:
        writer.add_document(tantivy.Document(word=word))
    writer.commit()
    writer.wait_merging_threads()
    seal_folder(folder)
