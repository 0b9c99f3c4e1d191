"""Read from a database through SQLAlchemy within limits, and never write: SQL and parameters -> SqlResult.

Database files that are kept with a graph, since people uploaded them, are opened in processes that can be killed.
"""

import json
import os
import re
import resource
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from decimal import Decimal
from functools import lru_cache, partial
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from nacre.errors import ConfigError, ToolError
from nacre.extensions.databases.attached import AttachedDatabase
from nacre.extensions.databases.translate import MAX_CELL
from nacre.records.threads import FairSemaphore, is_cancelled
from nacre.stores.addresses import DIALECTS, FILES, DatabaseLimits, missing_driver, with_password
from nacre.stores.killable_pool import KillablePool, deny_network, pool_errors, wait_for_result
from nacre.stores.sqlite.tables import Cell, SqlResult

_MAX_TEXT = 50_000_000

# what SQLite may take for a value and altogether, in this process
_MAX_VALUE, _MAX_MEMORY = 50_000_000, 512_000_000

_STEPS_BETWEEN_CHECKS = 5_000

# how long a query waits for somebody who writes to a file of SQLite
BUSY_SECONDS = 5.0

# DuckDB: no other files, no network, no extensions, and no way to change that
_DUCKDB = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "lock_configuration": "true",
    "memory_limit": "1GB",
    "threads": "2",
}


class DatabaseConnections:
    """A pool of connections to one database; nothing is opened before the first query. Safe to share by threads."""

    def __init__(self, address: str, limits: DatabaseLimits = DatabaseLimits()) -> None:  # noqa: B008 (immutable)
        self.address = address
        try:
            url = with_password(address, limits.passwords)
            self.engine = _engine(url, DIALECTS[url.get_backend_name()], limits)
        except (ImportError, NoSuchModuleError) as error:
            raise missing_driver(error if isinstance(error, ImportError) else ImportError(name=str(error))) from None
        except SQLAlchemyError as error:
            raise ConfigError(f"The address of the database can't be used: {str(error)[:200]}") from None
        self.dialect = DIALECTS[url.get_backend_name()]
        self._password = url.password or ""
        self._free = FairSemaphore(limits.connections)

    def read(self, sql: str, params: Mapping[str, Cell], limit: int, seconds: float) -> SqlResult:
        """The rows of a query. Raises ToolError of kind timeout, too_large, unavailable (no connection), unknown_name
        (the table has changed), refused (no right to read) or type."""
        with self.connected(seconds) as connection:
            if self.dialect == "postgres":
                # row by row, as they arrive; a cursor of the server would be asked for each
                compiled = text(sql).compile(dialect=connection.dialect)
                asked = str(compiled), compiled.construct_params(dict(params))
                raw: Any = connection.connection
                with raw.cursor() as cursor:
                    with closing(cursor.stream(*asked)) as found:
                        rows = bounded_rows(found, limit + 1)
                    if cursor.description is None:
                        # the names of columns come with the first row, or with a whole result
                        cursor.execute(*asked)
                    columns = tuple([column.name for column in cursor.description])
            else:
                # SQLAlchemy reads ahead more and more rows otherwise
                options = {"stream_results": self.dialect != "duckdb", "max_row_buffer": 1}
                with connection.execution_options(**options).execute(text(sql), params) as found:
                    columns = tuple(found.keys())
                    rows = bounded_rows(found, limit + 1)
        return SqlResult(columns, rows[:limit], len(rows) > limit)

    @contextmanager
    def connected(self, seconds: float) -> Iterator[Connection]:
        """A connection in a read-only transaction that is stopped after so many seconds."""
        deadline = time.monotonic() + seconds
        if not self._free.acquire(timeout=max(0.0, seconds)):
            raise ToolError("timeout", "All connections to the database are in use.")
        try:
            with self.engine.connect() as connection:
                with _within(connection, self.dialect, deadline):
                    yield connection
                connection.rollback()
        except (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error, MemoryError) as error:
            raise self._tool_error(error, deadline, seconds) from None
        except ImportError as error:
            raise missing_driver(error) from None
        finally:
            self._free.release()

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()

    def _tool_error(self, error: Exception, deadline: float, seconds: float) -> ToolError:
        original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        # MySQL's errors are (number, text)
        args = [each for each in getattr(original, "args", ()) if isinstance(each, str)]
        message = (args[-1] if args else str(original) or "Out of memory").strip().split("\n")[0][:300]
        if self._password:
            message = message.replace(self._password, "***")
        if time.monotonic() >= deadline:
            return ToolError("timeout", f"The query was stopped after {seconds:g} seconds.")
        found = driver_error(message, seconds, isinstance(error, DBAPIError) and error.connection_invalidated)
        if _LOGIN_REFUSED in str(found) and not self._password:
            host, port = self.engine.url.host or "HOST", self.engine.url.port
            place = f"{self.engine.url.username or 'USER'}@{host}{f':{port}' if port else ''}"
            keys = f"""NACRE_DATABASE_KEYS='{{"{place}": "file:PATH"}}'"""
            return ToolError(found.kind, f"{found} It has no password. Set {keys}.")
        return found


