"""Move the tables of a version to a PostgreSQL server: its folder -> a schema of the server, the file without the rows.

In this order: the last stage of an ingest; the rows of the file, streamed into tables of the server; what the file
consists of (tables with kinds of columns, indexes, views); its views in the dialect of the server; and the removal of
the tables of a version, unless somebody reads them.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlglot import exp, parse_one

from nacre.errors import ConfigError, IngestionError
from nacre.extensions.databases.attached import Kind
from nacre.extensions.databases.dialects import TYPES, make_portable
from nacre.extensions.server_tables.translate import NUL, ServerPlace, new_place, read_place, stored_name, write_place
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits, missing_driver, public_address, with_password
from nacre.stores.sqlite.tables import quote_identifier


def publish_tables(folder: Path, url: str, graph: str, limits: DatabaseLimits, on_rows: Callable[[int], None]) -> None:
    """Copy the tables of the version that is built in a folder, and leave only their metadata in the file.

    The schema is recorded in the folder first, so that whoever removes the folder of a killed ingest can remove it,
    too. Raises IngestionError if the server does not take the tables.
    """
    place = new_place(url, graph)
    write_place(folder, place)
    file = folder / versions.TABLES
    write_place(folder, copy_tables(file, place, limits, on_rows))
    _keep_metadata(file)


def _keep_metadata(file: Path) -> None:
    kept = file.with_suffix(".kept")
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute("ATTACH ? AS whole", (str(file),))
        connection.execute("CREATE TABLE _nacre_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute("INSERT INTO _nacre_meta SELECT key, value FROM whole._nacre_meta")
        connection.commit()
    kept.replace(file)


MOST_COLUMNS = 1600

# rows that are sent at a time
_CHUNK_ROWS = 500

_OPTIONS = (
    "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c synchronous_commit=off "
    "-c standard_conforming_strings=on"
)

_ESCAPED = (("'\\'", "'\\\\'"), ("char(9)", "'\\t'"), ("char(10)", "'\\n'"), ("char(13)", "'\\r'"))

OnRows = Callable[[int], None]


def copy_tables(file: Path, place: ServerPlace, limits: DatabaseLimits, on_rows: OnRows) -> ServerPlace:
    """Create the schema with the tables, indexes and views of the file. Rows are streamed, so memory does not grow with
    them. Each table is one transaction. Raises IngestionError with what to do if the server does not take them."""
    try:
        import psycopg
    except ImportError as error:
        raise missing_driver(error) from None
    engine = _engine(place, limits, _OPTIONS)
    try:
        with (
            closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source,
            closing(engine.raw_connection()) as raw,
        ):
            return _Copy(source, raw.dbapi_connection, place, on_rows).run()
    except (SQLAlchemyError, psycopg.Error) as error:
        raise _ingestion_error(error, place, engine.url.password or "") from None


def _engine(place: ServerPlace, limits: DatabaseLimits, options: str) -> Engine:
    arguments = {"connect_timeout": int(limits.connect_seconds), "options": options}
    return create_engine(with_password(place.url, limits.passwords), poolclass=NullPool, connect_args=arguments)


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


@dataclass(frozen=True)
class FileTable:
    """A table of the file. `columns` has SQLite's own row number first where queries use it; `key` is its integer
    primary key, "" for none."""

    name: str
    columns: dict[str, Kind]
    key: str


class FileIndex(NamedTuple):
    """An index of a table; `by_hash` if its texts are too long to be sorted."""

    columns: tuple[str, ...]
    by_hash: bool


class _Copy:
    """One transfer: from the file to the schema of a place."""

    def __init__(self, source: sqlite3.Connection, target: Any, place: ServerPlace, on_rows: OnRows) -> None:
        self.source, self.target, self.place, self.on_rows = source, target, place, on_rows
        self.schema = quote_identifier(place.schema)
        self.rows = 0
        self.has_nul = False

    def run(self) -> ServerPlace:
        """Copy everything; returns the place with its columns."""
        (encoding,) = self.target.execute("SHOW server_encoding").fetchone()
        if encoding != "UTF8":
            raise ConfigError(
                f"The database has the encoding {encoding}. Create one with ENCODING 'UTF8' for --tables."
            )
        self.target.execute(f"CREATE SCHEMA {self.schema}")
        self.target.commit()
        tables = list(read_tables(self.source))
        relations: dict[str, dict[str, Kind]] = {table.name: table.columns for table in tables}
        for table in tables:
            self._table(table)
        for name, body in read_views(self.source):
            text, kinds = view_sql(body, relations, self.place.schema)
            named = ", ".join(quote_identifier(stored_name(column)) for column in kinds)
            self.target.execute(f"CREATE VIEW {self._name(name)} ({named}) AS {text}")
            relations[name] = kinds
            self.target.commit()
        # the last transaction waits until it and all before it are on the disk
        self.target.execute("SET LOCAL synchronous_commit = on")
        self.target.execute(f"COMMENT ON SCHEMA {self.schema} IS 'tables of a graph of Nacre'")
        self.target.commit()
        return replace(self.place, relations=relations, has_nul=self.has_nul)

    def _table(self, table: FileTable) -> None:
        if len(table.columns) > MOST_COLUMNS:
            raise IngestionError(
                f"The table {table.name} has {len(table.columns)} columns, and PostgreSQL holds {MOST_COLUMNS}."
                " Ingest this graph without --tables."
            )
        columns = [f"{quote_identifier(stored_name(name))} {_TYPES[kind]}" for name, kind in table.columns.items()]
        self.target.execute(f"CREATE TABLE {self._name(table.name)} ({', '.join(columns)})")
        # rows of a table that this transaction creates need no later freezing
        statement = f"COPY {self._name(table.name)} FROM STDIN WITH (FORMAT text, FREEZE)"
        with self.target.cursor() as cursor, cursor.copy(statement) as copy:
            for chunk in self._chunks(table):
                copy.write(chunk)
        if table.key:
            self.target.execute(f"ALTER TABLE {self._name(table.name)} ADD PRIMARY KEY ({quote_identifier(table.key)})")
        for index in read_indexes(self.source, table):
            names = [quote_identifier(stored_name(column)) for column in index.columns]
            indexed = f"USING hash ({names[0]})" if index.by_hash else f"({', '.join(names)})"
            self.target.execute(f"CREATE INDEX ON {self._name(table.name)} {indexed}")
        self.target.execute(f"ANALYZE {self._name(table.name)}")
        self.target.commit()

    def _chunks(self, table: FileTable) -> Iterator[str]:
        """The rows in COPY's text format. SQLite writes the cells, which takes a third of the time of Python."""
        cells = ", ".join(_cell(name, kind) for name, kind in table.columns.items())
        order = f" ORDER BY {ROW_NUMBER}" if ROW_NUMBER in table.columns or table.key else ""
        cursor = self.source.execute(f"SELECT {cells} FROM {quote_identifier(table.name)}{order}")
        while rows := cursor.fetchmany(_CHUNK_ROWS):
            text = "".join(["\t".join(row) + "\n" for row in rows])
            self.has_nul |= "\0" in text
            yield text.replace("\0", NUL)
            self.rows += len(rows)
            self.on_rows(self.rows)

    def _name(self, name: str) -> str:
        return f"{self.schema}.{quote_identifier(stored_name(name))}"


