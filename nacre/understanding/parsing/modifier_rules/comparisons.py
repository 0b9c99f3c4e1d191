"""Rules for a property after a comparison: ParseState + Ref -> ParseStates with the condition that is complete now.

What a property is compared with: a number, an aggregate, an extreme or another property.
"""

from collections.abc import Iterator
from typing import Any, Literal

from nacre.understanding.parsing.modifier_rules.number_conditions import (
    convert_to_unit,
    is_comparable_with,
    may_count_values,
    upper_bound,
)
from nacre.understanding.parsing.modifier_rules.superlatives import extreme_function
from nacre.understanding.parsing.state import ParseContext, ParseState, drop_open_property, last_target_as_condition
from nacre.understanding.question.types import Aggregation, Condition, Number, Ref, Target


def compared_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "More than 3 pages", "a price below the average": the property that a comparison waits for."""
    assert state.comparison is not None
    if state.comparison[1] is not None:
        yield from _with_number(state, new, ref, context)
    elif state.pending_aggregates or state.rank is not None:
        yield from _with_aggregate(state, new, ref, context)
    else:
        yield from _with_property(state, new, ref, context)


def _with_number(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "More than 3 pages", "over 80 or under 50 pages"."""
    assert state.comparison is not None
    operator, value = state.comparison
    assert value is not None
    number = Number(0, 0, "", value, state.unit)
    function = _compared_function(state, ref)
    if ref.predicate and not function and not is_comparable_with(context.graph, ref, number, operator):
        if not may_count_values(context.graph, ref, number):
            return
        # "at least two languages"
        function = "count"
    unit = context.graph.about(ref.predicate).unit if ref.predicate else ""
    converted = convert_to_unit(number, unit)
    if converted is None:
        return
    until = None if state.until is None else convert_to_unit(number._replace(value=state.until), unit)
    lower = Condition(ref, operator, (converted,), state.negated, function=function, join=_join(state))
    bounds: tuple[Condition, ...] = (lower, *upper_bound(lower, until))
    if state.earlier_comparison:
        earlier_operator, earlier_value = state.earlier_comparison
        bounds = (lower._replace(op=earlier_operator, values=(earlier_value,), join="and"), *bounds)
    yield drop_open_property(new).apply_rule(
        "number before property",
        0.2,
        conditions=(*state.conditions, *bounds),
        comparison=None,
        earlier_comparison=None,
        negated=False,
        pending_aggregates=(),
        join="both" if state.join == "both" else "and",
    )


def _compared_function(state: ParseState, ref: Ref) -> Aggregation:
    """The aggregate that a number is compared with; "count" for a link ("at least two authors")."""
    if not ref.predicate:
        return "count"
    if state.pending_aggregates:
        return state.pending_aggregates[0]
    return state.pending_function if state.pending_property is None else ""


def _with_aggregate(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "A price below the average", "a price below the highest"."""
    assert state.comparison is not None
    left = state.pending_values or ref
    if left.node != ref.node or not left.predicate or not context.graph.is_numeric(left.predicate):
        return
    function = state.pending_aggregates[0] if state.pending_aggregates else extreme_function(state)
    condition = Condition(left, state.comparison[0], (), state.negated, against=Target(ref, function))
    changes: dict[str, Any] = {
        "pending_aggregates": (),
        **last_target_as_condition(state._replace(pending_aggregates=())),
    }
    yield new.apply_rule(
        "against aggregate" if state.pending_aggregates else "against extreme",
        0.4,
        conditions=(*state.conditions, condition),
        comparison=None,
        rank=None,
        pending_property=None,
        negated=False,
        mode="C",
        **changes,
    )


def _with_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "More exports than imports"."""
    left = state.pending_property
    if state.comparison is None or left is None or left == ref or not _are_comparable(left, ref, context):
        return
    condition = Condition(left, state.comparison[0], (), state.negated, against=Target(ref))
    yield new.apply_rule(
        "against property",
        0.3,
        conditions=(*state.conditions, condition),
        comparison=None,
        pending_property=None,
        negated=False,
        mode="C",
        **last_target_as_condition(state),
    )


def _join(state: ParseState) -> Literal["and", "or", "both"]:
    """How a condition joins the one before it; the first after "either" joins none."""
    if state.join == "or":
        return "or" if state.conditions or state.earlier_comparison else "and"
    return state.join


def _are_comparable(one: Ref, other: Ref, context: ParseContext) -> bool:
    """Whether the values of two properties have one order: two numbers, two dates or two texts."""
    if not (one.predicate and other.predicate):
        return False
    graph = context.graph
    both_dates = all(graph.is_date(ref.predicate) for ref in (one, other))
    return both_dates or graph.is_numeric(one.predicate) == graph.is_numeric(other.predicate)
