"""Look up single triples of a graph in its tables: subject or object, and predicate -> triples. Those extracted from
texts are in a SQLite file of their own, as extracted: names or IRIs -> triples with sentences."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from nacre.records.evidence import ExtractedTriple, SourceSentence
from nacre.stores.sqlite.passages import PublishedFile
from nacre.stores.sqlite.tables import RowFacts, Tables, lexical_form, quote_identifier

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

MAX_TRIPLES = 200

# subject and predicate as IRIs (blank nodes as _:label), the object as an IRI or the literal's lexical form
Triple = tuple[str, str, str]


class TripleReader:
    """Looks up triples in one graph.sqlite. Triples that no table shows (those of the schema) are not found."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._names = [p.iri for p in tables.schema.predicates if p.role == "name"]
        # where one query gives all facts of a row
        self._rows_read: dict[str, RowFacts | None] = {}
        # the same names and values are looked up for several triples
        self._rows = lru_cache(MAX_TRIPLES)(self._query)

    def prepare(self, subjects: Iterable[str]) -> None:
        """Read what will be looked up of these things with few queries, if the tables can do that."""
        wanted = [subject for subject in dict.fromkeys(subjects) if subject not in self._rows_read]
        found = self._tables.row_facts(wanted) if wanted else None
        if found is not None:
            self._rows_read |= {subject: found.get(subject) for subject in wanted}

    def with_subject(self, subject: str, predicate: str) -> list[Triple]:
        """The triples with this subject and predicate, at most 200."""
        if self._is_read(subject):
            row = self._rows_read[subject]
            if row is None or predicate not in row.unread:
                values: Sequence[str] = ()
                if row is not None:
                    values = row.types if predicate == TYPE else row.values.get(predicate, ())
                return [(subject, predicate, value) for value in values][:MAX_TRIPLES]
        if predicate == TYPE:
            return [t for c in self._tables.schema.classes if (t := self.type_triple(subject, c.iri))]
        return [
            (subject, predicate, value)
            for index, place in self._places(predicate)
            for value in self._objects(index, place, subject)
        ][:MAX_TRIPLES]

    def is_derived(self, triple: Triple) -> bool:
        """Whether a triple of the tables was derived at ingest and is in no file."""
        subject, predicate, value = triple
        inside = "IN (SELECT row FROM _nacre_derived WHERE predicate = ?)"
        for index, place in self._places(predicate):
            if place.get("derived"):
                return True
            if place.get("partly"):
                return value in self._objects(index, place, subject, f"AND r.{_sources(place)[0][1]} {inside}")
        return False

    def with_object(self, target: str, predicate: str | None = None) -> list[Triple]:
        """The triples that link to this IRI, by one predicate or by any, at most 200."""
        return [
            (subject, place["predicate"], target)
            for _, place in self._places(predicate)
            if place["link"]
            for subject in self._subjects(place, target)
        ][:MAX_TRIPLES]

    def contains(self, triple: Triple) -> bool:
        """Whether the graph has this triple."""
        subject, predicate, value = triple
        if predicate == TYPE:
            return self.type_triple(subject, value) is not None
        return triple in self.with_subject(subject, predicate)

    def type_triple(self, subject: str, kind: str) -> Triple | None:
        """The triple that states the class of a thing, if the data states it."""
        if self._is_read(subject):
            row = self._rows_read[subject]
            return (subject, TYPE, kind) if row is not None and kind in row.types else None
        key = self._id(subject)
        if key is None:
            return None
        own = self._rows("SELECT class FROM _nacre_type WHERE entity = ?", (key,))
        if own:
            return (subject, TYPE, kind) if (kind,) in own else None
        for table in self._tables.layout["tables"]:
            if kind in table["types"] and self._rows(
                f"SELECT 1 FROM {quote_identifier(table['rows'])} WHERE id = ?", (key,)
            ):
                return subject, TYPE, kind
        return None

    def name_triple(self, subject: str) -> Triple | None:
        """The triple with the shown label of a thing, if there is one."""
        label = " ".join(self.label(subject).split())
        found = (t for predicate in self._names for t in self.with_subject(subject, predicate)) if label else ()
        return next((t for t in found if " ".join(t[2].split()) == label), None)

    def label(self, iri: str) -> str:
        """The shown label of a thing; "" if the graph has no such thing."""
        if self._is_read(iri):
            row = self._rows_read[iri]
            return row.label if row is not None else ""
        rows = self._rows("SELECT label FROM entity WHERE iri = ?", (iri,))
        return str(rows[0][0]) if rows else ""

    def _is_read(self, subject: str) -> bool:
        self.prepare((subject,))
        return subject in self._rows_read

    def _places(self, predicate: str | None) -> Iterable[tuple[int, dict[str, Any]]]:
        if predicate is None:
            return enumerate(self._tables.layout["places"])
        return self._tables.places.get(predicate, ())

    def _objects(self, index: int, place: dict[str, Any], subject: str, condition: str = "") -> Iterator[str]:
        """The values of a subject; a `condition` has the number of the predicate as its parameter."""
        kept, one = self._tables.schema.cache, (index, subject, index) if condition else (index, subject)
        for query, parts in kept.get((_value_queries, index, condition), lambda: _value_queries(place, condition)):
            for value, text, target, lexical in self._rows(query, one * parts):
                if target is not None:
                    yield str(target)
                elif lexical is not None or text is not None or value is not None:
                    form = lexical if lexical is not None else text
                    yield str(form) if form is not None else lexical_form(value, place["datatype"])

    def _subjects(self, place: dict[str, Any], target: str) -> Iterator[str]:
        for relation, _, key in _sources(place):
            query = (
                f"SELECT s.iri FROM {quote_identifier(relation)} r JOIN entity s ON s.id = r.{quote_identifier(key)} "
                f"WHERE r.{quote_identifier(place['link'])} = (SELECT id FROM entity WHERE iri = ?) LIMIT {MAX_TRIPLES}"
            )
            yield from (str(iri) for (iri,) in self._rows(query, (target,)))

    def _id(self, iri: str) -> int | str | None:
        return next((row[0] for row in self._rows("SELECT id FROM entity WHERE iri = ?", (iri,))), None)

    def _query(self, sql: str, params: tuple[object, ...]) -> list[tuple[Any, ...]]:
        connection: sqlite3.Connection = self._tables.trusted()
        return connection.execute(sql, params).fetchall()


