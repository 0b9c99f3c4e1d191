"""Runs as all servers see them: their events, who runs them, and the wish that they stop: id -> StoredRun.

The server of a run writes its events here in batches. Others read them, and leave a wish to stop or a note that
somebody follows. Whether the server still lives is the lock that it holds, so no clocks are compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nacre.stores.state.database import StateDatabase
from nacre.stores.state.locks import StateLock, StateLocks
from nacre.stores.state.schema import install_tables

# ended runs can be read for so long, in seconds; those of a server that died are removed after a day
RETENTION_SECONDS, MAX_SECONDS = 120.0, 86_400.0
# a client of another server counts for so long after its last sign, in seconds
FOLLOWED_SECONDS = 3.0
MAX_LISTED = 1000
PART = "runs"
VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS run_state (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, graph TEXT NOT NULL, thread TEXT NOT NULL, server TEXT NOT NULL,
        created {real} NOT NULL, lasting INTEGER NOT NULL, status TEXT NOT NULL, stop TEXT, followed {real},
        ended {real})""",
        "CREATE INDEX IF NOT EXISTS run_of_owner ON run_state (owner, ended)",
        "CREATE INDEX IF NOT EXISTS run_of_server ON run_state (server, ended)",
        """CREATE TABLE IF NOT EXISTS run_event (
        run TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (run, number)) {clustered}""",
    ),
)
_FIELDS = "id, owner, graph, thread, server, created, lasting, status, ended"


@dataclass(frozen=True)
class StoredRun:
    """A run. `created` is a time in seconds since 1970, `lasting` says whether it goes on without a client."""

    id: str
    owner: str
    graph: str
    thread: str
    server: str
    created: float
    lasting: bool
    status: str
    is_done: bool = False


@dataclass(frozen=True)
class Wishes:
    """What other servers want of a run: its end, for a reason, and whether somebody follows it there."""

    stop: str | None
    is_followed: bool


class RunStates:
    """The runs of all servers that share a database. Methods raise StorageError."""

    def __init__(self, database: StateDatabase, locks: StateLocks, server: str) -> None:
        self._database = database
        self._locks = locks
        self._server = server
        self._lock: StateLock | None = None
        install_tables(database, PART, VERSIONS)

    def stay_alive(self) -> None:
        """Hold the lock that tells others that this server lives; take it again if the connection was lost."""
        if self._lock is not None:
            try:
                self._lock.verify()
            except BaseException:
                self._lock = None
                raise
        else:
            self._lock = self._locks.try_acquire(_lock_name(self._server))

    def save(self, runs: Sequence[tuple[StoredRun, int, Sequence[tuple[str, str]]]]) -> None:
        """Store runs of this server, each with events (kind, data) that follow the ones of the given number."""
        now = self._database.now()
        with self._database.writing() as run:
            for each, number, events in runs:
                run(
                    "INSERT INTO run_state VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)"
                    " ON CONFLICT (id) DO UPDATE SET status = excluded.status, ended = excluded.ended",
                    *(each.id, each.owner, each.graph, each.thread, self._server, now, int(each.lasting), each.status),
                    now if each.is_done else None,
                )
                numbered = [(each.id, place, kind, data) for place, (kind, data) in enumerate(events, number + 1)]
                run.many("INSERT INTO run_event VALUES (?, ?, ?, ?) ON CONFLICT (run, number) DO NOTHING", numbered)

    def wishes(self) -> Mapping[str, Wishes]:
        """What others want of the runs of this server."""
        since = self._database.now() - FOLLOWED_SECONDS
        sql = (
            "SELECT id, stop, followed FROM run_state WHERE server = ? AND ended IS NULL"
            " AND (stop IS NOT NULL OR followed > ?)"
        )
        return {
            id: Wishes(stop, followed is not None and followed > since)
            for id, stop, followed in self._database.read(sql, self._server, since)
        }

    def find(self, id: str) -> StoredRun | None:
        """A run of any server."""
        rows = self._database.read(f"SELECT {_FIELDS} FROM run_state WHERE id = ?", id)
        return _parse_run(rows[0]) if rows else None

    def active(self, owner: str) -> list[StoredRun]:
        """An owner's runs that have not ended and whose servers live, the earliest first."""
        sql = f"SELECT {_FIELDS} FROM run_state WHERE owner = ? AND ended IS NULL ORDER BY created LIMIT ?"
        found = [_parse_run(row) for row in self._database.read(sql, owner, MAX_LISTED)]
        living = {server: self.is_alive(server) for server in {run.server for run in found}}
        return [run for run in found if living[run.server]]

    def events(self, id: str, after: int) -> list[tuple[str, str]]:
        """The events (kind, data) of a run after the one of a number."""
        sql = "SELECT kind, data FROM run_event WHERE run = ? AND number > ? ORDER BY number"
        return [(kind, data) for kind, data in self._database.read(sql, id, after)]

    def is_alive(self, server: str) -> bool:
        """Whether a server lives."""
        return self._locks.is_held(_lock_name(server))

    def request_stop(self, id: str, why: str) -> None:
        """Ask the server of a run to cancel it."""
        with self._database.writing() as run:
            run("UPDATE run_state SET stop = ? WHERE id = ? AND stop IS NULL", why, id)

    def note_follower(self, id: str) -> None:
        """Tell the server of a run that somebody follows it elsewhere."""
        now = self._database.now()
        with self._database.writing() as run:
            run("UPDATE run_state SET followed = ? WHERE id = ?", now, id)

    def remove_old(self) -> None:
        """Remove runs that ended a while ago."""
        now = self._database.now()
        old = "SELECT id FROM run_state WHERE ended < ? OR created < ?"
        given = now - RETENTION_SECONDS, now - MAX_SECONDS
        with self._database.writing() as run:
            run(f"DELETE FROM run_event WHERE run IN ({old})", *given)
            run("DELETE FROM run_state WHERE ended < ? OR created < ?", *given)

    def close(self) -> None:
        """Tell others that this server has stopped."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _lock_name(server: str) -> str:
    return f"server-{server}"


def _parse_run(row: Sequence[object]) -> StoredRun:
    id, owner, graph, thread, server, created, lasting, status, ended = row
    known = str(id), str(owner), str(graph), str(thread), str(server)
    return StoredRun(*known, float(str(created)), bool(lasting), str(status), ended is not None)
