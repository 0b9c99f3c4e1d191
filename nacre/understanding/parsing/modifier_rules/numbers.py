"""Rules for numbers and dates: a number at hand + ParseState -> further States (conditions, limits, counts)."""

import re
from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.dates import is_yearless
from nacre.language.quantities.units import convert_unit, split_magnitude
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import fold
from nacre.records.schema import Predicate
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.modifier_rules.dates import MOST_DATES, later_date_cost, nearby_dates
from nacre.understanding.parsing.modifier_rules.persons import frequent_person_refs
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, last_target_as_condition
from nacre.understanding.question.types import INEQUALITIES, Condition, Number, Ref, token_mask

FIRST_YEAR, LAST_YEAR = 1000, 2100
# what an amount of money is about where nothing else is said
MONEY = ("price", "cost", "fee", "salary")
EARNED = ("revenue", "earnings", "income", "profit", "gross", "turnover", "salary")
# letters of a word that is a unit and may not be something else as well
SHORTEST_UNIT = 3
# units of numbers that may say how many things there are
COUNTING = frozenset(("", "count"))
# what bounds a number, and units of what a bare number is of
YEARS = frozenset(("", "year"))
# a value that is an amount, whatever kind of value it is held as: "12", "3:36", "11 EUR"
_AMOUNT = re.compile(r"\W*\d[\d\W]*[^\W\d_]{0,4}\W*")
_SHOWN = 5
_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


def number(state: ParseState, found: Number, context: ParseContext) -> Iterator[ParseState]:
    """All ways to take a number."""
    if found.until is not None and state.negated and not (found.date_start or _is_year(found)):
        # what is not between two numbers is below the one or above the other
        return
    mask = token_mask(found.start, found.end)
    new = state._replace(covered=state.covered | mask, last="number", score=state.score + 0.5)
    op: str = found.op or "="
    if state.comparison is not None and state.comparison[1] is None and not found.op:
        op = state.comparison[0]
    if not found.op and (state.rank is not None or _before_rank(found, context)):
        yield new.apply_rule("places", 0.1, limit=int(found.value))
    elif not found.op and not found.unit and _chooses(found, context):
        yield new.apply_rule("places of class", 0.0, limit=int(found.value))
    if found.concepts:
        yield from _measured(state, new, found, op, context)
    graph = context.graph
    if is_yearless(found.date_start) and op != "=":
        return
    prop = state.pending_property
    if prop is not None and prop.predicate and is_comparable_with(graph, prop, found, op):
        bounds = _conditions(graph, prop, op, found, state)
        rule = "number of target" if state.pending_is_target else "number of property"
        yield new.apply_rule(
            rule, 0.4 if not state.pending_is_target else 0.2, conditions=(*state.conditions, *bounds), comparison=None,
            negated=False, join="and", **({"mode": "C", **last_target_as_condition(state)} if state.pending_is_target else {}),
        )  # fmt: skip
    elif prop is not None and prop.predicate and found.op and may_count_values(graph, prop, found):
        # "speaks at least two languages"
        lower = Condition(prop, op, (found.value,), state.negated, function="count")
        yield new.apply_rule(
            "number of values", 0.2, conditions=(*state.conditions, lower, *upper_bound(lower, found.until)), comparison=None,
            negated=False, join="and", pending_property=None, last="value", **last_target_as_condition(state),
        )  # fmt: skip
    if prop is None or state.pending_is_target:
        for ref in _by_unit(state, found, context):
            bounds = _conditions(graph, ref, op, found, state)
            yield add_schema_node(new, ref, context).apply_rule(
                "number by unit",
                0.3,
                conditions=(*state.conditions, *bounds),
                comparison=None,
                negated=False,
                join="and",
            )
        yield from _again(state, new, found, op, context)
        yield from _aged(state, new, found, op, context)
    if _is_year(found) or found.date_start:
        for ref, cost in nearby_dates(state, graph):
            if is_yearless(found.date_start) and not is_comparable_with(graph, ref, found, op):
                continue
            bounds = _conditions(graph, ref, op, found, state)
            yield add_schema_node(new, ref, context).apply_rule(
                "number on date",
                0.3 - cost - later_date_cost(ref, graph),
                conditions=(*state.conditions, *bounds),
                comparison=None,
                negated=False,
                join="and",
            )
    if is_yearless(found.date_start):
        return
    waits = (
        state.comparison is not None and state.comparison[1] is not None and state.until is None and found.until is None
    )
    if prop is None and waits and state.last == "and" and found.op:
        assert state.comparison is not None
        assert state.comparison[1] is not None
        # "over 80 or under 50 pages"
        earlier = (state.comparison[0], state.comparison[1])
        yield new.apply_rule(
            "numbers wait", 0.1, comparison=(op, found.value), unit=found.unit, until=None, earlier_comparison=earlier
        )
    if prop is None or state.pending_is_target:
        yield new.apply_rule(
            "number waits",
            -0.1 if not found.op else 0.0,
            comparison=(op, found.value),
            unit=found.unit,
            until=found.until,
        )
    if not found.op and state.owner is not None and state.last == "class":
        for predicate in graph.literals[state.owner.node]:
            if graph.about(predicate).role == "identifier" and graph.is_numeric(predicate):
                ref = Ref(state.owner.node, predicate)
                bounds = _conditions(graph, ref, "=", found, state)
                yield new.apply_rule("number of thing", 0.2, conditions=(*state.conditions, *bounds), negated=False)
    counts = found.unit in COUNTING and not found.concepts
    if state.owner is not None and state.last == "class" and found.op and counts:
        # "students more than 3": counted after all
        counted = Condition(state.owner, op, (found.value,), state.negated, function="count")
        bounds = (counted, *upper_bound(counted, found.until))
        yield new.apply_rule(
            "number after class",
            -0.8 if _is_year(found) else -0.2,
            conditions=(*state.conditions, *bounds),
            negated=False,
        )


