"""Read-only connections to the server of a graph's tables: query + parameters -> rows within limits."""

import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from nacre.errors import ToolError
from nacre.records.cancellation import is_cancelled
from nacre.stores.databases.address import DatabaseLimits, missing_driver, public_address, with_password
from nacre.stores.databases.connection import bounded_rows, plain_cell
from nacre.stores.databases.server.place import ServerPlace
from nacre.stores.sqlite.tables import Cell
from nacre.stores.state.server_engine import has_news

_COST = re.compile(r"cost=[0-9]++(?:\.[0-9]++)?\.\.([0-9]++(?:\.[0-9]++)?) ")
# the codes of errors, or what they begin with
_GONE = ("42P01", "3F000")
_KINDS = (
    (("57014",), "timeout"),
    (("25006", "42501"), "refused"),
    (("53200", "53100", "54"), "too_large"),
    (("22", "42"), "type"),
)

Row = tuple[Cell, ...]


class _Session:
    """One connection, and the time that its statements may take."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.milliseconds = 0

    def limit(self, seconds: float) -> None:
        """Let the server stop statements after so many seconds."""
        wanted = max(50, round(seconds * 20) * 50)
        if wanted != self.milliseconds:
            self.connection.execute(f"SET statement_timeout = {wanted}")
            self.milliseconds = wanted


class ServerConnections:
    """At most so many connections of this process to one schema; a connection that is lost is opened again.

    All are read-only and hold a lock that keeps the schema from being dropped. Safe to share by threads.
    """

    def __init__(self, place: ServerPlace, limits: DatabaseLimits) -> None:
        self.place, self.limits = place, limits
        self._slots = threading.BoundedSemaphore(limits.connections)
        self._free: list[_Session] = []
        self._closed = False

    def rows(self, query: str, params: Sequence[Cell], seconds: float) -> list[Row]:
        """The rows of a query that limits them itself; `%s` stands for each parameter.

        Raises ToolError of kind timeout, too_large, refused, type, or unavailable: no connection, or no schema.
        """
        with self._session(seconds) as session, closing(session.connection.cursor().stream(query, params)) as found:
            return bounded_rows(found, sys.maxsize)

    def cost(self, query: str, params: Sequence[Cell], seconds: float) -> float:
        """What the server expects a query to cost, in its own units, without running it; raises what `rows` does."""
        plan = self.rows(f"EXPLAIN {query}", params, seconds)
        found = _COST.search(str(plan[0][0]))
        return float(found[1]) if found else 0.0

    def stream(self, query: str, params: Sequence[Cell], seconds: float) -> Iterator[Row]:
        """All rows of a query, as they arrive; raises what `rows` does."""
        with self._session(seconds) as session, session.connection.cursor() as cursor:
            for number, row in enumerate(cursor.stream(query, params)):
                if number % 1000 == 0 and is_cancelled():
                    raise ToolError("timeout", "The query was stopped.")
                yield tuple([plain_cell(cell) for cell in row])

    def close(self) -> None:
        """Close all connections that are not in use, and the others after their use."""
        self._closed = True
        while self._free:
            self._free.pop().connection.close()

    @contextmanager
    def _session(self, seconds: float) -> Iterator[_Session]:
        try:
            import psycopg
        except ImportError as error:
            raise missing_driver(error) from None
        until = time.monotonic() + seconds
        if not self._slots.acquire(timeout=seconds):
            raise ToolError("timeout", "All connections to the server are in use.")
        session: _Session | None = None
        try:
            session = self._ready(until)
            yield session
        except psycopg.Error as error:
            raise self._tool_error(error, seconds) from None
        finally:
            self._put_back(session)
            self._slots.release()

    def _ready(self, until: float) -> _Session:
        """A connection that was used before, if the server still has it, or a new one."""
        import psycopg

        left = max(0.05, until - time.monotonic())
        while self._free:
            session = self._free.pop()
            try:
                session.limit(left)
                if not has_news(session.connection):
                    return session
                session.connection.execute("SELECT 1")
                return session
            except psycopg.OperationalError:
                session.connection.close()
        session = self._open(left)
        session.limit(left)
        return session

    def _open(self, seconds: float) -> _Session:
        import psycopg

        url = with_password(self.place.url, self.limits.passwords)
        arguments: dict[str, Any] = dict(url.translate_connect_args(username="user", database="dbname"))
        arguments |= {key: value for key, value in url.query.items() if key != "options"}
        connection = psycopg.connect(
            **arguments,
            connect_timeout=max(2, round(min(seconds, self.limits.connect_seconds))),
            # to compile a query takes longer than most of them run (measured)
            options="-c default_transaction_read_only=on -c client_encoding=UTF8 -c jit=off",
            autocommit=True,
            application_name="nacre",
        )
        try:
            connection.execute("SELECT pg_advisory_lock_shared(%s)", (self.place.lock,))
        except BaseException:
            connection.close()
            raise
        return _Session(connection)

    def _put_back(self, session: _Session | None) -> None:
        if session is None:
            return
        if self._closed or session.connection.closed or session.connection.info.transaction_status != 0:
            session.connection.close()
        else:
            self._free.append(session)

    def _tool_error(self, error: Any, seconds: float) -> ToolError:
        """What an error of the driver means, by its code; without one there is no connection."""
        where, code = public_address(self.place.url), str(error.sqlstate or "")
        if code.startswith(_GONE):
            return ToolError(
                "unavailable", f"The tables of this version are gone from {where}. Ingest the graph again."
            )
        kind = next((kind for codes, kind in _KINDS if code.startswith(codes)), "unavailable")
        if kind == "timeout":
            return ToolError(kind, f"The query was stopped after {seconds:g} seconds.")
        if kind == "unavailable":
            return ToolError(kind, f"The tables of this graph are on {where}, which does not answer.")
        message = str(error).strip().split("\n")[0].rstrip(".")[:300]
        return ToolError(kind, f"{message}.")
