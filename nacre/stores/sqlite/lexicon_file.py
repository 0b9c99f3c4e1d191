"""Write the names of a graph, indexed by their words: names -> lexicon.sqlite and its spellings.

A row of `name` has the words of a name as one text and the number of its thing. Names are numbered by length, then in
the order of their things, so that the shortest names with a word come first. `longest` of a word is the number of words
of the longest name that begins with it, or with a word that has it as lemma. `part` has the short forms of longer
codes. `described` are the names of classes, groups, properties and their values.
"""

import shutil
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from nacre.stores.search.spellings import write_spellings

# tokens joined by spaces; then kind, target, predicate, label, relation, weight and ends, as in LexiconEntry
Row = tuple[str, str, str, str, str, str, float, str | None]
# number, tokens, number of the thing, lemmas
NameRow = tuple[int, str, int, str | None]
# a word -> its lemma and its short forms
Forms = Callable[[str], tuple[str, tuple[str, ...]]]

# names that are written at once
_CHUNK = 50_000

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
) -> int:
    """Write a lexicon file; returns the number of names. `names` are distinct, and those of one thing are consecutive.

    `endings` are the predicates of the numbers in `ends`.
    """
    path.unlink(missing_ok=True)
    shutil.rmtree(spellings_folder(path), ignore_errors=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + LAYOUT)
        things = _Things()
        db.executemany("INSERT INTO thing VALUES (?,?,?,?,?,?,?,?)", things.number_things(names))
        db.executemany("INSERT INTO home VALUES (?,?,?)", things.table_counts())
        rows, words = things.names, _Words(forms, things.entities)
        rows.sort(key=_count_spaces)
        for start in range(0, len(rows), _CHUNK):
            chunk = words.add_names(start, rows[start : start + _CHUNK])
            db.executemany("INSERT INTO name VALUES (?,?,?,?)", (row for row, _ in chunk))
            numbers = ((row[0], of_thing) for row, of_thing in chunk if of_thing is not None)
            db.executemany("INSERT INTO holding(rowid, words) VALUES (?,?)", numbers)
        db.executemany("INSERT INTO word VALUES (?,?,?,?,?,?,?)", words.rows())
        db.executemany("INSERT INTO part VALUES (?,?)", sorted(words.parts()))
        db.executemany("INSERT INTO ending VALUES (?,?)", enumerate(endings))
        db.executemany("INSERT INTO fact VALUES (?,?,?)", sorted(facts))
        db.executemany("INSERT INTO link VALUES (?,?,?,?)", sorted(links))
        db.executescript(INDEXES)
    finally:
        db.close()
    write_spellings(sorted(w for w in words.place if any(map(str.isalpha, w))), spellings_folder(path))
    return len(rows)


class _Things:
    """Numbers things in their order, and collects their names and the counts of their tables."""

    def __init__(self) -> None:
        self.names: list[tuple[str, int]] = []
        self.entities = bytearray()
        self._count: dict[str, int] = {}
        self._coded: dict[str, int] = {}

    def number_things(self, names: Iterable[Row]) -> Iterator[tuple[int, str, str, str, str, str, float, str | None]]:
        for number, (thing, entries) in enumerate(groupby(names, key=_thing)):
            kind, target, predicate, label, relation, weight, ends = thing
            self.names += [(each[0], number) for each in entries]
            self.entities.append(kind == "entity")
            if kind == "entity":
                self._count[relation] = self._count.get(relation, 0) + 1
                # a label such as "meas 03" is only the end of the IRI
                codes = (label, label.replace(" ", "_"), label.replace(" ", "-"))
                if target.endswith(codes) and any(map(str.isdigit, label)):
                    self._coded[relation] = self._coded.get(relation, 0) + 1
            yield number, kind, target, predicate, label, relation, weight, ends

    def table_counts(self) -> list[tuple[str, int, int]]:
        """(table, number of its things, number of things whose only name is a code in their IRI)."""
        return sorted((relation, count, self._coded.get(relation, 0)) for relation, count in self._count.items())


def _thing(row: Row) -> tuple[str, str, str, str, str, float, str | None]:
    return row[1:]


def _count_spaces(name: tuple[str, int]) -> int:
    return name[0].count(" ")


class _Numbers(dict[str, int]):
    """Numbers words in the order of their first lookup."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Words:
    """Collects the words of names and their counts."""

    def __init__(self, forms: Forms, entities: bytearray) -> None:
        self.place = _Numbers()
        self._entities = entities
        self._forms = forms
        self._form: list[tuple[str, tuple[str, ...]]] = []
        # words whose lemma is another word
        self._inflected: set[str] = set()
        # the distinct words of each name: names of things, and the rest
        self._of_things, self._of_others = array("i"), array("i")
        self._whole_names: set[str] = set()
        self._longest: dict[str, int] = {}

    def add_names(self, start: int, names: Iterable[tuple[str, int]]) -> list[tuple[NameRow, str | None]]:
        """Count the words of names, shortest first, numbered from `start` on. Returns their rows, and the numbers of
        the words for each name of a thing, which any tokenizer splits in the same way."""
        found: list[tuple[NameRow, str | None]] = []
        place, entities, inflected, longest = self.place, self._entities, self._inflected, self._longest
        for number, (tokens, thing) in enumerate(names, start):
            words = tokens.split(" ")
            numbers = [place[word] for word in words]
            if len(place) > len(self._form):
                self._add_forms(words)
            once = numbers if len(words) == 1 else set(numbers)
            of_thing = " ".join(map(str, numbers)) if entities[thing] else None
            if entities[thing]:
                self._of_things.extend(once)
                if len(words) == 1:
                    self._whole_names.add(tokens)
            else:
                self._of_others.extend(once)
            longest[words[0]] = len(words)
            if inflected.isdisjoint(words):
                found.append(((number, tokens, thing, None), of_thing))
                continue
            lemmas = [self._form[each][0] for each in numbers]
            longest[lemmas[0]] = len(words)
            found.append(((number, tokens, thing, " ".join(lemmas)), of_thing))
        return found

    def rows(self) -> Iterator[tuple[int, str, str, int, int, int, int]]:
        """The rows of all words, then of lemmas that names begin with and that are not words of names."""
        import numpy as np

        of_things = np.bincount(np.frombuffer(self._of_things, np.int32), minlength=len(self.place))
        names = of_things + np.bincount(np.frombuffer(self._of_others, np.int32), minlength=len(self.place))
        counts = zip(self.place, names.tolist(), of_things.tolist(), strict=True)
        for at, (word, entries, things) in enumerate(counts):
            yield at, word, self._form[at][0], entries, things, word in self._whole_names, self._longest.get(word, 0)
        others = sorted(word for word in self._longest if word not in self.place)
        for at, word in enumerate(others, len(self.place)):
            yield at, word, word, 0, 0, 0, self._longest[word]

    def parts(self) -> Iterator[tuple[str, str]]:
        of_things = set(self._of_things)
        for word, at in self.place.items():
            if self._form[at][1] and at in of_things:
                for part in self._form[at][1]:
                    yield part, word

    def _add_forms(self, words: Iterable[str]) -> None:
        """Add the forms of the words that have just been numbered."""
        for word in dict.fromkeys(words):
            if self.place[word] == len(self._form):
                self._form.append(self._forms(word))
                if self._form[-1][0] != word:
                    self._inflected.add(word)
