"""Rules for words that say how things are asked for: ParseState + Cue -> ParseStates, by the kind of the cue."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nacre.language.data import WORDS
from nacre.language.thesaurus import english_data
from nacre.language.word_forms import is_participle
from nacre.records.plan import AGGREGATES, EXTREMES, MEANS, OF_NUMBERS, PERIODS
from nacre.understanding.linking.adjectives import is_reversed_measure, measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import (
    CUE_GAIN,
    RANK_AFTER_AGGREGATE,
    UNSETTLED_COST,
    ParseContext,
    ParseState,
    ParseStates,
    PendingSuperlative,
    add_schema_node,
    drop_open_property,
    last_target_as_condition,
)
from nacre.understanding.question.records import (
    Aggregation,
    Condition,
    Cue,
    Derivation,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    token_mask,
)

CueRule = Callable[[ParseState, Cue, ParseContext], ParseStates]

GROUPED = (("group class",), ("group property",), ("group by time",))  # the last rules after which "and" groups as well
MAX_WORDS_AFTER_BOUND = 3  # how many words may stand between a bound and its number
MAX_PENDING_AGGREGATES = 3  # how many aggregates may wait for one property


def apply_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """Yield all ways to take a cue."""
    covered = state.covered | cue.covered
    new = state._replace(covered=covered, score=state.score + CUE_GAIN * (cue.end - cue.start))
    yield from CUE_RULES[cue.kind](new, cue, context)


def _open(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Which", "list": targets follow, also after a condition."""
    if cue.start == 0 or state.mode == "T":
        yield state._replace(last="open")
    else:
        yield drop_open_property(state).apply_rule("new target list", -0.1, mode="T", next_role="", last="open")


