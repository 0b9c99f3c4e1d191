"""Propose keys, links and days that a database does not declare, and apply those that layers declare: tables -> tables.

They are proposed by names and by inclusion of values. Cells that are no numbers of 64 bits are named.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnClause, Executable, and_, column, distinct, func, literal_column, or_, select
from sqlalchemy import table as sql_table

from ingestion.induce.names import MANY_DAYS, is_called_date, lowercase_name
from ingestion.layer.entries import NO_LINK, TableEntry
from nacre.errors import ToolError
from nacre.extensions.databases.attached import ROW_NUMBERS, Storage
from nacre.extensions.databases.dialects import LARGEST
from nacre.extensions.databases.reflect import ForeignKey, ReflectedTable
from nacre.language.data import word_list
from nacre.language.values import read_day_digits
from nacre.language.word_forms import singular

if TYPE_CHECKING:
    from nacre.extensions.databases.connection import DatabaseConnections

log = logging.getLogger(__name__)

# distinct values of a column that are looked up in the key of another table
_MOST_VALUES = 200

# the share of them that must be there; a few rows may refer to what is gone
_SHARE = 0.9

# how many different codes must all be keys of another table if the shortest has so many letters, how many are so many
# that some may be gone, the longest code, and how often columns are compared with keys (given)
MIN_CODES, MANY_CODES, MAX_CODE_LETTERS, MAX_CODE_CHECKS = {0: 201, 1: 201, 2: 20}, 20, 60, 1_000

# more days than there are in eight digits
MAX_DAYS = 120_000

# different codes of a column that is called like another table, and the share of them that must be there (given)
MIN_NAMED_CODES, SHARE_OF_CODES = 3, 0.95

# rows that are named because a number of them is left out
MAX_NAMED = 3

# of one check, and of all; a table whose check takes longer is not checked again (given)
CHECK_SECONDS, ALL_SECONDS = 5.0, 120.0

_KEY_TYPES = ("integer", "text", "other")


def declare_tables(
    tables: Sequence[ReflectedTable], entries: Sequence[TableEntry]
) -> tuple[list[ReflectedTable], list[str]]:
    """The tables with what layers declare of them, without the hidden ones; and what is left out or does not fit."""
    by_name = {name: table for table in tables for name in (table.name, f"{table.schema}.{table.name}")}
    kept = {(table.schema, table.name): table for table in tables}
    hidden = {entry.key for entry in entries if entry.hidden}
    problems = []
    for entry in entries:
        table = by_name.get(entry.key)
        names = {column.name for column in table.columns} if table else set()
        others = {*entry.links.values()} - {NO_LINK} - (by_name.keys() - hidden)
        unknown = {*entry.names, *entry.columns, *(each for columns in entry.links for each in columns)} - names
        if table is None or unknown or others:
            missing = min(others) if table and others else entry.key
            what = (
                f"{entry.key} has no column {min(unknown)!r}" if table and unknown else f"no table {missing!r} is shown"
            )
            problems.append(f"{entry.place}: {what}")
        elif entry.hidden:
            del kept[table.schema, table.name]
            problems.append(f"{table.name} is left out: a layer hides it ({entry.place})")
        else:
            key = entry.columns or table.key
            kept[table.schema, table.name] = replace(table, key=key, names=entry.names, links=entry.links)
    return list(kept.values()), problems


def check_tables(
    connections: "DatabaseConnections",
    tables: Sequence[ReflectedTable],
    dialect: str,
    entries: Sequence[TableEntry] = (),
) -> tuple[list[ReflectedTable], list[str]]:
    """The tables with a key for those without one (a column with different values, else the number that the database
    gives to a row), then with foreign keys for columns named like a key of another
    table whose values are nearly all in it. What can't be checked within 5 seconds is not proposed.
    And the cells that are left out: numbers beyond those of 64 bits, infinities and NaN; and the keys of layers that
    several rows share."""
    checks = _Checks(connections)
    keyed = [_with_key(checks, table, tables, dialect) for table in tables]
    # nothing refers to a view if there are tables
    targets = [table for table in keyed if not table.is_view] or keyed
    linked = [_with_links(checks, table, targets) for table in keyed]
    guarded: list[ReflectedTable] = []
    problems: list[str] = []
    keys = {entry.key: entry for entry in entries if entry.columns}
    for table in linked:
        entry = keys.get(table.name) or keys.get(f"{table.schema}.{table.name}")
        if entry and any(rows > different for rows, different in _row_counts(checks, table, entry.columns)):
            shared = ", ".join(entry.columns)
            problems.append(f"{entry.place}: several rows of {table.name} share one {shared}, so some are not shown")
        found = dict(_unread_numbers(checks, table)) if dialect != "mysql" else {}
        problems += found.values()
        # so that NaN is in no order, comparison or sum
        columns = tuple(replace(each, storage="decimal") if each.name in found else each for each in table.columns)
        guarded.append(replace(table, columns=columns))
    # nothing refers to a view if there are tables
    targets = [table for table in guarded if not table.is_view] or guarded
    named = [_with_named_codes(checks, table, targets) for table in _with_code_links(checks, guarded)]
    return [_with_days(checks, table) for table in named], problems


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


def _with_key(checks: _Checks, table: ReflectedTable, tables: Sequence[ReflectedTable], dialect: str) -> ReflectedTable:
    if table.key:
        return table
    words = word_list("ingestion", "key_words")
    names = [c.name for c in table.columns if c.storage in _KEY_TYPES]
    # a column that is called like another table refers to it, even if its values differ by chance
    references = [name for name in names if any(_is_reference(name, other) for other in tables if other is not table)]
    if len(references) > 1 and _tells_apart(checks, table, references):
        return replace(table, key=tuple(references), guessed_key=True)
    names = [name for name in names if name not in references]
    # the columns that are called keys, first those that others refer to ("pk" if there is a "genus_pk"), then the first
    called = {each.name.lower() for other in tables for each in other.columns}
    likely = [name for name in names if set(lowercase_name(name).lower().split()) & words]
    likely = sorted(likely, key=lambda name: f"{table.name}_{name}".lower() not in called)[:3]
    # "order_id" with "line_no"
    for found in [*([name] for name in dict.fromkeys([*likely, *names[:1]])), *([*references, n] for n in likely)]:
        if _tells_apart(checks, table, found):
            return replace(table, key=tuple(found), guessed_key=True)
    if dialect in ROW_NUMBERS and not table.is_view:
        return replace(table, key=(ROW_NUMBERS[dialect],), guessed_key=True)
    return table


def _is_reference(name: str, target: ReflectedTable) -> bool:
    """Whether a column is called like a table, or like it with a word for a key."""
    words = lowercase_name(name).lower().split()
    has_key_word = words[-1:] != [] and words[-1] in word_list("ingestion", "key_words")
    return _kind_of(target) in (_kind(words), _kind(words[:-1]) if has_key_word else [])


def is_own_name(name: str, table: ReflectedTable) -> bool:
    """Whether a column is called like its table and a word for a name.

    >>> [is_own_name(name, ReflectedTable("", "stops", ())) for name in ("stop_name", "zone_name")]
    [True, False]
    """
    words = lowercase_name(name).lower().split()
    return words[-1:] == ["name"] and _kind(words[:-1]) == _kind_of(table)


def _kind(words: Sequence[str]) -> list[str]:
    return [singular(word) or word for word in words]


def _kind_of(table: ReflectedTable) -> list[str]:
    return _kind(lowercase_name(table.name).lower().split())


def _tells_apart(checks: _Checks, table: ReflectedTable, names: Sequence[str]) -> bool:
    """Whether columns have another value, or other values together, in each of several rows."""
    return any(rows == different > 1 for rows, different in _row_counts(checks, table, names))


def _row_counts(checks: _Checks, table: ReflectedTable, names: Sequence[str]) -> Sequence[Any]:
    """One row with the number of rows and that of different values of columns; none if they can't be counted."""
    source = sql_table(table.name, *map(column, names), schema=table.schema or None)
    filled = and_(*(column(name).is_not(None) for name in names))
    different = select(*map(column, names)).select_from(source).where(filled).distinct().subquery()
    counts = select(
        select(func.count()).select_from(source).scalar_subquery(),
        select(func.count()).select_from(different).scalar_subquery(),
    )
    return checks.rows(table, counts)


