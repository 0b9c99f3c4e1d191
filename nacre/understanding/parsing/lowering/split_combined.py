"""The two readings that a combined one is made of ("both", "either", "never"): Derivation -> two Derivations."""

from collections.abc import Sequence

from nacre.understanding.question.types import Condition, Derivation, Ref


def split_alternatives(d: Derivation) -> tuple[Derivation, Derivation]:
    """The derivation with the first and with the second of the two conditions that are combined."""
    conditions = list(d.conditions)
    second = next((i for i in range(1, len(conditions)) if conditions[i].join in ("or", "both")), len(conditions) - 1)
    same = [
        i
        for i in range(second)
        if conditions[i].ref == conditions[second].ref or (conditions[i].op == conditions[second].op)
    ]
    first = same[-1] if same else second - 1
    if d.combine == "union":
        # "A and B, or C": everything before the "or" stands together
        one = [c for i, c in enumerate(conditions) if i < second]
        two = [c for i, c in enumerate(conditions) if i >= second]
    else:
        one = [c for i, c in enumerate(conditions) if i != second]
        two = [c for i, c in enumerate(conditions) if i != first]
    return tuple(
        d._replace(conditions=tuple(part), combine="", nodes=_needed(d, part, conditions)) for part in (one, two)
    )  # type: ignore[return-value]


def split_negated(d: Derivation) -> tuple[Derivation, Derivation]:
    """All values, and those of the things that a negated condition speaks of."""
    negated = next(c for c in d.conditions if c.negated and c.op == "=")
    rest = tuple(c for c in d.conditions if c != negated)
    first = d._replace(conditions=rest, combine="", nodes=_needed(d, rest, d.conditions))
    return first, d._replace(conditions=(*rest, negated._replace(negated=False)), combine="")


def _needed(d: Derivation, kept: Sequence[Condition], every: Sequence[Condition]) -> tuple[Ref, ...]:
    dropped = {c.ref.thing for c in every if c not in kept} - {c.ref.thing for c in kept}
    dropped -= {t.ref.thing for t in d.targets}
    return tuple(n for n in d.nodes if n not in dropped)
