"""Write the names of a graph into files that answer which names hold a word: names -> lexicon.sqlite and its spellings.

A name has its words as one text and the number of its thing. Names are numbered by length, then as their things come,
so that of the names that hold a word those come first of which it is the greatest part. `longest` of a word is how many
words a name has at most that begins with it, or with a word of which it is the lemma; `part` has what people say of a
longer code; `described` are the names of what is no thing: classes, groups of them, properties and their values.
"""

import shutil
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from nacre.stores.search.spellings import write_spellings

# tokens joined by spaces; then kind, target, predicate, label, relation, weight and ends: see stores.lexicon.Name
Row = tuple[str, str, str, str, str, str, float, str | None]
# a word -> its lemma, and the parts of it that people say instead
Forms = Callable[[str], tuple[str, tuple[str, ...]]]

# names that are written at a time
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
    """The folder of the spellings that belong to a lexicon file."""
    return path.with_suffix(".words")


def write_lexicon(
    path: Path,
    names: Iterable[Row],
    facts: Iterable[tuple[str, str, int]],
    links: Iterable[tuple[str, str, str, int]],
    forms: Forms,
    endings: Sequence[str] = (),
) -> int:
    """Write a lexicon file; `names` are different from each other, those of one thing in a row. Returns how many.

    `endings` are the predicates that the numbers in `ends` stand for.
    """
    path.unlink(missing_ok=True)
    shutil.rmtree(spellings_folder(path), ignore_errors=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;" + LAYOUT)
        things = _Things()
        db.executemany("INSERT INTO thing VALUES (?,?,?,?,?,?,?,?)", things.numbered(names))
        db.executemany("INSERT INTO home VALUES (?,?,?)", things.homes())
        rows, words = things.names, _Words(forms, things.entities)
        rows.sort(key=_spaces)
        for start in range(0, len(rows), _CHUNK):
            held: list[tuple[int, str]] = []
            db.executemany("INSERT INTO name VALUES (?,?,?,?)", words.named(start, rows[start : start + _CHUNK], held))
            db.executemany("INSERT INTO holding(rowid, words) VALUES (?,?)", held)
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
    """Numbers things as they come; what is known of their tables, and their names, once all have come."""

    def __init__(self) -> None:
        self.names: list[tuple[str, int]] = []
        self.entities = bytearray()
        self._count: dict[str, int] = {}
        self._coded: dict[str, int] = {}

    def numbered(self, names: Iterable[Row]) -> Iterator[tuple[int, str, str, str, str, str, float, str | None]]:
        for number, (thing, said) in enumerate(groupby(names, key=_thing)):
            kind, target, predicate, label, relation, weight, ends = thing
            self.names += [(each[0], number) for each in said]
            self.entities.append(kind == "entity")
            if kind == "entity":
                self._count[relation] = self._count.get(relation, 0) + 1
                # "meas 03" is no more than the end of its IRI
                codes = (label, label.replace(" ", "_"), label.replace(" ", "-"))
                if target.endswith(codes) and any(map(str.isdigit, label)):
                    self._coded[relation] = self._coded.get(relation, 0) + 1
            yield number, kind, target, predicate, label, relation, weight, ends

    def homes(self) -> list[tuple[str, int, int]]:
        """(table, how many things lie in it, how many of them only a code in their IRI names)."""
        return sorted((relation, count, self._coded.get(relation, 0)) for relation, count in self._count.items())


def _thing(row: Row) -> tuple[str, str, str, str, str, float, str | None]:
    return row[1:]


def _spaces(name: tuple[str, int]) -> int:
    return name[0].count(" ")


class _Numbers(dict[str, int]):
    """Numbers words as they are first looked up."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Words:
    """Counts the words of names as these are written."""

    def __init__(self, forms: Forms, entities: bytearray) -> None:
        self.place = _Numbers()
        self._entities = entities
        self._forms = forms
        self._form: list[tuple[str, tuple[str, ...]]] = []
        # words whose lemma is another word
        self._inflected: set[str] = set()
        # the words of names, once a name: of things, and of the rest
        self._of_things, self._of_others = array("i"), array("i")
        self._alone: set[str] = set()
        self._longest: dict[str, int] = {}

    def named(
        self, start: int, rows: Iterable[tuple[str, int]], held: list[tuple[int, str]]
    ) -> Iterator[tuple[int, str, int, str | None]]:
        """The rows of names from number `start` on, the shortest first; counts their words.

        For each name of a thing the numbers of its words, which any tokenizer takes apart in the same way, are added to
        `held`.
        """
        place, entities, inflected, longest = self.place, self._entities, self._inflected, self._longest
        for number, (tokens, thing) in enumerate(rows, start):
            words = tokens.split(" ")
            numbers = [place[word] for word in words]
            if len(place) > len(self._form):
                self._learn(words)
            once = numbers if len(words) == 1 else set(numbers)
            if entities[thing]:
                self._of_things.extend(once)
                held.append((number, " ".join(map(str, numbers))))
                if len(words) == 1:
                    self._alone.add(tokens)
            else:
                self._of_others.extend(once)
            longest[words[0]] = len(words)
            if inflected.isdisjoint(words):
                yield number, tokens, thing, None
                continue
            lemmas = [self._form[each][0] for each in numbers]
            longest[lemmas[0]] = len(words)
            yield number, tokens, thing, " ".join(lemmas)

    def rows(self) -> Iterator[tuple[int, str, str, int, int, int, int]]:
        """The words; last the lemmas with which names begin and that are no words of names."""
        import numpy as np

        of_things = np.bincount(np.frombuffer(self._of_things, np.int32), minlength=len(self.place))
        names = of_things + np.bincount(np.frombuffer(self._of_others, np.int32), minlength=len(self.place))
        counts = zip(self.place, names.tolist(), of_things.tolist(), strict=True)
        for at, (word, said, things) in enumerate(counts):
            yield at, word, self._form[at][0], said, things, word in self._alone, self._longest.get(word, 0)
        others = sorted(word for word in self._longest if word not in self.place)
        for at, word in enumerate(others, len(self.place)):
            yield at, word, word, 0, 0, 0, self._longest[word]

    def parts(self) -> Iterator[tuple[str, str]]:
        of_things = set(self._of_things)
        for word, at in self.place.items():
            if self._form[at][1] and at in of_things:
                for part in self._form[at][1]:
                    yield part, word

    def _learn(self, words: Iterable[str]) -> None:
        """The forms of the words that have just been numbered."""
        for word in dict.fromkeys(words):
            if self.place[word] == len(self._form):
                self._form.append(self._forms(word))
                if self._form[-1][0] != word:
                    self._inflected.add(word)