def _unread_numbers(checks: _Checks, table: ReflectedTable) -> Iterator[tuple[str, str]]:
    """The columns with cells that are left out, each with the sentence that reports them."""
    names = [each.name for each in table.columns if each.storage in ("real", "single", "decimal")]
    beyond = [func.abs(column(name)) > literal_column(LARGEST) for name in names]
    source = sql_table(table.name, *map(column, names), schema=table.schema or None)
    if not names:
        return
    shown: list[Any] = [*map(column, table.key), *beyond]
    query = select(*shown).select_from(source).where(or_(*beyond)).limit(MAX_NAMED + 1)
    rows = checks.rows(table, query)
    for at, name in enumerate(names, len(table.key)):
        keys = [", ".join(map(str, row[: len(table.key)])) for row in rows if row[at]]
        if keys:
            more = " and further rows" if len(rows) > MAX_NAMED else ""
            what = f"{table.name}.{name} is left out in {'; '.join(keys[:MAX_NAMED])}{more}"
            yield name, f"{what}: no number of 64 bits"


def _linked_columns(table: ReflectedTable, foreign: Iterable[ForeignKey]) -> set[str]:
    """The columns of foreign keys and of the links that a layer declares."""
    return {name for columns in (*(key.columns for key in foreign), *table.links) for name in columns}


