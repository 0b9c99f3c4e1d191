"""The relations of an attached database, with the interface of `Tables`: SQL over relations -> rows from the database.

Many rows are read in one query for each table: IRIs -> labels, facts. RemoteTables is what tables in a database have in
common.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nacre.errors import ConfigError, ToolError
from nacre.extensions.databases.attached import AttachedDatabase, AttachedTable
from nacre.records.evidence import GraphOverview
from nacre.records.json_form import from_json
from nacre.records.schema import Relation, Schema
from nacre.stores import versions
from nacre.stores.addresses import FILES, DatabaseLimits
from nacre.stores.sqlite.tables import (
    Cell,
    RowFacts,
    SqlResult,
    Tables,
    lexical_form,
    quote_identifier,
    read_overview,
)

if TYPE_CHECKING:
    from nacre.extensions.databases.connection import DatabaseConnections
    from nacre.extensions.databases.row_keys import KeyedTables
    from nacre.extensions.databases.templates import NativeQuery

# columns that are named because a database lacks them
MAX_NAMED = 10

# for SQL that Nacre wrote
_TRUSTED_ROWS = 5_000

Row = tuple[Cell, ...]


class RemoteTables(Tables, ABC):
    """Tables whose rows lie in a database rather than in the file of a version."""

    is_local = False
    limits: DatabaseLimits

    def run(
        self,
        sql: str,
        params: Sequence[Cell] = (),
        *,
        limit: int = 1000,
        seconds: float | None = None,
        steps: float = inf,
    ) -> SqlResult:
        """As `Tables.run`, by default within the time of a statement; also raises ToolError `unavailable` if the
        database does not answer."""
        seconds = self.limits.statement_seconds if seconds is None else seconds
        if steps != inf:
            self.check_steps(sql, params, limit, seconds, steps)
            seconds = min(seconds, _ALTERNATIVE_SECONDS)
        return self.read(sql, params, limit, seconds)

    def check_steps(self, sql: str, params: Sequence[Cell], limit: int, seconds: float, steps: float) -> None:
        """Raise ToolError `timeout` for a query that is known to take more steps; others are bounded by their time."""

    @abstractmethod
    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        """The first rows of a query over the tables."""

    @abstractmethod
    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote."""

    def stream(self, sql: str, params: Sequence[Cell]) -> Iterator[Row]:
        """As `look_up`, as they arrive."""
        yield from self.look_up(sql, params)

    def trusted(self) -> Any:
        """What runs SQL that Nacre itself wrote: itself, with the part of sqlite3 that readers of tables use."""
        return self

    def execute(self, sql: str, params: Sequence[object] = ()) -> "_Rows":
        """The rows of a query; they are read when they are asked for."""
        return _Rows(self, sql, cast("Sequence[Cell]", tuple(params)))


# schema, table, column and its type of all tables and views of a schema; "" is the default one
_CATALOGUES = {
    "sqlite": "SELECT :schema, m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c "
    "WHERE m.type = 'table'",
    "duckdb": "SELECT :schema, table_name, column_name, data_type FROM system.main.duckdb_columns() "
    "WHERE NOT internal AND schema_name = coalesce(nullif(:schema, ''), 'main')",
    "postgres": "SELECT CAST(:schema AS TEXT), c.relname, a.attname, "
    "pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
    "AND n.nspname = coalesce(nullif(CAST(:schema AS TEXT), ''), current_schema())",
    "mysql": "SELECT :schema, table_name, column_name, column_type FROM information_schema.columns "
    "WHERE table_schema = coalesce(nullif(:schema, ''), database())",
}

_MOST_COLUMNS = 500_000


def read_catalogue(
    connections: "DatabaseConnections", database: AttachedDatabase, seconds: float
) -> set[tuple[str, str, str, str]]:
    """Schema, table, column and its type of what a graph may have of a database, without what it has of views of
    SQLite, which may be broken. Raises ToolError."""
    from nacre.extensions.databases.reflect import Selection

    selection = Selection(database.schemas, database.include, database.exclude)
    found = set()
    for schema in selection.schemas or ("",):
        query = _CATALOGUES[database.dialect]
        for row in connections.read(query, {"schema": schema}, _MOST_COLUMNS, seconds).rows:
            name, table, column, kind = map(str, row)
            if selection.selects(schema, table):
                found.add((name, table, column, kind))
    if database.dialect == "sqlite":
        tables = {table for _, table, *_ in found}
        views = "SELECT name FROM sqlite_master WHERE type = 'view'"
        kept = {str(row[0]) for row in connections.read(views, {}, _MOST_COLUMNS, seconds).rows} - tables
        for each in database.tables:
            found |= {(each.schema, each.table, c, "") for c in source_columns(each) if each.table in kept}
        found |= {("", view, "", "") for view in kept}
    return found


