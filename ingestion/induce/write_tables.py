"""Write the tables of a graph: Layout -> graph.sqlite and the shown Schema. Also what cells can't restore (for a
lossless export), indexes for links and sorted pages of large tables, and counts of frequent values in large classes."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce import junctions
from ingestion.induce.build_schema import build_schema
from ingestion.induce.cells import Cell
from ingestion.induce.layout import Layout, PredicateColumns, build_column, induce_layout, table_columns
from ingestion.layer.apply import layer_facts
from ingestion.layer.entries import NO_LAYER, Layer
from ingestion.layer.layer_file import NO_LAYERS, LayerFiles
from ingestion.layer.resolve import mark_schema, without_removed
from ingestion.read.facts import Facts, unique_counts
from ingestion.vocabulary import TYPE
from nacre.records.browse import FACET_VALUES, LARGE_CLASS, LONGEST_CELL, facet_key
from nacre.records.json_form import json_text
from nacre.records.schema import Schema
from nacre.stores.sqlite.schema_sql import column_definitions, create_table
from nacre.stores.sqlite.tables import insert_rows, quote_if_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "1"

_CHUNK_CELLS = 1_000_000

# no journal: the file is published only when it is complete
_PRIVATE = """
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
PRAGMA page_size=8192;
PRAGMA locking_mode=EXCLUSIVE;
BEGIN;
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
    """Build the whole file (it must not exist yet, or is replaced) and return the shown schema (records.schema).
    Tables named `_nacre...` keep what the others can't show, so that export.py can rebuild every triple."""
    stored = mark_schema(build_schema(layout), layer)
    shown = without_removed(stored, layer)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(_PRIVATE)
        _write(connection, layout, stored, shown)
        connection.execute("COMMIT")
        # reads the schema with the views again: a view that is malformed must fail here, not when a reader opens it
        connection.execute("PRAGMA writable_schema=RESET")
        connection.execute("SELECT count(*) FROM entity").fetchone()
    finally:
        connection.close()
    return shown


