"""Rules for a number or date: ParseState + Number -> ParseStates in which it is a limit, a condition or waits.

In each rule, `state` is the reading before the number and `new` the reading with the number added. `operator` is
what the number is compared with, "=" if nothing is said.
"""

import calendar
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from nacre.language.data import WORDS, phrase_list
from nacre.language.quantities import convert_unit, split_magnitude
from nacre.language.thesaurus import english_data, function_words, nouns_of_kind
from nacre.language.tokens import fold
from nacre.language.values import is_yearless
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.cue_rules import frequent_person_refs
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    ParseStates,
    add_schema_node,
    last_target_as_condition,
)
from nacre.understanding.question.numbers import FIRST_YEAR, LAST_YEAR
from nacre.understanding.question.records import INEQUALITIES, Condition, Number, Ref, Target, token_mask

NumberRule = Callable[[ParseState, ParseState, Number, str, ParseContext], ParseStates]

AGE_UNITS = frozenset(("", "year"))  # units of ages
AGE_RULES = frozenset(("measured number", "number of age"))  # what reads ages

# the comparison of a measure that is smaller if the adjective says more: "newer than" of years of age
_REVERSED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


def apply_number(state: ParseState, number: Number, context: ParseContext) -> ParseStates:
    """Yield all ways to take a number."""
    of_any_year = is_yearless(number.date_start)
    if number.until is not None and state.negated and (of_any_year or not (number.date_start or is_year(number))):
        # "not between 3 and 5" would need two conditions of which one holds
        return
    taken = (c for c in state.conditions if c.ref.part == "yearday" or (c.op == "contains" and "-" in str(c.values)))
    if of_any_year and any(taken):
        # so would "in April and May"
        return
    covered = state.covered | token_mask(number.start, number.end)
    new = state._replace(covered=covered, last="number", score=state.score + 0.5)
    operator: str = number.op or "="
    if state.comparison is not None and state.comparison[1] is None and not number.op:
        operator = state.comparison[0]
    yield from _limit(state, new, number, operator, context)
    yield from _measured_number(state, new, number, operator, context)
    for rule in CONDITION_RULES:
        yield from rule(state, new, number, operator, context)
    if not of_any_year:
        for rule in PENDING_RULES:
            yield from rule(state, new, number, operator, context)


def _limit(state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext) -> ParseStates:
    """ "The 3 largest states": how many are asked for."""
    ranks = (cue.start for cue in context.question.cues if cue.kind in ("superlative", "most"))
    if not number.op and (state.rank is not None or number.end in ranks):
        yield new.apply_rule("places", 0.1, limit=int(number.value))
    elif not number.op and not number.unit and _is_before_ranked_class(number, context):
        yield new.apply_rule("places of class", 0.0, limit=int(number.value))


