"""Internal ids in the cells of rows -> IRI and label of their entities."""

from collections.abc import Collection, Sequence
from typing import TypeGuard

from nacre.stores.sqlite.tables import SqlResult, Tables

SMALLEST_ID = 2**31


def is_id(cell: object) -> TypeGuard[int]:
    """Whether a cell is an id: ids are 63-bit hashes, smaller numbers are counts and measures."""
    return isinstance(cell, int) and not isinstance(cell, bool) and cell >= SMALLEST_ID


def look_up_entities(ids: Collection[int], tables: Tables) -> dict[int, tuple[str, str]]:
    """IRI and label of those numbers that are entities."""
    found: dict[int, tuple[str, str]] = {}
    wanted = sorted(ids)
    for start in range(0, len(wanted), 400):
        part: Sequence[int] = wanted[start : start + 400]
        marks = ",".join("?" * len(part))
        rows: SqlResult = tables.run(f"SELECT id, iri, label FROM entity WHERE id IN ({marks})", part)
        found.update({int(row[0] or 0): (str(row[1]), str(row[2] or row[1])) for row in rows.rows})
    return found
