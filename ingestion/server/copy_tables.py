"""Stream the tables of a graph.sqlite to a server: file + place -> the place with the kinds of all columns."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from ingestion.server.read_layout import ROW_NUMBER, FileIndex, FileTable, read_indexes, read_tables, read_views
from ingestion.server.view_sql import view_sql
from nacre.errors import ConfigError, IngestionError
from nacre.stores.databases.address import DatabaseLimits, missing_driver, public_address, with_password
from nacre.stores.databases.server.drop_schema import quoted_name
from nacre.stores.databases.server.place import NUL, Kind, ServerPlace, stored_name
from nacre.stores.databases.server.types import TYPES
from nacre.stores.sqlite.identifiers import quote_identifier

MOST_COLUMNS = 1600
# characters and rows that are sent at a time
_CHUNK_CHARACTERS, _CHUNK_ROWS = 1_000_000, 2000
_OPTIONS = (
    "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c synchronous_commit=off "
    "-c standard_conforming_strings=on"
)
_ESCAPED = (("'\\'", "'\\\\'"), ("char(9)", "'\\t'"), ("char(10)", "'\\n'"), ("char(13)", "'\\r'"))

OnRows = Callable[[int], None]


def copy_tables(file: Path, place: ServerPlace, limits: DatabaseLimits, on_rows: OnRows) -> ServerPlace:
    """Create the schema with the tables, indexes and views of the file.

    Rows are streamed, so memory does not grow with them. Each table is one transaction. Raises IngestionError with what
    to do if the server does not take them.
    """
    try:
        import psycopg
    except ImportError as error:
        raise missing_driver(error) from None
    url = with_password(place.url, limits.passwords)
    arguments = {"connect_timeout": int(limits.connect_seconds), "options": _OPTIONS}
    try:
        engine = create_engine(url, poolclass=NullPool, connect_args=arguments)
        with (
            closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source,
            closing(engine.raw_connection()) as raw,
        ):
            return _Copy(source, raw.dbapi_connection, place, on_rows).run()
    except (SQLAlchemyError, psycopg.Error) as error:
        raise _ingestion_error(error, place, url.password or "") from None


def _ingestion_error(error: Exception, place: ServerPlace, password: str) -> IngestionError:
    original = getattr(error, "orig", None) or error
    message = str(original).strip().split("\n")[0].rstrip(".")[:300]
    if password:
        message = message.replace(password, "***")
    code = getattr(original, "sqlstate", None) or ""
    advice = ""
    if code == "42501":
        advice = " Its login needs the right to create schemas: GRANT CREATE ON DATABASE NAME TO USER."
    elif code.startswith("53"):
        advice = " Give it more space."
    elif not code:
        advice = " Check that it runs, and the password in NACRE_DATABASE_KEYS."
    where = public_address(place.url)
    return IngestionError(f"The tables can't be written to {where}: {message}.{advice} The graph stays as it was.")


class _Copy:
    """One transfer: from the file to the schema of a place."""

    def __init__(self, source: sqlite3.Connection, target: Any, place: ServerPlace, on_rows: OnRows) -> None:
        self.source, self.target, self.place, self.on_rows = source, target, place, on_rows
        self.schema = quoted_name(place.schema)
        self.rows = 0
        self.has_nul = False

    def run(self) -> ServerPlace:
        """Copy everything; returns the place with its columns."""
        self._check_server()
        self._execute(f"CREATE SCHEMA {self.schema}")
        self.target.commit()
        tables = list(read_tables(self.source))
        relations: dict[str, dict[str, Kind]] = {table.name: table.columns for table in tables}
        for table in tables:
            self._table(table)
        for name, body in read_views(self.source):
            text, kinds = view_sql(body, relations, self.place.schema)
            named = ", ".join(quoted_name(stored_name(column)) for column in kinds)
            self._execute(f"CREATE VIEW {self._name(name)} ({named}) AS {text}")
            relations[name] = kinds
            self.target.commit()
        # the last transaction waits until it and all before it are on the disk
        self._execute("SET LOCAL synchronous_commit = on")
        self._execute(f"COMMENT ON SCHEMA {self.schema} IS 'tables of a graph of Nacre'")
        self.target.commit()
        return replace(self.place, relations=relations, has_nul=self.has_nul)

    def _check_server(self) -> None:
        (encoding,) = self.target.execute("SHOW server_encoding").fetchone()
        if encoding != "UTF8":
            raise ConfigError(
                f"The database has the encoding {encoding}. Create one with ENCODING 'UTF8' for --tables."
            )

    def _table(self, table: FileTable) -> None:
        if len(table.columns) > MOST_COLUMNS:
            raise IngestionError(
                f"The table {table.name} has {len(table.columns)} columns, and PostgreSQL holds {MOST_COLUMNS}."
                " Ingest this graph without --tables."
            )
        columns = [f"{quoted_name(stored_name(name))} {_type(kind)}" for name, kind in table.columns.items()]
        self._execute(f"CREATE TABLE {self._name(table.name)} ({', '.join(columns)})")
        with self.target.cursor() as cursor, cursor.copy(self._copy_statement(table)) as copy:
            for chunk in self._chunks(table):
                copy.write(chunk)
        if table.key:
            self._execute(f"ALTER TABLE {self._name(table.name)} ADD PRIMARY KEY ({quoted_name(table.key)})")
        for index in read_indexes(self.source, table):
            self._execute(self._index_statement(index))
        self._execute(f"ANALYZE {self._name(table.name)}")
        self.target.commit()

    def _copy_statement(self, table: FileTable) -> str:
        # rows of a table that this transaction creates need no later freezing
        return f"COPY {self._name(table.name)} FROM STDIN WITH (FORMAT text, FREEZE)"

    def _index_statement(self, index: FileIndex) -> str:
        names = [quoted_name(stored_name(column)) for column in index.columns]
        if index.by_hash:
            return f"CREATE INDEX ON {self._name(index.table)} USING hash ({names[0]})"
        return f"CREATE INDEX ON {self._name(index.table)} ({', '.join(names)})"

    def _chunks(self, table: FileTable) -> Iterator[str]:
        """The rows in COPY's text format. SQLite writes the cells, which takes a third of the time of Python."""
        cells = ", ".join(_cell(name, kind) for name, kind in table.columns.items())
        order = f" ORDER BY {ROW_NUMBER}" if ROW_NUMBER in table.columns or table.key else ""
        cursor = self.source.execute(f"SELECT {cells} FROM {quote_identifier(table.name)}{order}")
        while rows := cursor.fetchmany(_CHUNK_ROWS):
            lines: list[str] = []
            size = 0
            for row in rows:
                line = "\t".join(row)
                size += len(line)
                lines.append(line)
                if size > _CHUNK_CHARACTERS:
                    yield self._written(lines)
                    lines, size = [], 0
            if lines:
                yield self._written(lines)
            self.rows += len(rows)
            self.on_rows(self.rows)

    def _written(self, lines: list[str]) -> str:
        text = "\n".join(lines) + "\n"
        if "\0" in text:
            self.has_nul = True
            text = text.replace("\0", NUL)
        return text

    def _name(self, name: str) -> str:
        return f"{self.schema}.{quoted_name(stored_name(name))}"

    def _execute(self, statement: str) -> None:
        self.target.execute(statement)


def _type(kind: Kind) -> str:
    # comparisons and the order of texts are those of SQLite: by their bytes, and lower() of ASCII letters
    return f'{TYPES[kind]} COLLATE "C"' if kind == "text" else TYPES[kind]


def _cell(name: str, kind: Kind) -> str:
    """The SQL of a cell in COPY's text format."""
    column = quote_identifier(name)
    if kind == "text":
        text = f"CAST({column} AS TEXT)"
        for found, written in _ESCAPED:
            text = f"replace({text}, {found}, {written})"
        return f"coalesce({text}, '\\N')"
    if kind == "integer":
        return f"coalesce(CAST({column} AS TEXT), '\\N')"
    number = f"CASE typeof({column}) WHEN 'real' THEN printf('%!.17g', {column}) ELSE CAST({column} AS TEXT) END"
    return f"coalesce({number}, '\\N')"
