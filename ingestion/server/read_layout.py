"""What a graph.sqlite consists of: its connection -> tables with kinds of columns, indexes, views."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from nacre.stores.databases.server.place import Kind
from nacre.stores.sqlite.identifiers import quote_identifier

ROW_NUMBER = "rowid"
_TYPED_NULL = re.compile(r"\bCAST\(NULL AS [A-Z]+\)")
# entries of a B-tree have at most a third of a page; longer texts are found by their hash
_LONGEST_ENTRY = 2000


@dataclass(frozen=True)
class FileTable:
    """A table of the file. `columns` has SQLite's own row number first where queries use it; `key` is its integer
    primary key, "" for none."""

    name: str
    columns: dict[str, Kind]
    key: str


@dataclass(frozen=True)
class FileIndex:
    """An index; `by_hash` if its texts are too long to be sorted."""

    table: str
    columns: tuple[str, ...]
    by_hash: bool


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
        yield FileIndex(table.name, tuple(columns), longest > _LONGEST_ENTRY)


def read_views(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The names and SELECT statements of the views. A server gives columns without values their types anew."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid").fetchall()
    return [(name, _TYPED_NULL.sub("NULL", sql.partition(" AS ")[2])) for name, sql in found]
