"""The records of a semantic layer. Keys are as written: an IRI, a CURIE or a name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

# the namespace of what a layer names itself
LAYER_NAMESPACE = "urn:nacre:layer:"

# how a layer says in which order the dates of a column are
DATE_ORDERS: Mapping[str, Literal["dmy", "mdy"]] = {"day first": "dmy", "month first": "mdy"}


class Place(NamedTuple):
    """Where an entry stands: file, line and column, from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class ClassEntry:
    """A class: its names, or a derived class with `where`, a SPARQL group pattern over ?this. `iri` is "" until the
    entry is resolved against a graph. `removed` classes are not shown at all."""

    key: str
    place: Place
    iri: str = ""
    name: str = ""
    also: tuple[str, ...] = ()
    comment: str = ""
    hidden: bool | None = None
    removed: bool = False
    where: str = ""

    @property
    def is_derived(self) -> bool:
        """Whether the members are found by a pattern."""
        return bool(self.where)


@dataclass(frozen=True)
class PropertyEntry:
    """A property: its names, or a derived one with `path` (a SPARQL property path) or `where` (over ?this and ?value).
    `of` are the classes that have a derived property, none for everything; `inverse` is its name from the other end.
    `kind` "name": values name their things. `dates` is the order of the dates of a column."""

    key: str
    place: Place
    iri: str = ""
    name: str = ""
    also: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()
    comment: str = ""
    unit: str = ""
    hidden: bool | None = None
    removed: bool = False
    of: tuple[str, ...] = ()
    path: str = ""
    where: str = ""
    kind: Literal["", "name"] = ""
    dates: Literal["", "dmy", "mdy"] = ""

    @property
    def is_derived(self) -> bool:
        """Whether the values are computed from others."""
        return bool(self.path or self.where)


@dataclass(frozen=True)
class ThingEntry:
    """A single thing: other names of it. `name` is shown if the graph gives it none."""

    key: str
    place: Place
    name: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class CodeEntry:
    """The literal codes of a property, and what they mean."""

    key: str
    place: Place
    meanings: Mapping[str, str]


@dataclass(frozen=True)
class RuleEntry:
    """A CONSTRUCT query."""

    place: Place
    text: str


@dataclass(frozen=True)
class TableEntry:
    """A table of an attached database: the columns that name its rows, those of its key, the table that columns refer
    to (NO_LINK for none) by the columns, and whether it is left out."""

    key: str
    place: Place
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    links: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    hidden: bool = False


NO_LINK = "none"

Entry = ClassEntry | PropertyEntry | ThingEntry | CodeEntry | RuleEntry


@dataclass(frozen=True)
class Layer:
    """A layer with the layers it extends: its entries in the order of the files. A later entry of the same name wins.
    `namespaces` are those that a pack applies to. `languages` are preferred for labels, in this order. `tables` are
    those of an attached database. `rewordings`: words of people, and what a question says instead."""

    source: str
    entries: tuple[Entry, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tables: tuple[TableEntry, ...] = ()
    rewordings: Mapping[str, str] = field(default_factory=dict)


NO_LAYER = Layer("")
