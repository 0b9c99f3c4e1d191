"""What servers share in a database: Runs + RunStates -> SharedRuns, which clients can follow, resume and cancel through
any server; rate limits; API keys (see `serving/keys`).

A server writes the events of its runs to the database in batches, a moment after they happen. Another one that is asked
for such a run follows it there, and leaves the wish to cancel it or a note that somebody follows. Whether the server
still lives is the lock that it holds, so no clocks are compared.

Rate limits of keys hold over all servers: owner -> a request is counted, or refused. A server takes requests of a key
from the database in small lots, so that most requests need no statement. What it has taken and not used counts as used.
A key that is refused asks the database again when it may have a request left."""

import asyncio
import contextlib
import json
import logging
import threading
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

from nacre.errors import ConfigError
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound, TooManyRequests
from nacre.serving.http.auth import MAX_TRACKED_CLIENTS, OWNER, RateLimiter
from nacre.serving.keys import KEY_FILE, Caller, KeyStore, KeysUnavailable, StoredKey
from nacre.serving.runs import CLIENT_LEFT, Run, RunEvent, Runs
from nacre.serving.threads import Threads
from nacre.stores.state.database import Execute, StateDatabase, StorageError, install_tables
from nacre.stores.state.locks import StateLock, StateLocks

log = logging.getLogger(__name__)

# how often a server writes events and looks for wishes: while runs are active, and else
ACTIVE_SECONDS, IDLE_SECONDS = 0.1, 0.5

# how often a follower looks for events, and for the server of the run
FOLLOW_SECONDS, ALIVE_SECONDS = 0.1, 1.0

CLEAN_SECONDS = 30.0

# a run that has just begun may not be written yet
RETRY_SECONDS = 0.3

LOST = "The server that answered this question has stopped. Ask again."

T = TypeVar("T")

Call = Callable[..., Any]


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


class Wishes(NamedTuple):
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
        install_tables(database, RUNS_PART, RUNS_VERSIONS)

    def stay_alive(self) -> None:
        """Hold the lock that tells others that this server lives; take it again if the connection was lost."""
        if self._lock is not None:
            try:
                self._lock.verify()
            except BaseException:
                self._lock = None
                raise
        else:
            self._lock = self._locks.try_acquire(f"server-{self._server}")

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
        return self._locks.is_held(f"server-{server}")

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