def _with_links(checks: _Checks, table: ReflectedTable, tables: Sequence[ReflectedTable]) -> ReflectedTable:
    found = [key for key in table.foreign if key.columns not in table.links]
    for columns, name in table.links.items():
        for target in tables:
            if name in (target.name, f"{target.schema}.{target.name}") and len(target.key) == len(columns):
                found.append(ForeignKey(columns, target.schema, target.name, target.key))
    declared = _linked_columns(table, found)
    own_key = table.key[0] if len(table.key) == 1 and not table.guessed_key else ""
    for each in table.columns:
        if each.name in declared or each.name == own_key or each.storage not in _KEY_TYPES:
            continue
        targets = _targets(table, each.name, each.storage, tables)
        for target in sorted(targets, key=lambda target: target.guessed_key):
            if _is_included(checks, table, each.name, target):
                found.append(ForeignKey((each.name,), target.schema, target.name, target.key, True))
                break
    known = {frozenset(columns) for columns in (table.key, *(key.columns for key in found), *table.links)}
    for target in tables if len(table.columns) > 1 else ():
        names = _columns_like_key(table, target)
        if names and frozenset(names) not in known and _are_included(checks, table, names, target):
            found.append(ForeignKey(names, target.schema, target.name, target.key, True))
            known.add(frozenset(names))
    return replace(table, foreign=tuple(found))


def _with_code_links(checks: _Checks, tables: Sequence[ReflectedTable]) -> list[ReflectedTable]:
    """The tables with links by columns whose texts are all keys of another table, whatever their name: "origin" holds
    codes of airports. Short codes, and few of them, may be the same by chance."""
    targets = [
        table
        for table in tables
        if len(table.key) == 1 and not table.guessed_key
        if any((c.name, c.storage) == (table.key[0], "text") for c in table.columns)
    ]
    found, left = [], MAX_CODE_CHECKS
    for table in tables:
        taken = {name for columns in (table.key, *(k.columns for k in table.foreign), *table.links) for name in columns}
        foreign = list(table.foreign)
        for each in table.columns:
            others = [target for target in targets if target is not table]
            if each.name in taken or each.storage != "text" or not others or left < len(others):
                continue
            left -= len(others)
            values = _distinct_values(checks, table, each.name)
            letters = min(map(len, map(str, values)), default=0)
            if len(values) < MIN_CODES.get(letters, 3) or max(map(len, map(str, values))) > MAX_CODE_LETTERS:
                continue
            share = _SHARE if len(values) >= MANY_CODES else 1
            target = next((other for other in others if _share_known(checks, values, other) >= share), None)
            if target is not None:
                foreign.append(ForeignKey((each.name,), target.schema, target.name, target.key, True))
        found.append(replace(table, foreign=tuple(foreign)))
    return found


