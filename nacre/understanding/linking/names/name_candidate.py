"""What a span of a question may name: NameCandidate."""

from dataclasses import dataclass, field
from typing import Literal

CandidateKind = Literal["entity", "class", "predicate", "value", "flag"]


@dataclass(frozen=True)
class NameCandidate:
    """What the tokens from `start` to `end` (exclusive) may name, with a score from 0 to 1.

    `exact` says that the span is the complete name. `relations` are the tables of the named things or of the class.
    `classes` and `without` describe the class in terms of the graph. `ends` are the predicates that lead to one of the
    things `keys`, or None if that is not known. `covered` are the tokens that belong to the name.
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
    ends: frozenset[str] | None = field(default=None, compare=False)
    covered: frozenset[int] = field(default=frozenset(), compare=False)
