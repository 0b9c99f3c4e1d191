"""Statements with `?` for each value -> statements of SQLAlchemy, run on a connection."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, TextClause


class Execute:
    """Runs statements with their values, within a transaction."""

    def __init__(self, connection: "Connection", *, is_server: bool) -> None:
        self._connection = connection
        self._is_server = is_server

    def __call__(self, sql: str, *given: object) -> Any:
        """The result of a statement, as of SQLAlchemy."""
        return execute(self._connection, sql, given, self._is_server)

    def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row of values; a server gets them together. No value is a list."""
        if rows:
            values = [_named(row, self._is_server) for row in rows]
            self._connection.execute(_statement(sql, (False,) * len(rows[0])), values)


def execute(connection: "Connection", sql: str, given: Sequence[object], is_server: bool) -> "CursorResult[Any]":
    """The result of a statement with its values."""
    lists = tuple([isinstance(value, list | tuple) for value in given])
    return connection.execute(_statement(sql, lists), _named(given, is_server))


def _named(given: Sequence[object], is_server: bool) -> dict[str, object]:
    # PostgreSQL stores no NUL in texts
    return {f"p{n}": _without_nul(value) if is_server else value for n, value in enumerate(given)}


@lru_cache(512)
def _statement(sql: str, lists: tuple[bool, ...]) -> "TextClause":
    from sqlalchemy import bindparam, text

    numbers = iter(range(len(lists)))

    def mark(found: re.Match[str]) -> str:
        number = next(numbers)
        # SQLAlchemy adds the parentheses of a list
        return f":p{number}" if lists[number] else found[0].replace("?", f":p{number}")

    marked = text(re.sub(r"\(\?\)|\?", mark, sql))
    return marked.bindparams(*(bindparam(f"p{n}", expanding=True) for n, is_list in enumerate(lists) if is_list))


def _without_nul(value: object) -> object:
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value
