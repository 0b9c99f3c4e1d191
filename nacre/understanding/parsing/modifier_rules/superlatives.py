"""Rules for what a superlative ranks: ParseState + class or property -> ParseStates with an order or a condition.

In each rule, `state` is the reading before the mention and `new` the reading with the mention added.
"""

from collections.abc import Iterator

from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.tokens import split_name
from nacre.understanding.linking.schema.adjectives import is_reversed_measure, measured_properties, unnamed_measures
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, has_self_link, next_slot
from nacre.understanding.question.types import Aggregation, Condition, Ordering, Ref, Target

# the rule by which things are ranked by the sum over all their parts
TOTAL_RULE = "ranked by total"
# the rule by which things are ranked by a number that the adjective does not name: "the strongest beer" by its alcohol,
# and what a reading loses by it
GUESSED_MEASURE_RULE, GUESS_COST = "guessed measure", 0.2
# how many properties are tried as the measure of an adjective
MAX_MEASURES = 3


def extreme_function(state: ParseState) -> Aggregation:
    """Return the aggregate of the pending superlative: "max" for the highest, "min" for the lowest."""
    return "max" if state.rank is not None and state.rank.descending else "min"


def ranked_class(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The youngest student", "the most students"."""
    assert state.rank is not None
    yield from _against_first(state, new, ref, context)
    if common := list(_most_common(state, new, ref)):
        yield from common
    elif state.rank.concepts:
        yield from _ranked_by_measure(state, new, ref, context)
    else:
        yield from _ranked_by_count(state, new, ref, context)


def _ranked_by_measure(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The youngest student": ranked by what the adjective measures."""
    assert state.rank is not None
    is_inner = bool(state.targets) and all(t.ref.node != ref.node or t.ref.slot for t in state.targets)
    measures = measured_properties(context.graph, ref.node, state.rank.concepts)[:MAX_MEASURES]
    if not measures and state.order is None and state.mode == "T":
        yield from _ranked_by_guess(state, new, ref, context)
    for measure, reverse, cost in measures:
        order = Ordering(measure, state.rank.descending != reverse, "", state.limit or 1)
        gain = 0.4 - cost
        if is_inner or state.order is not None or state.mode == "C":
            yield _first_thing(state, new, ref, order, gain, context)
        if state.order is not None:
            continue
        ranked = add_schema_node(new, measure, context)._replace(order=order, rank=None, limit=0)
        if state.mode == "T" and not state.pending_aggregates:
            yield ranked.apply_rule("ranked class target", gain, targets=(*state.targets, Target(ref)))
        yield ranked.apply_rule("ranked class", gain)


def _ranked_by_guess(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The strongest beer" where nothing measures strength: any number of a beer may be meant. Such readings do not
    heed the adjective (see `unheeded_words`)."""
    assert state.rank is not None
    for measure in unnamed_measures(context.graph, ref.node):
        order = Ordering(measure, state.rank.descending, "", state.limit or 1)
        ranked = add_schema_node(new, measure, context)._replace(order=order, rank=None, limit=0)
        yield ranked.apply_rule(GUESSED_MEASURE_RULE, -GUESS_COST, targets=(*state.targets, Target(ref)))


def _ranked_by_count(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The most students": ranked by how many there are."""
    rank, owner = state.rank, state.owner
    assert rank is not None
    order = Ordering(ref, rank.descending, "count", state.limit or 1)
    is_inner = (state.mode == "C" or state.last == "own kind") and rank.counts
    if is_inner and owner is not None and owner in state.nodes and _may_have_several(owner, ref, context):
        # "the state that borders the most states": the thing named before is the one with the most
        yield _first_thing(state, new._replace(nodes=state.nodes), owner, order, 0.1, context)
    if state.order is not None:
        return
    yield new.apply_rule("most of class", 0.4, order=order, rank=None, limit=0, pending_aggregates=())
    if not (rank.counts or state.pending_aggregates or (state.targets and state.targets[-1].function)):
        # "the highest temperature in May": of a property that comes after
        yield new.apply_rule("rank waits", 0.2, last="rank")
    if state.limit and state.mode == "T":
        # "the top 5 students by score"
        yield new.apply_rule("class before its rank", 0.1, targets=(*state.targets, Target(ref)))


def _against_first(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "Older than the oldest player": a property is compared with the extreme over a class."""
    rank = state.rank
    if rank is None or state.comparison is None or state.comparison[1] is not None:
        return
    for measure, reverse, cost in measured_properties(context.graph, ref.node, rank.concepts)[:2]:
        left = state.pending_values or measure
        if left.predicate != measure.predicate:
            continue
        extreme: Aggregation = "max" if rank.descending != reverse else "min"
        condition = Condition(left, state.comparison[0], (), state.negated, against=Target(measure, extreme))
        yield add_schema_node(new, left, context).apply_rule(
            "against first",
            0.4 - cost,
            conditions=(*state.conditions, condition),
            comparison=None,
            rank=None,
            pending_property=None,
            negated=False,
            mode="C",
            limit=0,
        )


def _most_common(state: ParseState, new: ParseState, ref: Ref) -> Iterator[ParseState]:
    """ "Novels in the most common genre": the most common value is a condition on the target."""
    rank, asked = state.rank, state.targets[-1].ref if state.targets else None
    if rank is None or not rank.common or asked is None or asked == ref:
        return
    if (ref.node == asked.node) != bool(ref.predicate):
        return
    order = Ordering(Ref(asked.node), rank.descending, "count", state.limit or 1)
    top = Condition(ref._replace(via=""), "top", top=order)
    yield new.apply_rule(
        "most common as condition", 0.4, conditions=(*state.conditions, top), rank=None, limit=0, mode="C", last="value"
    )


def _first_thing(
    state: ParseState, new: ParseState, ref: Ref, order: Ordering, gain: float, context: ParseContext
) -> ParseState:
    """ "The smallest city in the largest state": a thing that is the first of its class itself."""
    is_target = any(target.ref.node == ref.node and not target.ref.slot for target in state.targets)
    if is_target and not ref.slot and has_self_link(ref, context):
        ref = Ref(ref.node, "", next_slot(state, ref.node))
    conditions = (*state.conditions, Condition(ref, "top", top=order))
    return add_schema_node(new, ref, context).apply_rule(
        "top thing", gain - 0.1, conditions=conditions, rank=None, limit=0
    )


def ranked_property(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext
) -> Iterator[ParseState]:
    """ "The highest fee", "the most frequent colour": an order by a property, its extreme, or its frequent values."""
    assert state.rank is not None
    if common := list(_most_common(state, new, ref)):
        yield from common
        return
    new = new._replace(rank=None, limit=0)
    yield from _most_linked(state, new, ref, context)
    if numeric:
        yield from _ranked_by_values(state, new, ref, context)
    if not state.rank.concepts or not numeric:
        yield new.apply_rule(
            "most frequent value",
            -0.3 if numeric else 0.2,
            order=Ordering(Ref(ref.node), state.rank.descending, "count", state.limit or 1),
            group=(*state.group, ref),
            targets=(*state.targets, Target(ref)) if state.mode == "T" else state.targets,
            pending_aggregates=(),
        )


def _ranked_thing(state: ParseState) -> Ref | None:
    """What a superlative before a property may rank: the last target, or the owner of the property."""
    return state.targets[-1].ref if state.targets else state.owner


def _most_linked(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The drug with the most interactions": ranked by how many things a link leads to."""
    rank, ranked = state.rank, _ranked_thing(state)
    if rank is None or not rank.counts or not ref.via or ranked is None or ranked.predicate:
        return
    if _has_several(ranked, ref, context):
        linked = Ref(ref.node, "", next_slot(state, ref.node) if ref.node == ranked.node else ref.slot)
        order = Ordering(linked, rank.descending, "count", state.limit or 1)
        yield add_schema_node(new, linked, context).apply_rule(
            "most of link", 0.5, order=order, hints=state.hints | {ref.via}, pending_aggregates=()
        )


def _ranked_by_values(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "The highest fee": ranked by the values of a property, or the extreme of its values."""
    rank, limit, pending = state.rank, state.limit or 1, state.pending_aggregates
    assert rank is not None
    function = pending[0] if pending and pending[0] in ("sum", "avg", "count") else ""
    if function == "count" and context.graph.about(ref.predicate).role != "identifier":
        # "the largest number of seats" is what the property holds
        function = ""
    # the oldest queen is the one that was born first
    is_reversed = bool(rank.concepts) and is_reversed_measure(context.graph, ref.predicate, rank.concepts)
    order = Ordering(ref, rank.descending != is_reversed, function, limit)
    yield new.apply_rule("ranked by property", 0.3, order=order, pending_aggregates=())
    if rank.counts and not function and _counts_parts(_ranked_thing(state), ref, context):
        # "which department has the most beds": in all of its rooms
        yield new.apply_rule(TOTAL_RULE, 0.5, order=order._replace(function="sum"), pending_aggregates=())
    if state.mode == "T" and not rank.concepts:
        extreme = extreme_function(state)
        yield new.apply_rule(
            "extreme target",
            0.1 if state.targets and not state.targets[0].function else 0.35,
            targets=(*state.targets, Target(ref, extreme)),
            shared_aggregates=(extreme,),
            pending_aggregates=(),
        )


def _may_have_several(owner: Ref, ref: Ref, context: ParseContext) -> bool:
    """Whether a thing can have several of a class.

    No photo shows the most mountains if each shows one.
    """
    paths = context.graph.cheapest_paths(owner.node, ref.node)
    steps = paths[0][1] if paths else ()
    return not steps or any(not (step.forward and context.graph.about(step.predicate).functional) for step in steps)


def _has_several(owner: Ref, ref: Ref, context: ParseContext) -> bool:
    """Whether a thing can have several at the other end of a link.

    No ship has the most captains if each has one.
    """
    is_forward = (owner.node, ref.node) in context.graph.ends.get(ref.via, ())
    return not (is_forward and context.graph.about(ref.via).functional)


def _counts_parts(ranked: Ref | None, ref: Ref, context: ParseContext) -> bool:
    """Whether a property holds a count for each of several parts of a ranked thing."""
    about = context.graph.about(ref.predicate)
    if ranked is None or ranked.predicate or ranked.node == ref.node or about.datatype != "integer" or about.unit:
        return False
    label = split_name(about.label).lower()
    is_count = is_count_noun(label) or label.startswith("number of ")
    return is_count and _may_have_several(ranked, Ref(ref.node), context)
