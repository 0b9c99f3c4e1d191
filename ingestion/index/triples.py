"""Write the triples of a graph into a store for SPARQL: graph.sqlite -> a folder of Oxigraph."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ingestion.export import ntriples_literal
from ingestion.vocabulary import TYPE
from nacre.plans.sparql.terms import XSD, format_iri
from nacre.records.evidence import Cell
from nacre.records.schema import Datatype, Schema
from nacre.stores.sparql.oxigraph_store import ASIDE, PART, READINGS, READS
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Tables, lexical_form

Row = tuple[Any, ...]


def write_triples(tables: Tables, folder: Path) -> int:
    """Build the store in a new folder; returns the number of statements.

    The default graph has the triples that the tables show, with derived triples and superclasses. Named graphs have the
    numbers of literals that were read differently from their datatypes, and the triples that no table shows.
    """
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
    layout = json.loads(tables.meta("layout"))
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
    """The triples of one predicate; if one of its literals was read differently from its datatype, also the number of
    each literal."""
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
