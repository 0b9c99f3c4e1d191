"""Finish a partial reading: ParseState -> Derivations, one for each way to settle what the words leave open."""

from collections.abc import Iterator
from itertools import islice

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import amounts
from nacre.understanding.parsing.completion.columns import settle_columns
from nacre.understanding.parsing.completion.combine import combine_conditions
from nacre.understanding.parsing.completion.grouping import settle_grouping
from nacre.understanding.parsing.completion.nest import nest_conditions
from nacre.understanding.parsing.completion.ordering import apply_direction, apply_ordinal_rank
from nacre.understanding.parsing.completion.pending import settle_pending
from nacre.understanding.parsing.completion.question_words import (
    OTHER_END_RULE,
    PLACE_OR_TIME_RULE,
    WHO_RULE,
    choose_first_or_last_date,
    opposite_end_refs,
    person_refs,
    place_or_date_refs,
)
from nacre.understanding.parsing.mention_rules.property_mentions import LINK_DENIED_RULE
from nacre.understanding.parsing.modifier_rules.dates import later_date_cost
from nacre.understanding.parsing.modifier_rules.ongoing import ongoing_conditions
from nacre.understanding.parsing.state import UNSETTLED_COST, ParseContext, ParseState, drop_open_property
from nacre.understanding.question.types import Condition, Derivation, Ref, Target

# how many derivations of one state are kept
MAX_VARIANTS = 10
# the rule by which pending aggregates are of the only measure
ONLY_MEASURE_RULE = "aggregate of only measure"
# the rule by which nothing measures what is asked with "how"
UNSETTLED_DEGREE_RULE = "unsettled degree"
# the rule by which a question asks for the thing that it names
NAMED_TARGET_RULE = "default target is thing"
# cues of questions that count, rank or compare, and so ask for no total
OTHER_CUES = frozenset(("count", "superlative", "most", "comparative", "compared"))


def finish_state(state: ParseState, context: ParseContext) -> list[Derivation]:
    """Return the derivations of a state, the likeliest first."""
    state = drop_open_property(state)
    root = _root(state)
    if root is None:
        return []
    targets, aggregate_rules = _settle_aggregates(state, root, context)
    whole = _derivation(state, root, targets, aggregate_rules)
    asked = _by_question_word(whole, state, root, targets, context)
    variants = [combined for derivation in asked for combined in combine_conditions(derivation)]
    whole = _settle_measure(whole, state, context)
    for settled in settle_pending(whole, state, root, context):
        variants += _variants(settled, root, context)
    dated = (choose_first_or_last_date(variant, context) for variant in variants)
    ongoing = (each for derivation in dated for each in ongoing_conditions(derivation, context))
    ordered = (apply_ordinal_rank(apply_direction(derivation, context), context) for derivation in ongoing)
    return list(islice(map(_count_things_of_each, ordered), MAX_VARIANTS))


def _root(state: ParseState) -> Ref | None:
    """The thing that the reading is about: of its first target, group, node or condition."""
    targets = (target.ref for target in state.targets)
    conditions = (condition.ref for condition in state.conditions)
    return next((ref.thing for ref in (*targets, *state.group, *state.nodes, *conditions)), None)