def _with_named_codes(checks: _Checks, table: ReflectedTable, targets: Sequence[ReflectedTable]) -> ReflectedTable:
    """The table with links by columns that are called like another table and hold codes of its rows that are not its
    key. A code beside the link that it repeats ("airline" beside "airline_id") is called after the code instead."""
    taken = _linked_columns(table, table.foreign)
    columns, foreign = [], list(table.foreign)
    for each in table.columns:
        stem = lowercase_name(each.name).lower().split()
        while stem and stem[-1] in word_list("ingestion", "key_words"):
            stem.pop()
        is_code = each.storage == "text" and each.name not in taken and table.key != (each.name,)
        kinds = ((t, _kind_of(t)) for t in targets if (t.schema, t.name) != (table.schema, table.name))
        others = [target for target, kind in kinds if stem and _kind(stem)[-len(kind) :] == kind]
        codes = ((other, _code_of(checks, table, each.name, other)) for other in others if is_code)
        target, code = next((found for found in codes if found[1]), (None, ""))
        if target is not None:
            own = [k.columns for k in table.foreign if (k.schema, k.table) == (target.schema, target.name)]
            # a link that is called by the words of the code and a word for a key
            is_repeated = any(lowercase_name(name).lower().split()[:-1] == stem for (name, *more) in own if not more)
            if is_repeated:
                each = replace(each, label=f"{' '.join(stem)} {lowercase_name(code)}")
            elif any(rows == different for rows, different in _filled_counts(checks, target, code)):
                foreign.append(ForeignKey((each.name,), target.schema, target.name, (code,), True))
        columns.append(each)
    return replace(table, columns=tuple(columns), foreign=tuple(foreign))


def _code_of(checks: _Checks, table: ReflectedTable, name: str, target: ReflectedTable) -> str:
    """The column of texts of another table, beside its key, that has nearly all values of a column; "" if none has."""
    values = _distinct_values(checks, table, name)
    if len(values) < MIN_NAMED_CODES or max(map(len, map(str, values))) > MAX_CODE_LETTERS:
        return ""
    names = (each.name for each in target.columns if each.storage == "text" and target.key != (each.name,))
    return next((each for each in names if _share_known(checks, values, target, each) >= SHARE_OF_CODES), "")


def _filled_counts(checks: _Checks, table: ReflectedTable, name: str) -> Sequence[Any]:
    """One row with the number of values of a column and that of the different ones."""
    own: ColumnClause[Any] = column(name)
    source = sql_table(table.name, own, schema=table.schema or None)
    return checks.rows(table, select(func.count(own), func.count(distinct(own))).select_from(source))


def _with_days(checks: _Checks, table: ReflectedTable) -> ReflectedTable:
    """The table with its columns of days in eight digits (20180122): all of their values are days, and they are called
    dates or have many different ones."""
    linked = _linked_columns(table, table.foreign)
    kinds: dict[str, Storage] = {"integer": "day_number", "text": "day_text"}
    columns = []
    for each in table.columns:
        if each.storage in kinds and each.name not in linked and table.key != (each.name,):
            few = _distinct_values(checks, table, each.name)
            if few and _are_days(few) and (is_called_date(each.name) or len(few) >= MANY_DAYS):
                values = _distinct_values(checks, table, each.name, MAX_DAYS)
                if values and _are_days(values):
                    each = replace(each, storage=kinds[each.storage])
        columns.append(each)
    return replace(table, columns=tuple(columns))


def _are_days(values: Iterable[Any]) -> bool:
    return all(read_day_digits(str(value)) for value in values)


def _columns_like_key(table: ReflectedTable, target: ReflectedTable) -> tuple[str, ...]:
    """The columns that are called like the several columns of another table's key, with their types; () if one is
    missing."""
    kinds = {c.name: c.storage for c in target.columns}
    own = {(c.name.lower(), c.storage): c.name for c in table.columns if c.storage in _KEY_TYPES}
    names = tuple(own.get((name.lower(), kinds.get(name, "other")), "") for name in target.key)
    return names if len(names) > 1 and target is not table and all(names) else ()


