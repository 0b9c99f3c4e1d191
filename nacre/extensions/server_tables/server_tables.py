"""The tables of a version on a server, with the interface of `Tables`: SQL over the tables -> rows from the server.

Facts of many things are read with few queries: IRIs -> RowFacts by IRI. A query for each table reads all columns of the
rows. Predicates with tables of their own, which may have any number of values of a thing, are left to look-ups.
Connections are read-only: query + parameters -> rows within limits.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from nacre.errors import ToolError
from nacre.extensions.databases.attached_tables import RemoteTables, Row
from nacre.extensions.databases.connection import bounded_rows, plain_cell
from nacre.extensions.server_tables.translate import NUL, ServerPlace, ServerQueries, read_place
from nacre.records.threads import FairSemaphore, is_cancelled
from nacre.stores.addresses import DatabaseLimits, missing_driver, public_address, with_password
from nacre.stores.sqlite.tables import Cell, RowFacts, SqlResult, Tables, lexical_form, quote_identifier
from nacre.stores.state.database import has_news
from nacre.stores.versions import TABLES

# a query of an alternative reading, which in a file has a limit of steps, may have this cost by the server's plan for
# each of them (measured over 3.7 million triples: what ends within the limit costs 0.003 a step at most, what does not
# 0.015 at least)
_STEP_COST = 0.01

# SQL that Nacre wrote: a look-up, and an export of everything
_LOOK_UP_SECONDS, _LOOK_UP_ROWS, _EXPORT_SECONDS = 10.0, 100_000, 3600.0


def open_server_tables(folder: Path, limits: DatabaseLimits) -> "ServerTables":
    """The tables of a version; nothing is sent yet. Raises ConfigError."""
    place = read_place(folder)
    assert place is not None
    return ServerTables(folder / TABLES, place, limits)


class ServerTables(RemoteTables):
    """Reads the tables of one version from a server. Their metadata are in the file of the version."""

    def __init__(self, path: Path, place: ServerPlace, limits: DatabaseLimits) -> None:
        super().__init__(path)
        self.place = place
        self.limits, self.connections = limits, ServerConnections(place, limits)
        self.queries = ServerQueries(place)
        self._metadata = lru_cache(8)(self._read_metadata)

    def find_meta(self, key: str) -> str | None:
        """One entry of the metadata; None if there is none of this name."""
        return self._metadata(key)

    def check_steps(self, sql: str, params: Sequence[Cell], limit: int, seconds: float, steps: float) -> None:
        """By what the server expects a query to cost."""
        query = self.queries.native(sql, params, limit + 1)
        if self.connections.cost(query.text, query.params, seconds) > steps * _STEP_COST:
            raise ToolError("timeout", f"The query was not run, since it takes more than {steps:,.0f} steps.")

    def read(self, sql: str, params: Sequence[Cell], limit: int, seconds: float) -> SqlResult:
        query = self.queries.native(sql, params, limit + 1)
        rows = [self._restored(row) for row in self.connections.rows(query.text, query.params, seconds)]
        return SqlResult(self.queries.columns(sql, params), rows[:limit], len(rows) > limit)

    def shown(self, sql: str, params: tuple[Cell, ...] = ()) -> tuple[str, tuple[Cell, ...]]:
        """A query and its parameters as the server gets them."""
        query = self.queries.native(sql, params)
        return query.text.replace("CAST(%s AS TEXT)", "?").replace("%%", "%"), query.params

    def look_up(self, sql: str, params: Sequence[Cell]) -> list[Row]:
        """The rows of SQL that Nacre itself wrote, private tables included."""
        query = self.queries.native(sql, params, _LOOK_UP_ROWS, trusted=True)
        return [self._restored(row) for row in self.connections.rows(query.text, query.params, _LOOK_UP_SECONDS)]

    def stream(self, sql: str, params: Sequence[Cell]) -> Iterator[Row]:
        """As `look_up`, any number of rows, as they arrive."""
        query = self.queries.native(sql, params, trusted=True)
        yield from map(self._restored, self.connections.stream(query.text, query.params, _EXPORT_SECONDS))

    def row_facts(self, subjects: Sequence[str]) -> dict[str, RowFacts] | None:
        """As `Tables.row_facts`: a query for each table."""
        return row_facts(subjects, self.layout, self.look_up)

    def close(self) -> None:
        """Close the connections, which frees the lock on the tables."""
        self.connections.close()
        super().close()

    def _read_metadata(self, key: str) -> str | None:
        with closing(Tables(self.path)) as file:
            return file.find_meta(key)

    def _restored(self, row: Row) -> Row:
        if not self.place.has_nul:
            return row
        return tuple([cell.replace(NUL, "\0") if isinstance(cell, str) else cell for cell in row])


# things that are read together; fewer are filled up with the last one, so that few different queries are translated
SIZES = (8, 60, 200)

# look-ups of fewer things, or queries of more tables, cost less the one way than the other
FEWEST_THINGS, MOST_TABLES = 3, 100

LookUp = Callable[[str, Sequence[Cell]], Sequence[tuple[Any, ...]]]

Place = tuple[int, Mapping[str, Any]]


class _Thing(NamedTuple):
    """What is read of a thing: its IRI and label, its classes by table, and (place, value, text, id of a target)."""

    iri: str
    label: str
    types: list[str]
    cells: list[tuple[Place, Any, Any, Any]]


def row_facts(subjects: Sequence[str], layout: Mapping[str, Any], look_up: LookUp) -> dict[str, RowFacts] | None:
    """The facts of these things; those that do not exist are missing. None if single look-ups cost less."""
    if len(subjects) < FEWEST_THINGS or len(layout["tables"]) > MOST_TABLES:
        return None
    unread = frozenset(place["predicate"] for place in layout["places"] if place["junction"])
    found: dict[str, RowFacts] = {}
    for start in range(0, len(subjects), SIZES[-1]):
        found |= _read(subjects[start : start + SIZES[-1]], layout, unread, look_up)
    return found


def _read(
    subjects: Sequence[str], layout: Mapping[str, Any], unread: frozenset[str], look_up: LookUp
) -> dict[str, RowFacts]:
    rows = _rows("SELECT id, iri, label FROM entity WHERE iri IN ({})", subjects, look_up)
    things = {id: _Thing(str(iri), str(label), [], []) for id, iri, label in rows}
    if not things:
        return {}
    ids = list(things)
    stated: dict[Any, list[str]] = {}
    for id, kind in _rows("SELECT entity, class FROM _nacre_type WHERE entity IN ({})", ids, look_up):
        stated.setdefault(id, []).append(str(kind))
    for table in layout["tables"]:
        _read_table(table, layout, things, look_up)
    targets = {target for thing in things.values() for *_, target in thing.cells if target is not None}
    iris = dict(_rows("SELECT id, iri FROM entity WHERE id IN ({})", list(targets), look_up))
    exact: dict[tuple[Any, Any], list[str]] = {}
    # the index of exact forms begins with the predicate
    places = ", ".join(str(index) for index, place in enumerate(layout["places"]) if not place["junction"]) or "NULL"
    query = f"SELECT predicate, row, lexical FROM _nacre_exact WHERE predicate IN ({places}) AND row IN ({{}})"
    for predicate, row, lexical in _rows(query, ids, look_up):
        exact.setdefault((predicate, row), []).append(str(lexical))
    found = {}
    for id, thing in things.items():
        values: dict[str, list[str]] = {}
        for (index, place), value, text, target in sorted(thing.cells, key=lambda cell: cell[0][0]):
            own = values.setdefault(place["predicate"], [])
            own += [str(iris[target])] if target is not None else exact.get((index, id), [])
            if target is None and (index, id) not in exact and (text is not None or value is not None):
                own.append(str(text) if text is not None else lexical_form(value, place["datatype"]))
        types = tuple(dict.fromkeys(stated.get(id) or thing.types))
        complete = {predicate: tuple(own) for predicate, own in values.items() if predicate not in unread}
        found[thing.iri] = RowFacts(types, thing.label, complete, unread)
    return found


def _read_table(
    table: Mapping[str, Any], layout: Mapping[str, Any], things: dict[Any, _Thing], look_up: LookUp
) -> None:
    places = [
        (index, place)
        for index, place in enumerate(layout["places"])
        if not place["junction"] and table["rows"] in place["tables"]
    ]
    names = dict.fromkeys(place[part] for _, place in places for part in _PARTS if place[part])
    columns = {name: number for number, name in enumerate(names, 1)}
    listed = ", ".join(["id", *map(quote_identifier, columns)])
    query = f"SELECT {listed} FROM {quote_identifier(table['rows'])} WHERE id IN ({{}})"
    for row in _rows(query, list(things), look_up):
        things[row[0]].types.extend(table["types"])
        for each in places:
            value, text, link = (row[columns[name]] if (name := each[1][part]) else None for part in _PARTS)
            things[row[0]].cells.append((each, value, text, link))


_PARTS = ("value", "text", "link")


def _rows(query: str, values: Sequence[Cell], look_up: LookUp) -> Iterator[tuple[Any, ...]]:
    """The rows of a query with a list of values in the place of its braces."""
    for start in range(0, len(values), SIZES[-1]):
        part = list(values[start : start + SIZES[-1]])
        size = next(size for size in SIZES if size >= len(part))
        part += part[-1:] * (size - len(part))
        yield from look_up(query.format(", ".join("?" * size)), part)


_COST = re.compile(r"cost=[0-9]++(?:\.[0-9]++)?\.\.([0-9]++(?:\.[0-9]++)?) ")

# the codes of errors, or what they begin with
_GONE = ("42P01", "3F000")

_KINDS = (
    (("57014",), "timeout"),
    (("25006", "42501"), "refused"),
    (("53200", "53100", "54"), "too_large"),
    (("22", "42"), "type"),
)


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
    """At most so many connections of this process to one schema; a connection that is lost is opened again. All are
    read-only and hold a lock that keeps the schema from being dropped. Safe to share by threads."""

    def __init__(self, place: ServerPlace, limits: DatabaseLimits) -> None:
        self.place, self.limits = place, limits
        self._slots = FairSemaphore(limits.connections)
        self._free: list[_Session] = []
        self._closed = False

    def rows(self, query: str, params: Sequence[Cell], seconds: float) -> list[Row]:
        """The rows of a query that limits them itself; `%s` stands for each parameter. Raises ToolError of kind
        timeout, too_large, refused, type, or unavailable: no connection, or no schema."""
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