def _measured_number(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "Older than 30": a number compared by an adjective."""
    if not number.concepts:
        return
    owners = ([state.owner] if state.owner else []) + [node for node in state.nodes if node != state.owner][:2]
    for owner in owners or frequent_person_refs(context):
        for ref, reverse, cost in measured_properties(context.graph, owner.node, number.concepts)[:2]:
            if not reverse or number.until is None:
                compared, limit = _as_date(ref, operator, number, context) if reverse else (operator, number)
                yield _bounded("measured number", 0.5 - cost, new, ref, compared, limit, context, mode="C")


def _as_date(ref: Ref, operator: str, number: Number, context: ParseContext) -> tuple[str, Number]:
    """The comparison of a measure that is smaller if the adjective says more, with an age as the day of birth: "under
    20" was born after this day 20 years ago."""
    compared, graph = _REVERSED[operator], context.graph
    is_age = number.unit in AGE_UNITS and not number.date_start and number.value < FIRST_YEAR
    if not is_age or not graph.is_date(ref.predicate):
        return compared, number
    today = date.today()
    year = today.year - int(number.value)
    if not _is_on_days(graph, ref):
        return compared, number._replace(value=year, unit="")
    born = date(year, today.month, min(today.day, calendar.monthrange(year, today.month)[1]))
    return compared, number._replace(date_start=born.isoformat(), date_end=(born + timedelta(1)).isoformat(), unit="")


def is_year_of_birth(number: Number, value: str | float) -> bool:
    """Whether a date or year of a condition is that of the birth of somebody of an age."""
    year = date.today().year - number.value
    return number.unit in AGE_UNITS and number.value < FIRST_YEAR and str(value)[:4] == f"{year:.0f}"


def _bounded(
    rule: str, gain: float, new: ParseState, ref: Ref, op: str, number: Number, context: ParseContext, **changes: Any
) -> ParseState:
    bounds = number_conditions(context.graph, ref, op, number, new)
    return add_schema_node(new, ref, context).add_conditions(rule, gain, *bounds, comparison=None, **changes)


def _with_year(state: ParseState, number: Number, context: ParseContext) -> ParseState:
    """The state with the word before a year of a date: "in the year 1900"."""
    if is_year(number) and context.question.tokens[max(number.start - 1, 0)].norm == "year":
        return state._replace(covered=state.covered | token_mask(number.start - 1, number.start))
    return state


def _number_of_pending(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "A price of 30", "speaks at least two languages": the value of the property that waits, or how many it has."""
    graph, ref = context.graph, state.pending_values
    if ref is None:
        return
    changes: dict[str, Any] = {"comparison": None, "join": "and"}
    if graph.surface_words(ref.predicate)[-1:] == [context.question.tokens[number.start].norm]:
        # the "since" of "member since 2015" compares nothing
        operator = "="
    if is_comparable_with(graph, ref, number, operator):
        bounds = number_conditions(graph, ref, operator, number, state)
        new = _with_year(new, number, context) if graph.is_date(ref.predicate) else new
        if state.pending_is_target:
            changes.update(mode="C", **last_target_as_condition(state))
            yield new.add_conditions("number of target", 0.2, *bounds, **changes)
        else:
            yield new.add_conditions("number of property", 0.4, *bounds, **changes)
    elif number.op and may_count_values(graph, ref, number):
        lower = Condition(ref, operator, (number.value,), state.negated, function="count")
        changes.update(pending_property=None, last="value", **last_target_as_condition(state))
        yield new.add_conditions("number of values", 0.2, lower, *upper_bound(lower, number.until), **changes)


def _number_by_unit(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "Under 60 kg": the property that has the unit of a number."""
    if state.pending_property is not None and not state.pending_is_target:
        return
    for ref in properties_in_unit(state, number, context):
        yield _bounded("number by unit", 0.3, new, ref, operator, number, context, join="and")


def _number_of_same_property(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "Over 80 or under 50": a number on the property of the number before it."""
    if state.pending_property is not None and not state.pending_is_target:
        return
    before = state.conditions[-1] if state.conditions else None
    if before is None or not number.op or state.last != "and" or before.function or before.against is not None:
        return
    is_bound = before.op in INEQUALITIES and before.ref.predicate
    if is_bound and is_comparable_with(context.graph, before.ref, number, operator):
        gain = -0.4 if _is_before_counted(number, context) else 0.4
        yield _bounded("number of same property", gain, new, before.ref, operator, number, context, join="and")


def _age(state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext) -> ParseStates:
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
    ages = measured_properties(context.graph, owner.node, phrase_list("parsing", "age_concepts"))
    for ref, reverse, cost in ages[:1]:
        if ref.node == owner.node and (not reverse or number.until is None):
            compared, age = _as_date(ref, operator, number, context) if reverse else (operator, number)
            yield _bounded("number of age", 0.3 - cost, new, ref, compared, age._replace(unit=""), context)


def _date(state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext) -> ParseStates:
    """ "Built before 1900", "in March": the date of a year or a period."""
    if not (is_year(number) or number.date_start):
        return
    new = _with_year(new, number, context)
    for ref, cost in nearby_dates(state, context.graph):
        if is_comparable_with(context.graph, ref, number, operator):
            gain = 0.3 - cost - later_date_cost(ref, context.graph)
            yield _bounded("number on date", gain, new, ref, operator, number, context, join="and")


# what makes a number a condition at once
CONDITION_RULES: tuple[NumberRule, ...] = (_number_of_pending, _number_by_unit, _number_of_same_property, _age, _date)


def _second_comparison(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "Over 80 or under 50 pages": both numbers wait for their property."""
    if state.comparison is None or state.pending_property is not None or state.last != "and" or not number.op:
        return
    if state.comparison[1] is not None and state.until is None and number.until is None:
        later = {"comparison": (operator, number.value), "unit": number.unit, "until": None}
        yield new.apply_rule("numbers wait", 0.1, earlier_comparison=state.comparison, **later)


def _waiting_number(
    state: ParseState, new: ParseState, number: Number, operator: str, context: ParseContext
) -> ParseStates:
    """ "More than 3 pages": a number waits for its property; a day or month is none."""
    words = (token.norm for token in context.question.tokens[number.start : number.end])
    if number.date_start and any(word[:3].title() in calendar.month_abbr for word in words if word):
        return
    if state.pending_property is None or state.pending_is_target:
        waiting = {"comparison": (operator, number.value), "unit": number.unit, "until": number.until}
        yield new.apply_rule("number waits", 0.0 if number.op else -0.1, **waiting)


# what a number may be beside a condition on a property before it
PENDING_RULES: tuple[NumberRule, ...] = (_second_comparison, _waiting_number)


def _is_before_ranked_class(number: Number, context: ParseContext) -> bool:
    """Whether a number says how many ranked things are asked for: "the first 5"."""
    words = context.question.tokens
    before = words[number.start - 1].norm if number.start else ""
    cues = (cue.kind for cue in context.question.cues if cue.start >= number.end)
    is_ranked = any(kind in ("superlative", "most", "order") for kind in cues)
    return is_ranked and before in WORDS["before_places"]


def _is_before_counted(number: Number, context: ParseContext) -> bool:
    """Whether the thing that a number counts may follow it: "more than one record"."""
    after = context.question.tokens[number.end : number.end + 1]
    is_content = any(token.norm not in function_words() for token in after)
    return is_content and all(cue.start != number.end for cue in context.question.cues)


COUNT_UNITS = frozenset(("", "count"))  # units of numbers that may say how many things there are
MAX_SAMPLES = 5  # how many values of a text property are looked at
MIN_UNIT_LETTERS = 3  # shorter words of a property's name are no units


def is_year(number: Number) -> bool:
    """Whether a number may be a year."""
    return not number.unit and number.value == int(number.value) and FIRST_YEAR <= number.value <= LAST_YEAR


def is_comparable_with(graph: SchemaGraph, ref: Ref, number: Number, operator: str) -> bool:
    """Whether a property can be compared with a number. Texts can't be in order: "9 bar" comes after "200 bar"."""
    about = graph.about(ref.predicate)
    if about.unit and number.unit and convert_to_unit(number, about.unit) is None:
        return False
    if about.datatype in ("date", "datetime"):
        return bool(number.date_start) or is_year(number)
    if is_yearless(number.date_start):
        return False
    if graph.is_numeric(ref.predicate) or (graph.is_date(ref.predicate) and about.datatype != "text"):
        return True
    texts = (about.values or about.samples)[:MAX_SAMPLES]
    is_equal = operator == "=" and number.until is None
    return is_equal and (graph.is_date(ref.predicate) or any(letter.isdigit() for text in texts for letter in text))


def may_count_values(graph: SchemaGraph, ref: Ref, number: Number) -> bool:
    """Whether a number may say how many values a thing has of a property of texts."""
    about = graph.about(ref.predicate)
    has_several = about.has_literals and about.datatype == "text" and about.minimum is None and not about.functional
    return number.unit in COUNT_UNITS and not (number.concepts or number.date_start) and has_several


def convert_to_unit(number: Number, unit: str) -> float | None:
    """Return the number in the unit of a property, None if the two measure different quantities."""
    magnitude, plain_unit = split_magnitude(unit)
    # "over 200" of what is stated in millions means 200 million
    is_full = number.multiplier > 1 or number.value >= magnitude
    value = number.value / magnitude if is_full else number.value
    if not number.unit or not unit:
        return value
    if number.unit == "currency":
        is_money = fold(plain_unit) in english_data()["currencies"] or (magnitude > 1 and not plain_unit)
        return value if is_money else None
    return convert_unit(value, number.unit, plain_unit) if plain_unit else None


def number_conditions(
    graph: SchemaGraph, ref: Ref, operator: str, number: Number, state: ParseState
) -> tuple[Condition, ...]:
    """Return the condition that a number makes on a property, or one condition for each end of a range."""
    if is_yearless(number.date_start):
        ends = (
            ((">=", number.date_start), ("<=", number.date_end)) if number.until else ((operator, number.date_start),)
        )
        made: tuple[Condition, ...] = tuple(_yearless(ref, *end, state) for end in ends)
    elif number.until is None:
        made = (_condition(graph, ref, operator, number, state),)
    elif _is_on_days(graph, ref) and (number.date_start or is_year(number)):
        start, end = _days(number, number.until)
        made = (Condition(ref, ">=", (start,)), Condition(ref, "<", (end,)))
        if state.negated:
            made = (Condition(ref, "within", (start, end), True),)
    else:
        upper_end = number._replace(value=number.until, date_start="", date_end="")
        made = (_condition(graph, ref, ">=", number, state), _condition(graph, ref, "<=", upper_end, state))
    return tuple(condition._replace(join=state.join) for condition in made)


def upper_bound(lower: Condition, until: float | None) -> tuple[Condition, ...]:
    """Return the condition for the upper end of a range of counts, nothing if there is none."""
    return () if until is None else (lower._replace(op="<=", values=(until,)),)


def _condition(graph: SchemaGraph, ref: Ref, operator: str, number: Number, state: ParseState) -> Condition:
    """The condition with the number in the form that the property has: a year of a date becomes a range of days."""
    if _is_on_days(graph, ref) and (number.date_start or is_year(number)):
        start, end = _days(number, number.value)
        if operator == "=":
            return Condition(ref, "within", (start, end), state.negated)
        if operator in (">", "<=") and len(start) == len(end):
            # a year ends with its last day: after 2018 is from the first day of 2019 on
            return Condition(ref, ">=" if operator == ">" else "<", (end,), state.negated)
        return Condition(ref, operator, (start,), state.negated)
    about = graph.about(ref.predicate)
    if about.datatype == "text" and not graph.is_numeric(ref.predicate):
        text = number.date_start or number.digits or f"{number.value:g}"
        return Condition(ref, "contains" if operator == "=" else operator, (text,), state.negated)
    converted = convert_to_unit(number, about.unit)
    value = number.value if converted is None else converted
    function = state.pending_function if state.pending_property == ref else ""
    return Condition(ref, operator, (value,), state.negated, function=function)


def _yearless(ref: Ref, operator: str, day: str, state: ParseState) -> Condition:
    """The condition on the month or day of a date: "--07" is "-07-" inside a date, "--07-12" is its end."""
    if operator == "=":
        return Condition(ref, "contains", (day[1:] if len(day) > len("--07") else f"{day[1:]}-",), state.negated)
    month_end = "-31" if len(day) == len("--07") and operator in ("<=", ">") else ""
    return Condition(ref._replace(part="yearday"), operator, (day[2:] + month_end,), state.negated)


def _is_on_days(graph: SchemaGraph, ref: Ref) -> bool:
    return graph.about(ref.predicate).datatype in ("date", "datetime")


def _days(number: Number, last_year: float) -> tuple[str, str]:
    """The first day of a period, and the first day after it."""
    start = number.date_start or f"{int(number.value):04}-01-01"
    return start, number.date_end or f"{int(last_year) + 1:04}-01-01"


def properties_in_unit(state: ParseState, number: Number, context: ParseContext) -> list[Ref]:
    """Return the properties with the unit of a number, of the things in the reading or one step away."""
    graph = context.graph
    if not number.unit:
        return []
    priced = _priced_properties(state, number, context) if number.unit == "currency" else []
    own = [node.node for node in state.nodes]
    near = [step.target for node in state.nodes for step in graph.steps[node.node]]
    measured = [
        Ref(node, predicate)
        for node in dict.fromkeys(own + near)
        for predicate in graph.literals[node]
        if graph.is_numeric(predicate) and not graph.is_date(predicate) and _is_in_unit(number, predicate, graph)
    ]
    return priced + measured[:MAX_DATES]


def _is_in_unit(number: Number, predicate: str, graph: SchemaGraph) -> bool:
    """Whether a property has the unit of a number, or has none and is named after it: the "hours" of a repair."""
    unit = graph.about(predicate).unit
    if unit:
        return convert_to_unit(number, unit) is not None
    units = english_data()["units"]
    return any(units.get(word) == number.unit for word in graph.words[predicate] if len(word) >= MIN_UNIT_LETTERS)


def _priced_properties(state: ParseState, number: Number, context: ParseContext) -> list[Ref]:
    """The property of an amount of money: earnings after a word such as "earned", else a price."""
    words = context.question.tokens[: number.start]
    is_earned = bool(words) and words[-1].norm in WORDS["earning"]
    prices, earnings = phrase_list("parsing", "price_concepts"), phrase_list("parsing", "earnings_concepts")
    first, second = (earnings, prices) if is_earned else (prices, earnings)
    found = []
    for node in state.nodes[:2]:
        measures = measured_properties(context.graph, node.node, first)
        measures = measures or measured_properties(context.graph, node.node, second)
        found += [ref for ref, _, _ in measures[:1]]
    return found


MAX_DATES = 4  # how many dates are tried

# the cost of a date by which something ends, and of a date of birth: "in March" seldom means these
END_DATE_COST, BIRTH_DATE_COST = 0.25, 0.8

SAME_EVENT_GAIN = 0.3  # what a date gains that shares a word with a link of the reading

OTHER_DATE_COST = 0.05  # the cost of a date that is not named after its things

# the cost of a step away, as a share of its path cost, and of a day where a year is meant
STEP_COST_SHARE, DAY_COST = 0.3, 0.1

PERIOD_GAIN = 0.8  # what a word of time gains: less than a property of that name


def nearby_dates(state: ParseState, graph: SchemaGraph) -> list[tuple[Ref, float]]:
    """Return the dates and years of the things in the reading, or one step away, the cheapest first."""
    costs: dict[Ref, float] = {}
    # the words of the links in a reading, without those that do not tell what happened
    named = {ref.via for link in state.links if link.kind == "property" for ref in link.refs if ref.via}
    idle = function_words() | WORDS["generic"] | WORDS["time"] | nouns_of_kind("places")
    event = {word for iri in named for word in graph.words[iri]} - idle
    for node in [ref.node for ref in state.nodes] or [each.index for each in graph.base_nodes]:
        distances = {node: 0.0}
        for step in graph.steps[node]:
            distances.setdefault(step.target, STEP_COST_SHARE * step.cost)
        for target, distance in distances.items():
            # "ordered" of orders, "date"
            own = {"on", *WORDS["time"], *graph.nodes[target].words}
            for predicate in filter(graph.is_date, graph.literals[target]):
                ref = Ref(target, predicate)
                cost = distance + (DAY_COST if graph.about(predicate).datatype in ("date", "datetime", "time") else 0.0)
                cost += 0.0 if own.issuperset(graph.words[predicate]) else OTHER_DATE_COST
                if event & set(graph.words[predicate]):
                    # "born in Rome after 1990": by the day of birth
                    cost -= SAME_EVENT_GAIN + later_date_cost(ref, graph)
                costs[ref] = min(costs.get(ref, cost), cost)
    return sorted(costs.items(), key=lambda x: (x[1], graph.about(x[0].predicate).position, x[0]))[:MAX_DATES]


def later_date_cost(ref: Ref, graph: SchemaGraph) -> float:
    """Return the cost of a date of birth, or of an end: things are "in March" if they begin then."""
    words = set(graph.words[ref.predicate])
    if WORDS["life"] & words:
        return BIRTH_DATE_COST
    return END_DATE_COST if WORDS["ending"] & words else 0.0


def group_by_period(state: ParseState, context: ParseContext, at: int) -> ParseStates:
    """ "Loans per year", "in which month did most races start": groups by a part of a date."""
    part = context.question.tokens[at].lemma
    is_group = state.next_role == "group"
    has_most = any(cue.kind == "most" and cue.start > at for cue in context.question.cues)
    if not is_group and not (state.mode == "T" and not state.targets and has_most):
        return
    covered = state.covered | token_mask(at, at + 1)
    for dated, cost in nearby_dates(state, context.graph):
        if context.graph.about(dated.predicate).datatype not in ("date", "datetime"):
            continue
        ref = dated._replace(part=part)  # type: ignore[arg-type]
        new = add_schema_node(state._replace(covered=covered), ref, context)
        gain = PERIOD_GAIN - cost - later_date_cost(dated, context.graph)
        if is_group:
            # "arrived each year": the date of the verb is no column of its own
            targets = tuple(each for each in state.targets if each != Target(dated))
            gain += SAME_EVENT_GAIN * (len(state.targets) - len(targets))
            changes = {"group": (*state.group, ref), "targets": targets, "next_role": "", "mode": "T", "last": "prop"}
            yield new.apply_rule("group by time", gain, **changes)
        else:
            yield new.apply_rule("time of most", gain, targets=(Target(ref),), last="prop", shared_aggregates=())