# comparisons and the order of texts are those of SQLite: by their bytes, and lower() of ASCII letters
_TYPES = {**TYPES, "text": f'{TYPES["text"]} COLLATE "C"'}


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


ROW_NUMBER = "rowid"

_TYPED_NULL = re.compile(r"\bCAST\(NULL AS [A-Z]+\)")

# entries of a B-tree have at most a third of a page; longer texts are found by their hash
_LONGEST_ENTRY = 2000


def read_tables(connection: sqlite3.Connection) -> Iterator[FileTable]:
    """The tables of the file but its metadata, which stay in it."""
    listed = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    for name, sql in connection.execute(listed).fetchall():
        if name == "_nacre_meta" or name.startswith("sqlite_"):
            continue
        rows = connection.execute(f"PRAGMA table_info({quote_identifier(name)})").fetchall()
        declared = {column: kind.upper() for _, column, kind, *_ in rows}
        keys = [column for _, column, kind, _, _, part in rows if part and kind.upper() == "INTEGER"]
        parts = sum(1 for row in rows if row[5])
        key = keys[0] if keys and parts == 1 else ""
        kinds = _kinds(connection, name, declared, key)
        has_rows = not key and "WITHOUT ROWID" not in str(sql).upper()
        yield FileTable(name, {ROW_NUMBER: "integer", **kinds} if has_rows else kinds, key)


def _kinds(connection: sqlite3.Connection, table: str, declared: dict[str, str], key: str) -> dict[str, Kind]:
    """The kind of each column by its content, since SQLite keeps any value in a column of any type."""
    found: dict[str, Kind] = {column: "text" if kind == "TEXT" else "integer" for column, kind in declared.items()}
    checked = [column for column, kind in found.items() if kind != "text" and column != key]
    for start in range(0, len(checked), 200):
        some = checked[start : start + 200]
        tests = ", ".join(
            f"max(typeof({c}) NOT IN ('integer', 'real', 'null')), max(typeof({c}) = 'real'), "
            f"max(typeof({c}) = 'integer')"
            for c in map(quote_identifier, some)
        )
        contents = connection.execute(f"SELECT {tests} FROM {quote_identifier(table)}").fetchone()
        for number, column in enumerate(some):
            other, real, integer = contents[3 * number : 3 * number + 3]
            is_real = real or (not integer and declared[column] == "REAL")
            # one column for whole and other numbers: SQLite keeps whole ones beyond the precision of others
            mixed = real and integer and declared[column] != "REAL"
            found[column] = "text" if other else "number" if mixed else "real" if is_real else "integer"
    return found


