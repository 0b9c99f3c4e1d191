"""Finish a partial reading: ParseState -> Derivations, one for each way to settle what the words leave open."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from nacre.language.data import WORDS
from nacre.language.thesaurus import nouns_of_kind
from nacre.language.word_forms import is_participle
from nacre.records.plan import OF_NUMBERS
from nacre.understanding.linking.adjectives import amounts, measured_numbers, measured_properties, unnamed_measures
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.columns import combine_conditions, nest_conditions, nest_having, settle_columns
from nacre.understanding.parsing.cue_rules import (
    asks_for_persons,
    choose_date,
    is_passive,
    may_be_place,
    ongoing_conditions,
    persons_near,
)
from nacre.understanding.parsing.number_rules import (
    COUNT_UNITS,
    is_comparable_with,
    later_date_cost,
    number_conditions,
    upper_bound,
)
from nacre.understanding.parsing.property_rules import LINK_DENIED_RULE
from nacre.understanding.parsing.state import (
    UNSETTLED_COST,
    ParseContext,
    ParseState,
    PendingSuperlative,
    drop_open_property,
)
from nacre.understanding.parsing.superlative_rules import (
    GUESS_COST,
    GUESSED_MEASURE_RULE,
    SETTLED_MEASURE_GAIN,
    apply_ordinal_rank,
    rank_by_total,
)
from nacre.understanding.question.numbers import OCCASION
from nacre.understanding.question.records import (
    INEQUALITIES,
    Aggregation,
    Condition,
    Cue,
    Derivation,
    Number,
    Ordering,
    Ref,
    Target,
    covered_mask,
)
from nacre.wording.labels import may_give_years

MAX_VARIANTS = 10  # how many derivations of one state are kept
ONLY_MEASURE_RULE = "aggregate of only measure"  # the rule by which pending aggregates are of the only measure
SETTLED_MEASURE_RULE = "settled on only measure"  # the rule by which what is said without a property is of this one
UNSETTLED_DEGREE_RULE = "unsettled degree"  # the rule by which nothing measures what is asked with "how"
NAMED_TARGET_RULE = "default target is thing"  # the rule by which a question asks for the thing that it names

# cues of questions that count, rank or compare, and so ask for no total
OTHER_CUES = frozenset(("count", "superlative", "most", "comparative", "compared"))


def finish_state(state: ParseState, context: ParseContext) -> list[Derivation]:
    """Return the derivations of a state, the likeliest first."""
    state = drop_open_property(state)
    shown, conditions = (target.ref for target in state.targets), (condition.ref for condition in state.conditions)
    root = next((ref.thing for ref in (*shown, *state.group, *state.nodes, *conditions)), None)
    if root is None:
        return []
    targets, aggregate_rules = _settle_aggregates(state, root, context)
    whole = _derivation(state, root, targets, aggregate_rules)
    asked = _by_question_word(whole, state, root, targets, context)
    variants = [combined for derivation in asked for combined in combine_conditions(derivation)]
    if state.degree and ONLY_MEASURE_RULE not in whole.trace:
        # nothing else says what "how much" measures
        whole = whole.apply_rule(UNSETTLED_DEGREE_RULE, -UNSETTLED_COST)
    for settled in settle_pending(whole, state, root, context):
        variants += _variants(settled, root, context)
    dated = (choose_date(variant, context) for variant in variants)
    ongoing = (each for derivation in dated for each in ongoing_conditions(derivation, context))
    ordered = (apply_ordinal_rank(apply_direction(derivation, context), context) for derivation in ongoing)
    return list(islice(map(_count_things_of_each, ordered), MAX_VARIANTS))


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
    # "when was she born" asks for that date, and for no other
    asks_when = any((cue.kind, cue.value) == ("open", "when") for cue in context.question.cues)
    is_dated = asks_when and any(c.op == "known" and context.graph.is_date(c.ref.predicate) for c in whole.conditions)
    if not state.group and not is_dated and not any(target.ref.predicate for target in targets):
        for refs, said in place_or_date_refs(state, root, context):
            hints = whole.hints.union(ref.via for ref in refs if ref.via)
            dates = [ref for ref in refs if ref.predicate and context.graph.is_date(ref.predicate)]
            gain = 0.5 - sum(later_date_cost(ref, context.graph) for ref in dates)
            asked, covered = tuple(map(Target, refs)), whole.covered | said
            yield whole.apply_rule(PLACE_OR_TIME_RULE, gain, targets=asked, hints=hints, covered=covered)
    if not state.group and not targets:
        for ref in person_refs(state, root, context):
            yield whole.apply_rule(WHO_RULE, 0.4, targets=(Target(ref),), nodes=(*whole.nodes, ref))
    # a yes/no question asks for nothing else
    first = context.question.tokens[0].norm if context.question.tokens else ""
    asks_yes_no = first in WORDS["asking_yes_no"]
    if not (state.targets or state.group or state.pending_aggregates or asks_yes_no):
        for ref in opposite_end_refs(state, root, context):
            # a denied link says of the things that are named that nothing is there
            gain = 0.5 if LINK_DENIED_RULE in whole.trace else 0.5 + UNSETTLED_COST
            yield whole.apply_rule(OTHER_END_RULE, gain, targets=(Target(ref),), nodes=(*whole.nodes, ref))


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
    """Count things for each value of a property: "each genre and the number of books of that genre"."""
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
    others = [n for n in nodes if n.slot and any((n.node, n.node) in graph.ends.get(hint, ()) for hint in hints)]
    has_more_after = bool(others) and nodes.index(others[0]) < len(nodes) - 1
    named = [condition for condition in derivation.conditions if condition.ref in others and condition.op == "is"]
    if has_more_after or (named and len(nodes) > 2):
        yield derivation.apply_rule("of the last", 0.1, attachment="last")
    yield derivation


def _sum_targets(state: ParseState, root: Ref, context: ParseContext) -> tuple[Target, ...]:
    """Return the pending aggregates over the only amount of the things, or a sum of their only number: "how much is
    unpaid"; else none."""
    if any(cue.kind in OTHER_CUES for cue in context.question.cues):
        # "the three most expensive overall"
        return ()
    has_target = any(target.ref.predicate or target.function for target in state.targets)
    if has_target or set(state.pending_aggregates) - OF_NUMBERS:
        return ()
    named = [each for each in state.conditions if each.op == "is" and len(each.keys) == 1 and not each.negated]
    found: list[str] = []
    if all(each.ref != root for each in named):
        degrees = (tuple(cue.value.split("|")) for cue in context.question.cues if cue.kind == "degree")
        asked = measured_properties(context.graph, root.node, next(degrees, ()))
        found = [r.predicate for r, _, _ in asked if r.predicate in measured_numbers(context.graph, root.node)]
        found = found if len(found) == 1 else amounts(context.graph, root.node)
    if state.pending_aggregates == ("sum",):
        found = found or [ref.predicate for ref in unnamed_measures(context.graph, root.node)]
    if len(found) != 1:
        return ()
    return tuple(Target(Ref(root.node, found[0], root.slot), function) for function in state.pending_aggregates)


