"""Write the tables of a graph: Layout -> graph.sqlite and the shown Schema."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.build_schema import build_schema
from ingestion.induce.cell_lists import cell_sources, column_lists, link_target
from ingestion.induce.indexes import write_indexes
from ingestion.induce.junctions import write_junctions
from ingestion.induce.layout import Layout, induce_layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.induce.relations import build_column, table_columns
from ingestion.induce.round_trip import derived_mask, write_aside, write_derived, write_exact, write_graphs, write_types
from ingestion.induce.values.value_counts import value_counts
from ingestion.induce.views import write_views
from ingestion.layer.apply import layer_facts
from ingestion.layer.entries import NO_LAYER, Layer
from ingestion.layer.names import mark_schema, without_removed
from ingestion.layer.stored import NO_LAYERS, LayerFiles
from ingestion.read.capsules import Facts
from nacre.records.json_form import json_text
from nacre.records.schema import Schema
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.schema_sql import column_definitions, create_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "1"
# no journal: the file is published only when it is complete
_PRAGMAS = (
    "journal_mode=OFF",
    "synchronous=OFF",
    "page_size=8192",
    "cache_size=-65536",
    "temp_store=MEMORY",
    "locking_mode=EXCLUSIVE",
)
_CHUNK_CELLS = 1_000_000

_PRIVATE = """
CREATE TABLE entity_class (entity_id INTEGER NOT NULL, class TEXT NOT NULL);
CREATE TABLE entity_kind (class TEXT NOT NULL, entity_id INTEGER NOT NULL, PRIMARY KEY (class, entity_id))
  WITHOUT ROWID;
CREATE TABLE _nacre_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE _nacre_exact (predicate INTEGER NOT NULL, row INTEGER NOT NULL, lexical TEXT NOT NULL,
  datatype TEXT NOT NULL, language TEXT NOT NULL);
