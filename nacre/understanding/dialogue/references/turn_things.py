"""The things in the plan of an earlier turn: EarlierTurn -> keys of things that it answered with or named."""

from nacre.language.tokens import tokenize
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Aggregate, Ask, Combine, Compute, Plan, Profile, Select, Variable
from nacre.records.turn import EarlierTurn
from nacre.understanding.linking.linker import Linker


def answered_things(turn: EarlierTurn) -> tuple[str, ...]:
    """The things that an answer named. Empty if it gave values."""
    body = turn.plan.body if turn.plan else None
    if isinstance(body, Combine):
        return turn.keys
    if isinstance(body, Select) and not isinstance(body.answers[0], Aggregate) and body.answers[0].kind == "itself":
        return turn.keys
    return ()


def named_things_of(plan: Plan | None) -> tuple[tuple[str, ...], ...]:
    """The things that a plan names: those of each variable with names, starting with the answered one."""
    body = _first_select(plan)
    if body is None:
        return ()
    answer = body.answers[-1]
    owner = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    variables = sorted(body.variables, key=lambda v: v.name != owner)
    return tuple(variable.keys for variable in variables if variable.keys)


def has_earlier_things(plan: Plan | None, keys: tuple[str, ...]) -> bool:
    """Whether a plan has these things from an earlier turn, and not from its question."""
    return any(is_from_earlier_turn(v) and v.keys == keys for v in plan_variables(plan))


def names_itself(turn: EarlierTurn, keys: tuple[str, ...], linker: Linker) -> bool:
    """Whether the user's own words name these things, and not only the rewritten question."""
    if turn.question == turn.standalone:
        return True
    named = (c.keys for c in linker.link(tokenize(turn.question)) if c.kind == "entity")
    return any(set(keys) <= set(own) for own in named)


def plan_variables(plan: Plan | None) -> tuple[Variable, ...]:
    """The variables of the first select of a plan."""
    body = _first_select(plan)
    return body.variables if body is not None else ()


def _first_select(plan: Plan | None) -> Select | None:
    """The select that a plan tests, compares or describes first."""
    body = plan.body if plan else None
    if isinstance(body, Ask):
        body = body.select
    if isinstance(body, Compute):
        body = body.left
    if isinstance(body, Profile):
        body = body.members
    return body if isinstance(body, Select) else None
