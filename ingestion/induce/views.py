"""Make every class queryable: Layout -> a view for each class that is not a table of its own."""

import sqlite3

from ingestion.induce.describe import union_columns
from ingestion.induce.layout import Layout
from ingestion.induce.places import Place
from stores.schema_sql import quoted


def write_views(connection: sqlite3.Connection, layout: Layout, by_table: list[list[Place]]) -> None:
    """One view a class: its tables united with the columns of all, only its members where a table holds others."""
    classes = layout.classes
    for index, table in enumerate(classes.tables):
        if table.merged:
            columns = ", ".join(["id", *(c for p in by_table[index] for c in _names(p))])
            connection.execute(
                f"CREATE VIEW {quoted(table.name)} AS SELECT {columns} FROM {quoted(table.rows_name)}"
                " WHERE id NOT IN (SELECT entity_id FROM entity_class)"
            )
    for iri, tables in sorted(classes.view_of.items()):
        places = union_columns(by_table, tables)
        selects = []
        for index in tables:
            here = {p.number for p in by_table[index]}
            names = ["id"]
            for place in places:
                names += _names(place) if place.number in here else [f"NULL AS {n}" for n in _names(place)]
            where = _member_filter(layout, index, iri)
            selects.append(f"SELECT {', '.join(names)}\n  FROM {quoted(classes.tables[index].rows_name)}{where}")
        if not selects:
            selects = ["SELECT id FROM entity WHERE 0"]
        body = "\nUNION ALL\n".join(selects)
        connection.execute(f"CREATE VIEW {quoted(classes.relation_of[iri])} AS\n{body}")


def _member_filter(layout: Layout, index: int, iri: str) -> str:
    table = layout.classes.tables[index]
    if not table.merged:
        return ""
    literal = "'" + iri.replace("'", "''") + "'"
    listed = f"id IN (SELECT entity_id FROM entity_class WHERE class = {literal})"
    if iri not in table.closed:
        return f" WHERE {listed}"
    return f" WHERE id NOT IN (SELECT entity_id FROM entity_class) OR {listed}"


def _names(place: Place) -> list[str]:
    return [quoted(name) for name in place.columns]