def read_indexes(connection: sqlite3.Connection, table: FileTable) -> Iterator[FileIndex]:
    """The indexes of a table but that of its integer key."""
    name = quote_identifier(table.name)
    for row in connection.execute(f"PRAGMA index_list({name})").fetchall():
        columns = [each[2] for each in connection.execute(f"PRAGMA index_info({quote_identifier(row[1])})").fetchall()]
        if not columns or any(column is None for column in columns):
            continue
        texts = [quote_identifier(c) for c in columns if table.columns.get(c) == "text"]
        longest = 0
        if texts:
            size = " + ".join(f"coalesce(max(length(CAST({c} AS BLOB))), 0)" for c in texts)
            (longest,) = connection.execute(f"SELECT {size} FROM {name}").fetchone()
        yield FileIndex(tuple(columns), longest > _LONGEST_ENTRY)


def read_views(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The names and SELECT statements of the views. A server gives columns without values their types anew."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid").fetchall()
    return [(name, _TYPED_NULL.sub("NULL", sql.partition(" AS ")[2])) for name, sql in found]


Columns = Mapping[str, Mapping[str, Kind]]


def view_sql(body: str, columns: Columns, schema: str) -> tuple[str, dict[str, Kind]]:
    """The SELECT of a view for the server, and the kinds of its columns."""
    tree = parse_one(body, dialect="sqlite")
    selects = list(tree.find_all(exp.Select))
    outer = [select for select in selects if select.find_ancestor(exp.Subquery, exp.In) is None]
    kinds: dict[str, Kind] = {}
    for select in outer:
        table = next(iter(select.find_all(exp.Table))).name
        for shown in select.selects:
            inner = shown.unalias()
            if isinstance(inner, exp.Column):
                kinds[shown.alias_or_name] = columns[table][inner.name]
    for select in outer:
        for shown in select.selects:
            if isinstance(shown, exp.Alias) and isinstance(shown.this, exp.Null):
                kind = kinds.setdefault(shown.alias, "text")
                # a NULL without a type would be a text, which fits no number of the other tables
                shown.set("this", exp.Cast(this=exp.Null(), to=exp.DataType.build(TYPES[kind], dialect="postgres")))
    order = [shown.alias_or_name for shown in outer[0].selects]
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", stored_name(identifier.name))
        identifier.set("quoted", True)
    for read in tree.find_all(exp.Table):
        read.set("db", exp.to_identifier(schema, quoted=True))
    text = make_portable(tree, "postgres").sql(dialect="postgres", comments=False)
    return text, {name: kinds.get(name, "text") for name in order}


# tables that are dropped in one transaction, since each takes locks that the server has a limited number of
_AT_ONCE = 100

_SECONDS = 60


def remove_tables(folder: Path, limits: DatabaseLimits) -> None:
    """Remove the schema of a version with all of its tables, unless another one has it; nothing happens if it is gone
    already. Raises ConfigError if a process reads it, the server does not answer, or the login may not remove it."""
    # `nacre index` makes versions that share their tables
    others = (read_place(other) for other in folder.parent.glob("*") if other != folder and other.is_dir())
    place = read_place(folder)
    if place is None or place.schema in {other.schema for other in others if other is not None}:
        return
    try:
        engine = _engine(place, limits, f"-c statement_timeout={_SECONDS * 1000} -c lock_timeout=5000")
        with engine.connect() as connection:
            if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": place.lock}):
                raise ConfigError(f"The schema {place.schema} is still read.")
            connection.commit()
            _drop(connection, place.schema)
    except SQLAlchemyError as error:
        raise ConfigError(
            f"The schema {place.schema} can't be removed from {public_address(place.url)} ({type(error).__name__})."
        ) from None
    except ImportError as error:
        raise missing_driver(error) from None


def _drop(connection: Connection, schema: str) -> None:
    quoted = quote_identifier(schema)
    listed = text(
        "SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :schema AND c.relkind IN ('r', 'v') ORDER BY c.relkind DESC LIMIT :most"
    )
    while found := connection.execute(listed, {"schema": schema, "most": _AT_ONCE}).all():
        for name, kind in found:
            kind = kind.decode() if isinstance(kind, bytes) else kind
            drop = f"DROP {'VIEW' if kind == 'v' else 'TABLE'} IF EXISTS {quoted}.{quote_identifier(name)} CASCADE"
            connection.exec_driver_sql(drop)
        connection.commit()
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {quoted} CASCADE")
    connection.commit()
