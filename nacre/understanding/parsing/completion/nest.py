"""Nest conditions in what they belong to: Derivation -> Derivations (what is missing, compared with, or counted)."""

from collections.abc import Iterator, Sequence

from nacre.understanding.question.types import Condition, Derivation, Ref


def nest_conditions(derivation: Derivation, root: Ref) -> Iterator[Derivation]:
    """Yield the readings with later conditions on what is missing or compared with, then the reading itself."""
    yield from _of_missing(derivation, root)
    yield from _of_compared(derivation)
    yield derivation


def _of_missing(derivation: Derivation, root: Ref) -> Iterator[Derivation]:
    """ "Students without a supervisor who is retired": conditions after "without X" are conditions on X."""
    conditions = derivation.conditions
    at = next((i for i, each in enumerate(conditions) if each.negated and each.op == "exists"), None)
    if at is None:
        return
    own = [each for each in conditions[at + 1 :] if each.ref.node != root.node and not each.function]
    if own:
        missing = conditions[at]._replace(inner=tuple(each._replace(negated=False) for each in own))
        others = (each for each in conditions[at + 1 :] if each not in own)
        yield derivation.apply_rule("condition of missing", 0.3, conditions=(*conditions[:at], missing, *others))


def _of_compared(derivation: Derivation) -> Iterator[Derivation]:
    """ "Above the average of the films since 2000": conditions on what an aggregate is over."""
    conditions = derivation.conditions
    at = next((i for i, each in enumerate(conditions) if each.against is not None and each.against.function), None)
    if at is None or len(conditions) < 2:
        return
    compared = conditions[at]
    inner = tuple(each for each in conditions[at + 1 :] if not each.function and each.against is None)
    if inner:
        outer = tuple(each for each in conditions if each not in inner and each != compared)
        nested = (*outer, compared._replace(inner=inner))
        nodes = _used_nodes(derivation, nested, inner)
        yield derivation.apply_rule("condition of aggregate", 0.2, conditions=nested, nodes=nodes)


def _used_nodes(derivation: Derivation, outer: Sequence[Condition], inner: Sequence[Condition]) -> tuple[Ref, ...]:
    """The things of a reading without those that only its inner conditions use."""
    used = {each.ref.thing for each in outer} | {target.ref.thing for target in derivation.targets}
    only_inner = {each.ref.thing for each in inner} - used
    return tuple(node for node in derivation.nodes if node not in only_inner)


def nest_having(derivation: Derivation) -> Iterator[Derivation]:
    """Yield the readings in which conditions on counts choose the things that end up in one number.

    "How many clubs have more than 3 players" counts the clubs that have. Conditions on what is counted, as in "young
    players", are nested as well.
    """
    conditions = derivation.conditions
    on_groups = [each for each in conditions if each.function]
    counted = {each.ref.thing for each in on_groups}
    asked = list(dict.fromkeys(target.ref.thing for target in derivation.targets))
    if derivation.group or derivation.order is not None or len(asked) > 1:
        return
    if counted & set(asked):
        # "how many members speak more than one language"
        if all(each.ref.predicate and each.ref.thing in asked for each in on_groups):
            having = Condition(asked[0], "having", inner=tuple(on_groups))
            others = (each for each in conditions if not each.function)
            yield derivation.apply_rule("having inside", 0.1, conditions=(*others, having))
        return
    inner = tuple(each for each in conditions if each.ref.thing in counted)
    outer = tuple(each for each in conditions if each not in inner)
    owners = [node for node in derivation.nodes if node not in counted]
    for place, owner in enumerate(dict.fromkeys((*asked, *owners))):
        nested = (*outer, Condition(owner, "having", inner=inner))
        used = {each.ref.thing for each in nested} | set(asked)
        nodes = tuple(node for node in derivation.nodes if node in used or node not in counted)
        yield derivation.apply_rule("having inside", 0.1 - 0.3 * place, conditions=nested, nodes=nodes)
