"""Read the catalogue of a database: connection -> tables with columns, keys and comments.

Keys that a database does not declare are proposed by names and by inclusion of values: tables -> tables. Cells that are
no numbers of 64 bits are named.
"""

import logging
import re
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnClause,
    Connection,
    Executable,
    and_,
    column,
    distinct,
    func,
    inspect,
    literal_column,
    or_,
    select,
    types,
)
from sqlalchemy import table as sql_table
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import NoSuchTableError, SAWarning, SQLAlchemyError
from sqlglot import TokenType
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError

from ingestion.induce.names import lowercase_name
from ingestion.layer.entries import NO_LINK, TableEntry
from nacre.errors import ToolError
from nacre.extensions.databases.attached import Storage
from nacre.extensions.databases.dialects import LARGEST
from nacre.language.data import word_list
from nacre.language.word_forms import singular

if TYPE_CHECKING:
    from nacre.extensions.databases.connection import DatabaseConnections

log = logging.getLogger(__name__)

# tables of a database that are read, in the order of their names
MOST_TABLES = 300

# values in a check constraint
_IN_LIST = re.compile(r"\b(\w{1,128})\b[^\w']{0,8}(?:::\w{1,32}[^\w']{0,4})?\b(?:IN|ANY)\b", re.IGNORECASE)

_QUOTED = re.compile(r"'((?:[^']++|'')*+)'")

# types of 32 bits as the dialects name them
_SINGLE = ("REAL", "FLOAT", "FLOAT4")

# digits of a decimal number that may be no floating point number
MAX_DIGITS = 300

_LONGEST_CHECK = 4_000

# the catalogue of DuckDB, whatever a file defines with these names
_OF_DUCKDB, _OWN = "system.main.duckdb", "WHERE NOT internal"

# functions and statements that show the state of a process, and those of the functions of tables that do not
_STATE = frozenset(("current_setting(", "getenv(", "getvariable(", "information_schema", "describe", "show", "pragma"))

_PURE = frozenset(("range(", "generate_series(", "unnest(", "repeat(", "repeat_row(", "json_each(", "json_tree("))


@dataclass(frozen=True)
class ForeignKey:
    """Columns that refer to columns of another table."""

    columns: tuple[str, ...]
    schema: str
    table: str
    referred: tuple[str, ...]
    guessed: bool = False