def driver_error(message: str, seconds: float, is_broken: bool) -> ToolError:
    """What the message of a driver means, in words that name no login, host or folder.

    >>> driver_error("SELECT command denied to user 'kim'@'db.example' for table 'pay'", 5.0, False).args
    ("The database refuses it: SELECT command denied for table 'pay'.",)
    """

    def first(table: Sequence[tuple[str, str]], otherwise: str) -> str:
        return next((each for pattern, each in table if re.search(pattern, message, re.IGNORECASE)), otherwise)

    kind = first(_ERROR_KINDS, "unavailable" if is_broken else "syntax")
    is_away = kind == "unavailable"
    words = first(_NO_ANSWER, "the connection was lost") if is_away else _LOGIN.sub("", message).rstrip(".")
    return ToolError(kind, _MESSAGES[kind].format(message=words, seconds=seconds))


# what a missing table or column means after a graph was attached
CHANGED = "The database has changed since it was attached. Run: nacre attach --refresh --graph NAME"

_LOGIN_REFUSED = "it refuses the login"

_MESSAGES = {
    "timeout": "The query was stopped after {seconds:g} seconds.",
    "refused": "The database refuses it: {message}.",
    "unknown_name": "{message}. " + CHANGED,
    "unavailable": "The database does not answer: {message}.",
    "too_large": "{message}.",
    "type": "{message}. If the type of a column has changed, run: nacre attach --refresh --graph NAME",
    "syntax": "{message}.",
}

_ERROR_KINDS = (
    (r"^connection (failed|to server)|(role|database) .* does not exist|unknown database|pg_hba", "unavailable"),
    (r"statement timeout|max_statement_time|max_execution_time|interrupt|canceling statement", "timeout"),
    (r"permission denied|command denied|access denied for user .* to|read.?only|not authorized|prohibited", "refused"),
    (r"^(operator|function) .*does not exist|no function matches|cannot compare values", "type"),
    (r"no such (table|column)|does not exist|doesn't exist|unknown (column|table)|not found in FROM", "unknown_name"),
    (r"catalog error|binder error", "unknown_name"),
    (
        r"connect|refused|closed|gone away|lost connection|timed? ?out|terminat|shut|unable to open|no such file",
        "unavailable",
    ),
    (r"authentication|access denied|io error|not a database|malformed", "unavailable"),
    (r"out of memory|too (big|large|many|long)|memory limit", "too_large"),
    (r"invalid input syntax|conversion|mismatch|cast|type|overflow|out of range", "type"),
)

# why a database does not answer, instead of the words of its driver
_NO_ANSWER = (
    (r"authentication|access denied|pg_hba|password|role .* does not exist|not permitted", _LOGIN_REFUSED),
    (r"database .* does not exist|unknown database", "it has no database of this name"),
    (r"too many|connection slots", "it has too many connections"),
    (r"refused", "the connection is refused"),
    (r"timed? ?out", "it takes too long"),
    (r"resolve|translate host|name or service", "its host is not known"),
    (r"not a database|malformed", "its file is damaged or no database"),
    (r"unable to open|no such file|io error|cannot open", "its file can't be opened"),
)

_LOGIN = re.compile(
    r"""\b(?:(?:to|for|by|of) )?(?:user|role) (?:"[^"]*"|'[^']*'(?:@'[^']*')?) ?|'[^']*'@'[^']*' ?""", re.IGNORECASE
)


def bounded_rows(rows: Iterable[Sequence[Any]], limit: int) -> list[tuple[Cell, ...]]:
    """The first rows as cells, read one after the other. Raises ToolError `too_large` as soon as they have too many
    characters."""
    found: list[tuple[Cell, ...]] = []
    size = 0
    for row in rows:
        if len(found) == limit:
            break
        cells = tuple([plain_cell(cell) for cell in row])
        size += sum([len(cell) if isinstance(cell, str) else 8 for cell in cells])
        if size > _MAX_TEXT:
            raise ToolError("too_large", f"The rows hold more than {_MAX_TEXT // 1_000_000} million characters.")
        found.append(cells)
    return found