def catalogue_hash(catalogue: Iterable[tuple[str, ...]]) -> str:
    """A hash of tables, columns and types, whatever their order."""
    return blake2b(repr(sorted(each for each in catalogue)).encode(), digest_size=8).hexdigest()


def source_columns(table: AttachedTable) -> set[str]:
    """The columns of a table that the graph has."""
    return {each.column for each in table.columns} | {each for link in table.links for each in link.columns}


def open_attached(folder: Path, limits: DatabaseLimits) -> "AttachedTables":
    """The tables of an attached version; nothing is connected yet. Raises ConfigError, and others for a
    damaged file."""
    from nacre.extensions.databases.connection import located

    database = from_json(AttachedDatabase, json.loads((folder / versions.DATABASE).read_text(encoding="utf-8")))
    schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
    layout = (folder / versions.LAYOUT).read_text(encoding="utf-8")
    return AttachedTables(located(database, folder), schema, layout, limits, read_overview(folder / versions.OVERVIEW))


def named_addresses(folder: Path, graph: str) -> list[str]:
    """The address of the database that a version is attached to, unless its file is kept in the folder. Raises
    ConfigError for another file, ValueError and RecursionError if it can't be read."""
    from nacre.extensions.databases.connection import located

    database = from_json(AttachedDatabase, json.loads((folder / versions.DATABASE).read_bytes()))
    return [] if located(database, folder).kept else [database.url]


