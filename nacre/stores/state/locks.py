"""Locks between processes, which end with the process that holds them: name -> StateLock. The system, or a PostgreSQL
server for a connection that ends, releases them: they need no clock and no renewal."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.stores.state.database import ServerDatabaseError, StateDatabase, has_news, lock_number
from nacre.stores.versions import try_lock

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOCK_FOLDER = ".queues"


@dataclass(frozen=True)
class StateLock:
    """A lock that is held. `verify` raises StorageError if it was lost."""

    release: Callable[[], None]
    verify: Callable[[], None]


class FileLocks:
    """Locks of the processes of one machine: a file for each name that is held, so that no name waits for another."""

    poll_seconds = 0.02

    def __init__(self, data: Path) -> None:
        self._folder = data / LOCK_FOLDER

    def slot(self, name: str) -> str:
        """The lock for a name."""
        return blake2b(name.encode(), digest_size=16).hexdigest()

    def try_acquire(self, slot: str) -> StateLock | None:
        """The lock, or None if a process holds it. Raises StorageError, or OSError."""
        file: Path | None = self._folder / slot
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._folder / slot, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            # if no file can be created, as on a full disk, all such names share a lock on the folder
            handle, file = os.open(self._folder.parent, os.O_RDONLY), None
        if not try_lock(handle):
            os.close(handle)
            return None
        if not os.fstat(handle).st_nlink:
            # whoever had it removed the file after it was opened here
            os.close(handle)
            return self.try_acquire(slot)

        def release() -> None:
            if file is not None:
                with suppress(OSError):
                    file.unlink()
            os.close(handle)

        return StateLock(release, lambda: None)

    def is_held(self, slot: str) -> bool:
        """Whether a process holds a lock."""
        if (lock := self.try_acquire(slot)) is not None:
            lock.release()
        return lock is None

    def close(self) -> None:
        """Release all locks of this process."""


class ServerLocks:
    """Like `FileLocks`, of all machines that share a PostgreSQL server: advisory locks of one connection."""

    poll_seconds = 0.05

    def __init__(self, database: StateDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        # the names that this process holds, since the server would give them to its connection again
        self._held: set[str] = set()

    def slot(self, name: str) -> str:
        return name

    def try_acquire(self, slot: str) -> StateLock | None:
        with self._lock:
            connection = self._open()
            if slot in self._held:
                return None
            if not self._ask(connection, "SELECT pg_try_advisory_lock(:number)", slot):
                return None
            self._held.add(slot)
        return StateLock(lambda: self._release(slot, connection), lambda: self._verify(connection))

    def is_held(self, slot: str) -> bool:
        number = lock_number(slot)
        sql = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = ? AND objid::bigint = ?"
        return bool(self._database.read(sql, number >> 32, number & 0xFFFFFFFF))

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _open(self) -> "Connection":
        if self._connection is not None and has_news(self._connection.connection.dbapi_connection):
            # the server has ended it, and released its locks
            self._drop()
        if self._connection is None:
            self._connection = self._database.connect()
        return self._connection

    def _drop(self) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        if self._connection is not None:
            with suppress(SQLAlchemyError):
                # the connection itself ends, and its locks with it
                self._connection.invalidate()
                self._connection.close()
        self._connection = None
        self._held.clear()

    def _ask(self, connection: "Connection", sql: str, slot: str) -> bool:
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return bool(connection.execute(text(sql), {"number": lock_number(slot)}).scalar())
        except SQLAlchemyError:
            self._drop()
            raise ServerDatabaseError("the connection to the database server was lost") from None

    def _release(self, slot: str, connection: "Connection") -> None:
        with self._lock:
            if connection is self._connection:
                self._held.discard(slot)
                # if the connection was lost, its locks are gone
                with suppress(ServerDatabaseError):
                    self._ask(connection, "SELECT pg_advisory_unlock(:number)", slot)

    def _verify(self, connection: "Connection") -> None:
        with self._lock:
            if connection is not self._connection:
                raise ServerDatabaseError("the connection to the database server was lost during the turn")
            self._ask(connection, "SELECT :number", "")


StateLocks = FileLocks | ServerLocks


def locks_of(database: StateDatabase) -> StateLocks:
    """The locks for what a database holds: of its server, or of the folder of its file."""
    return ServerLocks(database) if database.file is None else FileLocks(database.file.parent)
