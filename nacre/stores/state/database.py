"""The one place that opens an SQL database for what Nacre stores about its users: address -> StateDatabase.

The settings name a PostgreSQL server or a file of SQLite; else it is a file of the data folder. Statements are the same
for both: `?` marks a value, and a list as a value becomes the members of `IN (?)`. What differs stands in StateDialect.

Tables have versions: part + its statements by version -> tables that are up to date. A part is a store, such as the
conversations. Version n consists of the statements that lead from version n - 1 to it. A released version never
changes: later changes are further versions.

Connections to a server: address -> Engine, with the clock of the server. A connection that the server has ended is
noticed before it is used again, without a question to the server: what the server sent last, or the end of the stream,
waits at its socket."""

import hashlib
import json
import os
import re
import select
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.addresses import with_password

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, CursorResult, Engine, TextClause


class Execute:
    """Runs statements with their values, within a transaction."""

    def __init__(self, connection: "Connection", *, is_server: bool) -> None:
        self._connection = connection
        self._is_server = is_server

    def __call__(self, sql: str, *given: object) -> Any:
        """The result of a statement, as of SQLAlchemy."""
        return execute(self._connection, sql, given, self._is_server)

    def upsert(self, table: str, row: Mapping[str, object], *keys: str) -> None:
        """Insert a row by its columns; it replaces the row that has the same values of the `keys`."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        changed = ", ".join(f"{name} = excluded.{name}" for name in row if name not in keys)
        conflict = f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changed}"
        self(f"INSERT INTO {table} ({names}) VALUES ({marks}) {conflict}", *row.values())

    def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row of values; a server gets them together. No value is a list."""
        if rows:
            values = [_named(row, self._is_server) for row in rows]
            self._connection.execute(_statement(sql, (False,) * len(rows[0])), values)


