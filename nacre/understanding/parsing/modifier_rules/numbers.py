"""Rules for a number or date: ParseState + Number -> ParseStates in which it is a limit, a condition or waits.

In each rule, `state` is the reading before the number and `new` the reading with the number added. `operator` is what
the number is compared with, "=" if nothing is said.
"""

from collections.abc import Callable, Iterator
from typing import Any

from nacre.language.base import language, phrase_list
from nacre.language.dates import is_yearless
from nacre.language.thesaurus import function_words
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.modifier_rules.dates import later_date_cost, nearby_dates
from nacre.understanding.parsing.modifier_rules.number_conditions import (
    is_comparable_with,
    is_year,
    may_count_values,
    number_conditions,
    properties_in_unit,
    upper_bound,
)
from nacre.understanding.parsing.modifier_rules.persons import frequent_person_refs
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, last_target_as_condition
from nacre.understanding.question.types import INEQUALITIES, Condition, Number, token_mask

NumberRule = Callable[[ParseState, ParseState, Number, str, ParseContext], Iterator[ParseState]]

# units of ages
AGE_UNITS = frozenset(("", "year"))
# the comparison of a measure that is smaller if the adjective says more: "newer than" of years of age
_REVERSED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


def apply_number(state: ParseState, number: Number, context: ParseContext) -> Iterator[ParseState]:
    """Yield all ways to take a number."""
    if number.until is not None and state.negated and not (number.date_start or is_year(number)):
        # "not between 3 and 5" would need two conditions of which one holds
        return
    covered = state.covered | token_mask(number.start, number.end)
    new = state._replace(covered=covered, last="number", score=state.score + 0.5)
    operator: str = number.op or "="
    if state.comparison is not None and state.comparison[1] is None and not number.op:
        operator = state.comparison[0]
    yield from _limit(state, new, number, operator, context)
    yield from _measured_number(state, new, number, operator, context)
    if is_yearless(number.date_start) and operator != "=":
        return
    for rule in CONDITION_RULES:
        yield from rule(state, new, number, operator, context)
    if not is_yearless(number.date_start):
        for rule in PENDING_RULES:
            yield from rule(state, new, number, operator, context)


