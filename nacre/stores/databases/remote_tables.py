"""What tables in a database have in common: the interface of `Tables` over queries that are written in its dialect."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, cast

from nacre.stores.sqlite.tables import Cell, SqlResult, Tables

Row = tuple[Cell, ...]

# a query of an alternative reading that would run within a limit of steps in a file
_ALTERNATIVE_SECONDS = 1.0


class RemoteTables(Tables, ABC):
    """Tables whose rows lie in a database rather than in the file of a version."""

    is_local = False

    def run(
        self,
        sql: str,
        params: Sequence[Cell] = (),
        *,
        limit: int = 1000,
        seconds: float = 5.0,
        steps: float = inf,
    ) -> SqlResult:
        """As `Tables.run`; also raises ToolError `unavailable` if the database does not answer."""
        return self.read(sql, params, limit, seconds if steps == inf else min(seconds, _ALTERNATIVE_SECONDS))

    def check_answers(self, seconds: float) -> None:
        """Raise ToolError if the database does not answer, or no longer has the tables."""
        self.run("SELECT id FROM entity", limit=1, seconds=seconds)

    @abstractmethod
    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        """The first rows of a query over the tables."""

    @abstractmethod
    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote."""

    @abstractmethod
    def stream(self, sql: str, params: Sequence[Cell]) -> Iterator[Row]:
        """As `look_up`, as they arrive."""

    def trusted(self) -> Any:
        """What runs SQL that Nacre itself wrote: the part of a connection of sqlite3 that readers of tables use."""
        return _Trusted(self)


class _Trusted:
    def __init__(self, tables: RemoteTables) -> None:
        self._tables = tables

    def execute(self, sql: str, params: Sequence[object] = ()) -> "_Rows":
        """The rows of a query; they are read when they are asked for."""
        return _Rows(self._tables, sql, cast("Sequence[Cell]", tuple(params)))


class _Rows:
    """Rows with the methods of a cursor."""

    def __init__(self, tables: RemoteTables, sql: str, params: Sequence[Cell]) -> None:
        self._tables, self._sql, self._params = tables, sql, params

    def fetchall(self) -> list[Row]:
        """All rows."""
        return self._tables.look_up(self._sql, self._params)

    def fetchone(self) -> Row | None:
        """The first row."""
        return next(iter(self.fetchall()), None)

    def __iter__(self) -> Iterator[Row]:
        return self._tables.stream(self._sql, self._params)
