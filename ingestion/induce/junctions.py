"""Write the junctions, which have one row a triple of a predicate: Layout -> tables, and views of shared tables.

The rarest predicates share a few tables, since the time to create a table grows with the number of tables.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.cell_lists import cell_sources, column_lists, link_target
from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.induce.relations import build_column
from ingestion.induce.views import create_views
from nacre.records.schema import Schema
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.schema_sql import SQL_TYPES, column_definitions, create_table

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
            _insert_shared(connection, layout, place, order, first)
        else:
            _create_and_insert(connection, layout, place, order, schema)
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


def _create_and_insert(
    connection: sqlite3.Connection,
    layout: Layout,
    place: PredicateColumns,
    order: "NDArray[np.int64]",
    schema: Schema,
) -> None:
    """A table of its own for a predicate."""
    columns = [(f"{quote_if_needed(place.key)} INTEGER NOT NULL REFERENCES entity(id)", _owner_note(layout, place))]
    columns += column_definitions(build_column(place), schema.predicate_of[place.iri], link_target(layout, place))
    connection.execute(create_table(place.junction, columns))
    connection.executemany(
        f"INSERT INTO {quote_if_needed(place.junction)} VALUES ({', '.join('?' * len(columns))})",
        _rows(layout, place, order),
    )


def _create_shared(place: PredicateColumns) -> str:
    """The table of the predicates that have the same kinds of columns as this one."""
    kind = SQL_TYPES.get(place.cells.datatype if place.cells else "text", "TEXT")
    kinds = dict(zip(_COLUMNS, (kind, kind, kind, "TEXT", "INTEGER REFERENCES entity(id)"), strict=True))
    columns = ["row INTEGER PRIMARY KEY", "predicate INTEGER NOT NULL", "key INTEGER NOT NULL REFERENCES entity(id)"]
    columns += [f"{column} {kinds[column]}" for column, _ in _shared_columns(place)]
    return create_table(place.shared, [(column, "") for column in columns])


def _insert_shared(
    connection: sqlite3.Connection, layout: Layout, place: PredicateColumns, order: "NDArray[np.int64]", first: int
) -> None:
    rows = ((number, place.index, *row) for number, row in enumerate(_rows(layout, place, order), first))
    marks = ", ".join("?" * (3 + len(place.columns)))
    connection.executemany(f"INSERT INTO {quote_if_needed(place.shared)} VALUES ({marks})", rows)


def _view_body(place: PredicateColumns) -> str:
    """A view with the columns that a table of the predicate would have; `rowid` stands for SQLite's own."""
    named = [(place.key, "key"), *((name, column) for column, name in _shared_columns(place))]
    shown = ", ".join(["row AS rowid", *(f"{column} AS {quote_if_needed(name)}" for name, column in named)])
    return f"SELECT {shown} FROM {quote_if_needed(place.shared)} WHERE predicate = {place.index}"


_COLUMNS = ("value", "low", "high", "text", "link")


def _shared_columns(place: PredicateColumns) -> list[tuple[str, str]]:
    """The columns of the shared table, each with its name in the view."""
    return [(column, name) for column in _COLUMNS if (name := getattr(place, column))]


def _rows(layout: Layout, place: PredicateColumns, order: "NDArray[np.int64]") -> Iterator[tuple[Any, ...]]:
    numbers = np.arange(len(order), dtype=np.int32)
    lists: list[Iterable[Any]] = [layout.ids[place.subject][order].tolist()]
    lists += column_lists(layout, place, cell_sources(layout, place), numbers, order, len(order))
    return zip(*lists, strict=True)


def _owner_note(layout: Layout, place: PredicateColumns) -> str:
    owner = layout.classes.common_relation(place.domains)
    return f"id in {owner or 'entity'}"


def _junction_order(layout: Layout, place: PredicateColumns) -> "NDArray[np.int64]":
    """The order of rows by subject id, then literal text or target id, independent of the source's order."""
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
