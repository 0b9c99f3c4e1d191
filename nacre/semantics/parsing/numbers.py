"""Rules for numbers and dates: a number at hand + State -> further States (conditions, limits, counts)."""

import re
from collections.abc import Iterator

from nacre.semantics.english import function_words, resource
from nacre.semantics.language.base import language
from nacre.semantics.linking.graph import SchemaGraph
from nacre.semantics.linking.measures import measured
from nacre.semantics.parsing.state import Reader, State, turned, with_node
from nacre.semantics.types import Condition, Number, Ref
from nacre.semantics.units import convert
from nacre.semantics.words import fold

FIRST_YEAR, LAST_YEAR = 1000, 2100
# what an amount of money is about where nothing else is said
MONEY = ("price", "cost", "fee", "salary")
MOST_DATES = 4
# what bounds a number, and units of what a bare number is of
ORDERED = frozenset(("<", ">", "<=", ">="))
YEARS = frozenset(("", "year"))
# a value that is an amount, whatever kind of value it is held as: "12", "3:36", "11 EUR"
_AMOUNT = re.compile(r"\W*\d[\d\W]*[^\W\d_]{0,4}\W*")
_SHOWN = 5
_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


def number(state: State, found: Number, reader: Reader) -> Iterator[State]:
    """All ways to take a number."""
    mask = ((1 << (found.end - found.start)) - 1) << found.start
    new = state._replace(covered=state.covered | mask, last="number", score=state.score + 0.5)
    op: str = found.op or "="
    if state.compare is not None and state.compare[1] is None and not found.op:
        op = state.compare[0]
    if not found.op and (state.rank is not None or _before_rank(found, reader)):
        yield new.then("places", 0.1, limit=int(found.value))
    elif not found.op and not found.unit and _chooses(found, reader):
        yield new.then("places of class", 0.0, limit=int(found.value))
    if found.concepts:
        yield from _measured(state, new, found, op, reader)
    graph = reader.graph
    prop = state.prop
    if prop is not None and prop.predicate and fits(graph, prop, found, op):
        condition = _condition(graph, prop, op, found, state)
        rule = "number of target" if state.from_target else "number of property"
        yield new.then(
            rule, 0.4 if not state.from_target else 0.2, conditions=(*state.conditions, condition), compare=None,
            negated=False, join="and", **({"mode": "C", **turned(state)} if state.from_target else {}),
        )  # fmt: skip
    elif prop is not None and prop.predicate == "":
        pass
    if prop is None or state.from_target:
        for ref in _by_unit(state, found, graph):
            condition = _condition(graph, ref, op, found, state)
            yield with_node(new, ref, reader).then(
                "number by unit",
                0.3,
                conditions=(*state.conditions, condition),
                compare=None,
                negated=False,
                join="and",
            )
        yield from _again(state, new, found, op, reader)
        yield from _aged(state, new, found, op, reader)
    if _is_year(found) or found.first:
        for ref, cost in dates_near(state, graph):
            condition = _condition(graph, ref, op, found, state)
            yield with_node(new, ref, reader).then(
                "number on date",
                0.3 - cost,
                conditions=(*state.conditions, condition),
                compare=None,
                negated=False,
                join="and",
            )
    if prop is None and state.compare is not None and state.compare[1] is not None and state.last == "and" and found.op:
        # "over 80 or under 50 pages"
        earlier = (state.compare[0], state.compare[1])
        yield new.then("numbers wait", 0.1, compare=(op, found.value), unit=found.unit, other=earlier)
    if prop is None or state.from_target:
        yield new.then("number waits", -0.1 if not found.op else 0.0, compare=(op, found.value), unit=found.unit)
    if not found.op and state.owner is not None and state.last == "class":
        for predicate in graph.literals[state.owner.node]:
            if graph.about(predicate).role == "identifier" and graph.is_numeric(predicate):
                ref = Ref(state.owner.node, predicate)
                condition = _condition(graph, ref, "=", found, state)
                yield new.then("number of thing", 0.2, conditions=(*state.conditions, condition), negated=False)
    if state.owner is not None and state.last == "class" and found.op and not found.concepts:
        # "students more than 3": counted after all
        condition = Condition(state.owner, op, (found.value,), state.negated, function="count")
        yield new.then(
            "number after class",
            -0.8 if _is_year(found) else -0.2,
            conditions=(*state.conditions, condition),
            negated=False,
        )


