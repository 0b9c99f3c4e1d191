"""Rules for what a superlative ranks and what a comparison compares: ParseState + class or property -> ParseStates.

In each rule, `state` is the reading before the mention and `new` the reading with the mention added.

A property is compared with a number, an aggregate, an extreme or another property.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from nacre.language.data import WORDS, phrase_list, phrase_map
from nacre.language.thesaurus import english_data, nouns_of_kind
from nacre.language.tokens import Token, fold, split_name
from nacre.language.word_forms import is_count_noun, is_plural
from nacre.records.plan import EXTREMES
from nacre.understanding.linking.adjectives import (
    amount_property,
    is_measured_number,
    is_reversed_measure,
    measured_properties,
    unnamed_measures,
)
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.cue_rules import asks_for_persons, compare_with_target
from nacre.understanding.parsing.number_rules import (
    convert_to_unit,
    is_comparable_with,
    may_count_values,
    number_conditions,
    upper_bound,
)
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    ParseStates,
    add_schema_node,
    drop_open_property,
    has_self_link,
    last_target_as_condition,
    next_slot,
)
from nacre.understanding.question.records import (
    Aggregation,
    Condition,
    Derivation,
    Number,
    Ordering,
    Question,
    Ref,
    Target,
    token_mask,
)

TOTAL_RULE = "ranked by total"  # the rule by which things are ranked by the sum over all their parts

# the rule by which things are ranked by a number that the adjective does not name: "the strongest beer" by its alcohol,
# and what a reading loses by it
GUESSED_MEASURE_RULE, GUESS_COST = "guessed measure", 0.2

# the rule by which values are ranked by the total of the only number of their rows, and what a reading gains if it
# settles on that number (set by hand)
SETTLED_TOTAL_RULE, SETTLED_MEASURE_GAIN = "settled on total of only measure", 0.3

MAX_MEASURES = 3  # how many properties are tried as the measure of an adjective


def ranked_class(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "The youngest student", "the most students"."""
    assert state.rank is not None
    if common := _most_common(state, new, ref):
        yield common
    elif state.rank.concepts:
        yield from _ranked_by_measure(state, new, ref, context)
    else:
        yield from _ranked_by_count(state, new, ref, context)


