"""Database files that are opened in processes that can be killed: those that people uploaded, and those of a server."""

import os
import resource
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from sqlalchemy import URL

from nacre.errors import ConfigError, ToolError
from nacre.stores.databases.address import DIALECTS, FILES, DatabaseLimits
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.databases.connection import DatabaseConnections
from nacre.stores.processes.killable_pool import KillablePool, pool_errors, wait_for_result
from nacre.stores.processes.no_network import deny_network
from nacre.stores.sqlite.tables import Cell, SqlResult

# the folder of a version that has the file
FOLDER = "kept"
# of a process that reads such files, and how many files it has open
MEMORY, OPEN_FILES = 3_000_000_000, 8
# that a process may take beyond the time limit of its query before it is killed
GRACE_SECONDS = 2.0


class _SharedPool:
    """The processes of all kept files; they end with the last graph that has one."""

    def __init__(self) -> None:
        self.work = KillablePool(MEMORY, prepare=_import_drivers)
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


def _import_drivers() -> None:
    import nacre.stores.databases.connection  # noqa: F401


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


@lru_cache(OPEN_FILES)
def _opened(address: str) -> DatabaseConnections:
    return DatabaseConnections(address, DatabaseLimits(connections=1))


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