def _again(state: State, new: State, found: Number, op: str, reader: Reader) -> Iterator[State]:
    """ "over 80 or under 50": of the property that the number before it is of."""
    graph = reader.graph
    before = state.conditions[-1] if state.conditions else None
    if before is None or not found.op or state.last != "and" or before.function or before.against is not None:
        return
    if before.op in ORDERED and before.ref.predicate and fits(graph, before.ref, found, op):
        condition = _condition(graph, before.ref, op, found, state)
        gain = -0.4 if _counts_more(found, reader) else 0.4
        yield new.then(
            "number of same property", gain, conditions=(*state.conditions, condition), compare=None, negated=False,
            join="and",
        )  # fmt: skip


def _aged(state: State, new: State, found: Number, op: str, reader: Reader) -> Iterator[State]:
    """ "players under 21": of what bare numbers are of where nothing else is said."""
    if state.owner is None or state.prop is not None or state.last not in ("class", "having", "negation"):
        return
    if op not in ORDERED or found.concepts or _is_year(found) or found.unit not in YEARS:
        return
    if _counts_more(found, reader):
        return
    for ref, reverse, cost in measured(reader.graph, state.owner.node, tuple(language().words["bare"]))[:1]:
        if ref.node != state.owner.node:
            continue
        condition = _condition(reader.graph, ref, _FLIPPED[op] if reverse else op, found._replace(unit=""), state)
        yield with_node(new, ref, reader).then(
            "number of age", 0.3 - cost, conditions=(*state.conditions, condition), negated=False, compare=None
        )


def _counts_more(found: Number, reader: Reader) -> bool:
    """Whether what a number is of may come after it: "more than one record"."""
    after = reader.question.tokens[found.end : found.end + 1]
    return any(t.norm not in function_words() for t in after) and all(
        c.start != found.end for c in reader.question.cues
    )


def _chooses(found: Number, reader: Reader) -> bool:
    """Whether a number says how many are asked for: "which three cities have the largest ...", "the first 5"."""
    words, later = reader.question.tokens, (c for c in reader.question.cues if c.start >= found.end)
    before = words[found.start - 1].norm if found.start else ""
    placed = any(c.kind in ("superlative", "most", "order") for c in later)
    return placed and before in language().words["before_places"]


def _before_rank(found: Number, reader: Reader) -> bool:
    return any(c.kind in ("superlative", "most") and c.start == found.end for c in reader.question.cues)


def _measured(state: State, new: State, found: Number, op: str, reader: Reader) -> Iterator[State]:
    """ "older than 30": of a property that is waiting, or of what the adjective measures."""
    for owner in ([state.owner] if state.owner else []) + [n for n in state.nodes if n != state.owner][:2]:
        for ref, reverse, cost in measured(reader.graph, owner.node, found.concepts)[:2]:
            condition = _condition(reader.graph, ref, _FLIPPED[op] if reverse else op, found, state)
            yield with_node(new, ref, reader).then(
                "measured number", 0.5 - cost, conditions=(*state.conditions, condition), negated=False, compare=None,
                mode="C",
            )  # fmt: skip


