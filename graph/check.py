"""Is the evidence enough? TurnView -> the branches that should look once more."""

from collections.abc import Callable, Sequence

from agents.answering.from_texts import from_texts
from agents.answering.trust import answering_table, chance, is_enough
from agents.tool_selector import LAYERS
from agents.turn_view import TurnView
from graph.branches import BRANCHES
from nacre.records.evidence import Evidence

Told = Callable[[Sequence[str]], bool]

# from this probability on a lower layer rarely knows better (given); whether it is an answer is decided elsewhere
SETTLED = 0.5


def wanted(view: TurnView, *, by_model: bool, told: Told = lambda words: True) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed, and that would try something new; none where it is enough.

    Passages are looked for again only where there are none at all: more of the same answers nothing better. Where a
    model takes stepwise decisions, it is offered all that is new, and says itself what is enough. A waterfall goes on
    to the branches that were not visited; `told` says whether a text may answer the question with the words left out.
    """
    if view.strategy == "waterfall":
        return () if is_answered(view, told) else tuple(name for name in view.enabled if name not in view.visited)
    stepwise = by_model and view.strategy == "stepwise"
    if not stepwise and (is_enough(view.understanding, view.evidence) or _is_told(view)):
        return ()
    return tuple(
        branch
        for branch in view.enabled
        if BRANCHES[branch].fresh(view.understanding, view.of(branch), by_model)
        and (stepwise or _lacks(branch, view.evidence))
    )


def is_answered(view: TurnView, told: Told) -> bool:
    """Whether a waterfall may stop: rows that are likelier right than not, or a description of what is named. A word
    that is left out keeps it going where a text may answer in their place."""
    understanding = view.understanding
    left_out = [word for word, _ in understanding.unknown]
    if understanding.expected == "prose":
        described = any(each.round and each.branch in LAYERS[0] for each in view.evidence)
        return described and not (left_out and told(left_out))
    found = answering_table(understanding, view.evidence)
    if found is None or chance(understanding, found[1]) < SETTLED:
        return False
    if found[1].reading is not None:
        left_out += understanding.readings[found[1].reading].unused
    return not (left_out and told(left_out))


def _is_told(view: TurnView) -> bool:
    """Whether a text answers surely."""
    told = from_texts(view.standalone, view.evidence)
    return told is not None and told.sure


def _lacks(branch: str, evidence: Sequence[Evidence]) -> bool:
    return branch == "sql" or not any(each.branch == branch for each in evidence)
