"""Export the triples of a graph from its SQLite file: Tables -> N-Triples or N-Quads."""

import json
import re
import sqlite3
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from ingestion.vocabulary import TYPE, XSD
from nacre.errors import ConfigError
from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import Tables, lexical_form

# subject, predicate, kind, value, datatype, language, graph; a blank node is a label with "_:", the default graph ""
Statement = tuple[str, str, str, str, str, str, str]

_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_IN_LITERAL = re.compile(r'[\x00-\x1f"\\\x7f\ud800-\udfff]')
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def export_triples(tables: Tables, out: BinaryIO, form: Literal["nt", "nq"] | None = None) -> None:
    """Write every triple that was read; only the labels of blank nodes differ.

    Without `form`, graphs with named graphs are written as N-Quads, others as N-Triples. Raises ConfigError for "nt"
    with named graphs.
    """
    layout = json.loads(tables.meta("layout"))
    named = bool(layout["named_graphs"])
    if form == "nt" and named:
        raise ConfigError("This graph has named graphs, which N-Triples can't hold. Run: nacre export --format nq")
    for statement in stored_statements(tables.trusted(), layout):
        out.write(_line(statement).encode())


def stored_statements(connection: sqlite3.Connection, layout: dict[str, Any]) -> Iterator[Statement]:
    """All statements that were read, in a stable order; those of a layer are left out."""
    yield from _types(connection, layout)
    for index, place in enumerate(layout["places"]):
        yield from _place(connection, layout, index, place)
    query = "SELECT subject, predicate, kind, object, datatype, language, graph FROM _nacre_aside ORDER BY rowid"
    yield from connection.execute(query)


def _types(connection: sqlite3.Connection, layout: dict[str, Any]) -> Iterator[Statement]:
    for table in layout["tables"]:
        if not table["types"]:
            continue
        query = (
            f"SELECT e.iri FROM {quote_identifier(table['rows'])} r JOIN entity e ON e.id = r.id "
            "WHERE r.id NOT IN (SELECT entity FROM _nacre_type) ORDER BY r.id"
        )
        for (iri,) in connection.execute(query):
            for name in table["types"]:
                yield iri, TYPE, "iri", name, "", "", layout["base_graph"]
    query = (
        "SELECT e.iri, t.class, t.graph FROM _nacre_type t JOIN entity e ON e.id = t.entity "
        "WHERE t.class <> '' ORDER BY t.rowid"
    )
    for iri, name, graph in connection.execute(query):
        yield iri, TYPE, "iri", name, "", "", graph


def _place(
    connection: sqlite3.Connection, layout: dict[str, Any], index: int, place: dict[str, Any]
) -> Iterator[Statement]:
    if place.get("derived"):
        return
    predicate, datatype = place["predicate"], place["datatype"]
    graphs = _graphs(connection, index)
    base = [layout["base_graph"]]
    usual = place["sort"]
    sources = (
        [(place["junction"], "rowid", place["key"])]
        if place["junction"]
        else [(t, "id", "id") for t in place["tables"]]
    )
    for relation, row, key in sources:
        for number, iri, value, text, target, *exact in connection.execute(_query(index, place, relation, row, key)):
            for graph in graphs.get(number, base):
                if target is not None:
                    yield iri, predicate, "iri", target, "", "", graph
                elif exact[0] is not None:
                    yield iri, predicate, "literal", *exact, graph
                else:
                    form = text if text is not None else lexical_form(value, datatype)
                    yield iri, predicate, "literal", form, *usual, graph


def _query(index: int, place: dict[str, Any], relation: str, row: str, key: str) -> str:
    value, text, link = (f"r.{quote_identifier(place[c])}" if place[c] else "NULL" for c in ("value", "text", "link"))
    there = " OR ".join(f"r.{quote_identifier(place[c])} IS NOT NULL" for c in ("value", "text", "link") if place[c])
    target = "o.iri" if place["link"] else "NULL"
    join = f"LEFT JOIN entity o ON o.id = {link}" if place["link"] else ""
    return (
        f"SELECT r.{row}, s.iri, {value}, {text}, {target}, x.lexical, x.datatype, x.language "
        f"FROM {quote_identifier(relation)} r JOIN entity s ON s.id = r.{quote_identifier(key)} {join} "
        f"LEFT JOIN _nacre_exact x ON x.predicate = {index} AND x.row = r.{row} AND {link} IS NULL "
        f"WHERE ({there}) AND r.{row} NOT IN (SELECT row FROM _nacre_derived WHERE predicate = {index}) "
        f"ORDER BY r.{row}"
    )


def _graphs(connection: sqlite3.Connection, index: int) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row, graph in connection.execute(
        "SELECT row, graph FROM _nacre_graph WHERE predicate = ? ORDER BY row, graph", (index,)
    ):
        found.setdefault(row, []).append(graph)
    return found


def _line(statement: Statement) -> str:
    subject, predicate, kind, value, datatype, language, graph = statement
    shown = ntriples_literal(value, datatype, language) if kind == "literal" else ntriples_name(value)
    end = f" {ntriples_name(graph)}" if graph else ""
    return f"{ntriples_name(subject)} {ntriples_name(predicate)} {shown}{end} .\n"


def ntriples_name(text: str) -> str:
    """An IRI or a blank node's label in N-Triples syntax."""
    if text.startswith("_:"):
        return text
    return f"<{_IN_IRI.sub(_escape, text)}>" if _IN_IRI.search(text) else f"<{text}>"


def is_plain_iri(text: str) -> bool:
    """Whether a term is an IRI that is written as it is, and no blank node."""
    return not text.startswith("_:") and not _IN_IRI.search(text)


def ntriples_literal(lexical: str, datatype: str, language: str) -> str:
    """A literal in N-Triples syntax."""
    shown = f'"{_IN_LITERAL.sub(_escape, lexical)}"'
    if language:
        return f"{shown}@{language}"
    return f"{shown}^^{ntriples_name(datatype)}" if datatype and datatype != XSD + "string" else shown


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}"