def _again(state: ParseState, new: ParseState, found: Number, op: str, context: ParseContext) -> Iterator[ParseState]:
    """ "over 80 or under 50": of the property that the number before it is of."""
    graph = context.graph
    before = state.conditions[-1] if state.conditions else None
    if before is None or not found.op or state.last != "and" or before.function or before.against is not None:
        return
    if before.op in INEQUALITIES and before.ref.predicate and is_comparable_with(graph, before.ref, found, op):
        bounds = _conditions(graph, before.ref, op, found, state)
        gain = -0.4 if _counts_more(found, context) else 0.4
        yield new.apply_rule(
            "number of same property", gain, conditions=(*state.conditions, *bounds), comparison=None, negated=False,
            join="and",
        )  # fmt: skip


def _aged(state: ParseState, new: ParseState, found: Number, op: str, context: ParseContext) -> Iterator[ParseState]:
    """ "players under 21": of what bare numbers are of where nothing else is said."""
    owner = next(iter(frequent_person_refs(context)), None) if state.owner is None and not state.nodes else state.owner
    after_class = state.last in ("class", "having", "negation") or state.owner is None
    if owner is None or state.pending_property is not None or not after_class:
        return
    if op not in INEQUALITIES or found.concepts or _is_year(found) or found.unit not in YEARS:
        return
    skipped = range(state.covered.bit_length(), found.start)
    if any(i not in context.question.stopwords for i in skipped):
        # "players earning less than 1000"
        return
    if _counts_more(found, context):
        return
    for ref, reverse, cost in measured_properties(context.graph, owner.node, ("age",))[:1]:
        if ref.node != owner.node or (reverse and found.until is not None):
            continue
        bounds = _conditions(context.graph, ref, _FLIPPED[op] if reverse else op, found._replace(unit=""), state)
        yield add_schema_node(new, ref, context).apply_rule(
            "number of age", 0.3 - cost, conditions=(*state.conditions, *bounds), negated=False, comparison=None
        )


