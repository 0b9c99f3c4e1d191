"""The relations of an attached database, with the interface of `Tables`: SQL over relations -> rows from the
database."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.errors import ConfigError, ToolError
from nacre.records.evidence import GraphOverview
from nacre.records.schema import Schema
from nacre.stores.databases.address import FILES, DatabaseLimits
from nacre.stores.databases.attached import BASE, AttachedDatabase
from nacre.stores.databases.read_rows import row_facts, row_labels
from nacre.stores.databases.relations import Relations
from nacre.stores.databases.remote_tables import RemoteTables, Row
from nacre.stores.databases.row_keys import encoded_key
from nacre.stores.databases.templates import NativeQuery
from nacre.stores.databases.translate import translate
from nacre.stores.sqlite.tables import Cell, RowFacts, SqlResult

if TYPE_CHECKING:
    from nacre.stores.databases.connection import DatabaseConnections

# for SQL that Nacre wrote
_TRUSTED_SECONDS, _TRUSTED_ROWS = 8.0, 5_000


class AttachedTables(RemoteTables):
    """Reads an attached database like the tables of an ingested graph. Its ids are the IRIs of rows."""

    def __init__(
        self,
        database: AttachedDatabase,
        schema: Schema,
        layout: str,
        limits: DatabaseLimits,
        overview: GraphOverview | None = None,
    ) -> None:
        self.database, self.limits = database, limits
        self.schema, self.overview = schema, overview
        self._layout = layout
        self._relations = Relations(database)
        self._connections: DatabaseConnections | None = None

    @property
    def connections(self) -> "DatabaseConnections":
        """The connections to the database; opened at the first use."""
        if self._connections is None:
            # SQLAlchemy, which ingested graphs do not need
            from nacre.stores.databases.connection import open_connections
            from nacre.stores.kept_databases import KeptConnections

            if self.database.kept or (self.limits.apart and self.database.dialect in FILES):
                self._connections = KeptConnections(self.database.url)
            else:
                self._connections = open_connections(self.database, self.limits)
        return self._connections

    def check_answers(self, seconds: float) -> None:
        """As for all tables; of a kept file, only whether it is there."""
        from sqlalchemy import make_url

        if not self.database.kept:
            self.connections.read("SELECT 1", {}, 1, seconds)
        elif not Path(make_url(self.database.url).database or "").is_file():
            raise ToolError("unavailable", "The file of the database is gone.")

    def meta(self, key: str) -> str:
        """The layout of the relations."""
        if key != "layout":
            raise ConfigError(f"The graph lies in a database, and Nacre keeps no {key!r} of it.")
        return self._layout

    def find_meta(self, key: str) -> str | None:
        """Only the layout is kept."""
        return self._layout if key == "layout" else None

    def native(self, sql: str, params: Sequence[Cell] = (), limit: int | None = None) -> NativeQuery:
        """The query that runs in the database."""
        return translate(sql, params, self.database, self._relations, limit=limit)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        """The query as the database gets it."""
        found = self.native(sql, params)
        return found.text, found.params

    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        """The first rows of a query over the relations."""
        found = self.connections.run(self.native(sql, params, limit + 1), limit=limit, seconds=seconds)
        return found._replace(rows=[self._encoded(row) for row in found.rows])

    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote; it passes the same checks as other SQL."""
        return self.run(sql, params, limit=_TRUSTED_ROWS, seconds=_TRUSTED_SECONDS).rows

    def stream(self, sql: str, params: Sequence[Cell]) -> Iterator[Row]:
        """As `look_up`."""
        yield from self.look_up(sql, params)

    def row_facts(self, subjects: Sequence[str]) -> dict[str, RowFacts]:
        """As `Tables.row_facts`: one query for the rows of a table."""
        return row_facts(subjects, self, self._relations.keyed)

    def row_labels(self, iris: Iterable[str]) -> dict[str, str]:
        """The labels of rows by IRI, with one query for the rows of a table."""
        return row_labels(iris, self, self._relations.keyed)

    def close(self) -> None:
        """Close the connections."""
        if self._connections is not None:
            self._connections.close()

    def _encoded(self, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """A row with the IRIs of keys percent-encoded."""
        if not any(isinstance(cell, str) and cell.startswith(BASE) for cell in row):
            return row
        return tuple(self._encoded_cell(c) if isinstance(c, str) and c.startswith(BASE) else c for c in row)

    def _encoded_cell(self, cell: str) -> str:
        table = self._relations.keyed.of_key(cell)
        return encoded_key(table, cell) if table else cell
