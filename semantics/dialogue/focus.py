"""What a conversation is about: earlier turns -> the things that "it", "them" or "there" stand for."""

from collections.abc import Sequence

from records.plan import Aggregate, Ask, Combine, Compute, Plan, Profile, Select, Variable
from records.turn import Earlier, Scope
from semantics.linker import Linker


def focus(earlier: tuple[Earlier, ...], many: bool, linker: Linker) -> Scope:
    """What the conversation is about: the things of the last turn that has some, one or many as the pronoun wants."""
    for turn in reversed(earlier):
        answered, asked = _answered(turn), _asked_about(turn.plan)
        if many:
            for keys in (answered, turn.keys, asked):
                if len(keys) > 1:
                    return Scope(turn.plan, tuple(keys), _labels(keys, linker))
            continue
        if answered:
            return Scope(turn.plan, tuple(answered), _labels(answered, linker))
        if asked:
            return Scope(turn.plan, tuple(asked), _labels(asked, linker))
        if len(turn.keys) == 1:
            # the thing whose value was given
            return Scope(turn.plan, turn.keys, _labels(turn.keys, linker))
    if many:
        return focus(earlier, False, linker)
    return Scope()


def focus_of_kind(earlier: tuple[Earlier, ...], relations: frozenset[str], linker: Linker) -> Scope | None:
    """The things of one kind that the conversation was about last; None where there are none."""
    for turn in reversed(earlier):
        select = turn.plan.body if turn.plan else None
        named = [v.keys for v in select.variables] if isinstance(select, Select) else []
        for keys in (turn.keys, *named):
            fitting = tuple(k for k in keys if (thing := linker.lexicon.thing(k)) and thing.relation in relations)
            if fitting:
                return Scope(turn.plan, fitting, _labels(fitting, linker))
    return None


def _answered(turn: Earlier) -> tuple[str, ...]:
    """The things an answer named, where it named things."""
    body = turn.plan.body if turn.plan else None
    if isinstance(body, Combine):
        return turn.keys
    if isinstance(body, Select) and not isinstance(body.answers[0], Aggregate) and body.answers[0].kind == "itself":
        return turn.keys
    return ()


def _asked_about(plan: Plan | None) -> tuple[str, ...]:
    """The things a plan names: those of its first variable with names."""
    body = plan.body if plan else None
    if isinstance(body, Ask):
        body = body.select
    if isinstance(body, Compute):
        body = body.left
    if isinstance(body, Profile):
        body = body.members
    if not isinstance(body, Select):
        return ()
    answer = body.answers[-1]
    owner = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    ordered: list[Variable] = sorted(body.variables, key=lambda v: v.name != owner)
    for variable in ordered:
        if variable.keys:
            return variable.keys
    return ()


def _labels(keys: Sequence[str], linker: Linker) -> tuple[str, ...]:
    return tuple(thing.label if (thing := linker.lexicon.thing(key)) else key for key in keys)
