"""Split a combined reading in two: Derivation -> two Derivations ("both", "either")."""

from collections.abc import Sequence

from nacre.understanding.question.types import Condition, Derivation, Ref


def split_alternatives(derivation: Derivation) -> tuple[Derivation, Derivation]:
    """Return the derivation with the first and with the second of the two conditions that are combined."""
    conditions = list(derivation.conditions)
    joined = (i for i in range(1, len(conditions)) if conditions[i].join in ("or", "both"))
    second = next(joined, len(conditions) - 1)
    alike = [
        i
        for i in range(second)
        if conditions[i].ref == conditions[second].ref or conditions[i].op == conditions[second].op
    ]
    first = alike[-1] if alike else second - 1
    if derivation.combine == "union":
        # "A and B, or C": everything before the "or" belongs together
        one, other = conditions[:second], conditions[second:]
    else:
        one = [condition for i, condition in enumerate(conditions) if i != second]
        other = [condition for i, condition in enumerate(conditions) if i != first]
    return _with_conditions(derivation, one), _with_conditions(derivation, other)


def _with_conditions(derivation: Derivation, kept: Sequence[Condition]) -> Derivation:
    """The derivation with some of its conditions, and without the things that only the others use."""
    return derivation._replace(conditions=tuple(kept), combine="", nodes=_needed_nodes(derivation, kept))


def _needed_nodes(derivation: Derivation, kept: Sequence[Condition]) -> tuple[Ref, ...]:
    dropped = {condition.ref.thing for condition in derivation.conditions if condition not in kept}
    dropped -= {condition.ref.thing for condition in kept} | {target.ref.thing for target in derivation.targets}
    return tuple(node for node in derivation.nodes if node not in dropped)