@dataclass(frozen=True)
class ReflectedColumn:
    """A column; `values` are those that an enum or a check constraint allows."""

    name: str
    storage: Storage
    comment: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReflectedTable:
    """A table or view. `key` is its primary key, else a unique constraint. `binary` columns are not read."""

    schema: str
    name: str
    columns: tuple[ReflectedColumn, ...]
    key: tuple[str, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()
    unique: frozenset[str] = frozenset()
    comment: str = ""
    guessed_key: bool = False
    is_view: bool = False
    binary: tuple[str, ...] = ()
    # what a layer declares: columns that name rows, and the table that columns refer to
    names: tuple[str, ...] = ()
    links: Mapping[tuple[str, ...], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Selection:
    """Which schemas are read (none: the default one), and patterns of names of tables."""

    schemas: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def selects(self, schema: str, table: str) -> bool:
        """Whether a table is wanted."""
        names = (table, f"{schema}.{table}") if schema else (table,)
        wanted = not self.include or any(fnmatchcase(name, each) for name in names for each in self.include)
        return wanted and not any(fnmatchcase(name, each) for name in names for each in self.exclude)


def reflect_tables(connection: Connection, selection: Selection) -> tuple[list[ReflectedTable], list[str]]:
    """The selected tables and views, at most 300, and why others are left out."""
    found: list[ReflectedTable] = []
    problems: list[str] = []
    with warnings.catch_warnings():
        # of types that SQLAlchemy does not know; their values are texts
        warnings.simplefilter("ignore", SAWarning)
        for schema in selection.schemas or ("",):
            found += _schema_tables(connection, schema, selection, problems)
    # a view may repeat a table, which comes first
    found.sort(key=lambda table: (table.is_view, table.schema, table.name))
    if rest := [table.name for table in found[MOST_TABLES:]]:
        problems.append(f"{len(rest)} tables are left out; name those you need with --include: {', '.join(rest)}")
    return found[:MOST_TABLES], problems


def _schema_tables(
    connection: Connection, schema: str, selection: Selection, problems: list[str]
) -> list[ReflectedTable]:
    inspector = inspect(connection)
    named, refused = schema or None, None
    if connection.dialect.name == "duckdb":
        refused = unsafe_relations(connection)
        (catalog,) = connection.exec_driver_sql(f"SELECT database_name FROM {_OF_DUCKDB}_databases() {_OWN}").scalars()
        quote = connection.dialect.identifier_preparer.quote_identifier
        named = f"{quote(catalog)}.{quote(schema or 'main')}"
    views = _views(inspector, named)
    names = [*inspector.get_table_names(schema=named), *views]
    wanted = [name for name in names if selection.selects(schema, name)]
    if others := sorted(set(names) - set(wanted)):
        problems.append(f"{len(others)} tables are not selected by --include and --exclude: {', '.join(others)}")
    if refused:
        problems += [f"{name} is left out: it uses {refused[name]}" for name in wanted if name in refused]
        wanted = [name for name in wanted if name not in refused]
    # a few more than are read, so that the rest can be counted without being described
    described = sorted(wanted)[:MOST_TABLES]
    options: dict[str, Any] = {"schema": named, "filter_names": described, "kind": ObjectKind.ANY}
    columns = _details(inspector.get_multi_columns, options)
    keys = _details(inspector.get_multi_pk_constraint, options)
    foreign = _details(inspector.get_multi_foreign_keys, options)
    unique = _details(inspector.get_multi_unique_constraints, options)
    checks = _details(inspector.get_multi_check_constraints, options)
    comments = _details(inspector.get_multi_table_comment, options)
    problems += [f"{name} is left out: its columns can't be read" for name in described if not columns.get(name)]
    found = [
        _table(
            schema,
            name,
            columns.get(name) or (),
            keys.get(name) or {},
            # in DuckDB, a foreign key refers to its own schema
            [each | ({"referred_schema": schema} if refused is not None else {}) for each in foreign.get(name) or ()],
            unique.get(name) or (),
            checks.get(name) or (),
            str((comments.get(name) or {}).get("text") or ""),
            is_view=name in views,
            dialect=connection.dialect.name,
        )
        for name in described
        if columns.get(name)
    ]
    return found + [ReflectedTable(schema, name, ()) for name in sorted(wanted)[MOST_TABLES:]]


def unsafe_relations(connection: Connection) -> dict[str, str]:
    """The views and tables of a DuckDB file that read anything but its tables, such as settings and paths of this
    server, by themselves or through macros and views; each with the function or catalogue that it uses."""

    def words_of(query: str) -> list[tuple[str, frozenset[str]]]:
        return [(name.lower(), _words(text)) for name, text in connection.exec_driver_sql(query)]

    macros = words_of(f"SELECT function_name, macro_definition FROM {_OF_DUCKDB}_functions() {_OWN}")
    relations = words_of(
        f"SELECT view_name, sql FROM {_OF_DUCKDB}_views() {_OWN} UNION ALL SELECT table_name, column_default "
        f"FROM {_OF_DUCKDB}_columns() {_OWN} AND column_default IS NOT NULL"
    )
    named = connection.exec_driver_sql(
        f"SELECT function_name || '(' FROM {_OF_DUCKDB}_functions() WHERE function_type = 'table' "
        f"OR starts_with(function_name, 'duckdb') UNION ALL "
        f"SELECT view_name FROM {_OF_DUCKDB}_views() WHERE internal AND schema_name <> 'information_schema'"
    ).scalars()
    refused = (set(named) | _STATE) - _PURE
    defined = [(f"{name}(", words) for name, words in macros] + relations
    while added := {name for name, words in defined if name not in refused and words & refused}:
        refused |= added
    return {name: min(words & refused).rstrip("(") for name, words in relations if name in refused}


def _words(definition: str) -> frozenset[str]:
    """The names in the definition of a view, macro or column, in lower case; those that are called end in a bracket."""
    try:
        tokens = DuckDB().tokenize(definition)
    except SqlglotError:
        return _STATE
    if tokens and tokens[0].token_type == TokenType.CREATE:
        # CREATE VIEW name (columns) AS
        tokens = tokens[next((i for i, each in enumerate(tokens) if each.token_type == TokenType.ALIAS), 0) :]
    words = {each.text.lower() for each in tokens if each.token_type != TokenType.STRING}
    called = {each.text.lower() + "(" for each, after in pairwise(tokens) if after.token_type == TokenType.L_PAREN}
    return frozenset(words | called)


def _views(inspector: Any, schema: str | None) -> list[str]:
    try:
        return list(inspector.get_view_names(schema=schema))
    except (NotImplementedError, SQLAlchemyError) as error:
        log.info("views can't be listed: %s", type(error).__name__)
        return []


def _details(read: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a method of the inspector tells about each table, by name; empty if the dialect does not tell it."""
    names = options["filter_names"]
    if not names:
        return {}
    try:
        return {name: value for (_, name), value in read(**options).items()}
    except (NotImplementedError, NoSuchTableError, SQLAlchemyError, KeyError) as error:
        broken = getattr(error, "connection_invalidated", False)
        if len(names) == 1 or broken or isinstance(error, NotImplementedError):
            log.info("%s is not available here: %s", getattr(read, "__name__", "a detail"), type(error).__name__)
            return {}
    # one view on a table that is gone must not hide all others
    found = [_details(read, {**options, "filter_names": [name]}) for name in names]
    return {name: value for each in found for name, value in each.items()}


def _table(
    schema: str,
    name: str,
    columns: Sequence[Mapping[str, Any]],
    key: Mapping[str, Any],
    foreign: Sequence[Mapping[str, Any]],
    unique: Sequence[Mapping[str, Any]],
    checks: Sequence[Mapping[str, Any]],
    comment: str,
    *,
    is_view: bool,
    dialect: str,
) -> ReflectedTable:
    allowed = _checked_values(checks)
    shown = tuple(
        ReflectedColumn(
            str(each["name"]),
            storage,
            str(each.get("comment") or ""),
            tuple(map(str, getattr(each["type"], "enums", None) or ())) or allowed.get(str(each["name"]).lower(), ()),
        )
        for each in columns
        if (storage := storage_of(each["type"], dialect)) is not None
    )
    names = {column.name for column in shown}
    # a row without a value in its key would be none
    filled = {str(each["name"]) for each in columns if each.get("nullable") is False} & names
    own_key = tuple(key.get("constrained_columns") or ())
    uniques = [tuple(each["column_names"]) for each in unique]
    own_key = own_key or next((each for each in uniques if filled.issuperset(each)), ())
    return ReflectedTable(
        schema,
        name,
        shown,
        own_key if names.issuperset(own_key) else (),
        tuple(_foreign_keys(foreign, schema, names)),
        frozenset(each[0] for each in uniques if len(each) == 1),
        comment,
        is_view=is_view,
        binary=tuple(str(each["name"]) for each in columns if str(each["name"]) not in names),
    )


def _foreign_keys(found: Sequence[Mapping[str, Any]], schema: str, names: Collection[str]) -> list[ForeignKey]:
    keys = [
        ForeignKey(
            tuple(each["constrained_columns"]),
            str(each.get("referred_schema") or schema or ""),
            str(each["referred_table"]),
            tuple(each["referred_columns"]),
        )
        for each in found
        if each.get("referred_columns")
    ]
    return sorted((key for key in keys if set(key.columns) <= set(names)), key=lambda key: (key.columns, key.table))


def _checked_values(checks: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The texts that check constraints of the form `column IN (...)` allow, by column."""
    found: dict[str, tuple[str, ...]] = {}
    for check in checks:
        text = str(check.get("sqltext") or "")[:_LONGEST_CHECK]
        matched = _IN_LIST.search(text)
        if matched:
            values = tuple(each.replace("''", "'") for each in _QUOTED.findall(text[matched.end() :]))
            if values:
                found[matched[1].lower()] = values
    return found


def storage_of(kind: Any, dialect: str) -> Storage | None:
    """How a column of an SQL type is read; None for binary data, which is left out."""
    kind = getattr(kind, "data_type", kind)  # that of a domain of PostgreSQL
    if isinstance(kind, types.LargeBinary | types.BINARY | types.VARBINARY):
        return None
    name = type(kind).__name__.upper()
    if isinstance(kind, types.Boolean) or (name == "TINYINT" and getattr(kind, "display_width", None) == 1):
        return "boolean"
    if isinstance(kind, types.ARRAY):
        return "list"
    if name == "BIT" and dialect in ("mysql", "mariadb"):
        return "boolean" if getattr(kind, "length", None) == 1 else None
    if name in _SINGLE:
        return "single"
    if isinstance(kind, types.Numeric) and not isinstance(kind, types.Float) and dialect == "postgresql":
        return "decimal" if max(kind.precision or MAX_DIGITS, abs(kind.scale or 0)) >= MAX_DIGITS else "real"
    if isinstance(kind, types.CHAR) and dialect == "postgresql":
        # as a text, it loses the blanks that fill it
        return "other"
    kinds: tuple[tuple[Any, Storage], ...] = (
        (types.Integer, "integer"),
        (types.Numeric, "real"),
        (types.Float, "real"),
        (types.DateTime, "datetime"),
        (types.Date, "date"),
        (types.Time, "time"),
        (types.Enum, "other"),
        (types.String, "text"),
    )
    storage = next((storage for known, storage in kinds if isinstance(kind, known)), None)
    if storage is None:
        # SQLite has columns without a type; elsewhere it is a type that SQLAlchemy does not know
        unknown: Storage = "text" if dialect == "sqlite" else "other"
        named: dict[str, Storage] = {"MONEY": "money", "YEAR": "integer", "NULLTYPE": unknown, "HUGEINT": "integer"}
        storage = named.get(name, "other")
    return storage


# distinct values of a column that are looked up in the key of another table
_MOST_VALUES = 200

# the share of them that must be there; a few rows may refer to what is gone
_SHARE = 0.9

# how many different codes must all be keys of another table if the shortest has so many letters, how many are so many
# that some may be gone, the longest code, and how often columns are compared with keys (given)
MIN_CODES, MANY_CODES, MAX_CODE_LETTERS, MAX_CODE_CHECKS = {0: 201, 1: 201, 2: 20}, 20, 60, 1_000

# rows that are named because a number of them is left out
MAX_NAMED = 3

# of one check, and of all; a table whose check takes longer is not checked again (given)
CHECK_SECONDS, ALL_SECONDS = 5.0, 120.0

_KEY_TYPES = ("integer", "text", "other")


# columns that databases have beside those of a table, and tell its rows apart until they are changed
ROW_NUMBERS = {"sqlite": "rowid", "duckdb": "rowid", "postgres": "ctid"}


def declare_tables(
    tables: Sequence[ReflectedTable], entries: Sequence[TableEntry]
) -> tuple[list[ReflectedTable], list[str]]:
    """The tables with what layers declare of them, without the hidden ones; and what is left out or does not fit."""
    by_name = {name: table for table in tables for name in (table.name, f"{table.schema}.{table.name}")}
    kept = {(table.schema, table.name): table for table in tables}
    problems = []
    for entry in entries:
        table = by_name.get(entry.key)
        names = {column.name for column in table.columns} if table else set()
        others = {target for target in entry.links.values() if target != NO_LINK and target not in by_name}
        unknown = {*entry.names, *entry.columns, *(each for columns in entry.links for each in columns)} - names
        if table is None or unknown or others:
            what = f"{entry.key} has no column {min(unknown)!r}" if unknown else "there is no such table"
            problems.append(f"{entry.place}: {what if table else f'there is no table {entry.key!r}'}")
        elif entry.hidden:
            del kept[table.schema, table.name]
            problems.append(f"{table.name} is left out: a layer hides it ({entry.place})")
        else:
            key = entry.columns or table.key
            kept[table.schema, table.name] = replace(table, key=key, names=entry.names, links=entry.links)
    return list(kept.values()), problems


def check_tables(
    connections: "DatabaseConnections", tables: Sequence[ReflectedTable], dialect: str
) -> tuple[list[ReflectedTable], list[str]]:
    """The tables with a key for those without one (a column with different values, else the number that the database
    gives to a row), then with foreign keys for columns named like a key of another
    table whose values are nearly all in it. What can't be checked within 5 seconds is not proposed.
    And the cells that are left out: numbers beyond those of 64 bits, infinities and NaN."""
    checks = _Checks(connections)
    keyed = [_with_key(checks, table, tables, dialect) for table in tables]
    linked = [_with_links(checks, table, keyed) for table in keyed]
    problems = [problem for table in linked if dialect != "mysql" for problem in _unread_numbers(checks, table)]
    return _with_code_links(checks, linked), problems


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
    # the columns that are called keys, then the first one
    likely = [name for name in names if set(lowercase_name(name).lower().split()) & words][:3]
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


def _kind(words: Sequence[str]) -> list[str]:
    return [singular(word) or word for word in words]


def _kind_of(table: ReflectedTable) -> list[str]:
    return _kind(lowercase_name(table.name).lower().split())


def _tells_apart(checks: _Checks, table: ReflectedTable, names: Sequence[str]) -> bool:
    """Whether columns have another value, or other values together, in each of several rows."""
    source = sql_table(table.name, *map(column, names), schema=table.schema or None)
    filled = and_(*(column(name).is_not(None) for name in names))
    different = select(*map(column, names)).select_from(source).where(filled).distinct().subquery()
    counts = select(
        select(func.count()).select_from(source).scalar_subquery(),
        select(func.count()).select_from(different).scalar_subquery(),
    )
    return any(rows == values > 1 for rows, values in checks.rows(table, counts))


def _unread_numbers(checks: _Checks, table: ReflectedTable) -> Iterator[str]:
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
            yield f"{table.name}.{name} is left out in {'; '.join(keys[:MAX_NAMED])}{more}: no number of 64 bits"


def _with_links(checks: _Checks, table: ReflectedTable, tables: Sequence[ReflectedTable]) -> ReflectedTable:
    found = [key for key in table.foreign if key.columns not in table.links]
    for columns, name in table.links.items():
        for target in tables:
            if name in (target.name, f"{target.schema}.{target.name}") and len(target.key) == len(columns):
                found.append(ForeignKey(columns, target.schema, target.name, target.key))
    declared = {name for columns in (*(key.columns for key in found), *table.links) for name in columns}
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
    the name of the table with a word for a key."""
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
        is_key_name = name.lower() == key.lower() and target is not table and is_told_apart
        # "status" of "orders" refers to "orders_status"
        is_named = kind in (_kind(words), [*_kind_of(table), *_kind(words)])
        if is_key_name or is_named or (stem and _kind(stem)[-len(kind) :] == kind):
            yield target


def _is_included(checks: _Checks, table: ReflectedTable, name: str, target: ReflectedTable) -> bool:
    """Whether the first distinct values of a column, at least one, are nearly all values of a key."""
    values = _distinct_values(checks, table, name)
    return bool(values) and _share_known(checks, values, target) >= _SHARE


def _distinct_values(checks: _Checks, table: ReflectedTable, name: str) -> list[Any]:
    """The first distinct values of a column."""
    own: ColumnClause[Any] = column(name)
    source = sql_table(table.name, own, schema=table.schema or None)
    first = select(own).distinct().select_from(source).where(own.is_not(None)).limit(_MOST_VALUES)
    return [value for (value,) in checks.rows(table, first)]


def _share_known(checks: _Checks, values: Sequence[Any], target: ReflectedTable) -> float:
    """Which share of some values are keys of a table."""
    key: ColumnClause[Any] = column(target.key[0])
    other = sql_table(target.name, key, schema=target.schema or None)
    storage = next(c.storage for c in target.columns if c.name == target.key[0])
    if storage == "integer":
        values = [int(value) if str(value).isascii() and str(value).isdigit() else None for value in values]
    elif storage == "text":
        values = [str(value) for value in values]
    known = select(func.count(distinct(key))).select_from(other).where(key.in_(values))
    return max((count / len(values) for (count,) in checks.rows(target, known)), default=0.0)