def _aggregate(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "The average", "how many": an aggregate of what comes next, or of the target before it."""
    if cue.kind in state.pending_aggregates or len(state.pending_aggregates) > MAX_PENDING_AGGREGATES:
        return
    if state.next_role == "group":
        # "for each class the average": what things are grouped by was said before
        return
    if cue.kind == "count":
        yield from order_by_count(state)
        if state.rank is not None and state.rank.common:
            # "with the most common number of pages": the name of a property
            yield state.apply_rule("number in aggregate", 0.1, last="rank")
            return
        # "number of" as a part of a property's name
        if state.rank is not None and state.owner is not None and state.last != "rank":
            # "the top 3 towers by number of steps"
            yield state.apply_rule("number in aggregate", 0.1, last="rank")
        if state.last == "aggregate" and state.pending_aggregates[-1:] not in ((), ("count",)):
            # "the average number of visitors"
            yield state.apply_rule("number in aggregate", 0.1)
    yield from _aggregate_of_target(state, cue, context)
    order = state.order if cue.kind == "sum" else None
    own = [t.ref for t in state.targets[-1:] if t.ref.predicate and order and t.ref.node == order.ref.node]
    if order and not order.function and own and not context.graph.about(own[0].predicate).pairs_off:
        # "which category got the most money in total"
        yield state.apply_rule("total of order", 0.3, order=order._replace(function="sum"), last="aggregate")
    function: Aggregation = cue.kind  # type: ignore[assignment]
    waits_for_value = state.comparison is not None and state.comparison[1] is None
    functions = (function,) if waits_for_value else (*state.pending_aggregates, function)
    rule = f"aggregate {AGGREGATES[function].weights}"
    yield state.apply_rule(rule, pending_aggregates=functions, last="aggregate", shared_aggregates=())


def _aggregate_of_target(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "How many hours do they train on average", "the area of all the states combined"."""
    if not state.targets:
        return
    target = state.targets[-1]
    # "how many nights on average" is no total
    is_total = target.function == "sum" and cue.kind in MEANS
    is_plain = target.ref.predicate and (is_total or not target.function)
    is_owned = state.last == "class" and state.owner == target.ref.thing
    if not is_plain or not (state.pending_is_target or is_owned or state.group):
        return
    # texts have no average
    if cue.kind in EXTREMES or (cue.kind in OF_NUMBERS and context.graph.is_numeric(target.ref.predicate)):
        aggregated = target._replace(function=cue.kind)  # type: ignore[arg-type]
        targets = (*state.targets[:-1], aggregated)
        yield state.apply_rule("aggregate after target", -0.1, targets=targets, last="aggregate")


def _group(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "For each", "by": what comes next is what things are grouped by."""
    after = context.question.tokens[cue.end : cue.end + 1]
    if after and after[0].norm in WORDS["altogether"]:
        # "the highest rate across all counties" is one number
        yield state._replace(last="of")
        return
    closed = drop_open_property(state)
    computes = any(target.function for target in state.targets)
    if cue.value != "weak" or (computes and cue.end in final_nouns(context)):
        # the weight of the rule was learned from traces without the property that is dropped here
        trace = (*state.trace, GROUP_RULE)
        yield closed._replace(next_role="group", last="group", shared_aggregates=(), trace=trace)
        return
    if any(other.kind in ("direction", "ordered") for other in context.question.cues):
        # "the sites by size, largest first"
        yield closed.apply_rule(
            "order weak", next_role="order up", last="order", pending_aggregates=(), shared_aggregates=()
        )
    is_period = bool(after) and after[0].lemma in PERIODS
    if is_period or computes:
        yield closed.apply_rule("group weak", -0.1, next_role="group", last="group")


def final_nouns(context: ParseContext) -> set[int]:
    """Where the class, property or period begins that ends a question, and what "and" joins to it."""
    words = context.question.tokens
    nouns = [link for link in context.links if link.kind in ("class", "property")]
    last = {link.start for link in nouns if link.end == len(words)}
    last |= {len(words) - 1} if words[-1].lemma in PERIODS else set()
    joined = (x for x in nouns if x.end + 1 in last and words[x.end].norm in WORDS["joining"])
    return last | {link.start for link in joined}


def _and(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "And": a second noun to group by ("the total by maker and year", "the films per studio and year"), or what is
    beside what was said before."""
    groups = state.trace[-1:] in GROUPED and state.covered >> max(0, cue.start - 1) & 1
    computes = any(target.function for target in state.targets)
    computes |= any(token.norm in WORDS["rate"] for token in context.question.tokens)
    is_group = groups and computes and cue.end in final_nouns(context)
    yield state._replace(last="group", next_role="group") if is_group else state._replace(last="and")


def _negation(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Not", "without", "nobody"."""
    if context.question.tokens[cue.start].norm == "nobody":
        yield from _without_persons(state, context, is_direct=False)
    yield state.apply_rule("negation", negated=True, last="negation", mode="C", next_role="")


def _without_persons(state: ParseState, context: ParseContext, *, is_direct: bool) -> ParseStates:
    """ "The team that has nobody in it"; if `is_direct`, by a link of the persons: "which rooms are empty"."""
    root = state.owner or next(iter(state.nodes), None)
    linked = {step.target for step in context.graph.steps[root.node] if not step.forward} if root is not None else ()
    for ref in persons_near(root, context) if root is not None else ():
        if is_direct and ref.node not in linked:
            continue
        missing, closed = Condition(ref, "exists", (), True), drop_open_property(state)
        yield add_schema_node(closed, ref, context).add_conditions(
            NOBODY_RULE, 0.3, missing, negated=state.negated, mode="C", last="class"
        )


def _missing(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Whose phone number is missing"."""
    ref = state.pending_values
    if ref is None:
        # at the end of a question there is nothing else to deny
        if cue.end < len(context.question.tokens):
            yield from _negation(state, cue, context)
        elif context.question.tokens[cue.end - 1].norm in WORDS["unoccupied"]:
            yield from _without_persons(state, context, is_direct=True)
        return
    missing, changes = Condition(ref, "unknown", (), state.negated), last_target_as_condition(state)
    yield state.add_conditions("property missing", 0.3, missing, pending_property=None, last="value", **changes)


def _only(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Speaks English only", "speaks only English"."""
    before = state.conditions[-1] if state.conditions and state.last == "value" else None
    exclusive = exclusive_conditions(before, context) if before is not None else ()
    if exclusive:
        yield state.apply_rule(ONLY_RULE, 0.3, conditions=(*state.conditions[:-1], *exclusive))
    words = context.question.tokens
    # "the only ship", "show only the ships" do not say what ships have
    is_after_article = cue.start > 0 and words[cue.start - 1].norm in WORDS["article"]
    is_after_request = any(
        other.kind == "open" and other.end == cue.start and words[other.start].norm not in WORDS["asking_which"]
        for other in context.question.cues
    )
    yield state._replace(exclusive=cue.start > 0 and not is_after_article and not is_after_request)


def _contains(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Starts with": a text follows, of the property before or after it."""
    new = state.apply_rule("like", text_match=cue.value, mode="C")
    if state.pending_property is None:
        yield new
        return
    yield new._replace(**last_target_as_condition(state))
    if state.pending_is_target:
        yield new._replace(pending_is_target=False)


def _compare(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "More than": what it is compared with follows."""
    yield state._replace(comparison=(cue.value, None), last="compare", mode="C")


def _bound(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "30 or more": a bound after its number."""
    if any(cue.end <= number.start <= cue.end + MAX_WORDS_AFTER_BOUND for number in context.question.numbers):
        # "and below age 30" bounds the number that follows
        return
    last = state.conditions[-1] if state.conditions else None
    if last is not None and last.op == "=" and last.values and isinstance(last.values[0], float | int):
        bound = last._replace(op=cue.value)
        yield state.apply_rule("bound after number", 0.3, conditions=(*state.conditions[:-1], bound), last="value")
    elif state.comparison is not None and state.comparison[0] == "=" and state.comparison[1] is not None:
        yield state.apply_rule("bound after number", 0.3, comparison=(cue.value, state.comparison[1]))


def _any(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Higher than any": more than the highest."""
    if state.comparison is not None and state.comparison[1] is None:
        extreme = "max" if state.comparison[0].startswith(">") else "min"
        yield state._replace(pending_aggregates=(extreme,), last="aggregate")
    yield state


def _having(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "With", "that have": a condition follows, or another column."""
    if state.mode == "T" and not state.pending_aggregates:
        closed = state if state.pending_is_target else drop_open_property(state)
        yield closed._replace(mode="C", last="having", next_role="", shared_aggregates=())
    yield state._replace(last="having" if state.mode == "C" else state.last)


def most_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
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


def superlative_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "The longest": a superlative that measures something, before or after what it ranks."""
    if state.rank is not None and state.rank.concepts:
        return
    direction, concepts = cue.ranking
    rank = PendingSuperlative(direction == "up", concepts)
    date = _date_before(state, cue, context)
    words = [token.norm for token in context.question.tokens]
    spends = words[cue.start] in WORDS["spending"]
    if date is None and not spends:
        yield state._replace(rank=rank, last="rank", next_role="")
    # "who spent the most", "who has been with us longest"
    if (spends or not WORDS["been"].isdisjoint(words)) and state.owner is None and not state.targets:
        for ref in frequent_person_refs(context):
            who = add_schema_node(state, ref, context)._replace(owner=ref, targets=(Target(ref),))
            yield from superlative_cue(who, cue, context)
    if state.owner is None or state.order is not None:
        return
    # "the student who is oldest"
    measures = [(date, False, 0.0)] if date else measured_properties(context.graph, state.owner.node, concepts)[:2]
    for ref, reverse, cost in measures:
        # what somebody spent is the sum of all that they paid
        function: Aggregation = "sum" if spends and ref.node != state.owner.node else ""
        order = Ordering(ref, rank.descending != reverse, function, state.limit or 1)
        new = add_schema_node(state, ref, context)
        ordered = new.apply_rule("superlative after class", 0.1 - cost, order=order, limit=0, last="rank")
        yield ordered
        if state.pending_is_target and state.targets[-1:] == (Target(ref),):
            # "which artist joined last": the date only says which artist it is
            yield ordered._replace(targets=state.targets[:-1], pending_property=None, pending_is_target=False)


def degree_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "How long": the measure of what comes next is asked for."""
    yield state._replace(degree=tuple(cue.value.split("|")), last="degree")


def comparative_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Longer than" compares the measure of what came before; "what is longer than the Rhine", of its class."""
    operator, concepts = cue.ranking
    if state.owner is None:
        named = {link.refs[0].node for link in context.links if link.kind == "entity" and link.start == cue.end}
        for node in sorted(named) if not state.links and not state.targets else ():
            things = add_schema_node(state, Ref(node), context)._replace(owner=Ref(node), targets=(Target(Ref(node)),))
            yield from comparative_cue(things, cue, context)
        return
    for ref, reverse, cost in measured_properties(context.graph, state.owner.node, concepts)[:2]:
        compared = {">": "<", "<": ">"}[operator] if reverse else operator
        changes = {"pending_property": ref, "pending_is_target": False, "comparison": (compared, None)}
        new = add_schema_node(drop_open_property(state), ref, context)
        yield new.apply_rule("comparative", -cost, mode="C", last="compare", **changes)


def order_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Sorted by": what the result is sorted by comes next."""
    role = "order down" if cue.value == "down" else "order up"
    # the weight of the rule was learned from traces without the property that is dropped here
    new = drop_open_property(state)._replace(next_role=role, last="order", trace=(*state.trace, "order cue"))
    yield new._replace(pending_aggregates=(), shared_aggregates=())


def direction_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Descending": the direction of an order before or after it."""
    yield _with_direction(state, cue.value == "down")


def ordered_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
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


def ongoing_cue(state: ParseState, cue: Cue, context: ParseContext) -> ParseStates:
    """ "Still", "currently", "no longer", with the words after it that add nothing: "in use", "running"."""
    words, idle = context.question.tokens, WORDS["going_on"] | {"in"}
    end = cue.end
    while end < len(words) and words[end].norm in idle:
        end += 1
    yield state.apply_rule(CUE_RULE_NAMES[cue.value], covered=state.covered | token_mask(cue.end, end))


def _plain(rule: str, **changes: Any) -> CueRule:
    """A cue that only changes the state; it has a `rule` if its weight is learned."""
    return lambda state, *_: iter([state.apply_rule(rule, **changes) if rule else state._replace(**changes)])


CUE_RULES: Mapping[str, CueRule] = {
    "open": _open,
    **dict.fromkeys(AGGREGATES, _aggregate),
    "most": most_cue,
    "superlative": superlative_cue,
    "comparative": comparative_cue,
    "degree": degree_cue,
    "group": _group,
    "order": order_cue,
    "direction": direction_cue,
    "ordered": ordered_cue,
    "negation": _negation,
    "missing": _missing,
    "now": ongoing_cue,
    "both": _plain("both", join="both", last="and"),
    **dict.fromkeys(("either", "or"), _plain("or", join="or", last="and")),
    "and": _and,
    **dict.fromkeys(("of", "share"), _plain("", last="of")),
    "distinct": _plain("distinct", distinct=True),
    "only": _only,
    "contains": _contains,
    "compare": _compare,
    "bound": _bound,
    "any": _any,
    "having": _having,
}


def _says_most_common(state: ParseState, cue: Cue, context: ParseContext) -> bool:
    """Whether a superlative restricts the things before it to the most common value: "in the most common genre"."""
    has_column = any(target.ref.predicate for target in state.targets)
    restricts = state.mode == "C" or (state.last in ("of", "prop") and not has_column)
    words = {token.norm for token in context.question.tokens[cue.start : cue.end]}
    return restricts and not state.next_role and bool(words & WORDS["common"])


def _date_before(state: ParseState, cue: Cue, context: ParseContext) -> Ref | None:
    """The date right before "first" or "last": what was paid last has the latest payment date."""
    word = context.question.tokens[cue.start].norm
    if word not in english_data()["at_end"] or not state.links or state.owner is None:
        return None
    before = state.links[-1]
    refs = [ref for ref in before.refs if ref.predicate and ref.node == state.owner.node and before.end == cue.start]
    return next((ref for ref in refs if context.graph.is_date(ref.predicate)), None)


def compare_with_own_aggregate(state: ParseState) -> ParseStates:
    """ "Above the average": the pending property is compared with its own average."""
    left, is_open = state.pending_values, state.comparison is not None and state.comparison[1] is None
    if left is not None and is_open and state.pending_aggregates:
        yield compare_with_target(state, "against own aggregate", 0.4, left, Target(left, state.pending_aggregates[0]))


def compare_with_target(
    new: ParseState, rule: str, gain: float, left: Ref, against: Target, **changes: Any
) -> ParseState:
    """Return the state in which a property is compared with another one or an aggregate."""
    assert new.comparison is not None
    condition = Condition(left, new.comparison[0], (), new.negated, against=against)
    settled = {"pending_aggregates": (), **last_target_as_condition(new._replace(pending_aggregates=()))}
    return new.add_conditions(rule, gain, condition, comparison=None, pending_property=None, **settled, **changes)


def order_by_count(state: ParseState) -> ParseStates:
    """ "Sorted by count": by the number that is asked for."""
    counted = [target for target in state.targets if target.function == "count"]
    if state.next_role.startswith("order") and counted:
        order = Ordering(counted[-1].ref, state.next_role == "order down", "count")
        yield state.apply_rule("order by count", 0.3, order=order, next_role="", last="order", mode="O")


def order_by_name(state: ParseState, context: ParseContext, at: int) -> ParseStates:
    """ "Sorted by name": by the shown names, if no property is called a name."""
    is_name = context.question.tokens[at].norm in WORDS["telling"]
    if is_name and state.next_role.startswith("order") and state.targets and state.order is None:
        order = Ordering(state.targets[0].ref.thing, state.next_role == "order down")
        covered = state.covered | token_mask(at, at + 1)
        yield state.apply_rule("order by property", 0.2, order=order, next_role="", mode="O", covered=covered)


def _with_direction(state: ParseState, down: bool) -> ParseState:
    if state.order is not None:
        return state._replace(order=state.order._replace(descending=down))
    return state._replace(next_role="order down" if down and state.next_role.startswith("order") else state.next_role)


# the rules of the cue by its value, and the rule of the condition that it makes
OPEN_RULE, OVER_RULE, BY_END_RULE, NOBODY_RULE = "still", "no longer", "by its end", "without persons"

CUE_RULE_NAMES = {"open": OPEN_RULE, "over": OVER_RULE}


def ongoing_conditions(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """Yield the reading with what "still" or "no longer" means. The last day is unknown, or known. If nothing ends,
    "still" adds nothing and "no longer" has no reading. "Still unpaid" needs no day: the property says what goes on."""
    rule = next((name for name in CUE_RULE_NAMES.values() if name in derivation.trace), "")
    end_date = end_date_ref(derivation.nodes, context.graph) if rule else None
    cue_ends = {cue.end for cue in context.question.cues if cue.kind == "now"} if rule else set()
    if any(link.kind == "property" and link.start in cue_ends for link in derivation.links):
        yield derivation.apply_rule(BY_END_RULE)
    elif end_date is not None:
        ended = Condition(end_date, "unknown" if rule == OPEN_RULE else "known")
        yield derivation.apply_rule(BY_END_RULE, 0.5, conditions=(*derivation.conditions, ended))
    elif rule != OVER_RULE:
        yield derivation


def choose_date(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation with the first or last of several dates: "when was it last repaired"."""
    question, is_date = context.question, context.graph.is_date
    if not any(cue.value == "when" and cue.kind == "open" and cue.start <= 1 for cue in question.cues):
        return derivation
    ends = WORDS["the_first"] | WORDS["the_last"]
    places = [i for i, token in enumerate(question.tokens) if token.norm in ends and not derivation.covered >> i & 1]
    dates = [t for t in derivation.targets if t.ref.predicate and not t.function and is_date(t.ref.predicate)]
    is_plain = derivation.order is None and not derivation.group and len(dates) == len(derivation.targets)
    if len(places) != 1 or not is_plain:
        return derivation
    (place,) = places
    function: Aggregation = "min" if question.tokens[place].norm in WORDS["the_first"] else "max"
    targets = tuple(target._replace(function=function) for target in dates)
    covered = derivation.covered | token_mask(place, place + 1)
    return derivation.apply_rule("first or last day", 0.5, targets=targets, covered=covered)


def end_date_ref(nodes: Sequence[Ref], graph: SchemaGraph) -> Ref | None:
    """Return the date by which things end, if some of them do not have it yet."""
    end_words = WORDS["ended"]
    for node in nodes:
        dates = [
            predicate
            for predicate in graph.literals[node.node]
            if graph.about(predicate).datatype in ("date", "datetime", "year")
            and end_words & set(graph.words[predicate])
            and graph.value_counts[node.node, predicate] < graph.nodes[node.node].count
        ]
        if len(dates) == 1:
            return Ref(node.node, dates[0], node.slot)
    return None


MAX_PERSON_CLASSES = 3  # how many classes of persons are tried


def persons_near(root: Ref, context: ParseContext) -> list[Ref]:
    """Return the widest classes of persons by their distance from a node, without the node itself."""
    graph = context.graph
    base_classes = {i: graph.widest_node(i) for i in sorted(graph.persons) if not graph.nodes[i].any_of}
    widest = [
        graph.nodes[index]
        for index, base in base_classes.items()
        if index != root.node and (base == index or base not in base_classes)
    ]
    nearest = sorted(widest, key=lambda node: graph.distance(root.node, node.index))
    return [Ref(node.index) for node in nearest[:MAX_PERSON_CLASSES]]


def asks_for_persons(question: Question) -> bool:
    """Whether a question begins with "who", or asks whether "anyone" is or does something."""
    first, second = [*(token.norm for token in question.tokens[:2]), "", ""][:2]
    return first in WORDS["who"] or (first in WORDS["asking_yes_no"] and second in WORDS["anyone"])


def frequent_person_refs(context: ParseContext) -> list[Ref]:
    """Return the largest classes of named persons if the question asks for persons."""
    if not asks_for_persons(context.question):
        return []
    persons = context.graph.persons - context.graph.unions.members.keys()
    classes = [node for node in context.graph.nodes if node.named and node.index in persons]
    largest = sorted(classes, key=lambda node: -node.count)
    return [Ref(node.index) for node in largest[:MAX_PERSON_CLASSES]]


# the rule by which a value or a thing is the only one
ONLY_RULE, GROUP_RULE = "only value", "group cue"


def exclusive_conditions(condition: Condition, context: ParseContext) -> tuple[Condition, ...]:
    """Return the conditions that a thing has this value, or is linked to this thing, and to no other. None if there
    cannot be another, or the condition is of another kind."""
    if condition.function or condition.against is not None:
        return ()
    ref = condition.ref
    if condition.op == "=" and ref.predicate and not context.graph.about(ref.predicate).functional:
        other = condition._replace(op="!=", negated=not condition.negated)
        # "speaks not only English": another language as well
        return (condition._replace(negated=False), other) if condition.negated else (other,)
    if condition.op == "is" and not (ref.predicate or condition.negated):
        others = Condition(ref, "exists", (), True, inner=(condition._replace(negated=True),))
        return (condition, others)
    return ()


def is_passive(link: Link, question: Question) -> bool:
    """Whether a property is only like the verb of a passive: "were played"."""
    words = question.tokens
    after_being = link.start > 0 and words[link.start - 1].norm in WORDS["being"]
    return link.match == "like" and after_being and is_participle(words[link.start].norm)


def may_be_place(graph: SchemaGraph, predicate: str, nouns: frozenset[str]) -> bool:
    """Not whether there is a harbour, what the place itself is called, a price in euros, or an area in hectares."""
    is_name = graph.about(predicate).role in ("name", "identifier") or bool(graph.about(predicate).unit)
    units = WORDS["where_in"] if graph.is_numeric(predicate) else frozenset()
    return not is_name and not graph.is_flag(predicate) and bool((nouns - units) & set(graph.words[predicate]))
