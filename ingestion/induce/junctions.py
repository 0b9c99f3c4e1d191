"""Write the junctions, which have one row a triple of a predicate, and the views: Layout -> tables and views.
The rarest predicates share tables, as each table makes creating others slower; a class without a table is a view."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.cells import Cell
from ingestion.induce.layout import Layout, PredicateColumns, build_column, list_places, union_columns
from nacre.records.schema import Schema
from nacre.stores.sqlite.schema_sql import SQL_TYPES, column_definitions, create_table
from nacre.stores.sqlite.tables import insert_rows, quote_if_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_junctions(
    connection: sqlite3.Connection, layout: Layout, schema: Schema
) -> "Iterator[tuple[PredicateColumns, NDArray[np.int64]]]":
    """Write the junctions; each predicate with the row numbers of its triples, in a junction or in the tables."""
    written: Counter[str] = Counter()
    for place in layout.places:
        if not place.junction:
            yield place, layout.ids[place.subject]
            continue
        order = _junction_order(layout, place)
        first = written[place.shared] + 1
        if place.shared:
            if not written[place.shared]:
                connection.execute(_create_shared(place))
            written[place.shared] += len(order)
            rows = ((number, place.index, *row) for number, row in enumerate(_rows(layout, place, order), first))
            insert_rows(connection, quote_if_needed(place.shared), 3 + len(place.columns), rows)
        else:
            owner = layout.classes.common_relation(place.domains) or "entity"
            columns = [(f"{quote_if_needed(place.key)} INTEGER NOT NULL REFERENCES entity(id)", f"id in {owner}")]
            about = schema.predicate_of[place.iri]
            columns += column_definitions(build_column(place), about, link_target(layout, place))
            connection.execute(create_table(place.junction, columns))
            insert_rows(connection, quote_if_needed(place.junction), len(columns), _rows(layout, place, order))
        keys = np.empty(len(order), dtype=np.int64)
        keys[order] = np.arange(first, first + len(order))
        yield place, keys
    create_views(connection, ((p.junction, _view_body(p)) for p in layout.places if p.shared))


def junction_indexes(layout: Layout) -> list[str]:
    """The table and columns of each index of a junction."""
    found: dict[str, None] = {}
    for place in layout.places:
        if place.shared:
            columns = ["predicate, key", *(["predicate, link"] if place.link else [])]
            found |= dict.fromkeys(f"{quote_if_needed(place.shared)}({each})" for each in columns)
        elif place.junction:
            columns = [column for column in (place.key, place.link) if column]
            found |= dict.fromkeys(f"{quote_if_needed(place.junction)}({quote_if_needed(c)})" for c in columns)
    return list(found)


def _create_shared(place: PredicateColumns) -> str:
    kind = SQL_TYPES.get(place.cells.datatype if place.cells else "text", "TEXT")
    kinds = dict(zip(_COLUMNS, (kind, kind, kind, "TEXT", "INTEGER REFERENCES entity(id)"), strict=True))
    columns = ["row INTEGER PRIMARY KEY", "predicate INTEGER NOT NULL", "key INTEGER NOT NULL REFERENCES entity(id)"]
    columns += [f"{column} {kinds[column]}" for column, _ in _shared_columns(place)]
    return create_table(place.shared, [(column, "") for column in columns])


def _view_body(place: PredicateColumns) -> str:
    """A view with the columns that a table of the predicate would have; `rowid` stands for SQLite's own."""
    named = [(place.key, "key"), *((name, column) for column, name in _shared_columns(place))]
    shown = ", ".join(["row AS rowid", *(f"{column} AS {quote_if_needed(name)}" for name, column in named)])
    return f"SELECT {shown} FROM {quote_if_needed(place.shared)} WHERE predicate = {place.index}"


_COLUMNS = ("value", "low", "high", "text", "link")


def _shared_columns(place: PredicateColumns) -> list[tuple[str, str]]:
    return [(column, name) for column in _COLUMNS if (name := getattr(place, column))]


def _rows(layout: Layout, place: PredicateColumns, order: "NDArray[np.int64]") -> Iterator[tuple[Any, ...]]:
    numbers = np.arange(len(order), dtype=np.int32)
    lists: list[Iterable[Any]] = [layout.ids[place.subject][order].tolist()]
    lists += column_lists(layout, place, cell_sources(layout, place), numbers, order, len(order))
    return zip(*lists, strict=True)


def _junction_order(layout: Layout, place: PredicateColumns) -> "NDArray[np.int64]":
    """By subject id, then the place in a list, else literal text or target id: independent of the source's order."""
    if (places := list_places(layout.facts, place)) is not None:
        return np.lexsort((places, layout.ids[place.subject]))
    second = layout.ids[place.object].copy()
    if place.literal.any():
        facts = layout.facts
        numbers = place.distinct.tolist()
        order = sorted(
            range(len(numbers)), key=lambda i: (facts.texts[numbers[i]], facts.sorts[facts.sort_of[numbers[i]]])
        )
        ranks = np.empty(len(numbers), dtype=np.int64)
        ranks[order] = np.arange(len(numbers))
        # negative ranks: literals come before links, whose ids are positive
        second[place.literal] = ranks[np.searchsorted(place.distinct, place.object[place.literal])] - len(numbers)
    return np.lexsort((second, layout.ids[place.subject]))


def write_views(
    connection: sqlite3.Connection, layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema
) -> None:
    """A view for each class: the union of its tables with all columns, filtered to its members."""
    create_views(connection, _class_views(layout, by_table, schema))
    write_kinds(connection, layout, by_table, schema)


