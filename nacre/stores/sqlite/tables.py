"""Run guarded, read-only queries on one graph.sqlite: SQL -> SqlResult."""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from nacre.errors import ConfigError, ToolError
from nacre.records.evidence import GraphOverview
from nacre.records.json_form import from_json
from nacre.records.schema import Datatype, Schema
from nacre.records.threads import is_cancelled
from nacre.stores.versions import OVERVIEW

Cell = str | int | float | None

# what IRIs of rows of attached databases begin with; the rest follows W3C's Direct Mapping
ROW_BASE = "urn:nacre:db:"

# functions that take time or memory inside one call, which no deadline stops, or that access anything outside
_REFUSED_NAMES = """
    randomblob zeroblob printf format load_extension readfile writefile edit fts3_tokenizer sqlite_compileoption_get
    sqlite_compileoption_used sqlite_offset sqlite_log
"""

_REFUSED_FUNCTIONS = frozenset(_REFUSED_NAMES.split())

_MAX_VALUE_LENGTH = 10_000_000
_MAX_SQL_LENGTH = 200_000
_MAX_TEXT = 50_000_000
_MAX_MEMORY = 512_000_000
_STEPS_BETWEEN_CHECKS = 5_000

_EXPLAIN = re.compile(r"(?:\s++|--[^\n]*+\n|(?>/\*.*?\*/))*+EXPLAIN\b", re.IGNORECASE | re.DOTALL)


class SqlResult(NamedTuple):
    """The result of a query; `truncated`: there were more rows than requested."""

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    truncated: bool


class RowFacts(NamedTuple):
    """The classes of a thing, its label, and its values by predicate: IRIs and lexical forms. The values of `unread`
    predicates are not among them."""

    types: tuple[str, ...]
    label: str
    values: Mapping[str, tuple[str, ...]]
    unread: frozenset[str] = frozenset()


