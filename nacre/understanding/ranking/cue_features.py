"""Features of cues: whether the plan does what a word like "most" or "each" asks: Candidate + Question -> features."""

from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.question.types import INEQUALITIES, Derivation, Question
from nacre.understanding.ranking.spans import is_inside_link

# The value of a cue that may have another meaning ("by").
WEAK = "weak"


def cue_features(candidate: Candidate, question: Question) -> dict[str, float]:
    """For each kind of cue: answered by the plan, unanswered, or done by the plan without a cue."""
    d = candidate.derivation
    outside_names = [c for c in question.cues if not is_inside_link(c.start, c.end, d.links)]
    cues = {f"{c.kind} {WEAK}" if c.value == WEAK else c.kind for c in outside_names}
    found: dict[str, float] = {}
    for kind, is_done in _operations(d).items():
        if kind in cues and not is_done:
            found[f"cue {kind} unanswered"] = 1.0
        elif is_done and kind not in cues and not kind.endswith(WEAK):
            found[f"{kind} without cue"] = 1.0
        elif is_done:
            found[f"cue {kind} answered"] = 1.0
    return found


def _operations(d: Derivation) -> dict[str, bool]:
    """Whether the reading does what a kind of cue asks for."""
    tops = [c.top for c in d.conditions if c.top is not None]
    functions = {
        *(t.function for t in d.targets),
        *(c.function for c in d.conditions),
        *(c.against.function for c in d.conditions if c.against),
        *((d.order.function,) if d.order is not None else ()),
        *(top.function for top in tops),
    } - {""}
    is_ranked = (d.order is not None and d.order.limit > 0) or bool(tops)
    return {
        **{function: function in functions for function in ("count", "avg", "sum", "max", "min")},
        "most": is_ranked or bool(functions & {"max", "min"}),
        "superlative": is_ranked or bool(functions & {"max", "min"}),
        "group": bool(d.group),
        f"group {WEAK}": bool(d.group),
        "negation": any(c.negated or c.op == "unknown" for c in d.conditions) or "flag denied" in d.trace,
        "both": d.combine == "intersection",
        "or": (d.combine == "union" and MEMBERS_RULE not in d.trace)
        or any(len(c.values) > 1 or len(c.keys) > 1 for c in d.conditions),
        "distinct": any(t.distinct for t in d.targets),
        "contains": any(c.op in ("contains", "starts", "ends") for c in d.conditions),
        "compare": any(c.op in INEQUALITIES for c in d.conditions),
        "order": d.order is not None,
    }
