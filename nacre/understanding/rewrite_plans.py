"""Change the plans of readings to what the question means: Candidate -> Candidate. See `REWRITES`."""

from collections.abc import Callable
from typing import NamedTuple

from nacre.understanding.parsing.lowering.members import aggregate_members, read_unions
from nacre.understanding.parsing.lowering.part_of import include_parts
from nacre.understanding.parsing.readers.keywords import as_condition
from nacre.understanding.parsing.readers.yes_no import as_yes_no
from nacre.understanding.parsing.state import Candidate, ParseContext


class PlanRewrite(NamedTuple):
    """A named change of a reading, which returns other readings as they are."""

    name: str
    change: Callable[[Candidate, ParseContext], Candidate]


def rewrite_plan(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading with all changes, which are made in their order."""
    for rewrite in REWRITES:
        candidate = rewrite.change(candidate, context)
    return candidate


REWRITES = (
    PlanRewrite("yes or no", as_yes_no),
    PlanRewrite("aggregate of members", aggregate_members),
    PlanRewrite("parts of a whole", include_parts),
    PlanRewrite("nouns of unions", read_unions),
    PlanRewrite("keywords as condition", as_condition),
)
