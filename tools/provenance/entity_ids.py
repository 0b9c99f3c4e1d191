"""Internal ids in the cells of rows -> IRI and label of their entities."""

from collections.abc import Collection, Sequence
from typing import TypeGuard

from nacre.stores.databases.attached import BASE
from nacre.stores.databases.attached_tables import AttachedTables
from nacre.stores.sqlite.tables import SqlResult, Tables

SMALLEST_ID = 2**31

# of an ingested graph, or the IRI of a row of an attached database
EntityId = int | str


def is_id(cell: object) -> TypeGuard[EntityId]:
    """Whether a cell is an id: ids are 63-bit hashes, smaller numbers are counts and measures."""
    if isinstance(cell, str):
        return cell.startswith(BASE)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell >= SMALLEST_ID


def look_up_entities(ids: Collection[EntityId], tables: Tables) -> dict[EntityId, tuple[str, str]]:
    """IRI and label of those ids that are entities."""
    if isinstance(tables, AttachedTables):
        return {
            iri: (iri, label) for iri, label in tables.row_labels(each for each in ids if isinstance(each, str)).items()
        }
    found: dict[EntityId, tuple[str, str]] = {}
    wanted = sorted(ids, key=str)
    for start in range(0, len(wanted), 400):
        part: Sequence[EntityId] = wanted[start : start + 400]
        marks = ",".join("?" * len(part))
        rows: SqlResult = tables.run(f"SELECT id, iri, label FROM entity WHERE id IN ({marks})", part)
        found.update({row[0]: (str(row[1]), str(row[2] or row[1])) for row in rows.rows if is_id(row[0])})
    return found
