"""Open the tables of an ingested version, in its folder or on a server: folder -> Tables."""

from pathlib import Path

from nacre.stores import versions
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.sqlite.tables import Tables


def open_tables(folder: Path, limits: DatabaseLimits = DatabaseLimits()) -> Tables:  # noqa: B008 (immutable)
    """The tables of a version; nothing is sent to a server yet. Raises ConfigError if there are none."""
    if not (folder / versions.SERVER).is_file():
        return Tables(folder / versions.TABLES)
    # SQLAlchemy takes 0.2 s to import
    from nacre.stores.databases.server.place import read_place
    from nacre.stores.databases.server.server_tables import ServerTables

    place = read_place(folder)
    assert place is not None
    return ServerTables(folder / versions.TABLES, place, limits)
