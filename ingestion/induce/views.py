"""Write a view for each class that is not a table: Layout -> views."""

import sqlite3
from collections.abc import Iterable, Iterator

from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.induce.relations import union_columns
from nacre.records.schema import Schema
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.schema_sql import SQL_TYPES


def write_views(
    connection: sqlite3.Connection, layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema
) -> None:
    """A view for each class: the union of its tables with all columns, filtered to its members."""
    create_views(connection, _class_views(layout, by_table, schema))
    write_kinds(connection, layout, by_table, schema)


def create_views(connection: sqlite3.Connection, views: Iterable[tuple[str, str]]) -> None:
    """Create views from names and SELECT statements, which may read tables of this database only.

    CREATE VIEW would search the list of all tables and views for each new one. Rows of this list are written instead.
    This connection does not see the views; it has to read the schema again.
    """
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
    connection.executemany("INSERT INTO entity_kind VALUES (?, ?)", members)
    create_views(connection, _kind_views(layout, by_table, schema))


def _kind_views(layout: Layout, by_table: list[list[PredicateColumns]], schema: Schema) -> Iterator[tuple[str, str]]:
    classes = layout.classes
    for iri in sorted(classes.kinds):
        listed = f"id IN (SELECT entity_id FROM entity_kind WHERE class = {_literal(iri)})"
        yield _union(layout, by_table, schema, iri, dict.fromkeys(classes.kind_tables(iri), listed))


def _union(
    layout: Layout,
    by_table: list[list[PredicateColumns]],
    schema: Schema,
    iri: str,
    filters: dict[int, str],
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
    """NULL for the columns of a predicate that a table lacks. SQLite merges the sorted rows of tables, and uses their
    indexes, only if the columns have the same types in all of them."""
    kind = SQL_TYPES.get(schema.predicate_of[place.iri].datatype, "TEXT")
    kinds = {place.text: "TEXT", place.link: "INTEGER"}
    return [f"CAST(NULL AS {kinds.get(name, kind)}) AS {quote_if_needed(name)}" for name in place.columns]


def _names(place: PredicateColumns) -> list[str]:
    return [quote_if_needed(name) for name in place.columns]