class StateDatabase:
    """One SQL database, safe to share between threads and processes. Methods raise StorageError."""

    def __init__(self, engine: "Engine", file: Path | None) -> None:
        self.dialect = DIALECTS[engine.dialect.name]
        self.file = file
        self._engine = engine
        # SQLite: a connection and a lock each, so that readers do not wait for the writer
        self._own = None if file is None else (_Held(engine), _Held(engine))
        # the same connections, on which each statement is a transaction
        self._autocommit = engine if file is not None else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._clock = ServerClock(lambda: float(self.read("SELECT extract(epoch FROM clock_timestamp())")[0][0]))

    @property
    def is_server(self) -> bool:
        """Whether it is a server, which other machines may share."""
        return self.file is None

    @property
    def url(self) -> "URL":
        """Its address, with the password."""
        return self._engine.url

    def read(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with _errors(), self._autocommit.connect() if self._own is None else self._own[1] as connection:
            return [tuple(row) for row in execute(connection, sql, given, self.is_server)]

    @contextmanager
    def writing(self, scope: str = "", *, deletes: bool = False) -> Iterator[Execute]:
        """A transaction; it ends with the block, and an error takes it back. On a server, those of the same scope run
        one after the other, as all do in a file. What it `deletes` then stays in no journal of a file either."""
        with _errors():
            if self._own is not None:
                with self._own[0] as connection:
                    with _immediate(connection):
                        yield Execute(connection, is_server=False)
                    if deletes:
                        raw: Any = connection.connection.dbapi_connection
                        # nothing happens while others read or write for long; a later one catches up
                        with suppress(sqlite3.Error):
                            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                return
            with self._engine.begin() as connection:
                run = Execute(connection, is_server=True)
                if scope:
                    run("SELECT pg_advisory_xact_lock(?)", lock_number(scope))
                yield run

    def now(self) -> float:
        """Seconds since 1970: by the server's clock if there is one, since those of several machines may differ."""
        return time.time() if self._own is not None else self._clock.now()

    def try_writing(self) -> None:
        """Raise StorageError if nothing can be written (a file: in half a second, on its own connection)."""
        if self.file is not None:
            with closing(sqlite3.connect(self.file, timeout=WRITE_TEST_SECONDS, isolation_level=None)) as trial:
                trial.execute("BEGIN IMMEDIATE")
                trial.execute("COMMIT")
        elif self.read("SHOW transaction_read_only") != [("off",)]:
            raise ServerDatabaseError("the database server is read-only")

    def connect(self) -> "Connection":
        """A connection of its own, on which each statement is a transaction."""
        with _errors():
            return self._autocommit.connect()

    def close(self) -> None:
        """Close all connections."""
        for each in self._own or ():
            each.close()
        self._engine.dispose()


def open_state(settings: Settings, name: str) -> StateDatabase:
    """The database of NACRE_DATABASE_URL, else a private file of a name in the data folder. Raises ConfigError."""
    if settings.database_url is not None:
        try:
            return open_database(settings.database_url.get_secret_value(), settings.database_keys)
        except OSError as error:
            raise ConfigError(f"The file of NACRE_DATABASE_URL can't be written: {error.strerror}.") from error
        except StorageError as error:
            raise ConfigError(f"NACRE_DATABASE_URL can't be used: {error}.") from error
    file = settings.data / name
    try:
        make_private(file)
        return open_file(file)
    except OSError as error:
        raise ConfigError(f"Can't write {file}: {error.strerror}. Check who may write there, or NACRE_DATA.") from error
    except StorageError as error:
        raise _unusable_file(file, error) from error


def shared_state(settings: Settings) -> Callable[[], StateDatabase] | None:
    """What opens the database of NACRE_DATABASE_URL; None without one."""
    return None if settings.database_url is None else partial(open_state, settings, "")


def unusable_state(database: StateDatabase, error: Exception) -> ConfigError:
    """The error for a database that can't be used, with what to do."""
    if database.file is not None:
        return _unusable_file(database.file, error)
    return ConfigError(f"NACRE_DATABASE_URL can't be used: {error}. Check that the server runs and lets Nacre in.")


def _unusable_file(file: Path, error: Exception) -> ConfigError:
    advice = "Close what holds it, make room on its disk, or set NACRE_DATA."
    return ConfigError(f"Can't use {file}: {error}. {advice}")


# raised if the stored data can't be read or written, whatever holds it
StorageError = sqlite3.Error

BUSY_SECONDS = 3.0

WRITE_TEST_SECONDS = 0.5


class ServerDatabaseError(StorageError):
    """The database server does not answer, or refuses a statement."""


class _Held:
    """A connection that is kept open, and used by one thread at a time."""

    def __init__(self, engine: "Engine") -> None:
        self._lock = threading.Lock()
        with _errors():
            self._connection = engine.connect()

    def __enter__(self) -> "Connection":
        self._lock.acquire()
        return self._connection

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def close(self) -> None:
        # SQLite crashes if a connection is closed while another thread runs a statement on it
        with self._lock:
            self._connection.close()


def open_file(file: Path, pragmas: Sequence[str] = ("journal_mode=WAL", "secure_delete=ON")) -> StateDatabase:
    """A database in a file of SQLite. Raises StorageError."""
    from sqlalchemy import NullPool, create_engine

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    return StateDatabase(engine, file)


def open_database(address: str, passwords: Any = None) -> StateDatabase:
    """The database of `sqlite:///FILE` or `postgresql://USER@HOST/NAME`; `passwords` by host, as for attached
    databases. Raises ConfigError for an address that can't be used, StorageError or OSError if it can't be opened."""
    url = parse_url(address)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "").expanduser().absolute()
        make_private(file)
        return open_file(file)
    if url.password is None:
        url = with_password(url.render_as_string(hide_password=False), passwords or {})
    return StateDatabase(server_engine(url), None)


def make_private(file: Path) -> None:
    """Create a file that only its owner reads; SQLite gives its journals the mode of the file. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    if file.stat().st_uid == os.geteuid():
        for each in (file, *file.parent.glob(f"{file.name}-*")):
            each.chmod(0o600)


def parse_url(address: str) -> "URL":
    """The address in the form of SQLAlchemy; raises ConfigError that quotes nothing of it (it may have a password)."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise ConfigError(f"The address of the database can't be read. {_FORMS}") from None
    kind = url.get_backend_name()
    if kind not in DIALECTS:
        raise ConfigError(f"Nacre stores conversations and keys in PostgreSQL or SQLite. {_FORMS}")
    if kind == "sqlite" and (not url.database or url.database == ":memory:"):
        raise ConfigError(f"The address of the database names no file. {_FORMS}")
    return url.set(drivername="postgresql+psycopg") if kind == "postgresql" else url


