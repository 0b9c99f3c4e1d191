"""Look up single triples of a graph in its tables: subject or object, and predicate -> triples."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import RowFacts, Tables, lexical_form

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
                return [(subject, predicate, value) for value in _values_of(row, predicate)][:MAX_TRIPLES]
        if predicate == TYPE:
            return [t for c in self._tables.schema.classes if (t := self.type_triple(subject, c.iri))]
        return [
            (subject, predicate, value)
            for index, place in self._places(predicate)
            for value in self._objects(index, place, subject)
        ][:MAX_TRIPLES]

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
        for table in self._layout["tables"]:
            if kind in table["types"] and self._rows(
                f"SELECT 1 FROM {quote_identifier(table['rows'])} WHERE id = ?", (key,)
            ):
                return subject, TYPE, kind
        return None

    def name_triple(self, subject: str) -> Triple | None:
        """The triple with the shown label of a thing, if there is one."""
        label = self.label(subject)
        found = (t for predicate in self._names for t in self.with_subject(subject, predicate))
        return next((t for t in found if " ".join(t[2].split()) == " ".join(label.split())), None)

    def label(self, iri: str) -> str:
        """The shown label of a thing; "" if the graph has no such thing."""
        if self._is_read(iri):
            row = self._rows_read[iri]
            return row.label if row is not None else ""
        rows = self._rows("SELECT label FROM entity WHERE iri = ?", (iri,))
        return str(rows[0][0]) if rows else ""

    def _is_read(self, subject: str) -> bool:
        """Whether all facts of a thing are known."""
        self.prepare((subject,))
        return subject in self._rows_read

    @cached_property
    def _layout(self) -> dict[str, Any]:
        layout: dict[str, Any] = json.loads(self._tables.meta("layout"))
        return layout

    def _places(self, predicate: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, place in enumerate(self._layout["places"]):
            if predicate is None or place["predicate"] == predicate:
                yield index, place

    def _objects(self, index: int, place: dict[str, Any], subject: str) -> Iterator[str]:
        for relation, row, key in _sources(place):
            for value, text, target, lexical in self._rows(_query(place, relation, row, key), (index, subject)):
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
        rows = self._rows("SELECT id FROM entity WHERE iri = ?", (iri,))
        return None if not rows else rows[0][0]

    def _rows(self, sql: str, params: Sequence[object]) -> list[tuple[Any, ...]]:
        connection: sqlite3.Connection = self._tables.trusted()
        return connection.execute(sql, tuple(params)).fetchall()


class StatedTriples:
    """Looks up triples as they were read: those in the tables, and those that no table shows."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._reader = TripleReader(tables)

    def with_subject(self, subject: str, predicate: str) -> list[Triple]:
        """The triples with this subject and predicate, at most 200 of each kind."""
        return list(
            dict.fromkeys((*self._reader.with_subject(subject, predicate), *self._aside("subject", subject, predicate)))
        )

    def with_object(self, target: str, predicate: str) -> list[Triple]:
        """The triples that link to this IRI by this predicate, at most 200 of each kind."""
        return list(
            dict.fromkeys((*self._reader.with_object(target, predicate), *self._aside("object", target, predicate)))
        )

    def beside_tables(self, subject: str) -> list[Triple]:
        """The triples of a subject that no table shows, such as those about classes, at most 200."""
        sql = f"SELECT subject, predicate, object FROM _nacre_aside WHERE subject = ? LIMIT {MAX_TRIPLES}"
        return [(str(s), str(p), str(o)) for s, p, o in self._tables.trusted().execute(sql, (subject,))]

    def _aside(self, end: str, term: str, predicate: str) -> list[Triple]:
        sql = (
            f"SELECT subject, predicate, object FROM _nacre_aside WHERE {end} = ? AND predicate = ? LIMIT {MAX_TRIPLES}"
        )
        return [(str(s), str(p), str(o)) for s, p, o in self._tables.trusted().execute(sql, (term, predicate))]


def _values_of(row: RowFacts | None, predicate: str) -> Sequence[str]:
    if row is None:
        return ()
    return row.types if predicate == TYPE else row.values.get(predicate, ())


def _sources(place: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The relations with a predicate, each with the columns of its row number and its subjects."""
    if place["junction"]:
        return [(place["junction"], "rowid", place["key"])]
    return [(table, "id", "id") for table in place["tables"]]


def _query(place: dict[str, Any], relation: str, row: str, key: str) -> str:
    value, text, link = (f"r.{quote_identifier(place[c])}" if place[c] else "NULL" for c in ("value", "text", "link"))
    target, joined, literal = "NULL", "", ""
    if place["link"]:
        target, joined = "o.iri", f"LEFT JOIN entity o ON o.id = {link} "
        literal = f" AND {link} IS NULL"
    return (
        f"SELECT {value}, {text}, {target}, x.lexical FROM {quote_identifier(relation)} r {joined}"
        f"LEFT JOIN _nacre_exact x ON x.predicate = ? AND x.row = r.{row}{literal} "
        f"WHERE r.{quote_identifier(key)} = (SELECT id FROM entity WHERE iri = ?) LIMIT {MAX_TRIPLES}"
    )
