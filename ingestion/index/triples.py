"""The triples of a graph from its SQLite file: graph.sqlite -> a folder of Oxigraph; N-Triples or N-Quads."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ingestion.vocabulary import TRIPLE_TERM, TYPE, XSD
from nacre.errors import ConfigError
from nacre.plans.sparql_vocabulary import format_iri
from nacre.records.evidence import Cell
from nacre.records.schema import Datatype, Schema
from nacre.stores.sparql_source import ASIDE, PART, READINGS, READS
from nacre.stores.sqlite.tables import Tables, lexical_form, quote_identifier, quote_if_needed

Row = tuple[Any, ...]


def write_triples(tables: Tables, folder: Path) -> int:
    """Build the store in a new folder; returns the number of statements. The default graph has what tables show, named
    graphs the numbers of literals that were read differently from their datatypes, and what no table shows."""
    import pyoxigraph as ox

    lines = folder.with_suffix(".nq")
    count = 0
    try:
        with lines.open("wb") as out:
            count = _write(tables, out)
        store = ox.Store(folder)
        store.bulk_load(path=lines, format=ox.RdfFormat.N_QUADS, lenient=True)
        store.flush()
        store.optimize()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        lines.unlink(missing_ok=True)
    return count


def _write(tables: Tables, out: BinaryIO) -> int:
    connection, schema = tables.trusted(), tables.schema
    layout = tables.layout
    count = 0
    for line in _statements(connection, schema, layout):
        out.write(line.encode())
        count += 1
    return count


def _statements(connection: sqlite3.Connection, schema: Schema, layout: dict[str, Any]) -> Iterator[str]:
    for known in schema.classes:
        relation = schema.relation_of[known.relation]
        name, key = quote_if_needed(relation.name), quote_if_needed(relation.key)
        query = f"SELECT e.iri FROM {name} r JOIN entity e ON e.id = r.{key}"
        for (thing,) in connection.execute(query):
            yield f"{format_iri(thing)} <{TYPE}> {format_iri(known.iri)} .\n"
    for index, place in enumerate(layout["places"]):
        if place["predicate"] in schema.predicate_of:
            yield from _place(connection, schema, index, place)
    query = "SELECT subject, predicate, kind, object, datatype, language FROM _nacre_aside ORDER BY rowid"
    for subject, predicate, kind, value, datatype, language in connection.execute(query):
        shown = ntriples_literal(value, datatype, language) if kind == "literal" else format_iri(value)
        yield f"{format_iri(subject)} {format_iri(predicate)} {shown} <{ASIDE}> .\n"


def _place(connection: sqlite3.Connection, schema: Schema, index: int, place: dict[str, Any]) -> Iterator[str]:
    """The triples of one predicate; also each literal's number if one was read differently from its datatype."""
    predicate, datatype = place["predicate"], schema.predicate_of[place["predicate"]].datatype
    named = format_iri(predicate)
    read: dict[str, Row] = {}
    plain = True
    for subject, value, low, high, text, target, exact in _rows(connection, schema, index, place):
        if target is not None:
            yield f"{format_iri(subject)} {named} {format_iri(target)} .\n"
            continue
        lexical, sort = (exact[0], exact[1:]) if exact[0] is not None else (text, place["sort"])
        form = lexical if lexical is not None else lexical_form(value, place["datatype"])
        shown = ntriples_literal(form, *sort)
        yield f"{format_iri(subject)} {named} {shown} .\n"
        if shown not in read:
            read[shown] = value, low, high
            plain = plain and low is None and text is None and _as_declared(form, datatype) == value
    if plain:
        return
    yield f"{named} <{READS}> {named} <{READINGS}> .\n"
    for number, (shown, cells) in enumerate(read.items()):
        node = f"<urn:nacre:reading:{index}:{number}>"
        yield f"{node} {format_iri(READS + predicate)} {shown} <{READINGS}> .\n"
        for part, cell in zip(("value", "low", "high"), cells, strict=True):
            if cell is not None:
                yield f"{node} <{PART}{part}> {_number(cell)} <{READINGS}> .\n"