def _ranked_by_measure(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
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


def _ranked_by_guess(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "The strongest beer" without a strength: by any number. The adjective stays unused (`ignored_words`)."""
    assert state.rank is not None
    for measure in unnamed_measures(context.graph, ref.node, state.rank.concepts):
        order = Ordering(measure, state.rank.descending, "", state.limit or 1)
        ranked = add_schema_node(new, measure, context)._replace(order=order, rank=None, limit=0)
        yield ranked.apply_rule(GUESSED_MEASURE_RULE, -GUESS_COST, targets=(*state.targets, Target(ref)))


def _ranked_by_count(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
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
    link, measures = new.links[-1], unnamed_measures(context.graph, ref.node)
    if len(measures) == 1 and not link.exact and not is_plural(context.question.tokens[link.end - 1].norm):
        # "the most honey", of honey harvests
        amount = order._replace(ref=measures[0], function="sum")
        yield new.apply_rule("amount of class", 0.4, order=amount, rank=None, limit=0, pending_aggregates=())
        return
    yield new.apply_rule("most of class", 0.4, order=order, rank=None, limit=0, pending_aggregates=())
    if not (rank.counts or state.pending_aggregates or (state.targets and state.targets[-1].function)):
        # "the highest temperature in May": of a property that comes after
        yield new.apply_rule("rank waits", 0.2, last="rank")
    if state.limit and state.mode == "T":
        # "the top 5 students by score"
        yield new.apply_rule("class before its rank", 0.1, targets=(*state.targets, Target(ref)))


def _most_common(state: ParseState, new: ParseState, ref: Ref) -> ParseState | None:
    """ "Novels in the most common genre": the most common value is a condition on the target."""
    rank, asked = state.rank, state.targets[-1].ref if state.targets else None
    if rank is None or not rank.common or asked is None or asked == ref:
        return None
    if (ref.node == asked.node) != bool(ref.predicate):
        return None
    order = Ordering(Ref(asked.node), rank.descending, "count", state.limit or 1)
    top, new = Condition(ref._replace(via=""), "top", top=order), new._replace(rank=None, limit=0, mode="C")
    return new.add_conditions("most common as condition", 0.4, top, negated=state.negated, last="value")


def _first_thing(
    state: ParseState, new: ParseState, ref: Ref, order: Ordering, gain: float, context: ParseContext
) -> ParseState:
    """ "The smallest city in the largest state": a thing that is the first of its class itself."""
    is_target = any(target.ref.node == ref.node and not target.ref.slot for target in state.targets)
    if is_target and not ref.slot and has_self_link(ref, context):
        ref = Ref(ref.node, "", next_slot(state, ref.node))
    top, new = Condition(ref, "top", top=order), add_schema_node(new, ref, context)
    return new.add_conditions("top thing", gain - 0.1, top, negated=state.negated, rank=None, limit=0)


def ranked_property(state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext) -> ParseStates:
    """ "The highest fee", "the most frequent colour": an order by a property, its extreme, or its frequent values."""
    assert state.rank is not None
    if common := _most_common(state, new, ref):
        yield common
        return
    if state.rank.counts and numbers_own_class(ref, context.graph):
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


def numbers_own_class(ref: Ref, graph: SchemaGraph) -> bool:
    """Whether a property is called like its class, as the number of a flight is: "how many flights" asks for things."""
    own = graph.words[ref.predicate] if ref.predicate and graph.is_numeric(ref.predicate) else ()
    return bool(own) and own == tuple(graph.nodes[ref.node].words) and not amount_property(ref.node, graph)


def _ranked_thing(state: ParseState) -> Ref | None:
    """What a superlative before a property may rank: the last target, or the owner of the property."""
    return state.targets[-1].ref if state.targets else state.owner


def _most_linked(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "The drug with the most interactions": ranked by how many things a link leads to."""
    rank, ranked = state.rank, _ranked_thing(state)
    if rank is None or not rank.counts or not ref.via or ranked is None or ranked.predicate:
        return
    is_forward = (ranked.node, ref.node) in context.graph.ends.get(ref.via, ())
    if not (is_forward and context.graph.about(ref.via).functional):
        # no ship has the most captains if each has one
        linked = Ref(ref.node, "", next_slot(state, ref.node) if ref.node == ranked.node else ref.slot)
        order = Ordering(linked, rank.descending, "count", state.limit or 1)
        yield add_schema_node(new, linked, context).apply_rule(
            "most of link", 0.5, order=order, hints=state.hints | {ref.via}, pending_aggregates=()
        )


def _ranked_by_values(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "The highest fee": ranked by the values of a property, or the extreme of its values."""
    rank, limit, pending = state.rank, state.limit or 1, state.pending_aggregates
    assert rank is not None
    function = pending[0] if pending and pending[0] not in EXTREMES else ""
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
    if state.mode == "T" and (not rank.concepts or context.graph.is_date(ref.predicate)):
        # "the latest due date" is one of the dates
        extreme: Aggregation = "max" if order.descending else "min"
        yield new.apply_rule(
            "extreme target",
            0.1 if state.targets and not state.targets[0].function else 0.35,
            targets=(*state.targets, Target(ref, extreme)),
            shared_aggregates=(extreme,),
            pending_aggregates=(),
        )


def rank_by_total(derivation: Derivation, order: Ordering, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """ "Which supplier got the most", "who did we pay the most", "what do we spend most on": by the total of each value
    of a property that many rows share."""
    graph, targets = context.graph, derivation.targets
    shown = [target.ref for target in targets if target.ref.predicate]
    if not shown and not graph.nodes[root.node].named:
        asks_what = context.question.tokens[-1].norm == "on"
        nouns = frozenset(phrase_list("parsing", "spent_on") if asks_what else ())
        if asks_for_persons(context.question):
            nouns = nouns_of_kind("persons") | nouns_of_kind("bodies")
        own = (each for each in graph.literals[root.node] if nouns & set(graph.words[each]))
        shown = [Ref(root.node, each, root.slot) for each in own if graph.about(each).datatype == "text"]
    if len(shown) == 1 and len(targets) < 2 and (shown[0].part or not graph.about(shown[0].predicate).pairs_off):
        changes = {"order": order._replace(function="sum"), "targets": (Target(shown[0]),), "group": (shown[0],)}
        yield derivation.apply_rule(SETTLED_TOTAL_RULE, SETTLED_MEASURE_GAIN, **changes)


def _may_have_several(owner: Ref, ref: Ref, context: ParseContext) -> bool:
    """Whether a thing can have several of a class. No photo shows the most mountains if each shows one."""
    paths = context.graph.cheapest_paths(owner.node, ref.node)
    steps = paths[0][1] if paths else ()
    return not steps or any(not (step.forward and context.graph.about(step.predicate).functional) for step in steps)


def _counts_parts(ranked: Ref | None, ref: Ref, context: ParseContext) -> bool:
    """Whether a property holds a count for each of several parts of a ranked thing, or a number for each of several
    things that share a ranked value."""
    graph, about = context.graph, context.graph.about(ref.predicate)
    if ranked is not None and ranked.predicate and ranked.node == ref.node and ranked != ref:
        # "the most", and not "the largest"
        says_most = any(token.norm in WORDS["most"] for token in context.question.tokens)
        is_shared = not graph.about(ranked.predicate).pairs_off
        return says_most and is_shared and is_measured_number(graph, ref.predicate)
    if ranked is None or ranked.predicate or ranked.node == ref.node or about.datatype != "integer" or about.unit:
        return False
    label = split_name(about.label).lower()
    is_count = is_count_noun(label) or label.startswith("number of ")
    return is_count and _may_have_several(ranked, Ref(ref.node), context)


def compared_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "More than 3 pages", "a price below the average": the property that a comparison waits for."""
    assert state.comparison is not None
    if state.comparison[1] is not None:
        yield from _with_number(state, new, ref, context)
    elif state.pending_aggregates or state.rank is not None:
        yield from _with_aggregate(state, new, ref, context)
    else:
        yield from _with_property(state, new, ref, context)


def _with_number(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "More than 3 pages", "over 80 or under 50 pages"."""
    assert state.comparison is not None
    operator, value = state.comparison
    assert value is not None
    number = Number(0, 0, "", value, state.unit)
    # "count" for a link ("at least two authors")
    function: Aggregation = "" if ref.predicate else "count"
    if ref.predicate and (state.pending_aggregates or state.pending_property is None):
        function = state.pending_aggregates[0] if state.pending_aggregates else state.pending_function
    if ref.predicate and not function and not is_comparable_with(context.graph, ref, number, operator):
        if not may_count_values(context.graph, ref, number):
            return
        # "at least two languages"
        function = "count"
    unit = context.graph.about(ref.predicate).unit if ref.predicate else ""
    converted = convert_to_unit(number, unit)
    if converted is None:
        return
    until = None if state.until is None else convert_to_unit(number._replace(value=state.until), unit)
    lower = Condition(ref, operator, (converted,), state.negated, function=function, join=_join(state))
    if ref.predicate and not function and context.graph.is_date(ref.predicate):
        # "before 1990" of a day is before the first day of that year
        (bound,) = number_conditions(context.graph, ref, operator, number, state)
        lower = bound._replace(join=_join(state))
    bounds: tuple[Condition, ...] = (lower, *upper_bound(lower, until))
    if state.earlier_comparison:
        earlier_operator, earlier_value = state.earlier_comparison
        bounds = (lower._replace(op=earlier_operator, values=(earlier_value,), join="and"), *bounds)
    join = "both" if state.join == "both" else "and"
    new = drop_open_property(new)._replace(comparison=None, earlier_comparison=None, pending_aggregates=(), join=join)
    yield new.add_conditions("number before property", 0.2, *bounds)


def _with_aggregate(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "A price below the average", "a price below the highest"."""
    assert state.comparison is not None
    left = state.pending_values or ref
    if left.node != ref.node or not left.predicate or not context.graph.is_numeric(left.predicate):
        return
    extreme: Aggregation = "max" if state.rank is not None and state.rank.descending else "min"
    function = state.pending_aggregates[0] if state.pending_aggregates else extreme
    rule = "against aggregate" if state.pending_aggregates else "against extreme"
    yield compare_with_target(new, rule, 0.4, left, Target(ref, function), rank=None, mode="C")


def _with_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseStates:
    """ "More exports than imports"; "below their lowest level": what the level is of is not named."""
    left = state.pending_property or _bounded_property(ref, context)
    if state.comparison is None or left is None or left == ref or not _are_comparable(left, ref, context):
        return
    yield compare_with_target(new, "against property", 0.3, left, Target(ref), mode="C")


def _bounded_property(ref: Ref, context: ParseContext) -> Ref | None:
    """The number of the same things that a property bounds: what was spent of a budget."""
    bounded = phrase_map("parsing", "bounded")
    words = context.graph.words[ref.predicate] if ref.predicate else ()
    found = (measured_properties(context.graph, ref.node, bounded[word]) for word in words if word in bounded)
    others = (other for measures in found for other, *_ in measures)
    return next((other for other in others if other.node == ref.node and other.predicate != ref.predicate), None)


def _join(state: ParseState) -> Literal["and", "or", "both"]:
    """How a condition joins the one before it; the first after "either" joins none."""
    if state.join == "or":
        return "or" if state.conditions or state.earlier_comparison else "and"
    return state.join


def _are_comparable(one: Ref, other: Ref, context: ParseContext) -> bool:
    """Whether the values of two properties have one order: two numbers, two dates or two texts."""
    if not (one.predicate and other.predicate):
        return False
    graph = context.graph
    both_dates = all(graph.is_date(ref.predicate) for ref in (one, other))
    return both_dates or graph.is_numeric(one.predicate) == graph.is_numeric(other.predicate)


_DIGITS = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")

MAX_PROPERTIES, MAX_CLASSES = 2, 3  # how many properties with places are tried, and of how many classes


class OrdinalMention(NamedTuple):
    """An ordinal of the question, from its verb on ("came") if it has one."""

    start: int
    end: int
    value: float
    has_verb: bool


def find_ordinals(question: Question) -> dict[int, OrdinalMention]:
    """Return the ordinals that may be values, by their start: in digits, or in words after a verb ("came second")."""
    words = question.tokens
    numbers = {i for number in question.numbers for i in range(number.start, number.end)}
    found = []
    for i, token in enumerate(words):
        value = _value(token)
        start = i - 1 if i > 1 and words[i - 1].norm in WORDS["before_ordinal"] else i
        has_verb = start > 0 and words[start - 1].norm in WORDS["placing_verbs"]
        # "was second in the race", and not "was the second oldest"
        is_alone = i + 1 == len(words) or i + 1 in question.stopwords
        has_verb |= is_alone and start == i > 1 and words[i - 1].norm in WORDS["being"]
        if value is None or i in numbers or not (has_verb or token.norm[0].isdigit()):
            continue
        found.append(OrdinalMention(start - 1 if has_verb else i, i + 1, value, has_verb))
        if has_verb:
            # the verb may name the property itself: "ranked"
            found.append(OrdinalMention(i, i + 1, value, False))
    winners = (i for i, token in enumerate(words) if token.norm in WORDS["winning"])
    found += [OrdinalMention(i, i + 1, 1.0, True) for i in winners]
    return {ordinal.start: ordinal for ordinal in found}


def ordinal_conditions(
    state: ParseState, ordinal: OrdinalMention, context: ParseContext
) -> Iterator[tuple[int, ParseState]]:
    """Yield all ways to take an ordinal as a value, each with the token at which it ends."""
    words, graph, ref = context.question.tokens, context.graph, state.pending_values
    if not ordinal.has_verb and ref is not None:
        for new in _with_place(state, ref, ordinal, ordinal.end, "place of property", context):
            changes = {"mode": "C", **last_target_as_condition(state)} if state.pending_is_target else {}
            yield ordinal.end, new._replace(**changes)
    after = words[ordinal.end] if ordinal.end < len(words) else None
    place_words = WORDS["placing"]
    has_noun = after is not None and after.norm in place_words
    concepts = tuple(sorted(place_words)) if ordinal.has_verb or has_noun else ()
    owners = dict.fromkeys(([state.owner] if state.owner else []) + list(state.nodes[:2]))
    for owner in owners or (_ranked_classes(graph, concepts) if concepts else ()):
        measures = measured_properties(graph, owner.node, concepts)[:MAX_PROPERTIES] if concepts else []
        for measure, _, _ in measures:
            end = ordinal.end + has_noun
            for new in _with_place(state, measure, ordinal, end, "place in order", context):
                yield end, add_schema_node(new, measure, context)
        for predicate in graph.literals[owner.node] if after is not None else ():
            if after is not None and graph.words[predicate][-1:] == (after.lemma,):
                own = Ref(owner.node, predicate)
                for new in _with_place(state, own, ordinal, ordinal.end + 1, "place before property", context):
                    yield ordinal.end + 1, new


def _with_place(
    state: ParseState, ref: Ref, ordinal: OrdinalMention, end: int, rule: str, context: ParseContext
) -> ParseStates:
    """The readings with the condition that a property has the place, in the form of its values."""
    covered = state.covered | token_mask(ordinal.start, end)
    new = state._replace(covered=covered, last="number", score=state.score + 0.5)
    token = context.question.tokens[ordinal.end - 1]
    for value in _stored_values(context.graph, ref.predicate, ordinal, token):
        yield new.add_conditions(rule, 0.4, Condition(ref, "=", (value,), state.negated), comparison=None, join="and")


def apply_ordinal_rank(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation with the place that an ordinal before a superlative asks for: "the second oldest ship"."""
    words, ordinals = context.question.tokens, english_data()["ordinals"]
    superlatives = {cue.start for cue in context.question.cues if cue.kind in ("superlative", "most")}
    places = [
        i
        for i in range(len(words) - 1)
        if i + 1 in superlatives and not derivation.covered >> i & 1 and ordinals.get(words[i].norm, 1) > 1
    ]
    order = derivation.order if derivation.order is not None and derivation.order.limit == 1 else None
    inner = [condition for condition in derivation.conditions if condition.top is not None and condition.top.limit == 1]
    if len(places) != 1 or (order is not None) + len(inner) != 1:
        return derivation
    (place,) = places
    offset = ordinals[words[place].norm] - 1
    covered = derivation.covered | token_mask(place, place + 1)
    if order is not None:
        return derivation.apply_rule("place", 0.3, order=order._replace(offset=offset), covered=covered)
    conditions = tuple(
        c._replace(top=c.top._replace(offset=offset)) if c in inner and c.top else c for c in derivation.conditions
    )
    return derivation.apply_rule("place", 0.3, conditions=conditions, covered=covered)


def _ranked_classes(graph: SchemaGraph, concepts: tuple[str, ...]) -> list[Ref]:
    """The classes of things with a place in an order, if no class was named before."""
    words = set(concepts)
    nodes = (node.index for node in graph.base_nodes)
    found = [i for i in nodes if any(words & set(graph.words[each]) for each in graph.literals[i])]
    return [Ref(index) for index in found[:MAX_CLASSES]]


def _stored_values(graph: SchemaGraph, predicate: str, ordinal: OrdinalMention, token: Token) -> Iterator[str | float]:
    """A place as a property may hold it: as it is written, and as a number within its range."""
    about = graph.about(predicate)
    yield from [value for value in about.values if fold(value) == token.norm][:1]
    lowest, highest = about.minimum, about.maximum
    is_ranged = about.datatype == "integer" and lowest is not None and highest is not None
    if is_ranged and lowest is not None and highest is not None and lowest <= ordinal.value <= highest:
        yield ordinal.value


def _value(token: Token) -> float | None:
    ordinals, digits = english_data()["ordinals"], _DIGITS.fullmatch(token.norm)
    if digits:
        return float(digits[1])
    return float(ordinals[token.norm]) if token.norm in ordinals else None