MAX_THINGS, MAX_LINKED = 3, 2  # how many things and links are tried

UNLINKED_RULE = "nothing linked at end"  # in the trace of a reading that denies a link that it does not name


def settle_pending(derivation: Derivation, state: ParseState, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings with a pending superlative or number on what was said before, then the reading itself."""
    says = {token.norm for token in context.question.tokens}
    is_often = not says.isdisjoint(WORDS["common"])
    if state.rank is not None:
        limit = state.limit or 1
        if state.rank.concepts:
            yield from _ranked_by_measure(derivation, state.rank, limit, root, context.graph)
        else:
            if is_often or says.isdisjoint(WORDS["paying"]) or len(unnamed_measures(context.graph, root.node)) != 1:
                yield from _ranked_by_column(derivation, state.rank, limit, context)
            yield from _ranked_by_links(derivation, state.rank, limit, root, context.graph)
    elif state.comparison is not None and state.comparison[1] is not None and state.unit in COUNT_UNITS:
        operator, value = state.comparison
        assert value is not None
        counted = [node for node in derivation.nodes if node != root][-2:]
        linked = {Ref(step.target) for step in context.graph.steps[root.node] if not step.forward}
        if not counted and len(linked) == 1 and state.unit == OCCASION:
            # "which clients came twice"
            counted = list(linked)
        for ref in reversed(counted):
            lower = Condition(ref, operator, (value,), function="count")
            conditions = (*derivation.conditions, lower, *upper_bound(lower, state.until))
            yield derivation.apply_rule("count settled", 0.5, conditions=conditions)
    has_verb = is_participle(context.question.tokens[-1].norm)
    is_bare = len(state.links) == 1 and not state.conditions and set(state.targets) == {Target(root)}
    if state.negated and is_bare and has_verb:
        # "which bus have we never used": that no trip is linked to
        for ref in _linked_things(derivation, root, context.graph):
            missing = (Condition(ref, "exists", (), True),)
            yield derivation.apply_rule(UNLINKED_RULE, 0.5, conditions=missing, nodes=(root, ref))
    if not is_often:
        yield from _by_only_measure(derivation, state, root, context)
    yield derivation


def _by_only_measure(
    derivation: Derivation, state: ParseState, root: Ref, context: ParseContext
) -> Iterator[Derivation]:
    """ "Who got the most", "which firms were paid over 500": of things with one number, it is this one."""
    graph, compared = context.graph, {number.value for number in context.question.numbers if number.op}
    measures = unnamed_measures(graph, root.node)
    if len(measures) != 1 or any(condition.ref.predicate == measures[0].predicate for condition in state.conditions):
        return
    measure = measures[0]._replace(slot=root.slot)
    is_linked = any(not step.forward for step in graph.steps[root.node])
    if state.rank is not None and not state.rank.concepts and not is_linked:
        order = Ordering(measure, state.rank.descending, "", state.limit or 1)
        totals = list(rank_by_total(derivation, order, root, context))
        yield from totals or [derivation.apply_rule(SETTLED_MEASURE_RULE, SETTLED_MEASURE_GAIN, order=order)]
    elif state.comparison is not None and state.comparison[1] in compared and state.unit != OCCASION:
        operator, value = state.comparison
        assert value is not None
        number = Number(0, 0, "", value, state.unit, until=state.until)
        if is_comparable_with(graph, measure, number, operator):
            bounds = number_conditions(graph, measure, operator, number, state)
            conditions = (*derivation.conditions, *bounds)
            yield derivation.apply_rule(SETTLED_MEASURE_RULE, SETTLED_MEASURE_GAIN, conditions=conditions)


def _ranked_by_measure(
    derivation: Derivation, rank: PendingSuperlative, limit: int, root: Ref, graph: SchemaGraph
) -> Iterator[Derivation]:
    """ "The longest": by the measure of what the reading is about; if nothing measures it, by any number of it."""
    nodes = list(dict.fromkeys((root, *derivation.nodes)))[:MAX_THINGS]
    found = [each for n in nodes for each in measured_properties(graph, n.node, rank.concepts)[:2]]
    for ref, reverse, cost in found:
        order = Ordering(ref, rank.descending != reverse, "", limit)
        yield derivation.apply_rule("rank settled", 0.5 - cost, order=order)
    for ref in unnamed_measures(graph, root.node, rank.concepts) if not found else ():
        order = Ordering(ref, rank.descending, "", limit)
        yield derivation.apply_rule(GUESSED_MEASURE_RULE, -GUESS_COST, order=order)


def _ranked_by_column(
    derivation: Derivation, rank: PendingSuperlative, limit: int, context: ParseContext
) -> Iterator[Derivation]:
    """ "The most": by how often a value of the last column occurs, or by its values."""
    columns = [target.ref for target in derivation.targets if target.ref.predicate and not target.function]
    if not columns:
        return
    last = columns[-1]
    frequency = Ordering(Ref(last.node), rank.descending, "count", limit)
    yield derivation.apply_rule("most frequent at end", 0.5, order=frequency, group=(last,))
    if not context.graph.is_numeric(last.predicate) or context.graph.about(last.predicate).role == "identifier":
        return
    order = Ordering(last, rank.descending, "", limit)
    first, second = [*(token.norm for token in context.question.tokens[:2]), "", ""][:2]
    others = tuple(target for target in derivation.targets if target.ref != last)
    if not others and first in WORDS["choosing"] and second in WORDS["choosing_of"]:
        # "which of them charges the most"
        others = tuple(Target(link.refs[0]) for link in derivation.links if link.match == "scope")
    else:
        yield derivation.apply_rule("ranked at end", 0.4, order=order)
    if others and max(derivation.links, key=lambda link: link.start).refs[0] == last:
        # "which film earned the most"
        yield derivation.apply_rule("others ranked at end", 0.4, order=order, targets=others)


def _ranked_by_links(
    derivation: Derivation, rank: PendingSuperlative, limit: int, root: Ref, graph: SchemaGraph
) -> Iterator[Derivation]:
    """ "The most interactions": by how many things are linked."""
    linked = [Ref(node.node) for node in derivation.nodes if node != root]
    for ref in linked or _linked_things(derivation, root, graph):
        order = Ordering(ref, rank.descending, "count", limit)
        yield derivation.apply_rule("most linked at end", 0.4, order=order, group=(root,))


def _linked_things(derivation: Derivation, root: Ref, graph: SchemaGraph) -> list[Ref]:
    """What a question names a link to, else the largest classes whose things are linked to those it is about."""
    steps = graph.steps[root.node]
    named = [step for step in steps if step.predicate in derivation.hints]
    backward = sorted((step for step in steps if not step.forward), key=lambda step: -graph.nodes[step.target].count)
    return [Ref(step.target, "", int(step.target == root.node)) for step in (named or backward)[:MAX_LINKED]]


def settle_grouping(derivation: Derivation, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings with groups that are said, implied by an aggregate beside a column, or by a count."""
    targets, group = derivation.targets, derivation.group
    if any(target.function not in ("", "count") and target.ref in group for target in targets):
        # the average of what is the same in each group
        return
    has_aggregate = any(target.function for target in targets)
    if has_aggregate and (verbs := {link.refs[0] for link in derivation.links if is_passive(link, context.question)}):
        # "how many games were held in Oslo" has no group of holders
        targets = tuple(target for target in targets if target.function or target.ref not in verbs)
        derivation = derivation._replace(targets=targets)
    columns = tuple(target.ref for target in targets if not target.function)
    if group:
        yield from _said_group(derivation, has_aggregate, context)
    elif has_aggregate and columns:
        yield from _grouped_by_column(derivation, columns)
    else:
        inside = list(nest_having(derivation)) if has_aggregate and _has_count_condition(derivation) else []
        yield from inside
        if not inside and _is_ranked_by_group(derivation):
            yield from _grouped_by_count(derivation, columns, root)
        elif not inside:
            yield derivation


def _has_count_condition(derivation: Derivation) -> bool:
    return any(condition.function for condition in derivation.conditions)


def _is_ranked_by_group(derivation: Derivation) -> bool:
    """Whether an order or a condition is on an aggregate over groups."""
    has_order = derivation.order is not None and bool(derivation.order.function)
    return has_order or _has_count_condition(derivation)


def _said_group(derivation: Derivation, has_aggregate: bool, context: ParseContext) -> Iterator[Derivation]:
    """ "The number of films for each studio": groups that the question names."""
    targets, group = derivation.targets, derivation.group
    own = [target for target in targets if target.function and target.function != "count" and target.ref.predicate]
    is_owner = bool(own) and len(own) == len(targets) and all(target.ref.thing in group for target in own)
    is_weak = all(cue.value == "weak" for cue in context.question.cues if cue.kind == "group")
    if is_owner and not is_weak:
        # "the average number of visitors per museum", and not "by museum"
        yield derivation.apply_rule("group is owner", 0.1, group=())
    shown = {target.ref for target in targets if not target.function}
    # the columns show what is grouped by if one is a property of the thing itself
    shown |= {ref.thing for ref in shown}
    nodes = {ref.node for ref in shown}
    missing = tuple(Target(ref) for ref in group if ref not in shown and (ref.predicate or ref.node not in nodes))
    is_ranked = _is_ranked_by_group(derivation)
    if not has_aggregate and not is_ranked:
        yield from _group_without_aggregate(derivation, context)
    elif not missing:
        yield derivation
    else:
        if has_aggregate:
            gain = -UNSETTLED_COST if is_owner and is_weak else 0.1
            yield derivation.apply_rule("group shown", gain, targets=(*missing, *targets))
        if is_ranked:
            yield derivation.apply_rule("group hidden", -0.1 if has_aggregate else 0.0)


def _group_without_aggregate(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """ "Visits per month", "cost per doctor", "the total of the orders for each client" if orders have a "total", "the
    films for each studio"."""
    targets = derivation.targets
    function = _function_per_group(targets[0].ref, derivation, context) if len(targets) == 1 else ""
    if function and derivation.order is None:
        computed = (*map(Target, derivation.group), targets[0]._replace(function=function))
        yield derivation.apply_rule("number per group", 0.4, targets=computed)
    yield derivation.apply_rule("group dropped", group=())


def _function_per_group(asked: Ref, derivation: Derivation, context: ParseContext) -> Aggregation | Literal[""]:
    """How what is asked for is one number for each group: as the property's name says, else, with a word like "per",
    things are counted, money is added up, over time also what adds up, others have an average; "" for what is not a
    number, or has one value for each thing that is grouped by."""
    asks_rate = any(token.norm in WORDS["rate"] for token in context.question.tokens)
    asks_period = any(ref.part for ref in derivation.group)
    asks_rate |= asks_period
    if not asked.predicate:
        return "count" if asks_rate else ""
    if asked.thing in derivation.group or asked.predicate not in measured_numbers(context.graph, asked.node):
        return ""
    names = covered_mask(link for link in derivation.links if link.refs[0] == asked)
    for cue in context.question.cues:
        if cue.kind in OF_NUMBERS and names >> cue.start & 1:
            return cue.kind  # type: ignore[return-value]
    if not asks_rate:
        return ""
    return "sum" if asked.predicate in amounts(context.graph, asked.node, over_time=asks_period) else "avg"


def _grouped_by_column(derivation: Derivation, columns: tuple[Ref, ...]) -> Iterator[Derivation]:
    """ "The studios and the number of their films": an aggregate beside a column."""
    things = tuple(dict.fromkeys(ref.thing for ref in columns))
    has_several_classes = len({target.ref.node for target in derivation.targets}) > 1
    if has_several_classes or any(not ref.predicate for ref in columns):
        yield derivation.apply_rule("grouped by thing", 0.1, group=things[:1])
    if any(ref.predicate for ref in columns):
        yield derivation.apply_rule("grouped by column", 0.1, group=columns)


def _grouped_by_count(derivation: Derivation, columns: tuple[Ref, ...], root: Ref) -> Iterator[Derivation]:
    """ "The studio with the most films": an order or a condition on a count."""
    first = columns[0] if columns else root
    order = derivation.order
    if not (order and order.function == "sum" and first.predicate and order.ref.node == first.node):
        # a row has no total
        yield derivation.apply_rule("group of count", group=(first.thing,))
    if first.predicate:
        ordered = [order.ref] if order else []
        counted = [condition.ref for condition in derivation.conditions if condition.function]
        counts_own = any(ref.node == first.node for ref in ordered + counted)
        yield derivation.apply_rule("group of count by column", 0.1 if counts_own else -0.1, group=columns)


def apply_direction(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation sorted in the one direction that the question states. It is the direction of the order, or
    else of the number for each value, the number beside other columns, or the first column."""
    directions = _directions(context.question.cues)
    order = derivation.order
    if len(directions) != 1 or (order is not None and order.limit):
        return derivation
    down = directions == {"down"}
    if order is not None:
        return derivation._replace(order=order._replace(descending=down))
    by_name = any(token.norm in WORDS["alphabetical"] for token in context.question.tokens)
    columns = _sortable_columns(derivation, by_name, context)
    # names are in alphabetical order by default
    if not columns or (by_name and not down):
        return derivation
    return derivation.apply_rule("order of column", order=Ordering(columns[0].ref, down, columns[0].function))


def _sortable_columns(derivation: Derivation, by_name: bool, context: ParseContext) -> Sequence[Target]:
    """What a result without an order may be sorted by, the most likely first."""
    graph = context.graph
    columns = [target for target in derivation.targets if not target.function]
    if by_name:
        return columns
    aggregates = [target for target in derivation.targets if target.function and derivation.group]
    values = [target for target in columns if target.ref.predicate]
    measures = [t for t in values if graph.is_numeric(t.ref.predicate) or graph.is_date(t.ref.predicate)]
    # "that take longer than an hour, longest first"
    bounded = [
        Target(condition.ref)
        for condition in derivation.conditions
        if condition.op in INEQUALITIES and condition.ref.predicate and not condition.function
    ]
    return aggregates or measures or bounded or values


def _directions(cues: Sequence[Cue]) -> set[str]:
    """The directions of the longest cues: "reverse alphabetical order" does not say "alphabetical order"."""
    directed = [cue for cue in cues if cue.kind in ("order", "direction") and cue.value]
    return {
        cue.value
        for cue in directed
        if not any(
            other.start <= cue.start and cue.end <= other.end and other.end - other.start > cue.end - cue.start
            for other in directed
        )
    }


# the rules by which question words ask for a place or a date, for a person, and for what a link leads to
PLACE_OR_TIME_RULE, WHO_RULE, OTHER_END_RULE = "place or time", "who", "other end"

QUESTION_WORD_RULES = frozenset((PLACE_OR_TIME_RULE, WHO_RULE, OTHER_END_RULE))

MAX_REFS = 3  # how many references are tried
MAX_CLASS_START = 4  # a class before this token is what "where" and "when" ask about
MAX_SLOTS = 99  # how many things of one class a question may have


def place_or_date_refs(state: ParseState, root: Ref, context: ParseContext) -> Sequence[tuple[tuple[Ref, ...], int]]:
    """Return what "where" and "when" ask for of a thing: its places or dates, as links or values, or its latitude with
    its longitude; each with the words that say whether something begins or ends on that date, as a mask of tokens."""
    question, graph = context.question, context.graph
    asked = next((cue.value for cue in question.cues if cue.kind == "open" and cue.start <= 1 and cue.value), "")
    if not asked:
        return []
    first = min((link for link in state.links if link.kind == "class"), key=lambda link: link.start, default=None)
    if first is not None and first.start <= MAX_CLASS_START:
        # "where is the club that ...": of the class that is named first
        root = next((node for node in state.nodes if node.node == first.refs[0].node), root)
    nouns = nouns_of_kind("places" if asked == "where" else "dates")
    named = [Ref(root.node, each) for each in graph.literals[root.node] if nouns & set(graph.words[each])]
    if asked == "when":
        # "when was it built" asks for no other day
        lead = max(cue.end for cue in question.cues if cue.kind == "open" and cue.value == asked)
        mentioned = {ref.predicate for x in context.links if x.kind == "property" and x.start >= lead for ref in x.refs}
        dates = (
            Ref(root.node, each)
            for each in graph.literals[root.node]
            if graph.is_date(each) or (each in mentioned and may_give_years(graph.about(each)))
        )
        all_dates = [*named, *(ref for ref in dates if ref not in named)]
        if found := [ref for ref in all_dates if ref.predicate in mentioned]:
            return [((ref,), 0) for ref in found]
        # "since when is she here" asks for no birthday, "when was it closed" for no day on which it was opened
        is_since = question.tokens[0].norm == "since"
        starts, ends = WORDS["start"] | WORDS["life_start"] - WORDS["life"], WORDS["end"]
        content = [(i, token.norm) for i, token in enumerate(question.tokens) if i not in question.stopwords]
        said = [sum(1 << i for i, word in content if word in words) for words in (starts, ends)]
        if is_since or bool(said[0]) != bool(said[1]):
            words, mask = (starts, said[0]) if is_since or said[0] else (ends, said[1])
            labels = ((ref, graph.about(ref.predicate).label.casefold().split()) for ref in all_dates)
            at_end = [ref for ref, label in labels if words & {*graph.words[ref.predicate], *label}]
            if at_end or is_since:
                return [((ref,), mask) for ref in at_end][:MAX_REFS]
        return [((ref,), 0) for ref in all_dates[:MAX_REFS]]
    steps = (step for step in graph.steps[root.node] if step.forward and nouns & set(graph.words[step.predicate]))
    linked = [Ref(step.target, "", int(step.target == root.node), step.predicate) for step in steps]
    places = linked + [ref for ref in named if may_be_place(graph, ref.predicate, nouns)]
    sides = [WORDS[name] for name in ("latitude", "longitude")]
    own = [[Ref(root.node, p) for p in graph.literals[root.node] if side & set(graph.words[p])][:1] for side in sides]
    return [((ref,), 0) for ref in places[:MAX_REFS]] or [((*own[0], *own[1]), 0)] * all(own)


def person_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """Return the persons that "who" may ask for beside what is named; none if unnamed persons are asked for."""
    if not asks_for_persons(context.question):
        return []
    persons = persons_near(root, context)
    if any(condition.ref == root and condition.op == "is" for condition in state.conditions):
        return persons
    return [ref for ref in persons if not context.graph.is_subclass(root.node, ref.node)]


def opposite_end_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """Return what stands at the other end of a link that is named beside a thing: "what hangs in the hall"."""
    graph = context.graph
    named = {condition.ref for condition in state.conditions if condition.op == "is" and not condition.negated}
    found: list[Ref] = []
    for hint in sorted(state.hints):
        for source, target in graph.ends.get(hint, ()):
            for own, other in ((target, source), (source, target)):
                if own == other and root not in named:
                    # the thing that is asked for is one of the two already
                    continue
                if own == root.node and graph.widest_node(other) == other:
                    # of two things of one class the one that is not named
                    refs = (Ref(other, "", slot) for slot in range(MAX_SLOTS))
                    found.append(next(each for each in refs if each not in named | {root}))
    return list(dict.fromkeys(found))[:MAX_REFS]