class StatedTriples:
    """Looks up triples as they were read: those in the tables, and those that no table shows."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._reader = TripleReader(tables)

    def with_subject(self, subject: str, predicate: str) -> list[Triple]:
        """The triples with this subject and predicate, at most 200 of each kind."""
        aside = self.beside_tables(subject, "subject", predicate)
        return list(dict.fromkeys((*self._reader.with_subject(subject, predicate), *aside)))

    def with_object(self, target: str, predicate: str) -> list[Triple]:
        """The triples that link to this IRI by this predicate, at most 200 of each kind."""
        aside = self.beside_tables(target, "object", predicate)
        return list(dict.fromkeys((*self._reader.with_object(target, predicate), *aside)))

    def beside_tables(
        self, term: str, end: Literal["subject", "object"] = "subject", predicate: str = ""
    ) -> list[Triple]:
        """The triples of a subject, or of an object, that no table shows, such as those about classes, at most 200; of
        one predicate if one is given."""
        where, given = (" AND predicate = ?", (term, predicate)) if predicate else ("", (term,))
        sql = f"SELECT subject, predicate, object FROM _nacre_aside WHERE {end} = ?{where} LIMIT {MAX_TRIPLES}"
        return [(str(s), str(p), str(o)) for s, p, o in self._tables.trusted().execute(sql, given)]


def _sources(place: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The relations with a predicate, each with the columns of its row number and its subjects."""
    if place["junction"]:
        return [(place["junction"], "rowid", place["key"])]
    return [(table, "id", "id") for table in place["tables"]]


# parts of one statement, below SQLite's limit of 500
MAX_PARTS = 100


def _value_queries(place: dict[str, Any], condition: str) -> list[tuple[str, int]]:
    """Statements that give the values of a predicate that a subject has in any relation, each with its number of parts.
    The parameters of a part are the number of the predicate, the subject, and those of the condition."""
    parts = [_value_query(place, *source, condition) for source in _sources(place)]
    groups = (parts[start : start + MAX_PARTS] for start in range(0, len(parts), MAX_PARTS))
    return [(f"{' UNION ALL '.join(group)} LIMIT {MAX_TRIPLES}", len(group)) for group in groups]


def _value_query(place: dict[str, Any], relation: str, row: str, key: str, condition: str) -> str:
    value, text, link = (f"r.{quote_identifier(place[c])}" if place[c] else "NULL" for c in ("value", "text", "link"))
    target, joined, literal = "NULL", "", ""
    if place["link"]:
        target, joined = "o.iri", f"LEFT JOIN entity o ON o.id = {link} "
        literal = f" AND {link} IS NULL"
    return (
        f"SELECT {value}, {text}, {target}, x.lexical FROM {quote_identifier(relation)} r {joined}"
        f"LEFT JOIN _nacre_exact x ON x.predicate = ? AND x.row = r.{row}{literal} "
        f"WHERE r.{quote_identifier(key)} = (SELECT id FROM entity WHERE iri = ?) {condition}"
    )


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


class ExtractedLayer(PublishedFile):
    """The triples that were extracted from the texts of a version."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.count = int(self._rows("SELECT count(*) FROM triple")[0][0])

    def all(self, *, condensed: bool = False) -> list[ExtractedTriple]:
        """Every triple in the order of extraction, with its own or its condensed relation."""
        return [_read(row) for row in self._rows(f"{CONDENSED if condensed else ORIGINAL} ORDER BY triple.n")]

    def about(self, keys: Collection[str], forms: Collection[str]) -> list[ExtractedTriple]:
        """Condensed triples with one of these things or folded names at an end; at most 400, by confidence."""
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


def _read(row: tuple[Any, ...]) -> ExtractedTriple:
    return ExtractedTriple(*(*row[:10], SourceSentence(*row[10:])))
