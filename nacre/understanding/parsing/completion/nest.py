"""Conditions that belong to something inside: what is missing, or what is compared with. Derivation -> Derivations."""

from collections.abc import Iterator, Sequence

from nacre.understanding.question.types import Condition, Derivation, Ref


def nest_conditions(d: Derivation, root: Ref) -> Iterator[Derivation]:
    """Conditions after "no X": of the X that is missing, or of the thing itself."""
    at = next((i for i, c in enumerate(d.conditions) if c.negated and c.op == "exists"), None)
    if at is not None:
        own = [c for c in d.conditions[at + 1 :] if c.ref.node != root.node and not c.function]
        if own:
            missing = d.conditions[at]._replace(inner=tuple(c._replace(negated=False) for c in own))
            rest = (*d.conditions[:at], missing, *(c for c in d.conditions[at + 1 :] if c not in own))
            yield d.apply_rule("condition of missing", 0.3, conditions=rest)
    against = next((i for i, c in enumerate(d.conditions) if c.against is not None and c.against.function), None)
    if against is not None and len(d.conditions) > 1:
        compared = d.conditions[against]
        inner = tuple(c for c in d.conditions[against + 1 :] if not c.function and c.against is None)
        if inner:
            conditions = tuple(c for c in d.conditions if c not in inner and c != compared)
            nested = (*conditions, compared._replace(inner=inner))
            left = _left(d, nested, inner)
            yield d.apply_rule("condition of aggregate", 0.2, conditions=nested, nodes=left)
        before = tuple(c for c in d.conditions[:against] if not c.function and c.against is None)
        if before and "against first" in d.trace:
            # "after the latest Hitchcock film"
            yield d.apply_rule(
                "condition of first", 0.2,
                conditions=(compared._replace(inner=(*before, *inner)),), nodes=_left(d, (compared,), before),
            )  # fmt: skip
    plain = [t for t in d.targets if t.ref.predicate and not t.function]
    if len(plain) == len(d.targets) and any(c.negated and c.op == "=" for c in d.conditions) and not d.group:
        yield d.apply_rule("values never with", 0.0, combine="difference")
    yield d


def nest_having(d: Derivation) -> Iterator[Derivation]:
    """Conditions on counts of what ends up in one number: "how many clubs have more than 3 players" counts the clubs
    among those that have. What is said of the things that are counted, as "young players", is said inside as well."""
    on_groups = [c for c in d.conditions if c.function]
    counted = {c.ref.thing for c in on_groups}
    asked = list(dict.fromkeys(t.ref.thing for t in d.targets))
    if d.group or d.order is not None or len(asked) > 1:
        return
    if counted & set(asked):
        # "how many members speak more than one language"
        if all(c.ref.predicate and c.ref.thing in asked for c in on_groups):
            held = Condition(asked[0], "having", inner=tuple(on_groups))
            yield d.apply_rule("having inside", 0.1, conditions=(*(c for c in d.conditions if not c.function), held))
        return
    inner = tuple(c for c in d.conditions if c.ref.thing in counted)
    rest = tuple(c for c in d.conditions if c not in inner)
    holders = [n for n in d.nodes if n not in counted]
    for place, holder in enumerate(dict.fromkeys((*asked, *holders))):
        having = Condition(holder, "having", inner=inner)
        whole = (*rest, having)
        used = {c.ref.thing for c in whole} | set(asked)
        nodes = tuple(n for n in d.nodes if n in used or n not in counted)
        yield d.apply_rule("having inside", 0.1 - 0.3 * place, conditions=whole, nodes=nodes)


def _left(d: Derivation, conditions: Sequence[Condition], inner: Sequence[Condition]) -> tuple[Ref, ...]:
    """The things of a reading without those that only its inner conditions speak of."""
    used = {c.ref.thing for c in conditions} | {t.ref.thing for t in d.targets}
    only = {c.ref.thing for c in inner} - used
    return tuple(n for n in d.nodes if n not in only)
