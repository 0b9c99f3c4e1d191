"""Rules for a property beside a comparison: with a number, another property, an aggregate or an extreme."""

from collections.abc import Iterator
from typing import Literal

from nacre.understanding.parsing.modifier_rules.numbers import (
    convert_to_unit,
    is_comparable_with,
    may_count_values,
    upper_bound,
)
from nacre.understanding.parsing.modifier_rules.superlatives import extreme_function
from nacre.understanding.parsing.state import ParseContext, ParseState, drop_open_property, last_target_as_condition
from nacre.understanding.question.types import Condition, Number, Ref, Target


def compared_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "more than 3 pages", "a price below the average": the property that a comparison waits for."""
    assert state.comparison is not None
    op, value = state.comparison
    if value is not None:
        function = (
            state.pending_aggregates[0]
            if state.pending_aggregates
            else state.pending_function
            if state.pending_property is None
            else ""
        )
        if not ref.predicate:
            # "at least two authors"
            function = "count"
        number = Number(0, 0, "", value, state.unit)
        if ref.predicate and not function and not is_comparable_with(context.graph, ref, number, op):
            if not may_count_values(context.graph, ref, number):
                return
            # "at least two languages"
            function = "count"
        unit = context.graph.about(ref.predicate).unit if ref.predicate else ""
        converted = convert_to_unit(number, unit)
        if converted is None:
            return
        lower = Condition(ref, op, (converted,), state.negated, function=function, join=_joined(state))
        until = None if state.until is None else convert_to_unit(number._replace(value=state.until), unit)
        bounds = (lower, *upper_bound(lower, until))
        first = (
            (lower._replace(op=state.earlier_comparison[0], values=(state.earlier_comparison[1],), join="and"),)
            if state.earlier_comparison
            else ()
        )
        yield drop_open_property(new).apply_rule(
            "number before property", 0.2, conditions=(*state.conditions, *first, *bounds), comparison=None,
            negated=False, pending_aggregates=(), earlier_comparison=None, join="both" if state.join == "both" else "and",
        )  # fmt: skip
    elif state.pending_aggregates or state.rank is not None:
        left = (
            state.pending_property if state.pending_property is not None and state.pending_property.predicate else ref
        )
        function = state.pending_aggregates[0] if state.pending_aggregates else extreme_function(state)
        if left.node == ref.node and left.predicate and context.graph.is_numeric(left.predicate):
            condition = Condition(left, op, (), state.negated, against=Target(ref, function))
            yield new.apply_rule(
                "against aggregate" if state.pending_aggregates else "against extreme", 0.4,
                conditions=(*state.conditions, condition), comparison=None, rank=None,
                pending_property=None, negated=False, mode="C", **{"pending_aggregates": (), **last_target_as_condition(state._replace(pending_aggregates=()))},
            )  # fmt: skip
    elif (
        state.pending_property is not None
        and state.pending_property != ref
        and _comparable(state.pending_property, ref, context)
    ):
        condition = Condition(state.pending_property, op, (), state.negated, against=Target(ref))
        yield new.apply_rule(
            "against property", 0.3, conditions=(*state.conditions, condition), comparison=None, pending_property=None,
            negated=False, mode="C", **last_target_as_condition(state),
        )  # fmt: skip


def _joined(state: ParseState) -> Literal["and", "or", "both"]:
    """How a condition joins the one before it; after "either" there is none."""
    if state.join == "or":
        return "or" if state.conditions or state.earlier_comparison else "and"
    return "both" if state.join == "both" else "and"


def _comparable(one: Ref, other: Ref, context: ParseContext) -> bool:
    """Whether one property's values can be more than another's: two numbers, two dates, two texts."""
    if not (one.predicate and other.predicate):
        return False
    graph = context.graph
    dates = [graph.is_date(r.predicate) for r in (one, other)]
    return all(dates) or graph.is_numeric(one.predicate) == graph.is_numeric(other.predicate)
