"""Index the tables of a graph: Layout + Schema -> indexes for links, and for sorted pages of large tables."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from ingestion.induce.junctions import junction_indexes
from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from nacre.records.browse import LARGE_CLASS
from nacre.records.schema import Schema
from nacre.stores.sqlite.identifiers import quote_if_needed

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
    targets += junction_indexes(layout)
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
    """Table and column, quoted: names, numbers and dates of large tables. To index longer texts takes more disk than
    it saves time."""
    sizes = np.bincount(layout.classes.table_of[layout.classes.table_of >= 0], minlength=len(by_table))
    for size, table, places in zip(sizes.tolist(), layout.classes.tables, by_table, strict=True):
        for place in places if size >= SORTED_ROWS else ():
            predicate = schema.predicate_of[place.iri]
            filled = sum(place.domains.get(own, 0) for own in table.sets)
            is_sorted = predicate.role == "name" or predicate.datatype in _SORTED_TYPES
            if place.value and is_sorted and filled >= LEAST_FILLED * size:
                yield quote_if_needed(table.rows_name), quote_if_needed(place.value)
