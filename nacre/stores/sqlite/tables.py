"""Hold one graph.sqlite open and run queries on it that can do no harm: SQL -> SqlResult."""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, ToolError
from nacre.records.cancellation import is_cancelled
from nacre.records.json_form import from_json
from nacre.records.schema import Schema

Cell = str | int | float | None

# Functions that burn time or memory inside one call, where the deadline can't stop them, or that reach outside.
_REFUSED = """
    randomblob zeroblob printf format load_extension readfile writefile edit fts3_tokenizer sqlite_compileoption_get
    sqlite_compileoption_used sqlite_offset sqlite_log
"""
_REFUSED_FUNCTIONS = frozenset(_REFUSED.split())
_LONGEST_VALUE = 10_000_000
_LONGEST_SQL = 200_000
_MOST_TEXT = 50_000_000
_MOST_MEMORY = 512_000_000
_STEPS_BETWEEN_CHECKS = 5_000
_EXPLAIN = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\b", re.IGNORECASE | re.DOTALL)


class SqlResult(NamedTuple):
    """The result of a query; `truncated` says that there were more rows than asked for."""

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    truncated: bool


class Tables:
    """Read-only handle on one graph.sqlite, to be used by many threads: each has its own connections."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ConfigError(f"No tables at {path}. Run: nacre ingest FILE.ttl --graph NAME")
        self.path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: list[sqlite3.Connection] = []
        self._closed = False

    @cached_property
    def schema(self) -> Schema:
        """What the graph is about, as it is shown."""
        return from_json(Schema, json.loads(self.meta("schema")))

    def meta(self, key: str) -> str:
        """One value that the loader left in the file ("schema", "layout", "format" ...)."""
        row = self.trusted().execute("SELECT value FROM _nacre_meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise ConfigError(f"{self.path}: no '{key}' in this file. Ingest the graph again.")
        return str(row[0])

    def run(
        self,
        sql: str,
        params: Sequence[Cell] = (),
        *,
        limit: int = 1000,
        seconds: float = 5.0,
        steps: float = inf,
    ) -> SqlResult:
        """Run one SELECT within a row limit, a deadline, and so many steps of SQLite's virtual machine.

        Raises ToolError of kind syntax, unknown_name, ambiguous, type, refused, timeout or too_large. Tables named
        `_nacre...` and SQLite's own can't be read.
        """
        guard = self._guarded()
        if _EXPLAIN.match(sql):
            raise ToolError("refused", "Only one SELECT statement is allowed.")
        if len(sql) > _LONGEST_SQL:
            raise ToolError("too_large", f"The query has {len(sql)} characters; at most {_LONGEST_SQL} are allowed.")
        deadline = time.monotonic() + seconds
        guard.refusal = ""
        checks = 0

        def is_over() -> bool:
            nonlocal checks
            checks += 1
            return checks * _STEPS_BETWEEN_CHECKS > steps or time.monotonic() > deadline or is_cancelled()

        guard.connection.set_progress_handler(is_over, _STEPS_BETWEEN_CHECKS)
        try:
            cursor = guard.connection.execute(sql, tuple(params))
            try:
                if cursor.description is None:
                    raise ToolError("refused", "Only one SELECT statement is allowed.")
                rows = _fetched(cursor, limit + 1)
                columns = tuple(str(column[0]) for column in cursor.description)
            finally:
                cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            over = f"{steps:,.0f} steps" if checks * _STEPS_BETWEEN_CHECKS > steps else f"{seconds:g} seconds"
            raise _tool_error(error, guard.refusal, over) from None
        finally:
            guard.connection.set_progress_handler(None, 0)
        return SqlResult(columns, rows[:limit], len(rows) > limit)

    def trusted(self) -> sqlite3.Connection:
        """A read-only connection of this thread without the guard, for our own code alone."""
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
        self._local = threading.local()

    def _guarded(self) -> "_Guard":
        guard: _Guard | None = getattr(self._local, "guard", None)
        if guard is None:
            guard = _Guard(self._connect())
            self._local.guard = guard
        return guard

    def _connect(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise ConfigError(f"{self.path} is closed. Open the graph again.")
            name = str(self.path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            try:
                # immutable: a published version never changes, so no lock file is needed even in a read-only folder
                connection = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)
                connection.execute("PRAGMA query_only=ON")
                connection.execute("PRAGMA trusted_schema=OFF")
                connection.execute("PRAGMA temp_store=MEMORY")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.Error as error:
                raise ConfigError(f"{self.path}: not a readable graph ({error}). Ingest the graph again.") from None
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            self._open.append(connection)
            return connection


class _Guard:
    """One connection that only reads, with the reason of its last refusal."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.refusal = ""
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
        # of all connections of the process together; what it can't stop are the rows that are handed out
        connection.execute(f"PRAGMA hard_heap_limit={_MOST_MEMORY}").fetchone()
        # The schema is read on the first statement, which the authorizer would already judge.
        connection.execute("SELECT count(*) FROM entity").fetchone()
        connection.set_authorizer(self._judge)

    def _judge(
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


def _fetched(cursor: sqlite3.Cursor, limit: int) -> list[tuple[Cell, ...]]:
    """The first rows, with text for blobs and nothing for what is no finite number; raises ToolError `too_large`."""
    rows: list[tuple[Cell, ...]] = []
    size = 0
    for row in cursor:
        rows.append(tuple([_cell(cell) for cell in row]))
        size += sum([len(cell) for cell in row if isinstance(cell, str | bytes)])
        if size > _MOST_TEXT:
            raise ToolError("too_large", f"The rows hold more than {_MOST_TEXT // 1_000_000} million characters.")
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
    for pattern, kind in _KINDS:
        if re.search(pattern, message, re.IGNORECASE):
            if kind == "timeout":
                return ToolError(kind, f"The query was stopped after {over}.")
            return ToolError(kind, f"{message[0].upper()}{message[1:].rstrip('.')}.")
    return ToolError("syntax", f"{message}.")


_KINDS = (
    (r"^interrupted", "timeout"),
    (r"one statement at a time|not authorized|prohibited|readonly|too many attached", "refused"),
    (r"no such (column|table|function|collation|index)|has no column", "unknown_name"),
    (r"ambiguous", "ambiguous"),
    (r"too (big|many|large|long)|out of memory|stack overflow|parser stack|tree is too", "too_large"),
    (r"mismatch|wrong number of arguments|misuse|overflow|malformed JSON|bind|unsafe use|type", "type"),
)
