"""What the pages of things and classes show: facts in both directions, members, passages."""

from dataclasses import dataclass


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


@dataclass(frozen=True)
class BrowseLimits:
    """Limits of one page: values of a predicate, things that link by a predicate, whether passages are searched, and
    the seconds for everything."""

    values: int = 30
    linking: int = 12
    passages: bool = True
    seconds: float = 4.0


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