def fits(graph: SchemaGraph, ref: Ref, found: Number, op: str) -> bool:
    """Whether a property can be compared with a number: one of text only where its values are amounts."""
    unit = graph.about(ref.predicate).unit
    if unit and found.unit and in_unit(found, unit) is None:
        return False
    if graph.is_numeric(ref.predicate) or graph.is_date(ref.predicate):
        return True
    about = graph.about(ref.predicate)
    shown = (about.values or about.samples)[:_SHOWN]
    if op != "=":
        return 2 * sum(bool(_AMOUNT.fullmatch(text)) for text in shown) > len(shown)
    return any(c.isdigit() for text in shown for c in text)


def in_unit(found: Number, unit: str) -> float | None:
    """The number in the unit of a property; None where the two do not measure the same."""
    if not found.unit or not unit:
        return found.value
    money = resource()["currencies"]
    if found.unit == "currency":
        return found.value if fold(unit) in money else None
    return convert(found.value, found.unit, unit)


def _by_unit(state: State, found: Number, graph: SchemaGraph) -> list[Ref]:
    """Properties of the nodes at hand, or one step away, that are measured in the unit of a number."""
    if not found.unit:
        return []
    priced = [
        ref for n in state.nodes[:2] if found.unit == "currency" for ref, _, _ in measured(graph, n.node, MONEY)[:1]
    ]
    nodes = list(
        dict.fromkeys([n.node for n in state.nodes] + [s.target for n in state.nodes for s in graph.steps[n.node]])
    )
    return (
        priced
        + [
            Ref(node, p)
            for node in nodes
            for p in graph.literals[node]
            if graph.about(p).unit and graph.is_numeric(p) and in_unit(found, graph.about(p).unit) is not None
        ][:MOST_DATES]
    )


def _is_year(found: Number) -> bool:
    return not found.unit and found.value == int(found.value) and FIRST_YEAR <= found.value <= LAST_YEAR


def dates_near(state: State, graph: SchemaGraph) -> list[tuple[Ref, float]]:
    """Properties with dates or years of the nodes at hand, or one step away, nearest first."""
    found: dict[Ref, float] = {}
    start = [n.node for n in state.nodes] or [n.index for n in graph.nodes]
    for node in start:
        reach = {node: 0.0}
        for step in graph.steps[node]:
            reach.setdefault(step.target, 0.3 * step.cost)
        for there, away in reach.items():
            for predicate in graph.literals[there]:
                if graph.is_date(predicate):
                    year = graph.about(predicate).datatype == "year"
                    cost = away + (0.0 if year else 0.1)
                    ref = Ref(there, predicate)
                    found[ref] = min(found.get(ref, 9.0), cost)
    return sorted(found.items(), key=lambda f: (f[1], f[0]))[:MOST_DATES]


def _condition(graph: SchemaGraph, ref: Ref, op: str, found: Number, state: State) -> Condition:
    return _plain_condition(graph, ref, op, found, state)._replace(join=state.join)  # type: ignore[arg-type]


def _plain_condition(graph: SchemaGraph, ref: Ref, op: str, found: Number, state: State) -> Condition:
    """The condition with the number as the property holds it: a year of a date is a stretch of days."""
    about = graph.about(ref.predicate)
    dated = about.datatype in ("date", "datetime")
    function = state.prop_function if state.prop == ref else ""
    if dated and (found.first or _is_year(found)):
        first = found.first or f"{int(found.value):04}-01-01"
        after = found.after or f"{int(found.value) + 1:04}-01-01"
        if op == "=":
            return Condition(ref, "within", (first, after), state.negated)
        if op in (">", "<=") and len(first) == len(after):
            # a year or a month is over with its last day: after 2018 is from the first day of 2019 on
            return Condition(ref, ">=" if op == ">" else "<", (after,), state.negated)
        return Condition(ref, op, (first,), state.negated)
    if about.datatype == "text" and not graph.is_numeric(ref.predicate):
        text = f"{found.value:g}" if not found.first else found.first
        return Condition(ref, "contains" if op == "=" else op, (text,), state.negated)
    value = in_unit(found, about.unit)
    return Condition(ref, op, (found.value if value is None else value,), state.negated, function=function)
