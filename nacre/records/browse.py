"""What the pages of things and classes show: facts both ways, members, passages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FactEnd:
    """One end of a fact: a thing by `iri` and its name, or a literal ("" for `iri`)."""

    text: str
    iri: str = ""


@dataclass(frozen=True)
class PredicateFacts:
    """The ends of all facts of one predicate; `more` are not listed."""

    predicate: str
    label: str
    unit: str
    ends: tuple[FactEnd, ...]
    more: int = 0


@dataclass(frozen=True)
class ThingPassage:
    """A passage that names the thing: of a text, where `document` names one."""

    title: str
    text: str
    document: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Thing:
    """`facts` start at the thing, `linking` end there; `complete` is false where time ran out."""

    iri: str
    label: str
    classes: tuple[FactEnd, ...]
    facts: tuple[PredicateFacts, ...]
    linking: tuple[PredicateFacts, ...]
    passages: tuple[ThingPassage, ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class ClassProperty:
    """What the members of a class have: how many of them, and a few values."""

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
    """How many values of one predicate of a thing are shown, how many things that link to it by one, whether passages
    are looked for, and how many seconds the look may take in all."""

    values: int = 30
    linking: int = 12
    passages: bool = True
    seconds: float = 4.0


# a person waits for it
PAGE_LIMITS = BrowseLimits()


@dataclass(frozen=True)
class ClassView:
    """A class: where it stands, what its members have, some members from `skip` on, by name. `many` is its plural."""

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
