"""Move the tables of a version to a server: its folder -> a schema of the server, and the file without the rows."""

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ingestion.server.copy_tables import copy_tables
from nacre.errors import ConfigError, ToolError
from nacre.stores import versions
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.databases.server.place import new_place, write_place
from nacre.stores.tables_of_version import open_tables

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TablesTarget:
    """The server that takes the tables of a graph: its address without a password, the graph, and passwords."""

    url: str
    graph: str
    limits: DatabaseLimits


def publish_tables(folder: Path, target: TablesTarget, on_rows: Callable[[int], None]) -> None:
    """Copy the tables of the version that is built in a folder, and leave only their metadata in the file.

    The schema is recorded in the folder first, so that whoever removes the folder of a killed ingest can remove it,
    too. Raises IngestionError if the server does not take the tables.
    """
    place = new_place(target.url, target.graph)
    write_place(folder, place)
    file = folder / versions.TABLES
    write_place(folder, copy_tables(file, place, target.limits, on_rows))
    _keep_metadata(file)


def has_tables(folder: Path, target: TablesTarget) -> bool:
    """Whether the tables of a version can be read on its server."""
    try:
        with closing(open_tables(folder, target.limits)) as tables:
            tables.run("SELECT id FROM entity", limit=1)
    except (ToolError, ConfigError) as error:
        log.info("%s is built again: %s", folder.name, error)
        return False
    return True


def _keep_metadata(file: Path) -> None:
    kept = file.with_suffix(".kept")
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute("ATTACH ? AS whole", (str(file),))
        connection.execute("CREATE TABLE _nacre_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute("INSERT INTO _nacre_meta SELECT key, value FROM whole._nacre_meta")
        connection.commit()
    kept.replace(file)
