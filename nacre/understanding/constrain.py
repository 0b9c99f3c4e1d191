"""Drop the readings of the beam that are ruled out: Candidates + ParseContext -> those left. See `CONSTRAINTS`."""

from collections.abc import Callable
from typing import NamedTuple

from nacre.understanding.parsing.completion.columns import MEASURE_RULE
from nacre.understanding.parsing.constraints.computable import drop_computed_texts
from nacre.understanding.parsing.constraints.direction import drop_reversed_links
from nacre.understanding.parsing.constraints.mentioned_paths import prefer_named_links
from nacre.understanding.parsing.constraints.own_properties import prefer_own_properties
from nacre.understanding.parsing.constraints.preferences import (
    asks_capacity,
    asks_measure,
    expect_rule,
    prefer_members,
    prefer_own_columns,
    prefer_totals,
    prefer_whole_sums,
    prefer_wider_classes,
)
from nacre.understanding.parsing.constraints.requested_class import prefer_requested_class
from nacre.understanding.parsing.constraints.self_reference import drop_self_references
from nacre.understanding.parsing.readers.yes_no import keep_named_things
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.ranking.unheeded_words import unheeded_words

Keep = Callable[[list[Candidate], ParseContext], list[Candidate]]


class Constraint(NamedTuple):
    """A named constraint. `keep` returns the readings that meet it.

    If none does, all stay, unless it is a law: a reading that breaks a law is no answer even if there is no other.
    """

    name: str
    keep: Keep
    is_law: bool = False


def constrain(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that meet the constraints, which are applied in their order."""
    for constraint in CONSTRAINTS:
        kept = constraint.keep(candidates, context)
        candidates = kept if constraint.is_law else kept or candidates
    return candidates


def _prefer_own_properties(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    def heeds_all(candidate: Candidate) -> bool:
        return not unheeded_words(candidate, context.question, context.graph)

    return prefer_own_properties(candidates, context, heeds_all)


CONSTRAINTS = (
    Constraint("no self reference", drop_self_references, is_law=True),
    Constraint("computable", drop_computed_texts, is_law=True),
    Constraint("named links", prefer_named_links),
    Constraint("total of all", prefer_whole_sums),
    Constraint("own columns", prefer_own_columns),
    Constraint("rank by total", prefer_totals),
    Constraint("answers capacity", expect_rule(asks_capacity, "degree of thing")),
    Constraint("answers measure", expect_rule(asks_measure, MEASURE_RULE)),
    Constraint("widest class", prefer_wider_classes),
    Constraint("members of categories", prefer_members),
    Constraint("requested class", prefer_requested_class),
    Constraint("own property", _prefer_own_properties),
    Constraint("direction of links", drop_reversed_links, is_law=True),
    Constraint("all named things", keep_named_things),
)