def _settle_aggregates(
    state: ParseState, root: Ref, context: ParseContext
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The targets with the aggregates that still wait, and the rules by which they are settled."""
    targets = state.targets
    if not state.pending_aggregates:
        return targets, ()
    if "count" in state.pending_aggregates and not any(target.function for target in targets):
        things = [target for target in targets if not target.ref.predicate]
        if things and not state.group:
            counted = tuple(Target(each.ref, "count") if each == things[-1] else each for each in targets)
        else:
            counted = (*targets, Target(root.thing, "count"))
        return counted, ("count at end",)
    if computed := _sum_targets(state, root, context):
        return computed, (ONLY_MEASURE_RULE,)
    return targets, ("unsettled aggregate",)


def _derivation(
    state: ParseState, root: Ref, targets: tuple[Target, ...], aggregate_rules: tuple[str, ...]
) -> Derivation:
    """The derivation of a state as it is; what was left unsettled lowers its prior."""
    pending = {
        "rank": state.rank,
        "compare": state.comparison,
        "group": state.next_role == "group",
        "text": state.pending_text,
    }
    rules = (*(f"unsettled {name}" for name, value in pending.items() if value), *aggregate_rules)
    costly = [rule for rule in rules if rule.startswith("unsettled")]
    if not targets:
        targets = tuple(map(Target, state.group)) or (Target(root.thing),)
        rules = (*rules, "default target")
        if any(condition.op == "is" and condition.ref == root for condition in state.conditions):
            rules = (*rules, NAMED_TARGET_RULE)
            costly.append(NAMED_TARGET_RULE)
    return Derivation(
        targets=targets,
        conditions=state.conditions,
        group=state.group,
        order=state.order,
        nodes=state.nodes or (root,),
        combine="",
        covered=state.covered,
        prior=state.score - UNSETTLED_COST * len(costly),
        trace=(*state.trace, *rules),
        links=state.links,
        hints=state.hints,
    )


def _by_question_word(
    whole: Derivation, state: ParseState, root: Ref, targets: tuple[Target, ...], context: ParseContext
) -> Iterator[Derivation]:
    """What "where", "when", "who" and "what" ask for beside what is named."""
    if not state.group and not any(target.ref.predicate for target in targets):
        for ref in place_or_date_refs(state, root, context):
            hints = whole.hints | {ref.via} if ref.via else whole.hints
            gain = 0.5 - _later_date_cost(ref, context)
            yield whole.apply_rule(PLACE_OR_TIME_RULE, gain, targets=(Target(ref),), hints=hints)
    if not state.group and not targets:
        for ref in person_refs(state, root, context):
            yield whole.apply_rule(WHO_RULE, 0.4, targets=(Target(ref),), nodes=(*whole.nodes, ref))
    # a yes/no question asks for nothing else
    first = context.question.tokens[0].norm if context.question.tokens else ""
    asks_yes_no = first in language().words["asking_yes_no"]
    if not (state.targets or state.group or state.pending_aggregates or asks_yes_no):
        for ref in opposite_end_refs(state, root, context):
            # a denied link says of the things that are named that nothing is there
            gain = 0.5 if LINK_DENIED_RULE in whole.trace else 0.5 + UNSETTLED_COST
            yield whole.apply_rule(OTHER_END_RULE, gain, targets=(Target(ref),), nodes=(*whole.nodes, ref))


def _later_date_cost(ref: Ref, context: ParseContext) -> float:
    is_date = bool(ref.predicate) and context.graph.is_date(ref.predicate)
    return later_date_cost(ref, context.graph) if is_date else 0.0


def _settle_measure(whole: Derivation, state: ParseState, context: ParseContext) -> Derivation:
    """The derivation with what "how much" measures, if nothing else says so."""
    if state.degree and ONLY_MEASURE_RULE not in whole.trace:
        return whole.apply_rule(UNSETTLED_DEGREE_RULE, -UNSETTLED_COST)
    return whole


def _variants(settled: Derivation, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """Every combination of a grouping, of columns, and of a place for each condition."""
    for grouped in settle_grouping(settled, root, context):
        for shown in settle_columns(_order_as_condition(grouped), context):
            for nested in nest_conditions(shown, root):
                for attached in _attach_conditions(nested, context.graph):
                    yield from combine_conditions(attached)


def _order_as_condition(derivation: Derivation) -> Derivation:
    """An order of things that end up in one number is a condition: "how many states does the shortest river cross"."""
    order = derivation.order
    if order is None or order.function or derivation.group or not all(t.function for t in derivation.targets):
        return derivation
    top = Condition(order.ref.thing, "top", top=order)
    return derivation.apply_rule("order inside", conditions=(*derivation.conditions, top), order=None)


def _count_things_of_each(derivation: Derivation) -> Derivation:
    """Count things for each value of a property, not the different values.

    "Each genre and the number of books of that genre".
    """
    shown = {*derivation.group, *(target.ref for target in derivation.targets if not target.function)}
    targets = derivation.targets
    if not any(target.distinct and target.function == "count" and target.ref in shown for target in targets):
        return derivation
    return derivation._replace(
        targets=tuple(target._replace(distinct=target.distinct and target.ref not in shown) for target in targets)
    )


def _attach_conditions(derivation: Derivation, graph: SchemaGraph) -> Iterator[Derivation]:
    """Yield the readings in which what follows another thing of a class belongs to the last or nearest."""
    nodes, hints = derivation.nodes, derivation.hints
    others = [
        node
        for node in nodes
        if node.slot and any((node.node, node.node) in graph.ends.get(hint, ()) for hint in hints)
    ]
    has_more_after = bool(others) and nodes.index(others[0]) < len(nodes) - 1
    named = [condition for condition in derivation.conditions if condition.ref in others and condition.op == "is"]
    if has_more_after or (named and len(nodes) > 2):
        yield derivation.apply_rule("of the last", 0.1, attachment="last")
    yield derivation


def _sum_targets(state: ParseState, root: Ref, context: ParseContext) -> tuple[Target, ...]:
    """Return the pending aggregates over the one amount of the things, none if it is not one.

    "What do these invoices add up to", "how much is unpaid".
    """
    if any(cue.kind in OTHER_CUES for cue in context.question.cues):
        # "the three most expensive overall"
        return ()
    has_target = any(target.ref.predicate or target.function for target in state.targets)
    if has_target or set(state.pending_aggregates) - {"sum", "avg"}:
        return ()
    named = [each for each in state.conditions if each.op == "is" and len(each.keys) == 1 and not each.negated]
    found = amounts(context.graph, root.node) if all(each.ref != root for each in named) else []
    if len(found) != 1:
        return ()
    return tuple(Target(Ref(root.node, found[0], root.slot), function) for function in state.pending_aggregates)
