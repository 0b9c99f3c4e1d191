"""Servers that keep parts of graphs: vectors on Qdrant, tables on PostgreSQL. What nobody uses is removed there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nacre.stores import versions
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.search.vector_sets import drop_collection


@dataclass(frozen=True)
class Servers:
    """The address and key of the Qdrant server, without which vectors are stored in the data folder; passwords of
    databases with tables."""

    url: str | None = None
    key: str | None = None
    databases: DatabaseLimits = field(default_factory=DatabaseLimits)

    def remove_parts(self, folder: Path) -> None:
        """Remove what a version or a set of vectors has on servers. Raises ConfigError if that is not possible now; the
        folder must then stay, since it names what is left."""
        collection = collection_of(folder)
        if collection is not None:
            drop_collection(self.url, self.key, collection)
        if (folder / versions.SERVER).is_file():
            self._remove_tables(folder)

    def _remove_tables(self, folder: Path) -> None:
        from nacre.stores.databases.server.drop_schema import drop_schema
        from nacre.stores.databases.server.place import read_place

        place = read_place(folder)
        # `nacre index` makes versions that share their tables
        if place is not None and place.schema not in set(_schemas_of_others(folder)):
            drop_schema(place, self.databases)


def collection_of(folder: Path) -> str | None:
    """The collection on the Qdrant server that a set of vectors has; None without one."""
    try:
        found = json.loads((folder / versions.MANIFEST).read_text(encoding="utf-8"))["collection"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found) if found is not None else None


def _schemas_of_others(folder: Path) -> Iterator[str]:
    from nacre.stores.databases.server.place import read_place

    for other in folder.parent.glob("*"):
        if other != folder and other.is_dir() and (place := read_place(other)) is not None:
            yield place.schema