class AttachedTables(RemoteTables):
    """Reads an attached database like the tables of an ingested graph. Its ids are the IRIs of rows."""

    has_triples = False

    def __init__(
        self,
        database: AttachedDatabase,
        schema: Schema,
        layout: str,
        limits: DatabaseLimits,
        overview: GraphOverview | None = None,
    ) -> None:
        from nacre.extensions.databases.translate import Relations

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
            from nacre.extensions.databases.connection import DatabaseConnections, KeptConnections

            if self.database.kept or (self.limits.apart and self.database.dialect in FILES):
                self._connections = KeptConnections(self.database.url)
            else:
                self._connections = DatabaseConnections(self.database.url, self.limits)
        return self._connections

    def check_answers(self, seconds: float) -> None:
        """As for all tables; of a kept file, only whether it is there."""
        from sqlalchemy import make_url

        if not self.database.kept:
            self.connections.read("SELECT 1", {}, 1, seconds)
        elif not Path(make_url(self.database.url).database or "").is_file():
            raise ToolError("unavailable", "The file of the database is gone.")

    def schema_changes(self, seconds: float) -> str:
        """As for all tables, by the catalogue of the database. A kept file never changes."""
        if self.database.kept or not self.database.catalogue:
            return ""
        present = read_catalogue(self.connections, self.database, seconds)
        named = {each[:3] for each in present}
        # versions that were attached earlier have the hash without types
        if self.database.catalogue in (catalogue_hash(present), catalogue_hash(named)):
            return ""
        known = {(t.schema, t.table, column) for t in self.database.tables for column in source_columns(t)}
        gone = [f"{table}.{column}" for _, table, column in sorted(known - named)]
        lacking = f"it lacks {', '.join(gone[:MAX_NAMED])}{' and more' if len(gone) > MAX_NAMED else ''}"
        what = lacking if gone else "it has other tables, columns or types"
        return f"The database has changed since it was attached: {what}."

    def write_rights(self) -> str:
        from nacre.extensions.databases.connection import check_read_only

        return check_read_only(self.connections)

    def meta(self, key: str) -> str:
        """The layout of the relations."""
        if key != "layout":
            raise ConfigError(f"The graph lies in a database, and Nacre keeps no {key!r} of it.")
        return self._layout

    def find_meta(self, key: str) -> str | None:
        """Only the layout is kept."""
        return self._layout if key == "layout" else None

    def native(self, sql: str, params: Sequence[Cell] = (), limit: int | None = None) -> "NativeQuery":
        """The query that runs in the database."""
        # sqlglot is slow to import, and ingested graphs do without it
        from nacre.extensions.databases.translate import translate

        return translate(sql, params, self.database, self._relations, limit=limit)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        found = self.native(sql, params)
        return found.text, found.params

    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        try:
            connections = self.connections
        except ConfigError as error:
            # of a driver or a file with a password that is gone
            raise ToolError("unavailable", str(error)) from None
        query, encoded = self.native(sql, params, limit + 1), self._relations.keyed.encoded
        found = connections.read(query.bindable, query.named, limit, seconds)
        return found._replace(rows=[tuple(map(encoded, row)) for row in found.rows])

    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote; it passes the same checks as other SQL."""
        return self.run(sql, params, limit=_TRUSTED_ROWS).rows

    def row_facts(self, subjects: Sequence[str]) -> dict[str, RowFacts]:
        """As `Tables.row_facts`, with one query for the rows of a table; those that do not exist are missing."""
        types = {group.relation: group.classes for group in self.schema.groups}
        found: dict[str, RowFacts] = {}
        for batch in _batches(subjects, self._relations.keyed):
            relation = self.schema.relation_of.get(batch.table.relation)
            if relation is not None:
                query = _query(relation, batch.marks)
                for row in self.run(query, batch.iris, limit=len(batch.iris)).rows:
                    values = _values(relation, row[2:], self.schema)
                    found[str(row[0])] = RowFacts(tuple(types.get(relation.name, ())), str(row[1] or row[0]), values)
        return found

    def row_labels(self, iris: Iterable[str]) -> dict[str, str]:
        """The labels of rows by IRI, with one query for the rows of a table; those that do not exist are missing."""
        found: dict[str, str] = {}
        for batch in _batches(iris, self._relations.keyed):
            query = f"SELECT iri, label FROM entity WHERE id IN ({batch.marks})"
            rows = self.run(query, batch.iris, limit=len(batch.iris)).rows
            found |= {str(iri): str(label or iri) for iri, label in rows}
        return found

    def close(self) -> None:
        if self._connections is not None:
            self._connections.close()


# rows of one query; fewer are filled up with the last one, so that few different queries are translated
SIZES = (1, 8, 60, 400)


class _Batch(NamedTuple):
    """Some rows of one table, and the marks of as many parameters."""

    table: AttachedTable
    iris: Sequence[str]
    marks: str


def _batches(iris: Iterable[str], keyed: "KeyedTables") -> Iterator[_Batch]:
    by_table: dict[str, list[str]] = {}
    for iri in dict.fromkeys(iris):
        table = keyed.of_key(iri)
        if table is not None:
            by_table.setdefault(table.relation, []).append(iri)
    for relation, own in by_table.items():
        for start in range(0, len(own), SIZES[-1]):
            part = own[start : start + SIZES[-1]]
            size = next(size for size in SIZES if size >= len(part))
            padded = part + part[-1:] * (size - len(part))
            yield _Batch(keyed.by_relation[relation], padded, ", ".join("?" * size))


def _query(relation: Relation, marks: str) -> str:
    shown, joins = ["e.iri", "e.label"], ""
    for number, column in enumerate(relation.columns):
        if column.link:
            # links to rows that do not exist are no facts
            joins += f"LEFT JOIN entity o{number} ON o{number}.id = r.{quote_identifier(column.link)} "
            shown.append(f"o{number}.iri")
        else:
            shown.append(f"r.{quote_identifier(column.text or column.value)}")
    source = f"{quote_identifier(relation.name)} r JOIN entity e ON e.id = r.id {joins}"
    return f"SELECT {', '.join(shown)} FROM {source}WHERE r.id IN ({marks})"


def _values(relation: Relation, cells: Sequence[Cell], schema: Schema) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for column, cell in zip(relation.columns, cells, strict=True):
        if cell is not None:
            value = str(cell) if column.link else lexical_form(cell, schema.predicate_of[column.predicate].datatype)
            found[column.predicate] = (*found.get(column.predicate, ()), value)
    return found


# a query of an alternative reading that would run within a limit of steps in a file
_ALTERNATIVE_SECONDS = 1.0


class _Rows(NamedTuple):
    """Rows with the methods of a cursor."""

    tables: RemoteTables
    sql: str
    params: Sequence[Cell]

    def fetchall(self) -> list[Row]:
        return self.tables.look_up(self.sql, self.params)

    def fetchone(self) -> Row | None:
        return next(iter(self.fetchall()), None)

    def __iter__(self) -> Iterator[Row]:
        return self.tables.stream(self.sql, self.params)
