"""Rules for the order of the result: ParseState + Cue -> ParseStates ("sorted by age", "oldest first")."""

from collections.abc import Iterator

from nacre.understanding.linking.schema.adjectives import is_reversed_measure, measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, drop_open_property
from nacre.understanding.question.types import Cue, Ordering


def order_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Sorted by": what the result is sorted by comes next."""
    role = "order down" if cue.value == "down" else "order up"
    # the weight of the rule was learned from traces without the property that is dropped here
    trace = (*state.trace, "order cue")
    yield drop_open_property(state)._replace(
        next_role=role, last="order", pending_aggregates=(), shared_aggregates=(), trace=trace
    )


def direction_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Descending": the direction of an order before or after it."""
    yield _with_direction(state, cue.value == "down")


def ordered_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "From the tallest to the shortest": an order by the measure of both, or the direction of another order."""
    direction, concepts = cue.ranking
    down, order = direction == "down", state.order
    if state.owner is not None and not state.next_role and (order is None or not order.function):
        for ref, reverse, cost in measured_properties(context.graph, state.owner.node, concepts)[:2]:
            if order is None or order.ref == ref:
                closed = add_schema_node(drop_open_property(state), ref, context)
                measured = Ordering(ref, down != reverse)
                yield closed.apply_rule("order by measure", 0.3 - cost, order=measured, last="order", mode="O")
    predicate = order.ref.predicate if order is not None and not order.function else ""
    is_reversed = bool(predicate) and is_reversed_measure(context.graph, predicate, concepts)
    yield _with_direction(state, down != is_reversed)


def order_by_count(state: ParseState) -> Iterator[ParseState]:
    """ "Sorted by count": by the number that is asked for."""
    counted = [target for target in state.targets if target.function == "count"]
    if state.next_role.startswith("order") and counted:
        order = Ordering(counted[-1].ref, state.next_role == "order down", "count")
        yield state.apply_rule("order by count", 0.3, order=order, next_role="", last="order", mode="O")


def _with_direction(state: ParseState, down: bool) -> ParseState:
    if state.order is not None:
        return state._replace(order=state.order._replace(descending=down))
    return state._replace(next_role="order down" if down and state.next_role.startswith("order") else state.next_role)