def lock_number(name: str) -> int:
    """The number of a lock on a PostgreSQL server, which knows no names: 63 bits of a hash."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") >> 1


_FORMS = "Write postgresql://USER@HOST:PORT/NAME or sqlite:///FILE."


@contextmanager
def _immediate(connection: "Connection") -> Iterator[None]:
    """A transaction of SQLite that waits for other writers at its beginning."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # if the disk is full, SQLite has rolled back already
        raw: Any = connection.connection.dbapi_connection
        if raw.in_transaction:
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


@contextmanager
def _errors() -> Iterator[None]:
    """Errors of SQLAlchemy as StorageError, without the statement and its values, which are private."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError
    from sqlalchemy.exc import TimeoutError as PoolTimeout

    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from None
        raise server_error(error.orig or error) from None
    except PoolTimeout:
        raise ServerDatabaseError("all connections to the database server are in use") from None
    except SQLAlchemyError as error:
        raise ServerDatabaseError(type(error).__name__) from None


def server_error(error: BaseException) -> ServerDatabaseError:
    """An error of the driver, without what it may quote of the data or of the login."""
    state = getattr(error, "sqlstate", None)
    if state is None and "password" in str(error):
        return ServerDatabaseError("the database server refuses the login; NACRE_DATABASE_KEYS has passwords by host")
    if state is None:
        return ServerDatabaseError("the database server does not answer")
    return ServerDatabaseError(f"the database server refuses: {type(error).__name__} ({state})")


_SIZE = re.compile(r"\{size:(\w+)\}")
_VERSIONS = "CREATE TABLE IF NOT EXISTS state_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL)"


def install_tables(database: StateDatabase, part: str, versions: Sequence[Sequence[str]]) -> None:
    """Create or update the tables of a part. `{size:COLUMN}` in a statement is the number of bytes of a column, and the
    types of the dialect stand in braces. Raises ConfigError if a later version of Nacre wrote them."""
    if _installed(database, part) == len(versions):
        return
    with database.writing("state_version") as run:
        run(_VERSIONS)
        found = run("SELECT version FROM state_version WHERE part = ?", part).fetchone()
        present = int(found[0]) if found else 0
        if present > len(versions):
            raise ConfigError(
                f"The {part} are stored in version {present}, and this nacre knows version {len(versions)}. Update it."
            )
        for statements in versions[present:]:
            for statement in statements:
                sized = _SIZE.sub(lambda found: database.dialect.byte_length.format(found[1]), statement)
                run(sized.format(**database.dialect.types))
        if present < len(versions):
            run.upsert("state_version", {"part": part, "version": len(versions)}, "part")


def _installed(database: StateDatabase, part: str) -> int:
    """The version of a part; 0 if it is not there. It writes nothing, so that nobody waits for a writer."""
    try:
        found = database.read("SELECT version FROM state_version WHERE part = ?", part)
    except StorageError:
        # there is no such table; if nothing can be read at all, writing fails next
        return 0
    return int(found[0][0]) if found else 0


def execute(connection: "Connection", sql: str, given: Sequence[object], is_server: bool) -> "CursorResult[Any]":
    """The result of a statement with its values."""
    lists = tuple([isinstance(value, list | tuple) for value in given])
    return connection.execute(_statement(sql, lists), _named(given, is_server))


def _named(given: Sequence[object], is_server: bool) -> dict[str, object]:
    # PostgreSQL stores no NUL in texts
    stored = (each.replace("\0", "\ufffd") if is_server and isinstance(each, str) else each for each in given)
    return {f"p{n}": value for n, value in enumerate(stored)}


@lru_cache(512)
def _statement(sql: str, lists: tuple[bool, ...]) -> "TextClause":
    from sqlalchemy import bindparam, text

    numbers = iter(range(len(lists)))

    def mark(found: re.Match[str]) -> str:
        number = next(numbers)
        # SQLAlchemy adds the parentheses of a list
        return f":p{number}" if lists[number] else found[0].replace("?", f":p{number}")

    marked = text(re.sub(r"\(\?\)|\?", mark, sql))
    return marked.bindparams(*(bindparam(f"p{n}", expanding=True) for n, is_list in enumerate(lists) if is_list))


@dataclass(frozen=True)
class StateDialect:
    """Parts of statements. `{}` in a template is a column; `types` are words of table definitions."""

    json_field: str
    # the length of the list in a field of a JSON object in a column
    list_length: str
    byte_length: str
    # whether the object in the column m.metadata has a key (second value) with a JSON value (first value)
    has_json_entry: str
    types: dict[str, str]


DIALECTS = {
    "sqlite": StateDialect(
        json_field="json_extract({}, '$.{}')",
        list_length="json_array_length({}, '$.{}')",
        byte_length="length(CAST({} AS BLOB))",
        # JSON's true and 1 have the same value in SQLite, so that types are compared as well
        has_json_entry=(
            "EXISTS (SELECT 1 FROM thread_metadata m, json_each(m.metadata) has, json_each(?) wanted"
            " WHERE m.owner = c.owner AND m.thread = c.thread AND has.key = ?"
            " AND has.type = wanted.type AND has.atom IS wanted.atom)"
        ),
        types={"real": "REAL", "number": "INTEGER PRIMARY KEY", "clustered": "WITHOUT ROWID"},
    ),
    "postgresql": StateDialect(
        json_field="({}::json ->> '{}')",
        list_length="json_array_length({}::json -> '{}')",
        byte_length="octet_length({})",
        has_json_entry=(
            "EXISTS (SELECT 1 FROM thread_metadata m, (SELECT CAST(? AS jsonb) -> 0 AS value) wanted"
            " WHERE m.owner = c.owner AND m.thread = c.thread AND m.metadata::jsonb -> ? = wanted.value)"
        ),
        types={
            "real": "DOUBLE PRECISION",
            "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "clustered": "",
        },
    ),
}


def json_text(value: Any) -> str:
    """JSON without NUL, which PostgreSQL does not read even where it is escaped.

    >>> json_text({"a": ["b\\0", 1]})
    '{"a": ["b\ufffd", 1]}'
    """
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(_json_without_nul(value), ensure_ascii=False) if "\\u0000" in text else text


def _json_without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_json_without_nul(key): _json_without_nul(each) for key, each in value.items()}
    return [_json_without_nul(each) for each in value] if isinstance(value, list | tuple) else value


CONNECT_SECONDS = 5

CONNECTIONS = 8

# a server ends a statement, or a wait for a row, after so long; it notices a machine that is gone after half a minute
SERVER_OPTIONS = (
    "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
    " -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"
)

# and this machine notices a server that is gone after the same time
CONNECT_ARGUMENTS: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "options": SERVER_OPTIONS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}

# how long the clock of the server is not asked again: clocks drift apart by less than 0.1 ms a second
CLOCK_SECONDS = 10.0


def server_engine(url: "URL") -> "Engine":
    """An engine for a PostgreSQL server. Raises ConfigError without a driver."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import InvalidatePoolError, NoSuchModuleError

    try:
        engine = create_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=CONNECT_SECONDS,
            # a statement that is seen twice on a connection is prepared there
            connect_args={**CONNECT_ARGUMENTS, "prepare_threshold": 1},
        )
    except (ImportError, NoSuchModuleError):
        raise ConfigError("PostgreSQL needs a driver. Run: pip install 'nacre[postgres]'") from None

    def check(connection: Any, record: object, proxy: object) -> None:
        if has_news(connection):
            raise InvalidatePoolError

    event.listen(engine, "checkout", check)
    return engine


def has_news(connection: Any) -> bool:
    """Whether a connection of psycopg is closed, or its server sent something between two statements."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))


class ServerClock:
    """The clock of a server: it is read now and then, and between that the monotonic clock of this machine goes on."""

    def __init__(self, ask: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._ahead = 0.0
        self._asked = -CLOCK_SECONDS

    def now(self) -> float:
        """Seconds since 1970. Raises what `ask` does."""
        with self._lock:
            if self._clock() - self._asked >= CLOCK_SECONDS:
                found = self._ask()
                self._asked = self._clock()
                self._ahead = found - self._asked
            return self._clock() + self._ahead