def _are_included(checks: _Checks, table: ReflectedTable, names: Sequence[str], target: ReflectedTable) -> bool:
    """As `_is_included`, of the values of several columns together."""
    own: list[ColumnClause[Any]] = [column(name) for name in names]
    keys: list[ColumnClause[Any]] = [column(name) for name in target.key]
    source = sql_table(table.name, *map(column, names), schema=table.schema or None)
    filled = and_(*(each.is_not(None) for each in own))
    first = select(*own).distinct().select_from(source).where(filled).limit(_MOST_VALUES)
    values = [tuple(row) for row in checks.rows(table, first)]
    other = sql_table(target.name, *map(column, target.key), schema=target.schema or None)
    same = or_(*(and_(*(key == value for key, value in zip(keys, row, strict=True))) for row in values))
    found = checks.rows(target, select(*keys).distinct().select_from(other).where(same)) if values else ()
    return len(found) >= _SHARE * len(values) > 0


def _targets(
    table: ReflectedTable, name: str, storage: str, tables: Sequence[ReflectedTable]
) -> Iterable[ReflectedTable]:
    """The tables whose key a column may refer to by its name: it has the name of the key or of the table, or ends like
    the name of the table with a word for a key. "cat_id" refers to the table that has a "cat_name"."""
    words, key_words = lowercase_name(name).lower().split(), word_list("ingestion", "key_words")
    for target in tables:
        if len(target.key) != 1 or (target is table and not words):
            continue
        key = target.key[0]
        same = next((c.storage for c in target.columns if c.name == key), "")
        if same != storage and {same, storage} != {"text", "integer"}:
            continue
        kind, stem = _kind_of(target), words[:-1] if words and words[-1] in key_words else []
        if target is table and _kind(stem or words) == kind:
            # a table's own number, not a reference to another of its rows
            continue
        # a single word is rarely the name of two things if its values are texts
        is_told_apart = len(words) > 1 or (storage == "text" and not target.guessed_key)
        # rows of "townhouse" are those of "house" with more columns, unless another column refers to the house
        extends = table.name.lower().endswith(target.name.lower())
        is_told_apart |= extends and not any(_is_reference(c.name, target) for c in table.columns if c.name != name)
        is_key_name = name.lower() == key.lower() and target is not table and is_told_apart
        # "status" of "orders" refers to "orders_status"
        is_named = kind in (_kind(words), [*_kind_of(table), *_kind(words)])
        is_short = stem and any(_is_named_after(each.name, stem) for each in target.columns if target is not table)
        if is_key_name or is_named or is_short or (stem and _kind(stem)[-len(kind) :] == kind):
            yield target


def _is_named_after(column: str, stem: Sequence[str]) -> bool:
    """Whether a column has the name of what some words stand for: "cat_name"."""
    *words, last = lowercase_name(column).lower().split() or [""]
    return words == list(stem) and last in word_list("words", "naming")


NO_KEYS = (-1, 0, "-1", "0", "")  # values that stand for no row in columns that refer to one (given)


def _is_included(checks: _Checks, table: ReflectedTable, name: str, target: ReflectedTable) -> bool:
    """Whether the first distinct values of a column, at least one, are nearly all values of a key."""
    values = [value for value in _distinct_values(checks, table, name) if value not in NO_KEYS]
    return bool(values) and _share_known(checks, values, target) >= _SHARE


def _distinct_values(checks: _Checks, table: ReflectedTable, name: str, most: int = _MOST_VALUES) -> list[Any]:
    """The first distinct values of a column."""
    own: ColumnClause[Any] = column(name)
    source = sql_table(table.name, own, schema=table.schema or None)
    first = select(own).distinct().select_from(source).where(own.is_not(None)).limit(most)
    return [value for (value,) in checks.rows(table, first)]


def _share_known(checks: _Checks, values: Sequence[Any], target: ReflectedTable, name: str = "") -> float:
    """Which share of some values are keys of a table, or values of its column `name`."""
    name = name or target.key[0]
    key: ColumnClause[Any] = column(name)
    other = sql_table(target.name, key, schema=target.schema or None)
    storage = next(c.storage for c in target.columns if c.name == name)
    if storage == "integer":
        values = [int(value) if str(value).isascii() and str(value).isdigit() else None for value in values]
    elif storage == "text":
        values = [str(value) for value in values]
    known = select(func.count(distinct(key))).select_from(other).where(key.in_(values))
    return max((count / len(values) for (count,) in checks.rows(target, known)), default=0.0)
