"""The tables of a version on a server, with the interface of `Tables`: SQL over the tables -> rows from the server."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, cast

from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.databases.server.connections import Row, ServerConnections
from nacre.stores.databases.server.place import NUL, ServerPlace
from nacre.stores.databases.server.translate import ServerQueries
from nacre.stores.sqlite.tables import Cell, SqlResult, Tables

# a query of an alternative reading that would run within a limit of steps in a file
_ALTERNATIVE_SECONDS = 1.0
# SQL that Nacre wrote: a look-up, and an export of everything
_LOOK_UP_SECONDS, _LOOK_UP_ROWS, _EXPORT_SECONDS = 10.0, 100_000, 3600.0


class ServerTables(Tables):
    """Reads the tables of one version from a server. Their metadata are in the file of the version."""

    is_local = False

    def __init__(self, path: Path, place: ServerPlace, limits: DatabaseLimits) -> None:
        super().__init__(path)
        self.place = place
        self.connections = ServerConnections(place, limits)
        self.queries = ServerQueries(place)
        self._metadata = lru_cache(8)(self._read_metadata)

    def meta(self, key: str) -> str:
        """One entry of the metadata."""
        return self._metadata(key)

    def run(
        self,
        sql: str,
        params: Sequence[Cell] = (),
        *,
        limit: int = 1000,
        seconds: float = 5.0,
        steps: float = inf,
    ) -> SqlResult:
        """As `Tables.run`; also raises ToolError `unavailable` if the server does not answer."""
        seconds = seconds if steps == inf else min(seconds, _ALTERNATIVE_SECONDS)
        query = self.queries.native(sql, params, limit + 1)
        rows = [self._restored(row) for row in self.connections.rows(query.text, query.params, seconds)]
        return SqlResult(self.queries.columns(sql, len(params)), rows[:limit], len(rows) > limit)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        """A query and its parameters as the server gets them."""
        query = self.queries.native(sql, params)
        return query.text.replace("CAST(%s AS TEXT)", "?").replace("%%", "%"), query.params

    def trusted(self) -> Any:
        """What runs SQL that Nacre itself wrote, private tables included."""
        return _Trusted(self)

    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote."""
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

    def _read_metadata(self, key: str) -> str:
        with closing(Tables(self.path)) as file:
            return file.meta(key)

    def _restored(self, row: Row) -> Row:
        if not self.place.has_nul:
            return row
        return tuple([cell.replace(NUL, "\0") if isinstance(cell, str) else cell for cell in row])


class _Trusted:
    """The part of a connection of sqlite3 that readers of tables use."""

    def __init__(self, tables: ServerTables) -> None:
        self._tables = tables

    def execute(self, sql: str, params: Sequence[object] = ()) -> "_Rows":
        """The rows of a query; they are read when they are asked for."""
        return _Rows(self._tables, sql, cast("Sequence[Cell]", tuple(params)))


class _Rows:
    """Rows with the methods of a cursor."""

    def __init__(self, tables: ServerTables, sql: str, params: Sequence[Cell]) -> None:
        self._tables, self._sql, self._params = tables, sql, params

    def fetchall(self) -> list[Row]:
        """All rows."""
        return self._tables.look_up(self._sql, self._params)

    def fetchone(self) -> Row | None:
        """The first row."""
        return next(iter(self.fetchall()), None)

    def __iter__(self) -> Iterator[Row]:
        return self._tables.stream(self._sql, self._params)
