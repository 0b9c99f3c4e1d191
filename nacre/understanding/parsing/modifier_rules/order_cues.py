"""Rules for the order of the result: ParseState + Cue -> ParseStates ("sorted by age", "oldest first")."""

from collections.abc import Iterator

from nacre.understanding.parsing.state import ParseContext, ParseState, drop_open_property
from nacre.understanding.question.types import Cue


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


def _with_direction(state: ParseState, down: bool) -> ParseState:
    if state.order is not None:
        return state._replace(order=state.order._replace(descending=down))
    return state._replace(next_role="order down" if down and state.next_role.startswith("order") else state.next_role)