class SharedRuns(Runs):
    """The runs of this process and, through the database, those of other servers."""

    def __init__(self, resume_seconds: float, states: RunStates) -> None:
        super().__init__(resume_seconds)
        self._states = states
        self._written: dict[str, int] = {}
        self._begun = asyncio.Event()
        # a thread of its own: turns that compute must not delay it
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="nacre-runs")
        self._followers = ThreadPoolExecutor(4, thread_name_prefix="nacre-followed-runs")
        self._is_failing = False

    def start(self, run: Run, events: Any) -> None:
        super().start(run, events)
        self._begun.set()

    async def find(self, caller: Caller, id: str) -> Run:
        local = self._runs.get(id)
        if local is not None:
            return self.get(caller, id)
        stored = await self._ask(self._states.find, id)
        if stored is None:
            await asyncio.sleep(RETRY_SECONDS)
            stored = await self._ask(self._states.find, id)
        if stored is None or stored.owner != caller.owner or not caller.may_read(stored.graph):
            raise NotFound("This run does not exist or ended a while ago. Ask again.")
        events = await self._ask(self._states.events, id, 0)
        return FollowedRun(stored, [RunEvent(*event) for event in events], self._states, self._ask)

    async def running(self, caller: Caller, thread: str | None = None) -> list[Run]:
        stored = await self._ask(self._states.active, caller.owner)
        remote = [each for each in stored if each.id not in self._runs and thread in (None, each.thread)]
        followed: list[Run] = [FollowedRun(each, [], self._states, self._ask) for each in remote]
        return [*await super().running(caller, thread), *followed]

    async def share(self) -> None:
        """Write the events of this process's runs, and do what other servers want of them, until it is cancelled."""
        loop = asyncio.get_running_loop()
        cleaned = loop.time()
        while True:
            self._begun.clear()
            try:
                await self._share_once()
                if loop.time() - cleaned > CLEAN_SECONDS:
                    cleaned = loop.time()
                    await loop.run_in_executor(self._pool, self._states.remove_old)
                self._is_failing = False
            except StorageError as error:
                if not self._is_failing:
                    log.warning("other servers can't see the runs of this one: %s", error)
                self._is_failing = True
            seconds = ACTIVE_SECONDS if any(not run.is_done for run in self._runs.values()) else IDLE_SECONDS
            # not asyncio.wait_for: in Python 3.11 it swallows a cancellation that comes with the event
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._begun.wait()

    async def close(self, seconds: float) -> None:
        await super().close(seconds)
        try:
            await self._share_once()
            await asyncio.get_running_loop().run_in_executor(self._pool, self._states.close)
        except StorageError as error:
            log.warning("the end of the runs is not stored: %s", error)

    async def _share_once(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._pool, self._states.stay_alive)
        changed = []
        for run in list(self._runs.values()):
            number = self._written.get(run.id)
            if number is None or number < len(run.events):
                new = [(event.kind, event.data) for event in run.events[number or 0 :]]
                changed.append((_stored(run), number or 0, new))
        if changed:
            await loop.run_in_executor(self._pool, self._states.save, changed)
            self._written |= {run.id: number + len(new) for run, number, new in changed}
        self._written = {id: number for id, number in self._written.items() if id in self._runs}
        if any(not run.is_done for run in self._runs.values()):
            wishes = await loop.run_in_executor(self._pool, self._states.wishes)
            for id, (stop, is_followed) in wishes.items():
                if (local := self._runs.get(id)) is not None:
                    if is_followed:
                        local.keep_alive()
                    if stop is not None:
                        local.stop(stop)

    async def _ask(self, call: Callable[..., T], *given: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._followers, call, *given)


async def open_shared_runs(resume_seconds: float, threads: Threads) -> SharedRuns:
    """The runs of this process, which is a server of its own among those that share the database of the threads."""
    given = threads.conversations.database, threads.queues.stored_locks, uuid.uuid4().hex
    return SharedRuns(resume_seconds, await run_in_thread(RunStates, *given))


@asynccontextmanager
async def share_state(app: Any) -> AsyncIterator[None]:
    """While a server runs, share its runs, and follow the store of graphs, as far as the settings say so."""
    settings, runs, tasks = app.state.settings, app.state.runs, []
    if isinstance(runs, SharedRuns):
        tasks.append(asyncio.create_task(runs.share()))
    if settings.graphs is not None:
        from nacre.extensions.fleet.graph_store import FollowedGraphs

        followed = FollowedGraphs(settings.graphs, settings.data, settings.graphs_hosts)
        app.state.health.others.append(lambda: followed.problem)
        tasks.append(asyncio.create_task(followed.follow()))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


