"""Conditions for "only": Condition -> Conditions, a thing has this value and no other ("speaks only English")."""

from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Condition

# the rule by which a value or a thing is the only one
ONLY_RULE = "only value"


def exclusive_conditions(condition: Condition, context: ParseContext) -> tuple[Condition, ...]:
    """Return the conditions that a thing has this value, or is linked to this thing, and to no other.

    None if there cannot be another, or the condition is of another kind.
    """
    if condition.function or condition.against is not None:
        return ()
    ref = condition.ref
    if condition.op == "=" and ref.predicate and not context.graph.about(ref.predicate).functional:
        other = condition._replace(op="!=", negated=not condition.negated)
        # "speaks not only English": another language as well
        return (condition._replace(negated=False), other) if condition.negated else (other,)
    if condition.op == "is" and not (ref.predicate or condition.negated):
        others = Condition(ref, "exists", (), True, inner=(condition._replace(negated=True),))
        return (condition, others)
    return ()
