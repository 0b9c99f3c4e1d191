"""The one place that opens an SQL database for what Nacre stores about its users: address -> StateDatabase.

The address is a file of SQLite or a PostgreSQL server. Statements are the same for both: `?` marks a value, and a list
as a value becomes the members of `IN (?)`. What differs stands in `dialect.py`.
"""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.errors import ConfigError
from nacre.stores.databases.address import with_password
from nacre.stores.state.dialect import DIALECTS
from nacre.stores.state.server_engine import ServerClock, server_engine
from nacre.stores.state.statements import Execute, execute

# SQLAlchemy is imported when a database is opened: a question without a thread does without its 0.2 s
if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

# raised if the stored data can't be read or written, whatever holds it
StorageError = sqlite3.Error

BUSY_SECONDS = 3.0
WRITE_TEST_SECONDS = 0.5


class ServerDatabaseError(StorageError):
    """The database server does not answer, or refuses a statement."""


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
        with _errors(), self._reading() as connection:
            return [tuple(row) for row in execute(connection, sql, given, self.is_server)]

    @contextmanager
    def writing(self, scope: str = "") -> Iterator[Execute]:
        """A transaction; it ends with the block, and an error takes it back. On a server, those of the same scope run
        one after the other, as all do in a file."""
        with _errors():
            if self._own is not None:
                with self._own[0] as connection, _immediate(connection):
                    yield Execute(connection, is_server=False)
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
        """Raise StorageError if nothing can be written; for a file within half a second, on a connection of its own, so
        that nobody waits for it."""
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

    @contextmanager
    def _reading(self) -> "Iterator[Connection]":
        if self._own is not None:
            with self._own[1] as connection:
                yield connection
        else:
            with self._autocommit.connect() as connection:
                yield connection


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
        self._connection.close()


def open_file(file: Path, pragmas: Sequence[str] = ("journal_mode=WAL",)) -> StateDatabase:
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
    """The database of an address: `sqlite:///FILE` or `postgresql://USER@HOST/NAME`. `passwords` are by host, as for
    attached databases. Raises ConfigError for an address that can't be used,
    StorageError or OSError if it can't be opened."""
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
    """The address in the form of SQLAlchemy; raises ConfigError that quotes nothing of it, since it may have a
    password."""
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
    if state is None:
        return ServerDatabaseError("the database server does not answer")
    return ServerDatabaseError(f"the database server refuses: {type(error).__name__} ({state})")