class FollowedRun(Run):
    """A run of another server: its events come from the database. It follows them once somebody listens or waits."""

    def __init__(self, stored: StoredRun, events: list[RunEvent], states: RunStates, ask: Call) -> None:
        # when its last client leaves, this server stops following; the other one decides about the turn
        super().__init__(stored.owner, stored.graph, 0, stored.thread)
        self.id, self.created = stored.id, stored.created
        self.events = events
        self._stored = stored
        self._states, self._ask = states, ask
        self._stopping: asyncio.Task[None] | None = None

    @property
    def is_lasting(self) -> bool:
        return self._stored.lasting

    @property
    def status(self) -> Literal["pending", "running", "success", "error", "cancelled"]:
        if self.is_done and self.is_cancelled:
            return "cancelled"
        # the state may have been read before the events that follow it
        is_begun = self._stored.status == "pending" and self.events
        return "running" if is_begun else cast(Any, self._stored.status)

    def stop(self, why: str = CLIENT_LEFT) -> None:
        if why == CLIENT_LEFT:
            super().stop(why)
        elif self._stopping is None:
            self._stopping = asyncio.ensure_future(self._ask(self._states.request_stop, self.id, why))

    async def wait(self) -> None:
        self._begin()
        if self._stopping is not None:
            await self._stopping
        await super().wait()

    async def batches(self, after: int = 0) -> AsyncGenerator[list[tuple[int, RunEvent]]]:
        self._begin()
        async for batch in super().batches(after):
            yield batch

    def _begin(self) -> None:
        if self._task is None and not self.is_done:
            self._task = asyncio.create_task(self._follow(), name=f"followed run {self.id}")

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        looked = loop.time() - ALIVE_SECONDS
        while not self.is_done:
            try:
                is_alive = True
                if loop.time() - looked >= ALIVE_SECONDS:
                    looked = loop.time()
                    await self._ask(self._states.note_follower, self.id)
                    is_alive = await self._ask(self._states.is_alive, self._stored.server)
                # whatever a server wrote before it died is there now
                new = await self._ask(self._states.events, self.id, len(self.events))
                if self.is_done or not (new or is_alive):
                    self._end()
                self.events += [RunEvent(*event) for event in new]
                if new:
                    self._changed.set()
                if self.is_done:
                    self._stored = await self._ask(self._states.find, self.id) or self._stored
                    self.is_cancelled = self._stored.status == "cancelled"
            except StorageError as error:
                log.warning("run %s can't be followed: %s", self.id, error)
                self._end()
            await asyncio.sleep(FOLLOW_SECONDS)

    def _end(self) -> None:
        self._publish("error", {"message": LOST, "status": 503})
        self._publish("done", {"run": self.id})


def _stored(run: Run) -> StoredRun:
    return StoredRun(run.id, run.owner, run.graph, run.thread, "", run.created, run.is_lasting, run.status, run.is_done)


# ended runs can be read for so long, in seconds; those of a server that died are removed after a day
RETENTION_SECONDS, MAX_SECONDS = 120.0, 86_400.0

# a client of another server counts for so long after its last sign, in seconds
FOLLOWED_SECONDS = 3.0

MAX_LISTED = 1000

RUNS_PART = "runs"

