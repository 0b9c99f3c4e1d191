"""Properties that a number may be of by its unit: ParseState + Number -> Refs."""

from nacre.language.base import language, phrase_list
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.modifier_rules.dates import MAX_DATES
from nacre.understanding.parsing.modifier_rules.number_conditions import convert_to_unit
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Number, Ref

# shorter words of a property's name are no units
MIN_UNIT_LETTERS = 3


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
