"""Is the evidence enough? TurnView -> the branches that should look once more."""

from collections.abc import Sequence

from agents.answering.from_texts import best_text_answer
from agents.answering.select_answer import is_enough
from agents.turn_view import TurnView
from graph.branches import BRANCHES
from nacre.records.evidence import Evidence


def branches_to_retry(view: TurnView, *, by_model: bool) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed, and that would try something new; none where it is enough.

    Passages are looked for again only where there are none at all: more of the same answers nothing better. Where a
    model takes stepwise decisions, it is offered all that is new, and says itself what is enough.
    """
    stepwise = by_model and view.strategy == "stepwise"
    if not stepwise and (is_enough(view.understanding, view.evidence) or _is_told(view)):
        return ()
    return tuple(
        branch
        for branch in view.enabled
        if BRANCHES[branch].fresh(view.understanding, view.of(branch), by_model)
        and (stepwise or _lacks(branch, view.evidence))
    )


def _is_told(view: TurnView) -> bool:
    """Whether a text answers surely."""
    told = best_text_answer(view.standalone, view.evidence)
    return told is not None and told.sure


def _lacks(branch: str, evidence: Sequence[Evidence]) -> bool:
    return branch == "sql" or not any(each.branch == branch for each in evidence)
