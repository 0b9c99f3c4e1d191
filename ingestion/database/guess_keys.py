"""Propose keys that a database does not declare, by names and by inclusion of values: tables -> tables."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnClause, Executable, column, distinct, func, select
from sqlalchemy import table as sql_table

from ingestion.database.reflect import ForeignKey, ReflectedTable
from ingestion.induce.names.column_names import lowercase_name
from nacre.errors import ToolError
from nacre.language.base import word_list
from nacre.language.forms.nouns import singular

if TYPE_CHECKING:
    from nacre.stores.databases.connection import DatabaseConnections

log = logging.getLogger(__name__)

# distinct values of a column that are looked up in the key of another table
_MOST_VALUES = 200
# the share of them that must be there; a few rows may refer to what is gone
_SHARE = 0.9
# of one check, and of all; a table whose check takes longer is not checked again (given)
CHECK_SECONDS, ALL_SECONDS = 5.0, 120.0
_KEY_TYPES = ("integer", "text", "other")


# columns that databases have beside those of a table, and tell its rows apart until they are changed
ROW_NUMBERS = {"sqlite": "rowid", "duckdb": "rowid", "postgres": "ctid"}


def guess_keys(
    connections: "DatabaseConnections", tables: Sequence[ReflectedTable], dialect: str
) -> list[ReflectedTable]:
    """The tables with a key for those without one (a column with different values, else the number that the database
    gives to a row), then with foreign keys for columns named like a key of another
    table whose values are nearly all in it. What can't be checked within 5 seconds is not proposed."""
    checks = _Checks(connections)
    keyed = [_with_key(checks, table, dialect) for table in tables]
    return [_with_links(checks, table, keyed) for table in keyed]


class _Checks:
    """Queries over the content of tables, each within a time limit. A view may take long or have no end."""

    def __init__(self, connections: "DatabaseConnections") -> None:
        self._connections = connections
        self._deadline = time.monotonic() + ALL_SECONDS
        self._slow: set[tuple[str, str]] = set()

    def rows(self, table: ReflectedTable, query: Executable) -> Sequence[Any]:
        """The rows of a query over a table; none if they can't be read in time. Raises ToolError if the database does
        not answer any more."""
        name = (table.schema, table.name)
        left = self._deadline - time.monotonic()
        if name in self._slow or left <= 0:
            return ()
        try:
            with self._connections.connected(min(CHECK_SECONDS, left)) as connection:
                return connection.execute(query).all()
        except ToolError as error:
            if error.kind == "unavailable":
                raise
            log.info("a key of %s could not be checked: %s", table.name, error.kind)
            if error.kind == "timeout":
                self._slow.add(name)
            return ()


def _with_key(checks: _Checks, table: ReflectedTable, dialect: str) -> ReflectedTable:
    if table.key:
        return table
    words = word_list("ingestion", "key_words")
    names = [c.name for c in table.columns if c.storage in _KEY_TYPES]
    # the columns that are called keys, then the first one
    likely = [name for name in names if set(lowercase_name(name).lower().split()) & words][:3]
    for name in dict.fromkeys([*likely, *names[:1]]):
        source = sql_table(table.name, column(name), schema=table.schema or None)
        counts = select(func.count(), func.count(distinct(column(name)))).select_from(source)
        if any(rows == values > 1 for rows, values in checks.rows(table, counts)):
            return replace(table, key=(name,), guessed_key=True)
    if dialect in ROW_NUMBERS and not table.is_view:
        return replace(table, key=(ROW_NUMBERS[dialect],), guessed_key=True)
    return table


def _with_links(checks: _Checks, table: ReflectedTable, tables: Sequence[ReflectedTable]) -> ReflectedTable:
    declared = {name for key in table.foreign for name in key.columns}
    own_key = table.key[0] if len(table.key) == 1 and not table.guessed_key else ""
    found = list(table.foreign)
    for each in table.columns:
        if each.name in declared or each.name == own_key or each.storage not in _KEY_TYPES:
            continue
        targets = _targets(table, each.name, each.storage, tables)
        for target in sorted(targets, key=lambda target: target.guessed_key):
            if _is_included(checks, table, each.name, target):
                found.append(ForeignKey((each.name,), target.schema, target.name, target.key, True))
                break
    return replace(table, foreign=tuple(found))


def _targets(
    table: ReflectedTable, name: str, storage: str, tables: Sequence[ReflectedTable]
) -> Iterable[ReflectedTable]:
    """The tables whose key a column may refer to by its name: it has the name of the key or of the table, or ends like
    the name of the table with a word for a key."""
    words = lowercase_name(name).lower().split()
    for target in tables:
        if len(target.key) != 1 or (target is table and not words):
            continue
        key = target.key[0]
        same = next((c.storage for c in target.columns if c.name == key), "")
        if same != storage:
            continue
        kind = [singular(word) or word for word in lowercase_name(target.name).lower().split()]
        # a single word is rarely the name of two things if its values are texts
        is_told_apart = len(words) > 1 or (storage == "text" and not target.guessed_key)
        is_key_name = name.lower() == key.lower() and target is not table and is_told_apart
        stem = words[:-1] if words and words[-1] in word_list("ingestion", "key_words") else []
        if is_key_name or words == kind or (stem and [singular(word) or word for word in stem][-len(kind) :] == kind):
            yield target


def _is_included(checks: _Checks, table: ReflectedTable, name: str, target: ReflectedTable) -> bool:
    """Whether the first distinct values of a column, at least one, are nearly all values of a key."""
    source = sql_table(table.name, column(name), schema=table.schema or None)
    own: ColumnClause[Any] = column(name)
    first = select(own).distinct().select_from(source).where(own.is_not(None)).limit(_MOST_VALUES)
    values = [value for (value,) in checks.rows(table, first)]
    if not values:
        return False
    key: ColumnClause[Any] = column(target.key[0])
    other = sql_table(target.name, key, schema=target.schema or None)
    known = select(func.count(distinct(key))).select_from(other).where(key.in_(values))
    return any(count >= _SHARE * len(values) for (count,) in checks.rows(target, known))
