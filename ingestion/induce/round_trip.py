"""Store what the cells can't restore, so that the export is lossless: Layout -> private rows."""

import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.vocabulary import TYPE

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    facts = layout.facts
    connection.executemany(
        "INSERT INTO _nacre_exact VALUES (?, ?, ?, ?, ?)",
        (
            (number, key, facts.texts[o], *facts.sorts[s][1:])
            for number, key, o, s in zip(
                [place.index] * len(rows),
                keys[rows].tolist(),
                place.object[rows].tolist(),
                facts.sort_of[place.object[rows]].tolist(),
                strict=True,
            )
        ),
    )


def write_derived(
    connection: sqlite3.Connection, layout: Layout, place: PredicateColumns, keys: "NDArray[np.int64]"
) -> None:
    """Write which rows are derived; a predicate with derived rows only needs none."""
    if layout.facts.derived is None:
        return
    derived = derived_mask(layout, place)
    if derived.any() and not derived.all():
        connection.executemany(
            "INSERT INTO _nacre_derived VALUES (?, ?)", ((place.index, key) for key in sorted(keys[derived].tolist()))
        )


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
    connection.executemany("INSERT INTO _nacre_graph VALUES (?, ?, ?)", sorted(written))


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
    connection.executemany("INSERT INTO _nacre_type VALUES (?, ?, ?)", sorted(quads))
    members: list[tuple[int, str]] = []
    for table in classes.tables:
        for number in table.sets[1:]:
            subjects = np.flatnonzero(classes.set_of == number)
            names = sorted(classes.sets[number]) or [""]
            members += [(key, iri) for key in ids[subjects].tolist() for iri in names]
    connection.executemany("INSERT INTO entity_class VALUES (?, ?)", sorted(members))


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
            written.append(
                (
                    facts.texts[facts.subject[row]],
                    facts.texts[facts.predicate[row]],
                    kind,
                    facts.texts[facts.object[row]],
                    datatype,
                    language,
                    graph,
                    reason,
                )
            )
    connection.executemany("INSERT INTO _nacre_aside VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sorted(written))
