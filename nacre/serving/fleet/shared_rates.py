"""Rate limits of keys over all servers: owner -> a request is counted, or refused.

A server takes requests of a key from the database in small lots, so that most requests need no statement. What it has
taken and not used counts as used. A key that is refused asks the database again when it may have a request left.
"""

import logging
import threading
import time
from collections.abc import Callable

from nacre.serving.errors import TooManyRequests
from nacre.serving.http.auth import MAX_TRACKED_CLIENTS, OWNER, RateLimiter
from nacre.stores.state.database import StateDatabase, StorageError
from nacre.stores.state.schema import install_tables

log = logging.getLogger(__name__)

# a lot is this share of what a key may send at once, and is dropped after so many seconds
LOT_SHARE, LOT_SECONDS = 0.05, 10.0
PART = "rates"
# `until`: when the requests that were counted would have come one after the other, at the rate of the limit
VERSIONS = (("CREATE TABLE IF NOT EXISTS request_rate (owner TEXT PRIMARY KEY, until {real} NOT NULL) {clustered}",),)
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
        install_tables(database, PART, VERSIONS)

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
