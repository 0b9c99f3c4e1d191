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


def compared_property(state: ParseState, new: ParseState, ref: Ref, reader: ParseContext) -> Iterator[ParseState]:
    """ "more than 3 pages", "a price below the average": the property that a comparison waits for."""
    assert state.compare is not None
    op, value = state.compare
    if value is not None:
        function = state.asks[0] if state.asks else state.prop_function if state.prop is None else ""
        if not ref.predicate:
            # "at least two authors"
            function = "count"
        number = Number(0, 0, "", value, state.unit)
        if ref.predicate and not function and not is_comparable_with(reader.graph, ref, number, op):
            if not may_count_values(reader.graph, ref, number):
                return
            # "at least two languages"
            function = "count"
        unit = reader.graph.about(ref.predicate).unit if ref.predicate else ""
        converted = convert_to_unit(number, unit)
        if converted is None:
            return
        lower = Condition(ref, op, (converted,), state.negated, function=function, join=_joined(state))
        until = None if state.until is None else convert_to_unit(number._replace(value=state.until), unit)
        bounds = (lower, *upper_bound(lower, until))
        first = (lower._replace(op=state.other[0], values=(state.other[1],), join="and"),) if state.other else ()
        yield drop_open_property(new).then(
            "number before property", 0.2, conditions=(*state.conditions, *first, *bounds), compare=None,
            negated=False, asks=(), other=None, join="both" if state.join == "both" else "and",
        )  # fmt: skip
    elif state.asks or state.rank is not None:
        left = state.prop if state.prop is not None and state.prop.predicate else ref
        function = state.asks[0] if state.asks else extreme_function(state)
        if left.node == ref.node and left.predicate and reader.graph.is_numeric(left.predicate):
            condition = Condition(left, op, (), state.negated, against=Target(ref, function))
            yield new.then(
                "against aggregate" if state.asks else "against extreme", 0.4,
                conditions=(*state.conditions, condition), compare=None, rank=None,
                prop=None, negated=False, mode="C", **{"asks": (), **last_target_as_condition(state._replace(asks=()))},
            )  # fmt: skip
    elif state.prop is not None and state.prop != ref and _comparable(state.prop, ref, reader):
        condition = Condition(state.prop, op, (), state.negated, against=Target(ref))
        yield new.then(
            "against property", 0.3, conditions=(*state.conditions, condition), compare=None, prop=None,
            negated=False, mode="C", **last_target_as_condition(state),
        )  # fmt: skip


def _joined(state: ParseState) -> Literal["and", "or", "both"]:
    """How a condition joins the one before it; after "either" there is none."""
    if state.join == "or":
        return "or" if state.conditions or state.other else "and"
    return "both" if state.join == "both" else "and"


def _comparable(one: Ref, other: Ref, reader: ParseContext) -> bool:
    """Whether one property's values can be more than another's: two numbers, two dates, two texts."""
    if not (one.predicate and other.predicate):
        return False
    graph = reader.graph
    dates = [graph.is_date(r.predicate) for r in (one, other)]
    return all(dates) or graph.is_numeric(one.predicate) == graph.is_numeric(other.predicate)
