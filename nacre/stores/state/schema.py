"""The tables of a state database and their versions: part + its statements by version -> tables that are up to date.

A part is a store, such as the conversations. Version n consists of the statements that lead from version n - 1 to it. A
released version never changes: later changes are further versions.
"""

from collections.abc import Sequence

from nacre.errors import ConfigError
from nacre.stores.state.database import StateDatabase, StorageError

_VERSIONS = "CREATE TABLE IF NOT EXISTS state_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL)"


def install_tables(database: StateDatabase, part: str, versions: Sequence[Sequence[str]]) -> None:
    """Create or update the tables of a part. `{size:COLUMN}` in a statement is the number of bytes of a column, and the
    types of the dialect stand in braces. Raises ConfigError if a later version of Nacre wrote them."""
    if _installed(database, part) == len(versions):
        return
    with database.writing("state_version") as run:
        run(_VERSIONS)
        found = run("SELECT version FROM state_version WHERE part = ?", part).fetchone()
        present = int(found[0]) if found else 0
        if present > len(versions):
            raise ConfigError(
                f"The {part} are stored in version {present}, and this nacre knows version {len(versions)}. Update it."
            )
        for statements in versions[present:]:
            for statement in statements:
                run(statement.format(size=_Sizes(database), **database.dialect.types))
        if present < len(versions):
            run(
                "INSERT INTO state_version VALUES (?, ?) ON CONFLICT (part) DO UPDATE SET version = excluded.version",
                *(part, len(versions)),
            )


def _installed(database: StateDatabase, part: str) -> int:
    """The version of a part; 0 if it is not there. It writes nothing, so that nobody waits for a writer."""
    try:
        found = database.read("SELECT version FROM state_version WHERE part = ?", part)
    except StorageError:
        # there is no such table; if nothing can be read at all, writing fails next
        return 0
    return int(found[0][0]) if found else 0


class _Sizes:
    """Formats `{size:COLUMN}`."""

    def __init__(self, database: StateDatabase) -> None:
        self._database = database

    def __format__(self, column: str) -> str:
        return self._database.dialect.size(column)
