"""A relational database that a graph is attached to: how its tables appear as the relations of a schema."""

from dataclasses import dataclass
from typing import Literal

# how a column is read: what its cells are turned into; `decimal` has numbers that may be no floating point numbers, and
# `day_number` and `day_text` have days in eight digits (20180122)
Storage = Literal[
    "text", "integer", "real", "single", "decimal", "boolean", "date", "datetime", "time", "number_text", "money",
    "list", "day_number", "day_text", "other",
]  # fmt: skip

# what the cells of a column are: `integer` and `real` are numbers of PostgreSQL, `number` holds both
Kind = Literal["integer", "real", "number", "text"]

# columns that databases have beside those of a table, and tell its rows apart until they are changed
ROW_NUMBERS = {"sqlite": "rowid", "duckdb": "rowid", "postgres": "ctid"}


@dataclass(frozen=True)
class AttachedColumn:
    """A column of a relation, read from a column of its table; texts that are numbers may have a `unit`: "5 bar"."""

    name: str
    column: str
    storage: Storage
    unit: str = ""


@dataclass(frozen=True)
class AttachedLink:
    """A column of a relation that holds the key of a row of another relation.

    `columns` are those of the foreign key and `referred` what they refer to, in the same order. A `guessed` link is not
    declared in the database: names and values suggest it. A column of another type than the key that it refers to is
    read as its type, `cast`.
    """

    name: str
    columns: tuple[str, ...]
    target: str
    referred: tuple[str, ...]
    guessed: bool = False
    cast: Literal["", "integer", "text"] = ""


@dataclass(frozen=True)
class AttachedTable:
    """A table or view of the database, and the relation that shows it.

    `key` are the columns that tell its rows apart, and `storages` how they are read; a `guessed` key is not declared.
    `label` are the columns whose values, with spaces between them, name a row; without any, the key does.
    """

    relation: str
    schema: str
    table: str
    iri: str
    key: tuple[str, ...]
    storages: tuple[Storage, ...]
    label: tuple[str, ...] = ()
    columns: tuple[AttachedColumn, ...] = ()
    links: tuple[AttachedLink, ...] = ()
    guessed: bool = False


@dataclass(frozen=True, eq=False)
class AttachedDatabase:
    """The address (without a password), what was selected of it, and its tables.

    `schemas`, `include` and `exclude` are the options of `nacre attach`; `queries` and `seconds` are what attaching
    took. `kept` is the path of the database's file in the folder of the version, "" if the database stays where it is.
    `left_out` says which tables, columns and rows are not in the graph, and why; `catalogue` is the hash of the tables
    and columns that were selected.
    """

    url: str
    dialect: Literal["sqlite", "duckdb", "postgres", "mysql"]
    tables: tuple[AttachedTable, ...]
    schemas: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    queries: int = 0
    seconds: float = 0.0
    kept: str = ""
    left_out: tuple[str, ...] = ()
    catalogue: str = ""
