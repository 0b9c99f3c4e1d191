"""The tables of a version on a server, with the interface of `Tables`: SQL over the tables -> rows from the server."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.databases.remote_tables import RemoteTables, Row
from nacre.stores.databases.server.connections import ServerConnections
from nacre.stores.databases.server.place import NUL, ServerPlace
from nacre.stores.databases.server.translate import ServerQueries
from nacre.stores.sqlite.tables import Cell, SqlResult, Tables

# SQL that Nacre wrote: a look-up, and an export of everything
_LOOK_UP_SECONDS, _LOOK_UP_ROWS, _EXPORT_SECONDS = 10.0, 100_000, 3600.0


class ServerTables(RemoteTables):
    """Reads the tables of one version from a server. Their metadata are in the file of the version."""

    def __init__(self, path: Path, place: ServerPlace, limits: DatabaseLimits) -> None:
        super().__init__(path)
        self.place = place
        self.connections = ServerConnections(place, limits)
        self.queries = ServerQueries(place)
        self._metadata = lru_cache(8)(self._read_metadata)

    def find_meta(self, key: str) -> str | None:
        """One entry of the metadata; None if there is none of this name."""
        return self._metadata(key)

    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        """The first rows of a query over the tables."""
        query = self.queries.native(sql, params, limit + 1)
        rows = [self._restored(row) for row in self.connections.rows(query.text, query.params, seconds)]
        return SqlResult(self.queries.columns(sql, len(params)), rows[:limit], len(rows) > limit)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        """A query and its parameters as the server gets them."""
        query = self.queries.native(sql, params)
        return query.text.replace("CAST(%s AS TEXT)", "?").replace("%%", "%"), query.params

    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote, private tables included."""
        query = self.queries.native(sql, params, _LOOK_UP_ROWS, trusted=True)
        return [self._restored(row) for row in self.connections.rows(query.text, query.params, _LOOK_UP_SECONDS)]

    def stream(self, sql: str, params: Sequence[Cell]) -> Iterator[Row]:
        """As `look_up`, any number of rows, as they arrive."""
        query = self.queries.native(sql, params, trusted=True)
        yield from map(self._restored, self.connections.stream(query.text, query.params, _EXPORT_SECONDS))

    def close(self) -> None:
        """Close the connections, which frees the lock on the tables."""
        self.connections.close()
        super().close()

    def _read_metadata(self, key: str) -> str | None:
        with closing(Tables(self.path)) as file:
            return file.find_meta(key)

    def _restored(self, row: Row) -> Row:
        if not self.place.has_nul:
            return row
        return tuple([cell.replace(NUL, "\0") if isinstance(cell, str) else cell for cell in row])
