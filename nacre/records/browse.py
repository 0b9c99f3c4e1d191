"""What the pages of things and classes show: facts in both directions, members, passages; a class as a table."""

from dataclasses import dataclass
from typing import Literal

# how a value is compared: equal, at least, at most, or no value at all
Comparison = Literal["=", ">=", "<=", "none"]

CellKind = Literal["text", "number", "date", "boolean", "thing"]

# characters of a value in a table, and values of a facet
LONGEST_CELL, FACET_VALUES = 300, 30

# the values of classes with so many members are counted when a graph is ingested (given)
LARGE_CLASS = 20_000


@dataclass(frozen=True)
class FactEnd:
    """The object or the subject of a fact: a thing with `iri` and name, or a literal (`iri` is "")."""

    text: str
    iri: str = ""


@dataclass(frozen=True)
class PredicateFacts:
    """The ends of a thing's facts with one predicate; `more` counts those not listed."""

    predicate: str
    label: str
    unit: str
    ends: tuple[FactEnd, ...]
    more: int = 0


@dataclass(frozen=True)
class ThingPassage:
    """A passage that mentions the thing; `document` is set if it is part of a document."""

    title: str
    text: str
    document: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Thing:
    """A thing: `facts` have it as subject, `linking` as object. `complete` is false if time ran out."""

    iri: str
    label: str
    classes: tuple[FactEnd, ...]
    facts: tuple[PredicateFacts, ...]
    linking: tuple[PredicateFacts, ...]
    passages: tuple[ThingPassage, ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class ClassProperty:
    """A property of a class: how many members have it, and sample values."""

    iri: str
    label: str
    comment: str
    unit: str
    members: int
    leads_to: tuple[FactEnd, ...]
    samples: tuple[str, ...]


LONGEST_VALUE = 2000

# values of one predicate that are counted
MOST_COUNTED = 1000


@dataclass(frozen=True)
class BrowseLimits:
    """Limits of one page: values of a predicate, things that link by a predicate, whether passages are searched, and
    the seconds for everything. The predicate `whole` has all that are counted."""

    values: int = 30
    linking: int = 12
    passages: bool = True
    seconds: float = 4.0
    whole: str = ""

    def most(self, predicate: str, usual: int) -> int:
        """The limit for a predicate: `usual`, unless it is the one that is wanted whole."""
        return MOST_COUNTED if predicate == self.whole else usual


PAGE_LIMITS = BrowseLimits()


@dataclass(frozen=True)
class ClassView:
    """A class: its parents and children, its properties, and members by name, from number `skip` on. `many` is the
    plural of its label."""

    iri: str
    label: str
    many: str
    comment: str
    count: int
    parents: tuple[FactEnd, ...]
    children: tuple[FactEnd, ...]
    properties: tuple[ClassProperty, ...]
    members: tuple[FactEnd, ...]
    skip: int


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
class MemberTable:
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
class FacetBin:
    """A part of the range of a property with the number of values in it; its ends are filters of it."""

    low: int | float | str
    high: int | float | str
    count: int


@dataclass(frozen=True)
class Facet:
    """The most frequent values of a property among the members that pass the filters, with lowest and highest number or
    date. `more`: there are other values; `complete` is false if only a part of the members was counted. `estimated`:
    the counts are those of a sample, scaled up, and the range is that of the whole class. `bins`: numbers and dates by
    equal parts of the range."""

    predicate: str
    values: tuple[FacetValue, ...]
    more: bool
    low: int | float | str | None = None
    high: int | float | str | None = None
    complete: bool = True
    estimated: bool = False
    bins: tuple[FacetBin, ...] = ()


def facet_key(class_iri: str, predicate: str) -> str:
    """The name under which an ingest stores the facet of a property in a class."""
    return f"facet {class_iri} {predicate}"