CREATE TABLE _nacre_graph (predicate INTEGER NOT NULL, row INTEGER NOT NULL, graph TEXT NOT NULL);
CREATE TABLE _nacre_derived (predicate INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (predicate, row));
CREATE TABLE _nacre_type (entity INTEGER NOT NULL, class TEXT NOT NULL, graph TEXT NOT NULL);
CREATE TABLE _nacre_aside (subject TEXT NOT NULL, predicate TEXT NOT NULL, kind TEXT NOT NULL, object TEXT NOT NULL,
  datatype TEXT NOT NULL, language TEXT NOT NULL, graph TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE _nacre_omitted (kind TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
  reason TEXT NOT NULL, statements INTEGER NOT NULL);
"""


def write_tables(facts: Facts, path: Path, layers: LayerFiles = NO_LAYERS) -> Schema:
    """Apply the layers, induce the tables of a graph and write them; returns the shown schema."""
    applied = layer_facts(facts, layers)
    return write_layout(induce_layout(applied.facts, applied.layer), path, applied.layer)


def write_layout(layout: Layout, path: Path, layer: Layer = NO_LAYER) -> Schema:
    """Build the whole file (it must not exist yet, or is replaced) and return the shown schema.

    Tables, columns and what they mean are in records.schema; tables named `_nacre...` keep what the others can't show,
    so that export.py can rebuild every triple.
    """
    stored = mark_schema(build_schema(layout), layer)
    shown = without_removed(stored, layer)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        _write(connection, layout, stored, shown)
        connection.execute("COMMIT")
        # reads the schema with the views again: a view that is malformed must fail here, not when a reader opens it
        connection.execute("PRAGMA writable_schema=RESET")
        connection.execute("SELECT count(*) FROM entity").fetchone()
    finally:
        connection.close()
    return shown


def _write(connection: sqlite3.Connection, layout: Layout, stored: Schema, shown: Schema) -> None:
    for statement in _PRIVATE.split(";"):
        if statement.strip():
            connection.execute(statement)
    _write_entities(connection, layout)
    by_table = table_columns(layout)
    for index in range(len(layout.classes.tables)):
        _write_table(connection, layout, index, by_table[index], stored)
    for place, keys in write_junctions(connection, layout, stored):
        write_exact(connection, layout, place, keys)
        write_graphs(connection, layout, place, keys)
        write_derived(connection, layout, place, keys)
    write_types(connection, layout)
    write_views(connection, layout, by_table, stored)
    write_aside(connection, layout)
    if any(predicate.patterns for predicate in stored.predicates):
        # values of a layer are cited with the triples behind them
        connection.execute("CREATE INDEX _nacre_aside_subject ON _nacre_aside (subject, predicate)")
        connection.execute("CREATE INDEX _nacre_aside_object ON _nacre_aside (object, predicate)")
    write_indexes(connection, layout, by_table, stored)
    _write_meta(connection, layout, stored, shown)


def _write_entities(connection: sqlite3.Connection, layout: Layout) -> None:
    connection.execute(
        "CREATE TABLE entity (\n  id INTEGER PRIMARY KEY,\n  iri TEXT NOT NULL,\n  label TEXT NOT NULL\n)"
    )
    texts = layout.facts.texts
    connection.executemany(
        "INSERT INTO entity VALUES (?, ?, ?)",
        zip(
            layout.ids[layout.entities].tolist(),
            map(texts.__getitem__, layout.entities.tolist()),
            layout.labels,
            strict=True,
        ),
    )


def _write_table(
    connection: sqlite3.Connection, layout: Layout, index: int, places: list[PredicateColumns], schema: Schema
) -> None:
    classes, ids = layout.classes, layout.ids
    table = classes.tables[index]
    members = np.flatnonzero(classes.table_of == index)
    members = members[np.argsort(ids[members], kind="stable")]
    position = np.full(len(ids), -1, dtype=np.int32)
    position[members] = np.arange(len(members), dtype=np.int32)
    parts = [_table_part(layout, place, index, position) for place in places]
    columns = [("id INTEGER PRIMARY KEY", "")]
    for place, (_, rows) in zip(places, parts, strict=True):
        columns += column_definitions(
            build_column(place),
            schema.predicate_of[place.iri],
            link_target(layout, place),
            _samples(layout, place, rows),
        )
    connection.execute(create_table(table.rows_name, columns))
    insert = f"INSERT INTO {quote_if_needed(table.rows_name)} VALUES ({', '.join('?' * len(columns))})"
    sources = [cell_sources(layout, place) for place in places]
    size = max(200, _CHUNK_CELLS // len(columns))
    keys = ids[members]
    for start in range(0, len(members), size):
        end = min(start + size, len(members))
        lists: list[Iterable[Any]] = [keys[start:end].tolist()]
        for place, cells, (where, rows) in zip(places, sources, parts, strict=True):
            low, high = where.searchsorted((start, end))
            lists += column_lists(layout, place, cells, where[low:high] - start, rows[low:high], end - start)
        connection.executemany(insert, zip(*lists, strict=True))


def _samples(layout: Layout, place: PredicateColumns, rows: "NDArray[np.int64]") -> list[str]:
    """Two sample texts of a table, those of the first owners by id."""
    if len(place.targets):
        rows = rows[place.literal[rows]]
    objects = place.object[rows[:10]]
    return [layout.facts.texts[n] for n in dict.fromkeys(objects[:10].tolist())][:2]


def _table_part(
    layout: Layout, place: PredicateColumns, index: int, position: "NDArray[np.int32]"
) -> "tuple[NDArray[np.int32], NDArray[np.int64]]":
    """Positions in the table and indexes of the predicate's triples, in the order of the positions."""
    rows = (layout.classes.table_of[place.subject] == index).nonzero()[0]
    where = position[place.subject[rows]]
    order = where.argsort(kind="stable")
    return where[order], rows[order]


def _write_meta(connection: sqlite3.Connection, layout: Layout, stored: Schema, shown: Schema) -> None:
    facts = layout.facts
    omitted = facts.omitted
    connection.executemany("INSERT INTO _nacre_omitted VALUES (?, ?, ?, ?, ?, ?)", omitted.listed)
    layout_json = {
        "triples": facts.triples,
        "omitted": [omitted.statements, omitted.files, omitted.other_files],
        **({"limits": limits} if (limits := [*facts.limits, *layout.declarations.limits]) else {}),
        "base_graph": facts.texts[layout.base_graph],
        "named_graphs": facts.graph is not None,
        "tables": [{"rows": t.rows_name, "types": list(t.asserted)} for t in layout.classes.tables],
        "places": [
            {
                "predicate": p.iri,
                "junction": p.junction,
                **({"shared": p.shared} if p.shared else {}),
                "derived": len(p.row) > 0 and bool(derived_mask(layout, p).all()),
                "key": p.key,
                "value": p.value,
                "text": p.text,
                "link": p.link,
                "datatype": p.cells.datatype if p.cells else "text",
                "sort": list(p.cells.sort[1:]) if p.cells else ["", ""],
                "tables": sorted(layout.classes.tables[i].rows_name for i in layout.classes.tables_of(p.domains))
                if not p.junction
                else [],
            }
            for p in layout.places
        ],
    }
    schema = json_text(shown)
    stored_schema = schema if stored is shown else json_text(stored)
    layout_text = json.dumps(layout_json, ensure_ascii=False)
    connection.executemany(
        "INSERT INTO _nacre_meta VALUES (?, ?)",
        (("format", FORMAT), ("layout", layout_text), ("schema", schema), ("stored_schema", stored_schema)),
    )
    connection.executemany("INSERT INTO _nacre_meta VALUES (?, ?)", value_counts(layout))
