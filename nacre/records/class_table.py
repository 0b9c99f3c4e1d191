"""A class as a table: what is asked of it, a page of its rows, the values of a column with their counts."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.browse import FactEnd

# how a value is compared: equal, at least, at most, or no value at all
Comparison = Literal["=", ">=", "<=", "none"]
CellKind = Literal["text", "number", "date", "thing"]


@dataclass(frozen=True)
class RowFilter:
    """A condition on one property: `value` is a literal, or the IRI of a thing; "" for `none`."""

    predicate: str
    comparison: Comparison
    value: str = ""


@dataclass(frozen=True)
class TableRequest:
    """Which members of a class to list: those whose names contain `search` and that pass all `filters`, sorted by the
    predicate `sort` ("" for the name), from number `skip` on. `columns` are predicates; empty for the usual ones."""

    iri: str
    search: str = ""
    filters: tuple[RowFilter, ...] = ()
    sort: str = ""
    descending: bool = False
    skip: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableColumn:
    """A property of a class. `many`: a thing may have several values, which are not sorted by. `members` have one."""

    predicate: str
    label: str
    unit: str
    kind: CellKind
    many: bool
    members: int


@dataclass(frozen=True)
class TableRow:
    """One member; `cells` has the values by column, at most a few of each."""

    iri: str
    label: str
    cells: tuple[tuple[FactEnd, ...], ...]


@dataclass(frozen=True)
class ClassTable:
    """A page of a class. `count` members in all, `matching` pass the filters (null: not counted in time; `at_least` if
    the count was bounded). `columns` are shown, `others` can be."""

    iri: str
    label: str
    many: str
    count: int
    matching: int | None
    at_least: bool
    columns: tuple[TableColumn, ...]
    others: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    skip: int


@dataclass(frozen=True)
class FacetValue:
    """A value of a property with the number of members that have it; `iri` if it is a thing."""

    text: str
    iri: str
    count: int


@dataclass(frozen=True)
class Facet:
    """The most frequent values of a property among the members that pass the filters, with lowest and highest number or
    date. `more`: there are other values; `complete` is false if only a part of the members was counted."""

    predicate: str
    values: tuple[FacetValue, ...]
    more: bool
    low: int | float | str | None = None
    high: int | float | str | None = None
    complete: bool = True
