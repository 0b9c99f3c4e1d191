"""The SQL relations of a graph and the columns in each: Layout -> relations."""

from collections.abc import Sequence

from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.vocabulary import name_rank
from nacre.records.schema import Column, Relation


def build_relations(layout: Layout) -> tuple[Relation, ...]:
    """All tables, views and junctions, in this order."""
    classes = layout.classes
    by_table = table_columns(layout)
    relations = [
        Relation(table.name, "view" if table.merged else "table", "id", tuple(map(build_column, by_table[i])))
        for i, table in enumerate(classes.tables)
    ]
    for iri, tables in classes.view_of.items():
        relations.append(
            Relation(classes.relation_of[iri], "view", "id", tuple(map(build_column, union_columns(by_table, tables))))
        )
    for iri in classes.kinds:
        places = union_columns(by_table, classes.kind_tables(iri))
        relations.append(Relation(classes.relation_of[iri], "view", "id", tuple(map(build_column, places))))
    for place in layout.places:
        if place.junction:
            relations.append(Relation(place.junction, "junction", place.key, (build_column(place),)))
    return tuple(sorted(relations, key=lambda r: ({"table": 0, "view": 1, "junction": 2}[r.kind], r.name)))


def union_columns(by_table: list[list[PredicateColumns]], tables: Sequence[int]) -> list[PredicateColumns]:
    """The predicates of several tables, in the order of the columns of their view."""
    found = {place.number: place for index in tables for place in by_table[index]}
    return sorted(found.values(), key=_column_order)


def build_column(place: PredicateColumns) -> Column:
    """The columns of a predicate, in every relation that has it."""
    return Column(place.iri, place.value, place.low, place.high, place.text, place.link)


def table_columns(layout: Layout) -> list[list[PredicateColumns]]:
    """For each table the predicates with columns in it, in the order of the columns."""
    found: list[list[PredicateColumns]] = [[] for _ in layout.classes.tables]
    for place in layout.places:
        if not place.junction:
            for table in layout.classes.tables_of(place.domains):
                found[table].append(place)
    for places in found:
        places.sort(key=_column_order)
    return found


def _column_order(place: PredicateColumns) -> tuple[int, int, str]:
    rank = name_rank(place.iri)
    return (rank if rank is not None else 9), -len(place.subject), place.iri