def plain_cell(cell: Any) -> Cell:
    """A value of a driver as a cell: dates as ISO text, decimals as numbers, arrays and JSON as JSON text, binary data
    as its size.

    >>> plain_cell(Decimal("2.50")), plain_cell(True), plain_cell([1, 2]), plain_cell(b"ab")
    (2.5, 1, '[1, 2]', '2 bytes')
    """
    if cell is None or type(cell) is int:
        return cell
    if isinstance(cell, str):
        return cell if len(cell) <= MAX_CELL else cell[:MAX_CELL]
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, Decimal):
        if not cell.is_finite():
            return None
        return int(cell) if cell == cell.to_integral_value() and abs(cell) < 2**53 else float(cell)
    if isinstance(cell, float):
        return cell if isfinite(cell) else None
    if isinstance(cell, datetime | date | clock_time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"{len(bytes(cell))} bytes"
    if isinstance(cell, list | tuple | dict | set):
        listed = sorted(cell, key=str) if isinstance(cell, set) else cell
        return json.dumps(listed, default=str, ensure_ascii=False)[:MAX_CELL]
    return str(cell)[:MAX_CELL]


def _engine(url: Any, dialect: str, limits: DatabaseLimits) -> Engine:
    seconds = int(limits.connect_seconds)
    if dialect == "sqlite":
        create = _sqlite_creator(url.database, immutable=url.query.get("immutable") == "1")
        return create_engine(url.set(query={}), creator=create, pool_size=limits.connections)
    if dialect == "duckdb":
        engine = create_engine(url, connect_args={"read_only": True, "config": _DUCKDB})
        event.listen(engine, "connect", _prepare_duckdb)
        return engine
    options: dict[str, Any] = {"connect_timeout": seconds}
    if dialect == "mysql":
        # of the greeting; each statement sets its own
        options |= {"read_timeout": seconds, "write_timeout": seconds}
    if dialect == "postgres":
        options["options"] = "-c default_transaction_read_only=on -c statement_timeout=30000 -c timezone=UTC"
    engine = create_engine(
        url,
        connect_args=options,
        pool_size=limits.connections,
        max_overflow=0,
        pool_timeout=limits.connect_seconds,
        pool_pre_ping=True,
    )
    if dialect == "mysql":
        event.listen(engine, "connect", _prepare_mysql)
    else:
        ping = engine.dialect.do_ping

        def bounded_ping(dbapi_connection: Any) -> bool:
            with _ended_after(limits.connect_seconds, partial(_cut, dbapi_connection)):
                return ping(dbapi_connection)

        engine.dialect.do_ping = bounded_ping  # type: ignore[method-assign]
    return engine


# that a server may take beyond its own limit before its connection is cut
CUT_SECONDS = 1.0


def _cut(raw: Any) -> None:
    """Cut a connection of psycopg, which waits for a server that hangs without an end."""
    with suppress(OSError, raw.Error), socket.socket(fileno=os.dup(raw.fileno())) as connection:
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def _ended_after(seconds: float, end: Callable[[], None]) -> Iterator[None]:
    """Call `end` if what is run in this context takes more seconds."""
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _prepare_duckdb(connection: Any, record: object) -> None:
    """Take the functions of DuckDB before macros of the file that have their names."""
    found = connection.execute(
        "SELECT database_name, 'main' FROM system.main.duckdb_databases WHERE NOT internal UNION ALL "
        "SELECT database_name, schema_name FROM system.main.duckdb_schemas WHERE NOT internal"
    ).fetchall()
    quoted = [".".join('"' + name.replace('"', '""') + '"' for name in names) for names in found]
    path = ",".join(["system.main", *quoted]).replace("'", "''")
    connection.execute(f"SET search_path = '{path}'")


def _prepare_mysql(connection: Any, record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute("SET SESSION time_zone = '+00:00'")


def _sqlite_creator(path: str, *, immutable: bool) -> Callable[[], sqlite3.Connection]:
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"

    def create() -> sqlite3.Connection:
        address = f"file:{name}?{mode}"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        connection.execute(f"PRAGMA hard_heap_limit={_MAX_MEMORY}")
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return connection

    return create


@contextmanager
def _within(connection: Connection, dialect: str, deadline: float) -> Iterator[None]:
    """Stop what the connection does at a deadline, or when the turn is cancelled."""
    left = max(0.05, deadline - time.monotonic())
    raw: Any = connection.connection.dbapi_connection
    if dialect == "postgres":
        with _ended_after(left + CUT_SECONDS, partial(_cut, raw)):
            connection.execute(text("SET TRANSACTION READ ONLY"))
            connection.execute(text(f"SET LOCAL statement_timeout = {int(left * 1000)}"))
            yield
    elif dialect == "mysql":
        raw._read_timeout = left + CUT_SECONDS
        if getattr(connection.dialect, "is_mariadb", False):
            connection.execute(text(f"SET SESSION max_statement_time = {left:.3f}"))
        else:
            connection.execute(text(f"SET SESSION max_execution_time = {int(left * 1000)}"))
        yield
    elif dialect == "sqlite":
        ended = False

        def is_over() -> bool:
            nonlocal ended
            ended = time.monotonic() > deadline or is_cancelled()
            return ended

        raw.set_progress_handler(is_over, _STEPS_BETWEEN_CHECKS)
        try:
            yield
        except DBAPIError as error:
            if str(error.orig) == "interrupted" and not ended:
                # Ctrl-C while SQLite called `is_over`, of which it keeps only that the query ends
                raise KeyboardInterrupt from None
            raise
        finally:
            raw.set_progress_handler(None, 0)
    else:
        with _ended_after(left, raw.interrupt):
            yield


def check_read_only(connections: DatabaseConnections) -> str:
    """Why the login of a database may do more than read; "" if it may not, or the database is a file."""
    queries = {
        "postgres": "SELECT count(*) FROM information_schema.table_privileges WHERE grantee = current_user "
        "AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')",
        "mysql": "SELECT count(*) FROM information_schema.user_privileges WHERE privilege_type IN "
        "('INSERT', 'UPDATE', 'DELETE', 'FILE', 'SUPER', 'DROP') "
        "AND grantee = concat('''', replace(current_user(), '@', '''@'''), '''')",
    }
    if connections.dialect not in queries:
        return ""
    (count,) = connections.read(queries[connections.dialect], {}, 1, 10.0).rows[0]
    return "its login may write; a role with only SELECT is safer" if count else ""


# the folder of a version that has the file
FOLDER = "kept"

# of a process that reads such files, and how many files it has open
MEMORY, OPEN_FILES = 3_000_000_000, 8

# that a process may take beyond the time limit of its query before it is killed
GRACE_SECONDS = 2.0


class _SharedPool:
    """The processes of all kept files; they end with the last graph that has one."""

    def __init__(self) -> None:
        self.work = KillablePool(MEMORY, imports=[__name__])
        self._users = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self.work.close()


_pool = _SharedPool()


class KeptConnections(DatabaseConnections):
    """Reads a file with the interface of connections; each query runs in a process without network."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.dialect = DIALECTS[address.partition(":")[0]]
        self._is_open = True
        _pool.enter()

    def read(self, sql: str, params: Mapping[str, Cell], limit: int, seconds: float) -> SqlResult:
        """As `DatabaseConnections.read`; also raises ToolError `too_large` if the process died."""
        with pool_errors(seconds):
            work = _pool.work.start(
                read_kept, self.address, sql, dict(params), limit, seconds, seconds=seconds + GRACE_SECONDS
            )
            found: SqlResult = wait_for_result(work)
        return found

    def connected(self, seconds: float) -> NoReturn:
        """Refused: nothing of a kept file is opened in this process."""
        raise ToolError("refused", "A kept file has no connections in this process.")

    def close(self) -> None:
        """Let the processes end if no other graph needs them."""
        if self._is_open:
            self._is_open = False
            _pool.leave()


def read_kept(address: str, sql: str, params: Mapping[str, Cell], limit: int, seconds: float) -> SqlResult:
    """The rows of a query; runs in a process of its own."""
    return _opened(address).read(sql, params, limit, seconds)


_opened = lru_cache(OPEN_FILES)(partial(DatabaseConnections, limits=DatabaseLimits(connections=1)))


def confine_process() -> None:
    """Take the network and unbounded memory from this process, before it opens a file that somebody else made."""
    deny_network()
    # the limits that other processes may set for themselves stay
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def keep_file(source: Path, folder: Path) -> str:
    """Keep a file in the folder of a version; its path there. It is linked if that is possible, else copied."""
    (folder / FOLDER).mkdir(mode=0o700)
    kept = folder / FOLDER / source.name
    try:
        os.link(source, kept)
    except OSError:
        shutil.copyfile(source, kept)
    return f"{FOLDER}/{source.name}"


def located(database: AttachedDatabase, folder: Path) -> AttachedDatabase:
    """The database with the present address of its kept file in the folder of a version; others as they are.

    Raises ConfigError for any other file: others may have written the record.
    """
    if not database.kept:
        return database
    try:
        file = (folder / database.kept).resolve()
        is_kept = file.parent == folder.resolve() / FOLDER and file.is_file() and database.dialect in FILES
    except (OSError, ValueError, RuntimeError):
        is_kept = False
    if not is_kept:
        raise ConfigError("The file of its database is not in the folder of its version. Run: nacre attach URL --keep")
    return replace(database, url=file_address(database.dialect, file))


def file_address(kind: str, file: Path) -> str:
    """The address of a file that nobody changes, so that SQLite looks for no journal beside it."""
    query = {"immutable": "1"} if kind == "sqlite" else {}
    return URL.create(kind, database=str(file), query=query).render_as_string()