def create_views(connection: sqlite3.Connection, views: Iterable[tuple[str, str]]) -> None:
    """Create views from names and SELECTs over tables of this database. CREATE VIEW would search all tables and views
    for each, so rows of their list are written; this connection sees the views when it has read the schema again."""
    rows = ((name, name, f"CREATE VIEW {quote_if_needed(name)} AS {body}") for name, body in views)
    connection.execute("PRAGMA writable_schema=ON")
    connection.executemany(
        "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('view', ?, ?, 0, ?)", rows
    )
    connection.execute("PRAGMA writable_schema=OFF")


def _class_views(layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema) -> Iterator[tuple[str, str]]:
    classes = layout.classes
    for index, table in enumerate(classes.tables):
        if table.merged:
            columns = ", ".join(["id", *(c for p in by_table[index] for c in _names(p))])
            rows = f"SELECT {columns} FROM {quote_if_needed(table.rows_name)}"
            yield table.name, f"{rows} WHERE id NOT IN (SELECT entity_id FROM entity_class)"
    for iri, tables in sorted(classes.view_of.items()):
        filters = {i: _member_filter(layout, i, iri) for i in tables}
        yield _union(layout, by_table, schema, iri, filters)


def write_kinds(
    connection: sqlite3.Connection, layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema
) -> None:
    """The members of each kind, and a view of them over their tables."""
    classes = layout.classes
    members = ((iri, key) for iri, terms in sorted(classes.kinds.items()) for key in sorted(layout.ids[terms].tolist()))
    insert_rows(connection, "entity_kind", 2, members)
    create_views(connection, _kind_views(layout, by_table, schema))


def _kind_views(layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema) -> Iterator[tuple[str, str]]:
    classes = layout.classes
    for iri in sorted(classes.kinds):
        listed = f"id IN (SELECT entity_id FROM entity_kind WHERE class = {_literal(iri)})"
        yield _union(layout, by_table, schema, iri, dict.fromkeys(classes.kind_tables(iri), listed))


def _union(
    layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema, iri: str, filters: dict[int, str]
) -> tuple[str, str]:
    """The view of a class over tables with all their columns, restricted by a filter for each table ("" for none)."""
    classes = layout.classes
    places = union_columns(by_table, list(filters))
    selects = []
    for index in filters:
        here = {p.number for p in by_table[index]}
        names = ["id"]
        for place in places:
            names += _names(place) if place.number in here else _missing(place, schema)
        where = f" WHERE {filters[index]}" if filters[index] else ""
        selects.append(f"SELECT {', '.join(names)}\n  FROM {quote_if_needed(classes.tables[index].rows_name)}{where}")
    body = "\nUNION ALL\n".join(selects or ["SELECT id FROM entity WHERE 0"])
    return classes.relation_of[iri], body


def _member_filter(layout: Layout, index: int, iri: str) -> str:
    table = layout.classes.tables[index]
    if not table.merged:
        return ""
    listed = f"id IN (SELECT entity_id FROM entity_class WHERE class = {_literal(iri)})"
    return listed if iri not in table.closed else f"id NOT IN (SELECT entity_id FROM entity_class) OR {listed}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _missing(place: PredicateColumns, schema: Schema) -> list[str]:
    """NULL for missing columns: SQLite merges the sorted rows, and uses indexes, only if all types are the same."""
    kind = SQL_TYPES.get(schema.predicate_of[place.iri].datatype, "TEXT")
    kinds = {place.text: "TEXT", place.link: "INTEGER"}
    return [f"CAST(NULL AS {kinds.get(name, kind)}) AS {quote_if_needed(name)}" for name in place.columns]


def _names(place: PredicateColumns) -> list[str]:
    return [quote_if_needed(name) for name in place.columns]


def link_target(layout: Layout, place: PredicateColumns) -> str:
    """The smallest relation with all targets of a predicate's links; "" if it has no links."""
    return layout.classes.common_relation(place.ranges) or "entity" if place.ranges else ""


def column_lists(
    layout: Layout,
    place: PredicateColumns,
    sources: "list[NDArray[Any] | None]",
    where: "NDArray[np.int32]",
    rows: "NDArray[np.int64]",
    size: int,
) -> Iterator[list[Cell]]:
    """The columns of some triples of a predicate as lists of `size` cells: triple n of `rows` is at `where[n]`."""
    literal = place.literal[rows]
    objects = place.object[rows]
    said, value = where[literal], place.distinct.searchsorted(objects[literal])
    for cells in sources:
        column = np.full(size, None, dtype=object)
        if cells is None:
            column[where[~literal]] = layout.ids[objects[~literal]].tolist()
        else:
            column[said] = cells[value]
        yield column.tolist()


def cell_sources(layout: Layout, place: PredicateColumns) -> "list[NDArray[Any] | None]":
    """For each SQL column of a predicate the cells of its distinct literals; None for the column of links."""
    cells = place.cells
    found: list[NDArray[Any] | None] = []
    if cells and place.value:
        found.append(_objects(cells.value))
        if cells.low is not None and cells.high is not None:
            found += [_objects(cells.low), _objects(cells.high)]
        if cells.text:
            found.append(_objects([layout.facts.texts[n] for n in place.distinct.tolist()]))
    return [*found, None] if place.link else found


def _objects(values: Sequence[Cell]) -> "NDArray[Any]":
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
