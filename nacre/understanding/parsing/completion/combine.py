"""Combine conditions on one property: Derivation -> Derivations (any of several values, or both)."""

from collections.abc import Iterator, Sequence

from nacre.understanding.question.types import Condition, Derivation


def combine_conditions(derivation: Derivation) -> Iterator[Derivation]:
    """Yield the readings with any of several values, with both, or with either condition."""
    if derivation.combine:
        yield derivation
        return
    conditions = derivation.conditions
    merged = _merge_values(conditions)
    has_merged = len(merged) < len(conditions)
    if has_merged:
        yield derivation.apply_rule("any of values", 0.1, conditions=merged)
    plain = [condition for condition in conditions if not condition.function]
    if len(plain) >= 2 and "both" in derivation.trace:
        yield derivation.apply_rule("both", 0.3, combine="intersection")
    elif has_merged and not _is_two_things(derivation):
        yield derivation.apply_rule("both of values", 0.0, combine="intersection")
    if any(condition.join == "or" for condition in conditions) and not has_merged and len(plain) >= 2:
        yield derivation.apply_rule("either", 0.3, combine="union")
    if not has_merged:
        yield derivation


def _is_two_things(derivation: Derivation) -> bool:
    """Whether a target would have to be several named things at once."""
    named = [condition.ref for condition in derivation.conditions if condition.op == "is" and not condition.negated]
    return any(named.count(target.ref.thing) > 1 for target in derivation.targets)


def _merge_values(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions with equal ones on one property or thing merged into one that allows any of their values."""
    merged: list[Condition] = []
    for condition in conditions:
        place = next((i for i, other in enumerate(merged) if _may_merge(other, condition)), None)
        if place is None:
            merged.append(condition)
        else:
            other = merged[place]
            merged[place] = other._replace(
                values=(*other.values, *condition.values),
                keys=(*other.keys, *condition.keys),
                label=_either_label(other.label, condition.label),
            )
    return tuple(merged)


def _may_merge(one: Condition, other: Condition) -> bool:
    """Whether two conditions differ in their values only."""
    is_equal = one.ref == other.ref and one.op == other.op and one.op in ("=", "is") and one.negated == other.negated
    return is_equal and not one.function and not one.against


def _either_label(first: str, second: str) -> str:
    """What things of either name are called."""
    return f"{first} or {second}" if first and second and first != second else first or second