def _counts_more(found: Number, context: ParseContext) -> bool:
    """Whether what a number is of may come after it: "more than one record"."""
    after = context.question.tokens[found.end : found.end + 1]
    return any(t.norm not in function_words() for t in after) and all(
        c.start != found.end for c in context.question.cues
    )


def _chooses(found: Number, context: ParseContext) -> bool:
    """Whether a number says how many are asked for: "which three cities have the largest ...", "the first 5"."""
    words, later = context.question.tokens, (c for c in context.question.cues if c.start >= found.end)
    before = words[found.start - 1].norm if found.start else ""
    placed = any(c.kind in ("superlative", "most", "order") for c in later)
    return placed and before in language().words["before_places"]


def _before_rank(found: Number, context: ParseContext) -> bool:
    return any(c.kind in ("superlative", "most") and c.start == found.end for c in context.question.cues)


def _measured(
    state: ParseState, new: ParseState, found: Number, op: str, context: ParseContext
) -> Iterator[ParseState]:
    """ "older than 30": of a property that is waiting, or of what the adjective measures."""
    owners = ([state.owner] if state.owner else []) + [n for n in state.nodes if n != state.owner][:2]
    for owner in owners or frequent_person_refs(context):
        for ref, reverse, cost in measured_properties(context.graph, owner.node, found.concepts)[:2]:
            if reverse and found.until is not None:
                continue
            bounds = _conditions(context.graph, ref, _FLIPPED[op] if reverse else op, found, state)
            yield add_schema_node(new, ref, context).apply_rule(
                "measured number", 0.5 - cost, conditions=(*state.conditions, *bounds), negated=False, comparison=None,
                mode="C",
            )  # fmt: skip


def is_comparable_with(graph: SchemaGraph, ref: Ref, found: Number, op: str) -> bool:
    """Whether a property can be compared with a number: one of text only where its values are amounts."""
    unit = graph.about(ref.predicate).unit
    if unit and found.unit and convert_to_unit(found, unit) is None:
        return False
    about = graph.about(ref.predicate)
    if about.datatype in ("date", "datetime"):
        return bool(found.date_start) or _is_year(found)
    if is_yearless(found.date_start):
        return False
    if graph.is_numeric(ref.predicate) or graph.is_date(ref.predicate):
        return True
    shown = (about.values or about.samples)[:_SHOWN]
    if op != "=":
        return 2 * sum(bool(_AMOUNT.fullmatch(text)) for text in shown) > len(shown)
    return any(c.isdigit() for text in shown for c in text)


def may_count_values(graph: SchemaGraph, ref: Ref, found: Number) -> bool:
    """Whether a number may say how many values of a property each thing has, which has texts, and several of them."""
    about = graph.about(ref.predicate)
    return found.unit in COUNTING and not (found.concepts or found.date_start) and _is_multiple(about)


def _is_multiple(about: Predicate) -> bool:
    return about.has_literals and about.datatype == "text" and about.minimum is None and not about.functional


def convert_to_unit(found: Number, unit: str) -> float | None:
    """The number in the unit of a property; None where the two do not measure the same."""
    many, each = split_magnitude(unit)
    # "over 200" of what is counted in millions is so many of them
    value = found.value / many if found.multiplier > 1 or found.value >= many else found.value
    if not found.unit or not unit:
        return value
    if found.unit == "currency":
        return value if fold(each) in english_data()["currencies"] or (many > 1 and not each) else None
    return convert_unit(value, found.unit, each) if each else None


def _by_unit(state: ParseState, found: Number, context: ParseContext) -> list[Ref]:
    """Properties of the nodes at hand, or one step away, that are measured in the unit of a number."""
    graph = context.graph
    if not found.unit:
        return []
    priced = _priced(state, found, context) if found.unit == "currency" else []
    nodes = list(
        dict.fromkeys([n.node for n in state.nodes] + [s.target for n in state.nodes for s in graph.steps[n.node]])
    )
    return (
        priced
        + [
            Ref(node, p)
            for node in nodes
            for p in graph.literals[node]
            if graph.is_numeric(p) and not graph.is_date(p) and _is_in_unit(found, p, graph)
        ][:MOST_DATES]
    )


