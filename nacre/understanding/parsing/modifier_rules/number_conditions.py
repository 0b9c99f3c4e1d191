"""Conditions that a number makes, in the unit of the property, and the properties that have its unit."""

import re

from nacre.language.base import language, phrase_list
from nacre.language.dates import is_yearless
from nacre.language.quantities.units import convert_unit, split_magnitude
from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.modifier_rules.dates import MAX_DATES
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Condition, Number, Ref

# numbers in this range without a unit may be years
FIRST_YEAR, LAST_YEAR = 1000, 2100
# units of numbers that may say how many things there are
COUNT_UNITS = frozenset(("", "count"))
# how many values of a text property are looked at
MAX_SAMPLES = 5
# a text that is an amount: "12", "3:36", "11 EUR"
_AMOUNT = re.compile(r"\W*\d[\d\W]*[^\W\d_]{0,4}\W*")
# shorter words of a property's name are no units
MIN_UNIT_LETTERS = 3


def is_year(number: Number) -> bool:
    """Whether a number may be a year."""
    return not number.unit and number.value == int(number.value) and FIRST_YEAR <= number.value <= LAST_YEAR


def is_comparable_with(graph: SchemaGraph, ref: Ref, number: Number, operator: str) -> bool:
    """Whether a property can be compared with a number; a property of texts can if most of its values are amounts."""
    about = graph.about(ref.predicate)
    if about.unit and number.unit and convert_to_unit(number, about.unit) is None:
        return False
    if about.datatype in ("date", "datetime"):
        return bool(number.date_start) or is_year(number)
    if is_yearless(number.date_start):
        return False
    if graph.is_numeric(ref.predicate) or graph.is_date(ref.predicate):
        return True
    texts = (about.values or about.samples)[:MAX_SAMPLES]
    if operator != "=":
        return 2 * sum(bool(_AMOUNT.fullmatch(text)) for text in texts) > len(texts)
    return any(letter.isdigit() for text in texts for letter in text)


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
    if number.until is None:
        made: tuple[Condition, ...] = (_condition(graph, ref, operator, number, state),)
    elif _is_on_days(graph, ref) and (number.date_start or is_year(number)):
        start, end = _days(number, number.until)
        made = (Condition(ref, ">=", (start,)), Condition(ref, "<", (end,)))
        if state.negated:
            made = (Condition(ref, "within", (start, end), True),)
    else:
        upper_end = number._replace(value=number.until, date_start="", date_end="")
        made = (
            _condition(graph, ref, ">=", number, state),
            _condition(graph, ref, "<=", upper_end, state),
        )
    return tuple(condition._replace(join=state.join) for condition in made)


def upper_bound(lower: Condition, until: float | None) -> tuple[Condition, ...]:
    """Return the condition for the upper end of a range of counts, nothing if there is none."""
    return () if until is None else (lower._replace(op="<=", values=(until,)),)


def _condition(graph: SchemaGraph, ref: Ref, operator: str, number: Number, state: ParseState) -> Condition:
    """The condition with the number in the form that the property has: a year of a date becomes a range of days."""
    if is_yearless(number.date_start):
        # "--07" is "-07-" inside a date, "--07-12" is its end
        part = number.date_start[1:]
        return Condition(ref, "contains", (part if part.count("-") > 1 else f"{part}-",), state.negated)
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


def _is_on_days(graph: SchemaGraph, ref: Ref) -> bool:
    """Whether the values of a property are days or moments."""
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
    is_earned = bool(words) and words[-1].norm in language().words["earning"]
    prices, earnings = phrase_list("parsing", "price_concepts"), phrase_list("parsing", "earnings_concepts")
    first, second = (earnings, prices) if is_earned else (prices, earnings)
    found = []
    for node in state.nodes[:2]:
        measures = measured_properties(context.graph, node.node, first)
        measures = measures or measured_properties(context.graph, node.node, second)
        found += [ref for ref, _, _ in measures[:1]]
    return found
