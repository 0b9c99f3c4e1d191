"""Is the evidence enough? TurnView -> the branches that should look once more."""

from collections.abc import Sequence

from agents.answering.trust import answering_table, chance, is_enough
from agents.tool_selector import LAYERS
from agents.turn_view import TurnView
from graph.branches import BRANCHES
from nacre.records.evidence import Evidence

# from this probability on a lower layer rarely knows better (given); whether it is an answer is decided elsewhere
SETTLED = 0.5


def wanted(view: TurnView, *, by_model: bool) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed, and that would try something new; none where it is enough.

    Passages are looked for again only where there are none at all: more of the same answers nothing better. Where a
    model takes stepwise decisions, it is offered all that is new, and says itself what is enough.
    """
    if view.strategy == "waterfall":
        return () if is_answered(view) else tuple(name for name in view.enabled if name not in view.visited)
    stepwise = by_model and view.strategy == "stepwise"
    if not stepwise and is_enough(view.understanding, view.evidence):
        return ()
    return tuple(
        branch
        for branch in view.enabled
        if BRANCHES[branch].fresh(view.understanding, view.of(branch), by_model)
        and (stepwise or _lacks(branch, view.evidence))
    )


def is_answered(view: TurnView) -> bool:
    """Whether a waterfall may stop: rows that are likelier right than not, of a question of which no word is left out,
    so that no text would answer in their place; or a description of something that is known in full."""
    understanding = view.understanding
    if understanding.unknown:
        return False
    if understanding.expected == "prose":
        return any(each.round and each.branch in LAYERS[0] for each in view.evidence)
    found = answering_table(understanding, view.evidence)
    if found is None:
        return False
    rows = found[1]
    unused = understanding.readings[rows.reading].unused if rows.reading is not None else ()
    return chance(understanding, rows) >= SETTLED and not unused


def _lacks(branch: str, evidence: Sequence[Evidence]) -> bool:
    return branch == "sql" or not any(each.branch == branch for each in evidence)
