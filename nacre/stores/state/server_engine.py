"""Connections to the PostgreSQL server of a state database: address -> Engine, with the clock of the server.

A connection that the server has ended is noticed before it is used again, without a question to the server: what the
server sent last, or the end of the stream, waits at its socket.
"""

import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nacre.errors import ConfigError

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

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
    """Whether a connection of psycopg is closed, or the server sent something between two statements, such as that it
    shuts down."""
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
