"""Rules for superlatives, comparatives, degrees and orders: ParseState + Cue -> ParseStates that rank, compare, measure
or sort."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.schema.adjectives import is_reversed_measure, measured_properties
from nacre.understanding.parsing.state import (
    RANK_AFTER_AGGREGATE,
    UNSETTLED_COST,
    ParseContext,
    ParseState,
    PendingSuperlative,
    add_schema_node,
    drop_open_property,
    last_target_as_condition,
)
from nacre.understanding.question.types import Condition, Cue, Ordering, Ref, Target


def most_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "The most", "the highest": a superlative that does not say what it measures."""
    before = state.rank
    if before is not None and before.concepts:
        return
    measures = any(other.kind == "superlative" and other.end == cue.end for other in context.question.cues)
    rank = PendingSuperlative(cue.value == "up", (), not measures, _says_most_common(state, cue, context))
    # after "average, minimum and" it is an aggregate
    cost = RANK_AFTER_AGGREGATE if state.pending_aggregates else 0.0
    if before is not None and before.descending != rank.descending:
        # of "the highest and lowest price" the first is lost
        cost += UNSETTLED_COST
    yield state._replace(rank=rank, last="rank", next_role="", score=state.score - cost)


def _says_most_common(state: ParseState, cue: Cue, context: ParseContext) -> bool:
    """Whether a superlative restricts the things before it to the most common value: "in the most common genre"."""
    has_column = any(target.ref.predicate for target in state.targets)
    restricts = state.mode == "C" or (state.last in ("of", "prop") and not has_column)
    words = {token.norm for token in context.question.tokens[cue.start : cue.end]}
    return restricts and not state.next_role and bool(words & language().words["common"])


def superlative_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "The longest": a superlative that measures something, before or after what it ranks."""
    if state.rank is not None and state.rank.concepts:
        return
    direction, concepts = cue.ranking
    rank = PendingSuperlative(direction == "up", concepts)
    date = _date_before(state, cue, context)
    if date is None:
        yield state._replace(rank=rank, last="rank", next_role="")
    if state.owner is None or state.order is not None:
        return
    # "the student who is oldest"
    measures = (
        measured_properties(context.graph, state.owner.node, concepts)[:2] if date is None else [(date, False, 0.0)]
    )
    for ref, reverse, cost in measures:
        order = Ordering(ref, rank.descending != reverse, "", state.limit or 1)
        ordered = add_schema_node(state, ref, context).apply_rule(
            "superlative after class", 0.1 - cost, order=order, limit=0, last="rank"
        )
        yield ordered
        if state.pending_is_target and state.targets[-1:] == (Target(ref),):
            # "which artist joined last": the date only says which artist it is
            yield ordered._replace(targets=state.targets[:-1], pending_property=None, pending_is_target=False)


def _date_before(state: ParseState, cue: Cue, context: ParseContext) -> Ref | None:
    """The date right before "first" or "last": what was paid last has the latest payment date."""
    word = context.question.tokens[cue.start].norm
    if word not in english_data()["at_end"] or not state.links or state.owner is None:
        return None
    before = state.links[-1]
    refs = [ref for ref in before.refs if ref.predicate and ref.node == state.owner.node]
    return (
        next((ref for ref in refs if context.graph.is_date(ref.predicate)), None) if before.end == cue.start else None
    )


def degree_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "How long": the measure of what comes next is asked for."""
    yield state._replace(degree=tuple(cue.value.split("|")), last="degree")


def comparative_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Longer than": the measure of what came before is compared; "what is longer than the Rhine" asks for things of
    its class."""
    operator, concepts = cue.ranking
    if state.owner is None:
        named = {link.refs[0].node for link in context.links if link.kind == "entity" and link.start == cue.end}
        for node in sorted(named) if not state.links and not state.targets else ():
            things = add_schema_node(state, Ref(node), context)._replace(owner=Ref(node), targets=(Target(Ref(node)),))
            yield from comparative_cue(things, cue, context)
        return
    for ref, reverse, cost in measured_properties(context.graph, state.owner.node, concepts)[:2]:
        compared = {">": "<", "<": ">"}[operator] if reverse else operator
        yield add_schema_node(drop_open_property(state), ref, context).apply_rule(
            "comparative",
            -cost,
            pending_property=ref,
            pending_is_target=False,
            comparison=(compared, None),
            mode="C",
            last="compare",
        )


def compare_with_own_aggregate(state: ParseState) -> Iterator[ParseState]:
    """ "Above the average": the pending property is compared with its own average."""
    if state.comparison is None or state.comparison[1] is not None or not state.pending_aggregates:
        return
    left = state.pending_values
    if left is None:
        return
    against = Target(left, state.pending_aggregates[0])
    condition = Condition(left, state.comparison[0], (), state.negated, against=against)
    changes = {"pending_aggregates": (), **last_target_as_condition(state._replace(pending_aggregates=()))}
    yield state.apply_rule(
        "against own aggregate",
        0.4,
        conditions=(*state.conditions, condition),
        comparison=None,
        pending_property=None,
        negated=False,
        **changes,
    )


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
