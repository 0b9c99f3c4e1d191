"""Rules for superlatives: what waits to be ranked, and a mention at hand + ParseState -> further States."""

from collections.abc import Iterator

from nacre.language.forms.nouns import is_count_noun
from nacre.language.tokens import split_name
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, has_self_link, next_slot
from nacre.understanding.question.types import Aggregation, Condition, Link, Ordering, Ref, Target

TOTAL_RULE = "ranked by total"


def ranked_class(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "the youngest student", "the most students"."""
    rank = state.rank
    assert rank is not None
    limit = state.limit or 1
    yield from _against_first(state, new, ref, context)
    common = list(_most_common(state, new, ref))
    yield from common
    if common:
        return
    inside = bool(state.targets) and all(t.ref.node != ref.node or t.ref.slot for t in state.targets)
    if rank.concepts:
        for place, (found, reverse, cost) in enumerate(measured_properties(context.graph, ref.node, rank.concepts)[:3]):
            order = Ordering(found, rank.descending != reverse, "", limit)
            gain = 0.4 - cost
            if inside or state.order is not None or state.mode == "C":
                yield from _top(state, new, ref, order, gain, context)
            if state.order is not None:
                continue
            ranked = add_schema_node(new, found, context)._replace(order=order, rank=None, limit=0)
            if place:
                ranked = ranked.apply_rule("further measure")
            if state.mode == "T" and not state.pending_aggregates:
                yield ranked.apply_rule("ranked class target", gain, targets=(*state.targets, Target(ref)))
            yield ranked.apply_rule("ranked class", gain)
    else:
        order = Ordering(ref, rank.descending, "count", limit)
        inner = (state.mode == "C" or state.last == "own kind") and state.owner is not None
        if inner and rank.counts and state.owner in state.nodes and _may_have_several(state.owner, ref, context):
            # "the state that borders the most states": the thing named before is the one with the most
            yield from _top(state, new._replace(nodes=state.nodes), state.owner, order, 0.1, context)
        if state.order is not None:
            return
        yield new.apply_rule("most of class", 0.4, order=order, rank=None, limit=0, pending_aggregates=())
        if not (rank.counts or state.pending_aggregates or (state.targets and state.targets[-1].function)):
            # "the highest temperature in May": of a property that comes after
            yield new.apply_rule("rank waits", 0.2, last="rank")
        if state.limit and state.mode == "T":
            # "the top 5 students by score"
            yield new.apply_rule("class before its rank", 0.1, targets=(*state.targets, Target(ref)))
            yield new.apply_rule("owner before its rank", 0.1)


def _most_common(state: ParseState, new: ParseState, ref: Ref) -> Iterator[ParseState]:
    """ "novels in the most common genre": what most things of the kind asked for have is a condition on them."""
    rank, asked = state.rank, state.targets[-1].ref if state.targets else None
    if rank is None or not rank.common or asked is None or asked == ref:
        return
    if (ref.node == asked.node) != bool(ref.predicate):
        return
    top = Condition(
        ref._replace(via=""), "top", top=Ordering(Ref(asked.node), rank.descending, "count", state.limit or 1)
    )
    yield new.apply_rule(
        "most common as condition", 0.4, conditions=(*state.conditions, top), rank=None, limit=0, mode="C", last="value"
    )


def _may_have_several(owner: Ref | None, ref: Ref, context: ParseContext) -> bool:
    """Whether a thing can have more than one of a kind: no photo is of the most mountains where each is of one."""
    ways = context.graph.cheapest_paths(owner.node, ref.node) if owner is not None else ()
    steps = ways[0][1] if ways else ()
    return not steps or any(not (s.forward and context.graph.about(s.predicate).functional) for s in steps)


def _has_several(owner: Ref, ref: Ref, context: ParseContext) -> bool:
    """Whether a thing can have more than one at the other end of a link: no ship has the most captains of its one."""
    leads = (owner.node, ref.node) in context.graph.ends.get(ref.via, ())
    return not (leads and context.graph.about(ref.via).functional)


def _is_count_of_several(asked: Ref | None, ref: Ref, context: ParseContext) -> bool:
    """Whether a property counts something of each of several things that one of those asked for has."""
    about = context.graph.about(ref.predicate)
    if asked is None or asked.predicate or asked.node == ref.node or about.datatype != "integer" or about.unit:
        return False
    label = split_name(about.label).lower()
    counts = is_count_noun(label) or label.startswith("number of ")
    return counts and _may_have_several(asked, Ref(ref.node), context)


def extreme_function(state: ParseState) -> Aggregation:
    """What the value of the first in a waiting order is among all: the highest, or the lowest."""
    return "max" if state.rank is not None and state.rank.descending else "min"


def _against_first(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> Iterator[ParseState]:
    """ "older than the oldest player": a property is compared with that of the first of a kind."""
    rank, compare = state.rank, state.comparison
    if rank is None or compare is None or compare[1] is not None:
        return
    for found, reverse, cost in measured_properties(context.graph, ref.node, rank.concepts)[:2]:
        left = (
            state.pending_property if state.pending_property is not None and state.pending_property.predicate else found
        )
        if left.predicate != found.predicate:
            continue
        best: Aggregation = "max" if rank.descending != reverse else "min"
        condition = Condition(left, compare[0], (), state.negated, against=Target(found, best))
        yield add_schema_node(new, left, context).apply_rule(
            "against first", 0.4 - cost, conditions=(*state.conditions, condition), comparison=None, rank=None,
            pending_property=None, negated=False, mode="C", limit=0,
        )  # fmt: skip


def _top(
    state: ParseState, new: ParseState, ref: Ref, order: Ordering, gain: float, context: ParseContext
) -> Iterator[ParseState]:
    """ "the smallest city in the largest state": a thing that is itself the first of its kind."""
    same = any(t.ref.node == ref.node and not t.ref.slot for t in state.targets)
    at = Ref(ref.node, "", next_slot(state, ref.node)) if same and not ref.slot and has_self_link(ref, context) else ref
    top = Condition(at, "top", top=order)
    yield add_schema_node(new, at, context).apply_rule(
        "top thing", gain - 0.1, conditions=(*state.conditions, top), rank=None, limit=0
    )


def ranked_property(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext
) -> Iterator[ParseState]:
    """ "the highest fee", "the most frequent colour": an order by a property, its extreme, or its frequent values."""
    rank = state.rank
    assert rank is not None
    limit = state.limit or 1
    common = list(_most_common(state, new, ref))
    yield from common
    if common:
        return
    new = new._replace(rank=None, limit=0)
    asked = state.targets[-1].ref if state.targets else state.owner
    many = ref.via and asked is not None and not asked.predicate and _has_several(asked, ref, context)
    if many and rank.counts and asked is not None:
        # "the drug with the most interactions": what a link leads to is counted
        far = Ref(ref.node, "", next_slot(state, ref.node) if ref.node == asked.node else ref.slot)
        order = Ordering(far, rank.descending, "count", limit)
        yield add_schema_node(new, far, context).apply_rule(
            "most of link", 0.5, order=order, hints=state.hints | {ref.via}, pending_aggregates=()
        )
    if numeric:
        function = (
            state.pending_aggregates[0]
            if state.pending_aggregates and state.pending_aggregates[0] in ("sum", "avg", "count")
            else ""
        )
        if function == "count" and context.graph.about(ref.predicate).role != "identifier":
            # "the largest number of seats" is what the property holds
            function = ""
        order = Ordering(ref, rank.descending, function, limit)
        yield new.apply_rule("ranked by property", 0.3, order=order, pending_aggregates=())
        if rank.counts and not function and _is_count_of_several(asked, ref, context):
            # "which department has the most beds": in all of its rooms
            yield new.apply_rule(TOTAL_RULE, 0.5, order=order._replace(function="sum"), pending_aggregates=())
        if limit > 1 and state.mode == "T" and not (state.targets or state.pending_aggregates):
            # "the top 3 highest rates"
            yield new.apply_rule("ranked values", 0.4, order=order, targets=(Target(ref),))
        if state.mode == "T" and not rank.concepts:
            best: Aggregation = "max" if rank.descending else "min"
            yield new.apply_rule(
                "extreme target",
                0.1 if state.targets and not state.targets[0].function else 0.35,
                targets=(*state.targets, Target(ref, best)),
                shared_aggregates=(best,),
                pending_aggregates=(),
            )
    if not rank.concepts or not numeric:
        order = Ordering(Ref(ref.node), rank.descending, "count", limit)
        targets = (*state.targets, Target(ref)) if state.mode == "T" else state.targets
        yield new.apply_rule(
            "most frequent value", 0.2 if not numeric else -0.3, order=order, group=(*state.group, ref),
            targets=targets, pending_aggregates=(),
        )  # fmt: skip


def ranked_by_name(
    state: ParseState, new: ParseState, link: Link, ref: Ref, numeric: bool, context: ParseContext
) -> Iterator[ParseState]:
    """A property whose own name begins with a superlative: "the state with the lowest point"."""
    if link.end - link.start < 2 or not link.exact:
        return
    cue = next((c for c in context.question.cues if c.kind == "superlative" and c.start == link.start), None)
    if cue is None:
        return
    direction, _, concepts = cue.value.partition(" ")
    ranked = (
        [(ref, False, 0.0)]
        if numeric
        else list(measured_properties(context.graph, ref.node, tuple(concepts.split("|"))))[:1]
    )
    for found, reverse, cost in ranked if ref.via or numeric else ():
        if numeric and not state.targets:
            continue
        order = Ordering(found, (direction == "up") != reverse, "", state.limit or 1)
        ordered = add_schema_node(new, found, context)._replace(limit=0, owner=Ref(ref.node), last="class")
        targets = state.targets or (Target(ref.thing),)
        yield ordered.apply_rule("ranked by own name", 0.3 - cost, order=order, targets=targets)
