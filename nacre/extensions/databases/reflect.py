"""Read the catalogue of a database: connection -> tables with columns, keys and comments."""

import logging
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, inspect, text, types
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import NoSuchTableError, SAWarning, SQLAlchemyError
from sqlglot import TokenType
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError

from nacre.extensions.databases.attached import Storage

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
    """A column; `values` are those that an enum or a check constraint allows. `label` is what it is called if its name
    is that of a link."""

    name: str
    storage: Storage
    comment: str = ""
    values: tuple[str, ...] = ()
    label: str = ""


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
    by_kind = {kind: _details(getattr(inspector, f"get_multi_{kind}"), options) for kind in _DETAILS}
    found = []
    for name in described:
        details = {kind: of_tables.get(name) or () for kind, of_tables in by_kind.items()}
        if not details["columns"] and connection.dialect.name in ("mysql", "mariadb"):
            details["columns"] = _listed_columns(connection, schema, name)
        if details["columns"]:
            found.append(_table(inspector, schema, name, details, is_view=name in views))
        else:
            problems.append(f"{name} is left out: its columns can't be read")
    return found + [ReflectedTable(schema, name, ()) for name in sorted(wanted)[MOST_TABLES:]]


# what an inspector tells of tables
_DETAILS = ("columns", "pk_constraint", "foreign_keys", "unique_constraints", "check_constraints", "table_comment")


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


def _listed_columns(connection: Connection, schema: str, name: str) -> list[dict[str, Any]]:
    """The columns of a view that a login of MariaDB may read without its definition (SHOW VIEW)."""
    listed = connection.execute(
        text(
            "SELECT column_name, data_type, column_type FROM information_schema.columns WHERE table_name = :name "
            "AND table_schema = coalesce(nullif(:schema, ''), database()) ORDER BY ordinal_position"
        ),
        {"name": name, "schema": schema},
    )
    known = getattr(connection.dialect, "ischema_names", {})
    found = []
    for column, kind, whole in listed:
        made = known.get(str(kind), types.NullType)
        options = {"display_width": 1} if str(whole).startswith("tinyint(1)") else {}
        found.append({"name": column, "type": made(**options)})
    return found


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


def _table(inspector: Any, schema: str, name: str, details: Mapping[str, Any], *, is_view: bool) -> ReflectedTable:
    """A table by what the inspector tells of it, by the `_DETAILS`."""
    columns, dialect = details["columns"], inspector.dialect.name
    allowed = _checked_values(details["check_constraints"])
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
    own_key = tuple(dict(details["pk_constraint"]).get("constrained_columns") or ())
    uniques = [tuple(each["column_names"]) for each in details["unique_constraints"]]
    own_key = own_key or next((each for each in uniques if filled.issuperset(each)), ())
    return ReflectedTable(
        schema,
        name,
        shown,
        own_key if names.issuperset(own_key) else (),
        tuple(_foreign_keys(inspector, schema, details["foreign_keys"], names)),
        frozenset(each[0] for each in uniques if len(each) == 1),
        str(dict(details["table_comment"]).get("text") or ""),
        is_view=is_view,
        binary=tuple(str(each["name"]) for each in columns if str(each["name"]) not in names),
    )


def _foreign_keys(
    inspector: Any, schema: str, found: Sequence[Mapping[str, Any]], names: Collection[str]
) -> list[ForeignKey]:
    keys, dialect = [], inspector.dialect.name
    # PostgreSQL does not name the default schema; DuckDB has only keys within a schema
    unnamed = inspector.default_schema_name if schema and dialect == "postgresql" else schema
    for each in found:
        if each.get("referred_columns"):
            named = str((each.get("referred_schema") if dialect != "duckdb" else schema) or unnamed)
            columns, referred = tuple(each["constrained_columns"]), tuple(each["referred_columns"])
            keys.append(ForeignKey(columns, named, str(each["referred_table"]), referred))
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