RUNS_VERSIONS = (
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


def _parse_run(row: Sequence[Any]) -> StoredRun:
    id, owner, graph, thread, server, created, lasting, status, ended = row
    return StoredRun(id, owner, graph, thread, server, created, bool(lasting), status, ended is not None)


# a lot is this share of what a key may send at once, and is dropped after so many seconds
LOT_SHARE, LOT_SECONDS = 0.05, 10.0

RATES_PART = "rates"

# `until`: when the requests that were counted would have come one after the other, at the rate of the limit
RATES_VERSIONS = (
    ("CREATE TABLE IF NOT EXISTS request_rate (owner TEXT PRIMARY KEY, until {real} NOT NULL) {clustered}",),
)

_TAKE = (
    "INSERT INTO request_rate VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET"
    " until = CASE WHEN request_rate.until > ? THEN request_rate.until ELSE ? END + ?"
    " WHERE CASE WHEN request_rate.until > ? THEN request_rate.until ELSE ? END + ? <= ? RETURNING until"
)


class SharedRateLimiter(RateLimiter):
    """A `RateLimiter` that counts the requests of keys in a database, and those without a key in this process."""

    def __init__(self, per_minute: int, database: StateDatabase, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(per_minute, clock)
        self._database = database
        self._lock = threading.Lock()
        # by client: requests that are left of its lot, or none, and until when that holds
        self._lots: dict[str, tuple[int, float]] = {}
        self._lot = max(1, int(self._size * LOT_SHARE))
        self._is_failing = False
        install_tables(database, RATES_PART, RATES_VERSIONS)

    def take(self, client: str) -> None:
        if not self._per_second or not client.startswith(OWNER):
            super().take(client)
            return
        with self._lock:
            self._take(client)

    def _take(self, client: str) -> None:
        now = self._clock()
        left, until = self._lots.pop(client, (0, 0.0))
        if now >= until:
            left, until = self._next_lot(client, now)
        # after the last request of a lot comes the next lot; without one, the key waits
        self._lots[client] = (left - 1, until if left > 1 else 0.0) if left else (0, until)
        while len(self._lots) > MAX_TRACKED_CLIENTS:
            del self._lots[next(iter(self._lots))]
        if left < 1:
            raise TooManyRequests("Too many requests. Slow down.", until - now)

    def _next_lot(self, client: str, now: float) -> tuple[int, float]:
        """How many requests are taken, and until when; none, and how long to wait."""
        try:
            for size in dict.fromkeys((self._lot, 1)):
                if self._has_taken(client, size):
                    self._is_failing = False
                    return size, now + (LOT_SECONDS if size > 1 else 0.0)
            rows = self._database.read("SELECT until FROM request_rate WHERE owner = ?", client)
            there = self._database.now()
        except StorageError as error:
            if not self._is_failing:
                log.warning("rate limits hold for each server alone: %s", error)
            self._is_failing = True
            super().take(client)
            return 1, now
        wait = rows[0][0] + 1 / self._per_second - self._size / self._per_second - there if rows else 0.0
        return 0, now + max(wait, 0.001)

    def _has_taken(self, client: str, size: int) -> bool:
        now, taken = self._database.now(), size / self._per_second
        most = now + self._size / self._per_second
        with self._database.writing() as run:
            given = client, now + taken, now, now, taken, now, now, taken, most
            return run(_TAKE, *given).fetchone() is not None


# a key that is revoked on one server is refused on all after this time (given: 1 s at most)
RECENT_SECONDS = 0.3

PART = "keys"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS api_key (
        name TEXT PRIMARY KEY, hash TEXT NOT NULL, graphs TEXT NOT NULL, created {real} NOT NULL, revoked {real},
        may TEXT NOT NULL)""",
    ),
)


class SharedKeyStore(KeyStore):
    """The keys of a database. A change takes effect within RECENT_SECONDS, on every server."""

    database: StateDatabase

    def __init__(self, database: StateDatabase) -> None:
        super().__init__(Path())
        self.database = database
        self._read_at = -RECENT_SECONDS
        self._run: Execute | None = None
        install_tables(database, PART, VERSIONS)

    @property
    def place(self) -> str:
        return "The database"

    def all(self) -> tuple[StoredKey, ...]:
        now = time.monotonic()
        if now - self._read_at < RECENT_SECONDS:
            return self._keys
        try:
            rows = self.database.read("SELECT name, hash, graphs, created, revoked, may FROM api_key ORDER BY created")
        except StorageError as error:
            raise KeysUnavailable(f"The keys can't be read ({error}), so no key is accepted.") from error
        self._keys = self._checked(tuple(map(_parse_row, rows)))
        self._read_at = now
        return self._keys

    def add_stored(self, keys: Sequence[StoredKey]) -> None:
        """Store keys as they are; a name that is in use keeps its key. Raises ConfigError."""
        with self._locked() as present:
            names = {key.name for key in present}
            self._write([key for key in keys if key.name not in names])

    def _now(self) -> float:
        return self.database.now()

    @contextmanager
    def _locked(self) -> Iterator[tuple[StoredKey, ...]]:
        try:
            with self.database.writing(KEY_FILE) as run:
                self._run = run
                rows = run("SELECT name, hash, graphs, created, revoked, may FROM api_key ORDER BY created").fetchall()
                yield tuple(_parse_row(tuple(row)) for row in rows)
        except StorageError as error:
            raise ConfigError(f"The keys can't be written: {error}.") from error
        finally:
            self._run, self._read_at, self._had_keys = None, -RECENT_SECONDS, False

    def _write(self, keys: Sequence[StoredKey]) -> None:
        assert self._run is not None
        for key in keys:
            self._run(
                "INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET hash = excluded.hash,"
                " graphs = excluded.graphs, created = excluded.created, revoked = excluded.revoked, may = excluded.may",
                *(key.name, key.hash, json.dumps(key.graphs), key.created, key.revoked, json.dumps(key.may)),
            )


def _parse_row(row: Sequence[Any]) -> StoredKey:
    name, hash, graphs, created, revoked, may = row
    readable = json.loads(graphs)
    graphs = None if readable is None else tuple(readable)
    return StoredKey(name, hash, graphs, created, revoked, tuple(json.loads(may)))
