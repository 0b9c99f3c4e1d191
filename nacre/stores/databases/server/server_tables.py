"""The tables of a version on a server, with the interface of `Tables`: SQL over the tables -> rows from the server."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path
from typing import Any

from nacre.errors import ToolError
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.databases.remote_tables import RemoteTables, Row
from nacre.stores.databases.server.connections import ServerConnections
from nacre.stores.databases.server.place import NUL, ServerPlace
from nacre.stores.databases.server.row_facts import row_facts
from nacre.stores.databases.server.translate import ServerQueries
from nacre.stores.sqlite.tables import Cell, RowFacts, SqlResult, Tables

# a query of an alternative reading, which in a file has a limit of steps, may have this cost by the server's plan for
# each of them (measured over 3.7 million triples: what ends within the limit costs 0.003 a step at most, what does not
# 0.015 at least)
_STEP_COST = 0.01
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
        if steps != inf:
            query = self.queries.native(sql, params, limit + 1)
            if self.connections.cost(query.text, query.params, seconds) > steps * _STEP_COST:
                raise ToolError("timeout", f"The query was not run, since it takes more than {steps:,.0f} steps.")
        return super().run(sql, params, limit=limit, seconds=seconds, steps=steps)

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

    def row_facts(self, subjects: Sequence[str]) -> dict[str, RowFacts] | None:
        """As `Tables.row_facts`: a query for each table."""
        return row_facts(subjects, self._layout, self.look_up)

    @cached_property
    def _layout(self) -> dict[str, Any]:
        layout: dict[str, Any] = json.loads(self.meta("layout"))
        return layout

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
