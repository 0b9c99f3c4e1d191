"""Is the evidence enough? Understanding + what was found -> the branches that should look once more."""

from collections.abc import Sequence

from agents.answering.trust import is_enough
from graph.branches import BRANCHES
from records.evidence import Evidence, Found
from records.turn import Understanding


def wanted(
    understanding: Understanding,
    found: Sequence[Found],
    enabled: Sequence[str],
    *,
    by_model: bool,
    stepwise: bool = False,
) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed, and that would try something new; none where it is enough.

    Passages are looked for again only where there are none at all: more of the same answers nothing better. Where the
    selector takes `stepwise` decisions, it is offered all that is new, and says itself what is enough.
    """
    evidence = [each for part in found for each in part.evidence]
    if not stepwise and is_enough(understanding, evidence):
        return ()
    earlier = {branch: [part for part in found if part.branch == branch] for branch in enabled}
    return tuple(
        branch
        for branch in enabled
        if BRANCHES[branch].fresh(understanding, earlier[branch], by_model) and (stepwise or _lacks(branch, evidence))
    )


def _lacks(branch: str, evidence: Sequence[Evidence]) -> bool:
    return branch == "sql" or not any(each.branch == branch for each in evidence)
