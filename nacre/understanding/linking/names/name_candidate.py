"""What a span of a question may name: NameCandidate."""

from dataclasses import dataclass, field
from typing import Literal

CandidateKind = Literal["entity", "class", "predicate", "value", "flag"]


@dataclass(frozen=True)
class NameCandidate:
    """What tokens `start` to `end` (exclusive) may name. `score` is 0..1; `exact` says that the whole name was said.

    A `backward` predicate is said from its far end: "children" of a link to a father.

    `ends` are the predicates that lead to one of the things `keys`, None where that is not known.
    `relations` are the tables of an entity's or class's things; `classes` and `without` say a class in graph terms.
    """

    kind: CandidateKind
    start: int
    end: int
    score: float
    label: str
    exact: bool = False
    relations: frozenset[str] = frozenset()
    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    predicate: str = ""
    value: str = ""
    backward: bool = False
    ends: frozenset[str] | None = field(default=None, compare=False)
    covered: frozenset[int] = field(default=frozenset(), compare=False)
