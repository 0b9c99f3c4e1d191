"""The names of a graph, and which tables are linked by what: lexicon file -> Lexicon."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from records.schema import Schema
from stores.vectors import Embedder

NameKind = Literal["class", "group", "predicate", "entity", "value"]

LAYOUT = """
CREATE TABLE name (tokens TEXT, kind TEXT, target TEXT, predicate TEXT, label TEXT, relation TEXT, weight REAL);
CREATE TABLE fact (relation TEXT, predicate TEXT, subjects INTEGER);
CREATE TABLE link (predicate TEXT, subject TEXT, object TEXT, triples INTEGER);
"""


Row = tuple[str, NameKind, str, str, str, str, float]


class Name(NamedTuple):
    """One name of one thing. `tokens` are its normalised words.

    `target` is the IRI of a class, predicate or entity, the relation of a group, or the text of a value of `predicate`.
    `relation` is the table an entity lies in. `weight` is how prominent an entity is: its number of links, or -1 where
    only its IRI names it; 1 for the rest.
    """

    tokens: tuple[str, ...]
    kind: NameKind
    target: str
    predicate: str
    label: str
    relation: str
    weight: float


class Link(NamedTuple):
    """How often `predicate` links a thing of table `subject` to one of table `object`."""

    predicate: str
    subject: str
    object: str
    triples: int


def row(name: Name) -> Row:
    """A name as it lies in the file."""
    return " ".join(name.tokens), *name[1:]


def write_lexicon(
    path: Path, names: Iterable[Row], facts: Iterable[tuple[str, str, int]], links: Iterable[Link]
) -> int:
    """Write a lexicon file; `names` are different from each other. Returns how many there are."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path, isolation_level=None) as db:
        db.executescript("PRAGMA journal_mode=OFF; BEGIN;" + LAYOUT)
        rows = sorted(names)
        db.executemany("INSERT INTO name VALUES (?,?,?,?,?,?,?)", rows)
        db.executemany("INSERT INTO fact VALUES (?,?,?)", sorted(facts))
        db.executemany("INSERT INTO link VALUES (?,?,?,?)", sorted(links))
        db.execute("COMMIT")
    db.close()
    return len(rows)


class Lexicon:
    """The names of one graph, read once; immutable and safe to share between threads.

    With an embedder, words that name nothing may still be near in meaning to a class or a predicate.
    """

    def __init__(self, path: Path, schema: Schema, embedder: Embedder | None = None) -> None:
        self.schema = schema
        self.embedder = embedder
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            self.names: Sequence[Name] = tuple(
                Name(tuple(tokens.split(" ")), *rest) for tokens, *rest in db.execute("SELECT * FROM name")
            )
            self.facts: dict[tuple[str, str], int] = {(r, p): n for r, p, n in db.execute("SELECT * FROM fact")}
            self.links: Sequence[Link] = tuple(Link(*row) for row in db.execute("SELECT * FROM link"))
        finally:
            db.close()
        self.postings: dict[str, list[int]] = defaultdict(list)
        for index, name in enumerate(self.names):
            for token in set(name.tokens):
                self.postings[token].append(index)
        self.entities: dict[str, list[Name]] = defaultdict(list)
        for name in self.names:
            if name.kind == "entity":
                self.entities[name.target].append(name)

    def with_token(self, token: str) -> Sequence[Name]:
        """All names that have this token."""
        return [self.names[i] for i in self.postings.get(token, ())]

    def values(self, predicate: str) -> Sequence[Name]:
        """The known values of a categorical predicate."""
        return [n for n in self.names if n.kind == "value" and n.predicate == predicate]