def _is_in_unit(found: Number, predicate: str, graph: SchemaGraph) -> bool:
    """Whether a property has the unit of a number, or none and is called after it: the "hours" of a repair."""
    unit = graph.about(predicate).unit
    if unit:
        return convert_to_unit(found, unit) is not None
    units = english_data()["units"]
    return any(units.get(word) == found.unit for word in graph.words[predicate] if len(word) >= SHORTEST_UNIT)


def _priced(state: ParseState, found: Number, context: ParseContext) -> list[Ref]:
    """What an amount of money is of: of what "earned" so much what comes in, else a price."""
    words = context.question.tokens[: found.start]
    earned = bool(words) and words[-1].norm in language().words["earning"]
    concepts = (EARNED, MONEY) if earned else (MONEY, EARNED)
    known = ([measured_properties(context.graph, n.node, c) for c in concepts] for n in state.nodes[:2])
    return [ref for first, second in known for ref, _, _ in (first or second)[:1]]


def _is_year(found: Number) -> bool:
    return not found.unit and found.value == int(found.value) and FIRST_YEAR <= found.value <= LAST_YEAR


def _conditions(graph: SchemaGraph, ref: Ref, op: str, found: Number, state: ParseState) -> tuple[Condition, ...]:
    """The condition that a number makes; of a range one for either end."""
    if found.until is None:
        made: tuple[Condition, ...] = (_plain_condition(graph, ref, op, found, state),)
    elif graph.about(ref.predicate).datatype in ("date", "datetime") and (found.date_start or _is_year(found)):
        first = found.date_start or f"{int(found.value):04}-01-01"
        after = found.date_end or f"{int(found.until) + 1:04}-01-01"
        made = (Condition(ref, ">=", (first,)), Condition(ref, "<", (after,)))
        if state.negated:
            made = (Condition(ref, "within", (first, after), True),)
    else:
        lower = _plain_condition(graph, ref, ">=", found, state)
        last = found._replace(value=found.until, date_start="", date_end="")
        made = (lower, _plain_condition(graph, ref, "<=", last, state))
    return tuple(each._replace(join=state.join) for each in made)  # type: ignore[arg-type]


def upper_bound(lower: Condition, until: float | None) -> tuple[Condition, ...]:
    """The upper end of a range whose lower end is a condition on a count."""
    return () if until is None else (lower._replace(op="<=", values=(until,)),)


def _plain_condition(graph: SchemaGraph, ref: Ref, op: str, found: Number, state: ParseState) -> Condition:
    """The condition with the number as the property holds it: a year of a date is a stretch of days."""
    about = graph.about(ref.predicate)
    dated = about.datatype in ("date", "datetime")
    function = state.pending_function if state.pending_property == ref else ""
    if is_yearless(found.date_start):
        # "--07" is "-07-" of a date, "--07-12" its end
        part = found.date_start[1:]
        return Condition(ref, "contains", (part if part.count("-") > 1 else f"{part}-",), state.negated)
    if dated and (found.date_start or _is_year(found)):
        first = found.date_start or f"{int(found.value):04}-01-01"
        after = found.date_end or f"{int(found.value) + 1:04}-01-01"
        if op == "=":
            return Condition(ref, "within", (first, after), state.negated)
        if op in (">", "<=") and len(first) == len(after):
            # a year or a month is over with its last day: after 2018 is from the first day of 2019 on
            return Condition(ref, ">=" if op == ">" else "<", (after,), state.negated)
        return Condition(ref, op, (first,), state.negated)
    if about.datatype == "text" and not graph.is_numeric(ref.predicate):
        text = found.date_start or found.digits or f"{found.value:g}"
        return Condition(ref, "contains" if op == "=" else op, (text,), state.negated)
    value = convert_to_unit(found, about.unit)
    return Condition(ref, op, (found.value if value is None else value,), state.negated, function=function)