class Tables:
    """A read-only graph.sqlite, safe to share between threads: a connection is used by one thread at a time."""

    # whether the rows are in a file here; SQLite lets a column have values of several types
    is_local = True

    # whether the triples that no table shows are kept beside the tables
    has_triples = True

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ConfigError(f"There is no file {path.name} with tables. Run: nacre ingest FILE.ttl --graph NAME")
        self.path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: list[sqlite3.Connection] = []
        self._free_guards: list[_Guard] = []
        self._closed = False

    @cached_property
    def schema(self) -> Schema:
        """The shown schema of the graph."""
        return from_json(Schema, json.loads(self.meta("schema")))

    @cached_property
    def layout(self) -> dict[str, Any]:
        """Where the triples of each predicate are."""
        layout: dict[str, Any] = json.loads(self.meta("layout"))
        return layout

    @cached_property
    def places(self) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        """The places of the layout by their predicate, each with its number."""
        found: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for index, place in enumerate(self.layout["places"]):
            found.setdefault(place["predicate"], []).append((index, place))
        return found

    @cached_property
    def overview(self) -> GraphOverview | None:
        """What the ingest prepared for questions about the graph as a whole; None if there is nothing, or it can't be
        read."""
        return read_overview(self.path.with_name(OVERVIEW))

    def meta(self, key: str) -> str:
        """One entry of the file's metadata ("schema", "layout", "format" ...)."""
        found = self.find_meta(key)
        if found is None:
            raise ConfigError(f"{self.path.name}: no '{key}' in this file. Ingest the graph again.")
        return found

    def find_meta(self, key: str) -> str | None:
        """One entry of the file's metadata; None if there is none of this name."""
        row = self.trusted().execute("SELECT value FROM _nacre_meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def run(
        self, sql: str, params: Sequence[Cell] = (), *, limit: int = 1000, seconds: float = 5.0, steps: float = inf
    ) -> SqlResult:
        """Run one SELECT within limits of rows, seconds, and steps of SQLite's virtual machine; not on `_nacre...` or
        SQLite's tables. Raises ToolError: syntax, unknown_name, ambiguous, type, refused, timeout or too_large."""
        if _EXPLAIN.match(sql):
            raise ToolError("refused", "Only one SELECT statement is allowed.")
        if len(sql) > _MAX_SQL_LENGTH:
            raise ToolError("too_large", f"The query has {len(sql)} characters; at most {_MAX_SQL_LENGTH} are allowed.")
        with self._guarded() as guard:
            return _run(guard, sql, params, limit=limit, seconds=seconds, steps=steps)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        """A query and its parameters as the store gets them."""
        return sql, params

    def row_facts(self, subjects: Sequence[str]) -> dict[str, RowFacts] | None:
        """The facts of things, if few queries give those of many; None if each fact is looked up by itself."""
        return None

    def row_labels(self, iris: Iterable[str]) -> dict[str, str] | None:
        """The labels of things by IRI, if these are their ids; else None."""
        return None

    def check_answers(self, seconds: float) -> None:
        """Raise ToolError if the rows can't be read."""
        self.run("SELECT id FROM entity", limit=1, seconds=seconds)

    def schema_changes(self, seconds: float) -> str:
        """What of a database is not as it was when the graph was attached; "" for nothing. Raises ToolError."""
        return ""

    def write_rights(self) -> str:
        """What the login of a database may write, in words; "" for nothing."""
        return ""

    def trusted(self) -> sqlite3.Connection:
        """A read-only connection of this thread without the guard, only for SQL that Nacre itself wrote."""
        connection: sqlite3.Connection | None = getattr(self._local, "trusted", None)
        if connection is None:
            connection = self._connect()
            self._local.trusted = connection
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._closed = True
            for connection in self._open:
                connection.close()
            self._open.clear()
            self._free_guards.clear()
        self._local = threading.local()

    @contextmanager
    def _guarded(self) -> Iterator["_Guard"]:
        """A guarded connection that no other thread uses meanwhile.

        One that was used before is taken, since a new one reads the list of all tables and views.
        """
        try:
            guard = self._free_guards.pop()
        except IndexError:
            guard = _Guard(self._connect())
        try:
            yield guard
        finally:
            if not self._closed:
                self._free_guards.append(guard)

    def _connect(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise ConfigError(f"{self.path.name} is closed. Open the graph again.")
            name = str(self.path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            try:
                # immutable: a published version never changes; no lock file, and the folder may be read-only
                connection = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)
                connection.execute("PRAGMA query_only=ON")
                connection.execute("PRAGMA trusted_schema=OFF")
                connection.execute("PRAGMA temp_store=MEMORY")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.Error as error:
                reason = f"{self.path.name}: not a readable graph ({error})"
                raise ConfigError(f"{reason}. Ingest the graph again.") from None
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            self._open.append(connection)
            return connection


def lexical_form(cell: Cell, datatype: Datatype) -> str:
    """The lexical form of a literal that is only stored as a typed cell.

    >>> lexical_form(5.0, "real"), lexical_form(5.25, "real"), lexical_form(1, "boolean")
    ('5', '5.25', 'true')
    """
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if datatype == "boolean":
        return "true" if cell else "false"
    return str(cell)


def read_overview(path: Path) -> GraphOverview | None:
    """The overview in a file; None if there is none, or it can't be read."""
    try:
        return from_json(GraphOverview, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


class _Guard:
    """A read-only connection with the reason of its last refusal."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.refusal = ""
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_LENGTH)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_SQL_LENGTH)
        # the limit of all connections of the process; it does not cover the rows that are returned
        connection.execute(f"PRAGMA hard_heap_limit={_MAX_MEMORY}").fetchone()
        # the first statement reads the schema, which the authorizer would refuse
        connection.execute("SELECT count(*) FROM entity").fetchone()
        connection.set_authorizer(self._authorize)

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, inner: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            name = (first or "").lower()
            if not name.startswith(("_nacre", "sqlite_", "pragma_")) and name != "dbstat":
                return sqlite3.SQLITE_OK
            self.refusal = f"The table {first} can't be read."
        elif action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() not in _REFUSED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            self.refusal = f"The function {second} is not allowed."
        else:
            self.refusal = "Only reading with SELECT is allowed."
        return sqlite3.SQLITE_DENY


def _run(guard: _Guard, sql: str, params: Sequence[Cell], *, limit: int, seconds: float, steps: float) -> SqlResult:
    deadline = time.monotonic() + seconds
    guard.refusal = ""
    checks, ended = 0, False

    def is_over() -> bool:
        nonlocal checks, ended
        checks += 1
        ended = checks * _STEPS_BETWEEN_CHECKS > steps or time.monotonic() > deadline or is_cancelled()
        return ended

    guard.connection.set_progress_handler(is_over, _STEPS_BETWEEN_CHECKS)
    try:
        cursor = guard.connection.execute(sql, tuple(params))
        try:
            if cursor.description is None:
                raise ToolError("refused", "Only one SELECT statement is allowed.")
            rows = _fetch_rows(cursor, limit + 1)
            columns = tuple(str(column[0]) for column in cursor.description)
        finally:
            cursor.close()
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        if str(error) == "interrupted" and not ended:
            # Ctrl-C while SQLite called `is_over`, of which it keeps only that the query ends
            raise KeyboardInterrupt from None
        over = f"{steps:,.0f} steps" if checks * _STEPS_BETWEEN_CHECKS > steps else f"{seconds:g} seconds"
        raise _tool_error(error, guard.refusal, over) from None
    finally:
        guard.connection.set_progress_handler(None, 0)
    return SqlResult(columns, rows[:limit], len(rows) > limit)


def _fetch_rows(cursor: sqlite3.Cursor, limit: int) -> list[tuple[Cell, ...]]:
    """The first rows, with blobs as text and None for infinite numbers; raises ToolError `too_large`."""
    rows: list[tuple[Cell, ...]] = []
    size = 0
    for row in cursor:
        rows.append(tuple([_cell(cell) for cell in row]))
        size += sum([len(cell) for cell in row if isinstance(cell, str | bytes)])
        if size > _MAX_TEXT:
            raise ToolError("too_large", f"The rows hold more than {_MAX_TEXT // 1_000_000} million characters.")
        if len(rows) == limit:
            break
    return rows


def _cell(cell: Cell | bytes) -> Cell:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return None if isinstance(cell, float) and not isfinite(cell) else cell


def _tool_error(error: Exception, refusal: str, over: str) -> ToolError:
    message = str(error) or "out of memory"
    if refusal:
        return ToolError("refused", refusal)
    for pattern, kind in _ERROR_KINDS:
        if re.search(pattern, message, re.IGNORECASE):
            if kind == "timeout":
                return ToolError(kind, f"The query was stopped after {over}.")
            return ToolError(kind, f"{message[0].upper()}{message[1:].rstrip('.')}.")
    return ToolError("syntax", f"{message}.")


_ERROR_KINDS = (
    (r"^interrupted", "timeout"),
    (r"one statement at a time|not authorized|prohibited|readonly|too many attached", "refused"),
    (r"no such (column|table|function|collation|index)|has no column", "unknown_name"),
    (r"ambiguous", "ambiguous"),
    (r"too (big|many|large|long)|out of memory|stack overflow|parser stack|tree is too", "too_large"),
    (r"mismatch|wrong number of arguments|misuse|overflow|malformed JSON|bind|unsafe use|type", "type"),
)


def quote_identifier(name: str) -> str:
    """The name in double quotes.

    >>> quote_identifier('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_if_needed(name: str) -> str:
    """The name as it is if SQLite reads it without quotes, else in double quotes.

    >>> quote_if_needed("height"), quote_if_needed("größe"), quote_if_needed('a"b')
    ('height', '"größe"', '"a""b"')
    """
    return name if name.isascii() and name.isidentifier() else quote_identifier(name)


# rows and values of one INSERT: to run a statement takes half of the time for a row of few columns (measured)
_MAX_ROWS, _MAX_VALUES = 16, 200


def insert_rows(connection: sqlite3.Connection, table: str, columns: int, rows: Iterable[Iterable[object]]) -> None:
    """Insert rows with so many columns, several with each statement."""
    size, cells = columns * max(1, min(_MAX_ROWS, _MAX_VALUES // columns)), chain.from_iterable(rows)
    row, values = f"({', '.join('?' * columns)})", tuple(islice(cells, size))

    def whole() -> Iterator[tuple[object, ...]]:
        nonlocal values
        while len(values) == size:
            yield values
            values = tuple(islice(cells, size))

    if len(values) == size:
        connection.executemany(f"INSERT INTO {table} VALUES {', '.join([row] * (size // columns))}", whole())
    if values:
        connection.executemany(f"INSERT INTO {table} VALUES {row}", zip(*[iter(values)] * columns, strict=True))
