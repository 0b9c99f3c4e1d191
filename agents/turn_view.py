"""A turn as every agent sees it: TurnView, with the question, its reading, the evidence so far and the deadline."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nacre.records.evidence import BranchResult, Evidence, QueryError, Rows
from nacre.records.turn import EarlierTurn, Rewrite, Understanding

Strategy = Literal["parallel", "stepwise", "waterfall"]


@dataclass(frozen=True)
class TurnView:
    """The decoded state; fields that the turn has not reached yet have their defaults.

    `conversation` are the turns before it, oldest first. `wanted` are the branches of the next round, `failures` the
    errors of branches that found nothing. `search` is a better text to search passages for. The turn must end at
    `deadline` (by `time.monotonic()`) and reads `version` of the graph.
    """

    question: str
    rewrite: Rewrite
    understanding: Understanding
    conversation: tuple[EarlierTurn, ...] = ()
    found: tuple[BranchResult, ...] = ()
    round: int = 1
    enabled: tuple[str, ...] = ()
    visited: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    failures: Mapping[str, QueryError] = field(default_factory=dict)
    strategy: Strategy = "parallel"
    search: str = ""
    deadline: float = math.inf
    version: str = ""

    @property
    def standalone(self) -> str:
        """The question that stands alone, in English; as the model that wrote the query understood it, if it did."""
        return next((part.standalone for part in self.found if part.standalone), self.rewrite.standalone)

    @property
    def language(self) -> str:
        """The language of the answer."""
        return self.rewrite.language if self.rewrite.own else "en"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence in the order in which it was found, then that of the turn which this one refers to, as of round
        0. Rows of a reading by SPARQL are left out if SQL gave rows of the same reading."""
        read = {each.reading for each in self._own_evidence if isinstance(each, Rows) and each.branch == "sql"}
        # the same reading by two query languages is one piece of evidence, not two that agree
        own = tuple(
            each
            for each in self._own_evidence
            if not (isinstance(each, Rows) and each.branch == "sparql" and each.reading in read)
        )
        return own + tuple(each for turn in self.referenced_turns[-1:] for each in turn.evidence)

    @property
    def _own_evidence(self) -> tuple[Evidence, ...]:
        return tuple(each for part in self.found for each in part.evidence)

    @property
    def referenced_turns(self) -> tuple[EarlierTurn, ...]:
        """The turns before this one if its question refers to them."""
        return self.conversation if self.rewrite.depends else ()

    def of(self, branch: str) -> tuple[BranchResult, ...]:
        """The results of one branch in earlier rounds."""
        return tuple(part for part in self.found if part.branch == branch)


def first_turn(question: str, understanding: Understanding | None = None) -> TurnView:
    """A first turn in which nothing was found yet."""
    return TurnView(question, Rewrite(question), understanding or Understanding(question))