def _rows(connection: sqlite3.Connection, schema: Schema, index: int, place: dict[str, Any]) -> Iterator[Row]:
    """Each triple: subject, value, low, high, text, target, and the literal's own form if it was stored."""
    sources = [(place["junction"], "rowid", place["key"])] if place["junction"] else []
    sources += [(table, "id", "id") for table in place["tables"]]
    found = [c for r in schema.relations for c in r.columns if c.predicate == place["predicate"]]
    low, high = (found[0].low, found[0].high) if found else ("", "")
    for relation, row, key in sources:
        names = (place["value"], low, high, place["text"], place["link"])
        value, lower, higher, text, link = (f"r.{quote_if_needed(each)}" if each else "NULL" for each in names)
        query = (
            f"SELECT s.iri, {value}, {lower}, {higher}, {text}, o.iri, x.lexical, x.datatype, x.language "
            f"FROM {quote_if_needed(relation)} r JOIN entity s ON s.id = r.{quote_if_needed(key)} "
            f"LEFT JOIN entity o ON o.id = {link} "
            f"LEFT JOIN _nacre_exact x ON x.predicate = {index} AND x.row = r.{row} AND {link} IS NULL "
            f"WHERE coalesce({value}, {text}, {link}, x.lexical) IS NOT NULL"
        )
        for subject, *cells, lexical, kind, language in connection.execute(query):
            yield subject, *cells, (lexical, kind, language)


def _as_declared(form: str, datatype: Datatype) -> Cell:
    """The value that SPARQL derives from a literal itself; "" if that is an error."""
    try:
        if datatype in ("integer", "year"):
            return int(form)
        if datatype == "real":
            return float(form)
        if datatype == "boolean":
            return {"true": 1, "1": 1, "false": 0, "0": 0}[form]
    except (ValueError, KeyError):
        return ""
    return form


def _number(cell: Cell) -> str:
    kind = "integer" if isinstance(cell, int) else "double" if isinstance(cell, float) else "string"
    return f"{ntriples_literal(str(cell), XSD + kind, '')}"


# subject, predicate, kind, value, datatype, language, graph; a blank node is a label with "_:", the default graph ""
Statement = tuple[str, str, str, str, str, str, str]

_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')

_IN_LITERAL = re.compile(r'[\x00-\x1f"\\\x7f\ud800-\udfff]')

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def export_triples(tables: Tables, out: BinaryIO, form: Literal["nt", "nq"] | None = None) -> None:
    """Write every triple that was read; only the labels of blank nodes differ. Without `form`, graphs with named graphs
    are written as N-Quads, others as N-Triples. Raises ConfigError for "nt" with named graphs."""
    layout = tables.layout
    named = bool(layout["named_graphs"])
    if form == "nt" and named:
        raise ConfigError("This graph has named graphs, which N-Triples can't hold. Run: nacre export --format nq")
    for statement in stored_statements(tables.trusted(), layout):
        out.write(_line(statement).encode())


def stored_statements(connection: sqlite3.Connection, layout: dict[str, Any]) -> Iterator[Statement]:
    """All statements that were read, in a stable order, with columns of sheets in theirs; those of a layer are left
    out."""
    yield from _types(connection, layout)
    for index, place in sorted(enumerate(layout["places"]), key=lambda each: each[1].get("position", 0)):
        yield from _place_statements(connection, layout, index, place)
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


def _place_statements(
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
    """A literal or a triple term in N-Triples syntax."""
    if datatype == TRIPLE_TERM:
        return lexical
    shown = f'"{_IN_LITERAL.sub(_escape, lexical)}"'
    if language:
        return f"{shown}@{language}"
    return f"{shown}^^{ntriples_name(datatype)}" if datatype and datatype != XSD + "string" else shown


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}"
