"""Limits of spending: what models took for a caller on a day (UTC) -> the caller may ask, or not before the next day.

The days are rows of the database of conversations, so that processes and servers that share it share the limits. What
can't be stored counts in the memory of its process, and is stored with the next turn of its caller.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from nacre.config.models import model_price, own_provider
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.serving.errors import StorageUnavailable, TooManyRequests
from nacre.serving.keys import Caller
from nacre.stores.state.database import StateDatabase, StorageError, install_tables

log = logging.getLogger(__name__)

N = TypeVar("N", int, float)

PART = "spending"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS spending (
        day BIGINT NOT NULL, owner TEXT NOT NULL, tokens BIGINT NOT NULL, dollars {real} NOT NULL,
        PRIMARY KEY (day, owner)) {clustered}""",
    ),
)

DAY = 86_400

# days that are stored, and rows that are shown at once (set by hand)
KEPT_DAYS, MAX_SHOWN = 90, 10_000


@dataclass(frozen=True)
class SpentDay:
    """What models took for an owner on a day, counted from 1970."""

    day: int
    owner: str
    tokens: int
    dollars: float


class Spending:
    """The days of all callers. Methods raise StorageError."""

    def __init__(self, database: StateDatabase) -> None:
        self._database = database
        install_tables(database, PART, VERSIONS)

    def today(self) -> tuple[int, float]:
        """The day, and the seconds until the next one."""
        now = self._database.now()
        return int(now // DAY), DAY - now % DAY

    def add(self, owner: str, tokens: int, dollars: float) -> None:
        """Add to the present day, and delete days that are too old."""
        day, _ = self.today()
        with self._database.writing() as run:
            run("DELETE FROM spending WHERE day <= ?", day - KEPT_DAYS)
            run(
                "INSERT INTO spending VALUES (?, ?, ?, ?) ON CONFLICT (day, owner) DO UPDATE SET"
                " tokens = spending.tokens + excluded.tokens, dollars = spending.dollars + excluded.dollars",
                *(day, owner, tokens, dollars),
            )

    def days(self, since: int, owner: str | None = None) -> list[SpentDay]:
        """The days of an owner, or of all, the latest first."""
        where, given = ("", []) if owner is None else (" AND owner = ?", [owner])
        sql = f"SELECT day, owner, tokens, dollars FROM spending WHERE day >= ?{where} ORDER BY day DESC, owner LIMIT ?"
        return [SpentDay(*row) for row in self._database.read(sql, since, *given, MAX_SHOWN)]

    def forget(self, owner: str) -> None:
        """Delete the days of an owner."""
        with self._database.writing() as run:
            run("DELETE FROM spending WHERE owner = ?", owner)


class DayLimits:
    """What models may take for each caller of a server."""

    def __init__(self, settings: Settings, spending: Spending) -> None:
        self._tokens, self._dollars = settings.day_tokens, settings.day_cost
        self._spending = spending
        self._lock = Lock()
        self._unstored: dict[str, tuple[int, float]] = {}

    def check(self, caller: Caller) -> None:
        """Raises TooManyRequests if the caller has nothing left today."""
        limits = limit_of(self._tokens, caller.owner), limit_of(self._dollars, caller.owner)
        if limits == (None, None):
            return
        try:
            day, seconds = self._spending.today()
            stored = next(iter(self._spending.days(day, caller.owner)), SpentDay(day, caller.owner, 0, 0.0))
        except StorageError as error:
            raise StorageUnavailable("What models took today can't be read now. Try again.") from error
        tokens, dollars = self._unstored.get(caller.owner, (0, 0.0))
        tokens, dollars = tokens + stored.tokens, dollars + stored.dollars
        if limits[0] is not None and tokens >= limits[0]:
            used = f"{tokens:,} of its {limits[0]:,} tokens"
        elif limits[1] is not None and dollars >= limits[1]:
            used = f"{dollars:.2f} of its {limits[1]:.2f} US dollars"
        else:
            return
        who, minutes = "account" if caller.name else "key", int(seconds // 60) + 1
        raise TooManyRequests(
            f"This {who} has used {used} for chat models today. Ask by the rules, or after 00:00 UTC, in"
            f" {minutes // 60} h {minutes % 60} min.",
            seconds,
        )

    def add(self, caller: Caller, tokens: int, dollars: float) -> None:
        """Store what models took for the caller."""
        with self._lock:
            before = self._unstored.pop(caller.owner, (0, 0.0))
            total = before[0] + tokens, before[1] + dollars
            try:
                self._spending.add(caller.owner, *total)
            except StorageError as error:
                self._unstored[caller.owner] = total
                log.warning("what models took for %s can't be stored: %s", caller.owner, error)


def limit_of(limits: Mapping[str, N], owner: str) -> N | None:
    """The limit of an owner; None for no limit.

    >>> limit_of({"*": 5, "site": 2}, "site"), limit_of({"*": 5}, "ann"), limit_of({"site": 2}, "ann")
    (2, 5, None)
    """
    return limits.get(owner, limits.get("*"))


def open_limits(settings: Settings, database: StateDatabase) -> DayLimits:
    """The limits of the settings. Raises ConfigError if they can't be kept."""
    roles = ("model", "model_rewriter", "model_sql", "model_fuser", "model_selector")
    for name in filter(None, (getattr(settings, role) for role in roles)):
        if settings.day_cost and own_provider(name) is None and model_price(settings, name) is None:
            raise ConfigError(f"NACRE_DAY_COST needs the price of {name!r}. Write it into a file and set NACRE_PRICES.")
    try:
        return DayLimits(settings, Spending(database))
    except StorageError as error:
        raise ConfigError(f"What models took can't be stored: {error}.") from error