def _write(connection: sqlite3.Connection, layout: Layout, stored: Schema, shown: Schema) -> None:
    connection.execute(
        "CREATE TABLE entity (\n  id INTEGER PRIMARY KEY,\n  iri TEXT NOT NULL,\n  label TEXT NOT NULL\n)"
    )
    iris = map(layout.facts.texts.__getitem__, layout.entities.tolist())
    insert_rows(connection, "entity", 3, zip(layout.ids[layout.entities].tolist(), iris, layout.labels, strict=True))
    by_table = table_columns(layout)
    for index in range(len(layout.classes.tables)):
        _write_table(connection, layout, index, by_table[index], stored)
    for place, keys in junctions.write_junctions(connection, layout, stored):
        write_exact(connection, layout, place, keys)
        write_graphs(connection, layout, place, keys)
        derived = derived_mask(layout, place) if layout.facts.derived is not None else np.zeros(0, dtype=bool)
        # a predicate with derived rows only needs none
        if derived.any() and not derived.all():
            rows = ((place.index, key) for key in sorted(keys[derived].tolist()))
            insert_rows(connection, "_nacre_derived", 2, rows)
    write_types(connection, layout)
    junctions.write_views(connection, layout, by_table, stored)
    write_aside(connection, layout)
    if any(predicate.patterns for predicate in stored.predicates):
        # values of a layer are cited with the triples behind them
        connection.execute("CREATE INDEX _nacre_aside_subject ON _nacre_aside (subject, predicate)")
        connection.execute("CREATE INDEX _nacre_aside_object ON _nacre_aside (object, predicate)")
    write_indexes(connection, layout, by_table, stored)
    _write_meta(connection, layout, stored, shown)


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
            junctions.link_target(layout, place),
            _samples(layout, place, rows),
        )
    connection.execute(create_table(table.rows_name, columns))
    sources = [junctions.cell_sources(layout, place) for place in places]
    size = max(200, _CHUNK_CELLS // len(columns))
    keys = ids[members]
    for start in range(0, len(members), size):
        end = min(start + size, len(members))
        lists: list[Iterable[Any]] = [keys[start:end].tolist()]
        for place, cells, (where, rows) in zip(places, sources, parts, strict=True):
            low, high = where.searchsorted((start, end))
            lists += junctions.column_lists(layout, place, cells, where[low:high] - start, rows[low:high], end - start)
        insert_rows(connection, quote_if_needed(table.rows_name), len(columns), zip(*lists, strict=True))


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
    insert_rows(connection, "_nacre_omitted", 6, omitted.listed)
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
                **({"position": p.position} if p.position else {}),
                "derived": len(p.row) > 0 and bool((mask := derived_mask(layout, p)).all()),
                **({"partly": True} if len(p.row) > 0 and mask.any() and not mask.all() else {}),
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
    texts = (("format", FORMAT), ("layout", layout_text), ("schema", schema), ("stored_schema", stored_schema))
    insert_rows(connection, "_nacre_meta", 2, chain(texts, value_counts(layout)))


def write_exact(
    connection: sqlite3.Connection, layout: Layout, place: PredicateColumns, keys: "NDArray[np.int64]"
) -> None:
    """Write the lexical forms, datatypes and languages that the cells can't restore; `keys` are row numbers."""
    if place.cells is None or not any(place.cells.exact):
        return
    exact = np.array(place.cells.exact, dtype=bool)
    rows = np.flatnonzero(place.literal)
    rows = rows[exact[np.searchsorted(place.distinct, place.object[rows])]]
    rows = rows[np.argsort(keys[rows], kind="stable")]
    facts, objects = layout.facts, place.object[rows]
    columns = (keys[rows].tolist(), objects.tolist(), facts.sort_of[objects].tolist())
    cells = ((place.index, key, facts.texts[o], *facts.sorts[s][1:]) for key, o, s in zip(*columns, strict=True))
    insert_rows(connection, "_nacre_exact", 5, cells)


def derived_mask(layout: Layout, place: PredicateColumns) -> "NDArray[np.bool_]":
    """For each triple of a predicate whether it is derived."""
    derived = layout.facts.derived
    return np.zeros(len(place.row), dtype=bool) if derived is None else derived[place.row]


def write_graphs(
    connection: sqlite3.Connection, layout: Layout, place: PredicateColumns, keys: "NDArray[np.int64]"
) -> None:
    """Write the named graphs of triples that are not only in the base graph."""
    facts = layout.facts
    if facts.graph is None or layout.repeated is None:
        return
    written = []
    derived = derived_mask(layout, place)
    for row, key in zip(place.row[~derived].tolist(), keys[~derived].tolist(), strict=True):
        graphs = [int(facts.graph[row])]
        while (row := row + 1) < len(facts.subject) and layout.repeated[row]:
            graphs.append(int(facts.graph[row]))
        if graphs != [layout.base_graph]:
            written += [(place.index, key, name) for name in sorted(facts.texts[g] for g in graphs)]
    insert_rows(connection, "_nacre_graph", 3, sorted(written))


def write_types(connection: sqlite3.Connection, layout: Layout) -> None:
    """Write the types of things with other types than their table, and of things in other named graphs."""
    facts, classes, ids = layout.facts, layout.classes, layout.ids
    quads: set[tuple[int, str, str]] = set()
    base = facts.texts[layout.base_graph]
    special: set[int] = set()
    if facts.graph is not None:
        type_number = layout.declarations.number_of.get(TYPE, -1)
        rows = np.flatnonzero((facts.predicate == type_number) & ~layout.declarations.is_schema[facts.subject])
        rows = rows[facts.kinds("iri")[facts.object[rows]]]
        if facts.derived is not None:
            rows = rows[~facts.derived[rows]]
        # write_aside stores rows that ingestion.meaning has hidden
        rows = rows[~np.isin(rows, [row for hidden in facts.aside.values() for row in hidden.tolist()])]
        special = set(np.unique(facts.subject[rows[facts.graph[rows] != layout.base_graph]]).tolist())
        for row in rows.tolist():
            subject = int(facts.subject[row])
            if subject in special:
                quads.add((int(ids[subject]), facts.texts[facts.object[row]], facts.texts[facts.graph[row]]))
    for number, types in classes.unusual.items():
        if number not in special:
            quads |= {(int(ids[number]), iri, base) for iri in types} or {(int(ids[number]), "", "")}
    insert_rows(connection, "_nacre_type", 3, sorted(quads))
    members: list[tuple[int, str]] = []
    for table in classes.tables:
        for number in table.sets[1:]:
            subjects = np.flatnonzero(classes.set_of == number)
            names = sorted(classes.sets[number]) or [""]
            members += [(key, iri) for key in ids[subjects].tolist() for iri in names]
    insert_rows(connection, "entity_class", 2, sorted(members))


def write_aside(connection: sqlite3.Connection, layout: Layout) -> None:
    """Write the triples that no table shows, each with the reason."""
    facts = layout.facts
    written = []
    for reason, rows in layout.aside.items():
        wanted = set(rows.tolist())
        for row in rows.tolist():
            # repetitions in further named graphs follow the first one
            while layout.repeated is not None and row + 1 < len(facts.subject) and layout.repeated[row + 1]:
                row += 1
                wanted.add(row)
        for row in wanted:
            kind, datatype, language = facts.sorts[facts.sort_of[facts.object[row]]]
            graph = "" if facts.graph is None else facts.texts[facts.graph[row]]
            columns = (facts.subject, facts.predicate, facts.object)
            subject, predicate, target = (facts.texts[column[row]] for column in columns)
            written.append((subject, predicate, kind, target, datatype, language, graph, reason))
    insert_rows(connection, "_nacre_aside", 8, sorted(written))


# smaller tables are sorted for each page
SORTED_ROWS = LARGE_CLASS

# rows without a value are in an index too, so a column of which fewer rows have a value is sorted for each page
LEAST_FILLED = 0.25

_SORTED_TYPES = frozenset(("integer", "real", "year", "date", "datetime", "time"))


def write_indexes(
    connection: sqlite3.Connection, layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema
) -> None:
    """Create all indexes."""
    connection.execute("CREATE UNIQUE INDEX _nacre_entity_iri ON entity(iri)")
    tables = zip(layout.classes.tables, by_table, strict=True)
    indexed = [(table.rows_name, place.link) for table, places in tables for place in places if place.link]
    targets = [f"{quote_if_needed(name)}({quote_if_needed(column)})" for name, column in indexed]
    targets += junctions.junction_indexes(layout)
    targets += ["_nacre_exact(predicate, row)", "_nacre_graph(predicate, row)", "_nacre_type(entity)"]
    targets += ["entity_class(entity_id)"]
    for number, target in enumerate(targets, 1):
        connection.execute(f"CREATE INDEX _nacre_link_{number} ON {target}")
    for number, (name, column) in enumerate(_sorted_columns(layout, by_table, schema), 1):
        # `IS NULL` first, since rows without a value come last, and so that no plan of a question takes this index to
        # compare values: it would look up each row of a range, which takes longer than to read them all
        connection.execute(f"CREATE INDEX _nacre_sorted_{number} ON {name}(({column} IS NULL), {column})")


def _sorted_columns(
    layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema
) -> Iterator[tuple[str, str]]:
    """Table and column, quoted: names, numbers and dates of large tables; longer texts take too much disk."""
    sizes = np.bincount(layout.classes.table_of[layout.classes.table_of >= 0], minlength=len(by_table))
    for size, table, places in zip(sizes.tolist(), layout.classes.tables, by_table, strict=True):
        for place in places if size >= SORTED_ROWS else ():
            predicate = schema.predicate_of[place.iri]
            filled = sum(place.domains.get(own, 0) for own in table.sets)
            is_sorted = predicate.role == "name" or predicate.datatype in _SORTED_TYPES
            if place.value and is_sorted and filled >= LEAST_FILLED * size:
                column = place.low if predicate.shape == "period" else place.value
                yield quote_if_needed(table.rows_name), quote_if_needed(column)


_Counts = Sequence[int]

# the largest classes, the most frequent properties, and groups of members that a property is counted for (given)
MOST_CLASSES, MOST_PROPERTIES, MOST_GROUPS = 50, 200, 4

# of equal counts, links come first, then numbers and texts
_LINK = -1


def value_counts(layout: Layout) -> Iterator[tuple[str, str]]:
    """Key and facet for the properties of classes of at least LARGE_CLASS members: `values` are [value, id of a link,
    count], the most frequent first; `more`: there are others; `low`, `high`: numbers, or texts in other columns."""
    classes = layout.classes
    large = sorted(
        (iri for iri, count in classes.members.items() if count >= LARGE_CLASS),
        key=lambda iri: (-classes.members[iri], iri),
    )
    sets_of = {iri: frozenset(n for n, own in enumerate(classes.sets) if iri in own) for iri in large[:MOST_CLASSES]}
    places = sorted(layout.places, key=lambda place: (-len(place.subject), place.iri))
    for place in places[:MOST_PROPERTIES] if large else ():
        found: dict[frozenset[int], str] = {}
        for iri, sets in sets_of.items():
            own = sets.intersection(place.domains)
            if own and own not in found and len(found) < MOST_GROUPS:
                found[own] = json.dumps(_facet(layout, place, own), ensure_ascii=False)
            if own in found:
                yield facet_key(iri, place.iri), found[own]


def _facet(layout: Layout, place: PredicateColumns, sets: frozenset[int]) -> dict[str, object]:
    literals, (targets, links) = _counts_of(layout, place, sets)
    cells = _cells(layout, place)
    values: dict[Cell, int] = {cell: n for cell, n in zip(cells, literals, strict=True) if n}
    if len(values) < sum(map(bool, literals)):
        # forms of one number, or of one text in several languages
        values = Counter()
        for cell, n in zip(cells, literals, strict=True):
            values[cell] += n
        values = +values
    ids = layout.ids[targets].tolist()
    each: list[tuple[int, int, Any]] = [(-n, int(isinstance(cell, str)), cell) for cell, n in values.items()]
    each += [(-n, _LINK, key) for key, n in zip(ids, links, strict=True)]
    first = nsmallest(FACET_VALUES + 1, each)
    listed = [[None, own, -n] if kind == _LINK else [_short(own), None, -n] for n, kind, own in first[:FACET_VALUES]]
    low, high = _bounds(place, values)
    return {"values": listed, "more": len(first) > FACET_VALUES, "low": low, "high": high}


def _bounds(place: PredicateColumns, values: Iterable[Cell]) -> tuple[Cell, Cell]:
    """The lowest and highest number or date; None for other columns."""
    kind = place.cells.datatype if place.cells is not None and place.cells.shape != "period" else "text"
    if kind in ("integer", "real", "year"):
        numbers = [v for v in values if isinstance(v, int | float) and isfinite(v)]
        return (min(numbers), max(numbers)) if numbers else (None, None)
    dates = [v for v in values if isinstance(v, str)] if kind in ("date", "datetime", "time") else []
    return (_short(min(dates)), _short(max(dates))) if dates else (None, None)


def _short(cell: Cell) -> Cell:
    return cell[:LONGEST_CELL] if isinstance(cell, str) else cell


def _counts_of(
    layout: Layout, place: PredicateColumns, sets: frozenset[int]
) -> "tuple[_Counts, tuple[NDArray[np.int32], _Counts]]":
    """Triples of each distinct literal, and the targets of links with theirs, of subjects with these type sets."""
    if sets == place.domains.keys():
        return place.distinct_counts.tolist(), (place.targets, place.target_counts.tolist())
    among = np.zeros(len(layout.classes.sets) + 1, dtype=bool)
    among[[n + 1 for n in sets]] = True
    rows = among[layout.classes.set_of[place.subject] + 1]
    objects, literal = place.object[rows], place.literal[rows]
    numbers = place.distinct.searchsorted(objects[literal])
    targets, links = unique_counts(objects[~literal])
    return np.bincount(numbers, minlength=len(place.distinct)).tolist(), (targets, links.tolist())


def _cells(layout: Layout, place: PredicateColumns) -> list[Cell]:
    """What a column shows of each distinct literal: its value, else its text."""
    if place.cells is None or not len(place.distinct):
        return [None] * len(place.distinct)
    texts = layout.facts.texts
    return [
        texts[term] if cell is None else int(cell) if isinstance(cell, bool) else cell
        for term, cell in zip(place.distinct.tolist(), place.cells.value, strict=True)
    ]