def _limit(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "The 3 largest states": how many are asked for."""
    if not number.op and (state.rank is not None or _is_before_superlative(number, context)):
        yield new.apply_rule("places", 0.1, limit=int(number.value))
    elif not number.op and not number.unit and _is_before_ranked_class(number, context):
        yield new.apply_rule("places of class", 0.0, limit=int(number.value))


def _measured_number(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Older than 30": a number compared by an adjective."""
    if not number.concepts:
        return
    owners = ([state.owner] if state.owner else []) + [node for node in state.nodes if node != state.owner][:2]
    for owner in owners or frequent_person_refs(context):
        for ref, reverse, cost in measured_properties(context.graph, owner.node, number.concepts)[:2]:
            if reverse and number.until is not None:
                continue
            bounds = number_conditions(context.graph, ref, _REVERSED[operator] if reverse else operator, number, state)
            yield add_schema_node(new, ref, context).apply_rule(
                "measured number",
                0.5 - cost,
                conditions=(*state.conditions, *bounds),
                negated=False,
                comparison=None,
                mode="C",
            )


def _number_of_pending(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "A price of 30", "speaks at least two languages": the value of the property that waits, or how many it has."""
    graph, ref = context.graph, state.pending_values
    if ref is None:
        return
    changes: dict[str, Any] = {"comparison": None, "negated": False, "join": "and"}
    if graph.surface_words(ref.predicate)[-1:] == [context.question.tokens[number.start].norm]:
        # the "since" of "member since 2015" compares nothing
        operator = "="
    if is_comparable_with(graph, ref, number, operator):
        bounds = number_conditions(graph, ref, operator, number, state)
        changes["conditions"] = (*state.conditions, *bounds)
        if state.pending_is_target:
            changes.update(mode="C", **last_target_as_condition(state))
            yield new.apply_rule("number of target", 0.2, **changes)
        else:
            yield new.apply_rule("number of property", 0.4, **changes)
    elif number.op and may_count_values(graph, ref, number):
        lower = Condition(ref, operator, (number.value,), state.negated, function="count")
        changes["conditions"] = (*state.conditions, lower, *upper_bound(lower, number.until))
        changes.update(pending_property=None, last="value", **last_target_as_condition(state))
        yield new.apply_rule("number of values", 0.2, **changes)


def _number_by_unit(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Under 60 kg": the property that has the unit of a number."""
    if state.pending_property is not None and not state.pending_is_target:
        return
    for ref in properties_in_unit(state, number, context):
        bounds = number_conditions(context.graph, ref, operator, number, state)
        yield add_schema_node(new, ref, context).apply_rule(
            "number by unit",
            0.3,
            conditions=(*state.conditions, *bounds),
            comparison=None,
            negated=False,
            join="and",
        )


def _number_of_same_property(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Over 80 or under 50": a number on the property of the number before it."""
    if state.pending_property is not None and not state.pending_is_target:
        return
    before = state.conditions[-1] if state.conditions else None
    if before is None or not number.op or state.last != "and" or before.function or before.against is not None:
        return
    is_bound = before.op in INEQUALITIES and before.ref.predicate
    if is_bound and is_comparable_with(context.graph, before.ref, number, operator):
        bounds = number_conditions(context.graph, before.ref, operator, number, state)
        yield new.apply_rule(
            "number of same property",
            -0.4 if _is_before_counted(number, context) else 0.4,
            conditions=(*state.conditions, *bounds),
            comparison=None,
            negated=False,
            join="and",
        )


def _age(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Players under 21": a number without a unit is an age if nothing else is said."""
    owner = state.owner
    if owner is None and not state.nodes:
        owner = next(iter(frequent_person_refs(context)), None)
    is_after_class = state.last in ("class", "having", "negation") or state.owner is None
    if owner is None or state.pending_property is not None or not is_after_class:
        return
    if operator not in INEQUALITIES or number.concepts or is_year(number) or number.unit not in AGE_UNITS:
        return
    skipped = range(state.covered.bit_length(), number.start)
    if any(i not in context.question.stopwords for i in skipped) or _is_before_counted(number, context):
        # "players earning less than 1000", "players with more than 3 goals"
        return
    for ref, reverse, cost in measured_properties(context.graph, owner.node, phrase_list("parsing", "age_concepts"))[
        :1
    ]:
        if ref.node != owner.node or (reverse and number.until is not None):
            continue
        age = number._replace(unit="")
        bounds = number_conditions(context.graph, ref, _REVERSED[operator] if reverse else operator, age, state)
        yield add_schema_node(new, ref, context).apply_rule(
            "number of age", 0.3 - cost, conditions=(*state.conditions, *bounds), negated=False, comparison=None
        )


def _date(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Built before 1900", "in March": the date of a year or a period."""
    if not (is_year(number) or number.date_start):
        return
    for ref, cost in nearby_dates(state, context.graph):
        if is_yearless(number.date_start) and not is_comparable_with(context.graph, ref, number, operator):
            continue
        bounds = number_conditions(context.graph, ref, operator, number, state)
        yield add_schema_node(new, ref, context).apply_rule(
            "number on date",
            0.3 - cost - later_date_cost(ref, context.graph),
            conditions=(*state.conditions, *bounds),
            comparison=None,
            negated=False,
            join="and",
        )


# what makes a number a condition at once
CONDITION_RULES: tuple[NumberRule, ...] = (
    _number_of_pending,
    _number_by_unit,
    _number_of_same_property,
    _age,
    _date,
)


def _second_comparison(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "Over 80 or under 50 pages": both numbers wait for their property."""
    if state.comparison is None or state.pending_property is not None or state.last != "and" or not number.op:
        return
    earlier_operator, earlier_value = state.comparison
    if earlier_value is not None and state.until is None and number.until is None:
        yield new.apply_rule(
            "numbers wait",
            0.1,
            comparison=(operator, number.value),
            unit=number.unit,
            until=None,
            earlier_comparison=(earlier_operator, earlier_value),
        )


def _waiting_number(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "More than 3 pages": a number waits for its property."""
    if state.pending_property is None or state.pending_is_target:
        yield new.apply_rule(
            "number waits",
            0.0 if number.op else -0.1,
            comparison=(operator, number.value),
            unit=number.unit,
            until=number.until,
        )


# what a number may be beside a condition on a property before it
PENDING_RULES: tuple[NumberRule, ...] = (_second_comparison, _waiting_number)


def _is_before_superlative(number: Number, context: ParseContext) -> bool:
    """Whether a superlative follows a number: "the 3 largest"."""
    return any(cue.kind in ("superlative", "most") and cue.start == number.end for cue in context.question.cues)


def _is_before_ranked_class(number: Number, context: ParseContext) -> bool:
    """Whether a number says how many of the ranked things are asked for.

    "Which three cities have the largest ...", "the first 5".
    """
    words = context.question.tokens
    before = words[number.start - 1].norm if number.start else ""
    cues = (cue.kind for cue in context.question.cues if cue.start >= number.end)
    is_ranked = any(kind in ("superlative", "most", "order") for kind in cues)
    return is_ranked and before in language().words["before_places"]


def _is_before_counted(number: Number, context: ParseContext) -> bool:
    """Whether the thing that a number counts may follow it: "more than one record"."""
    after = context.question.tokens[number.end : number.end + 1]
    is_content = any(token.norm not in function_words() for token in after)
    return is_content and all(cue.start != number.end for cue in context.question.cues)
