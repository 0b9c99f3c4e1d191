"""Change an earlier plan by cue words alone: "also the maximum", "in descending order", "the highest of them"."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

from nacre.language.base import language
from nacre.records.plan import Aggregate, Attribute, Function, Itself, PlanTerm, Select, aggregated_value
from nacre.understanding.dialogue.revisions.plan_edits import (
    bound_plan,
    count_plan,
    limit_plan,
    reverse_last_bound,
    sort_plan,
    summarise_plan,
)
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Cue, Link, Number, Question

# Kinds of cues that can change a plan.
_CUES = frozenset(("avg", "sum", "max", "min", "count", "compare", "direction", "order", "most", "superlative", "open"))
_FUNCTIONS = tuple(f for f in get_args(Function) if f != "count")
# Changes that may ask for the first thing in an order, and for a bound.
_RANKING_CHANGES = frozenset(("first", "instead", "restrict", "summary"))
_BOUNDING_CHANGES = frozenset(("restrict", "instead"))


def edit_by_cues(
    question: Question, links: Sequence[Link], earlier: Select, how: str, graph: SchemaGraph
) -> Select | None:
    """The changed plan. None if the question has other content words, or its cues change nothing."""
    cues = [c for c in question.cues if c.kind in _CUES]
    bounds = [end for n in question.numbers if n.op and not n.date_start for end in _range_ends(n)]
    spans = [(c.start, c.end) for c in cues] + [(n.start, n.end) for n in bounds]
    used = {i for start, end in spans for i in range(start, end)} | _shown_words(links, earlier, graph)
    # "heavier than 90" says what is bounded.
    if _has_other_words(question, used) or any(n.concepts for n in bounds):
        return None
    if bounds:
        return _add_bound(earlier, bounds, graph) if how in _BOUNDING_CHANGES else None
    comparison = _value_of(cues, "compare")
    if comparison:
        return reverse_last_bound(earlier, comparison) if how == "instead" else None  # type: ignore[arg-type]
    if how == "summary" and any(c.kind == "count" for c in cues):
        return count_plan(earlier)
    direction = _value_of(cues, "direction")
    if how == "order" or direction:
        by = _last_value(earlier, graph)
        return sort_plan(earlier, by, direction == "down") if by is not None else None
    functions = tuple(dict.fromkeys(c.kind for c in sorted(cues) if c.kind in _FUNCTIONS))
    if functions and how != "first" and (_shows_number(earlier, graph) or not set(functions) & {"avg", "sum"}):
        keep_others = how == "add" or _asks_also(question)
        return summarise_plan(earlier, functions, keep_others)  # type: ignore[arg-type]
    return _first_in_order(earlier, _value_of(cues, "most"), how, graph)


def _shown_words(links: Sequence[Link], earlier: Select, graph: SchemaGraph) -> frozenset[int]:
    """The tokens that name the classes and the shown properties of the earlier plan."""
    classes = {v.classes for v in earlier.variables}
    properties = {a.predicate for a in earlier.answers if isinstance(a, Attribute)}
    shown = (
        x
        for x in links
        if (x.kind == "class" and x.exact and graph.nodes[x.refs[0].node].classes in classes)
        or (x.kind == "property" and x.exact and x.refs[0].predicate in properties)
    )
    return frozenset(i for x in shown for i in range(x.start, x.end))


def _has_other_words(question: Question, used: Iterable[int]) -> bool:
    """Whether content words are left, other than words for the result ("list", "them")."""
    result, taken = language().dialogue["result"], set(used)
    return any(
        i not in taken and i not in question.stopwords and not result.search(t.norm)
        for i, t in enumerate(question.tokens)
    )


def _range_ends(number: Number) -> tuple[Number, ...]:
    """A bound; for a range, both of its ends."""
    if number.until is None:
        return (number,)
    return number._replace(until=None), number._replace(op="<=", value=number.until, until=None)


def _value_of(cues: Sequence[Cue], kind: str) -> str:
    return next((c.value for c in cues if c.kind == kind), "")


def _asks_also(question: Question) -> bool:
    return bool(language().dialogue["add"].search(" ".join(t.norm for t in question.tokens)))


def _add_bound(earlier: Select, bounds: Sequence[Number], graph: SchemaGraph) -> Select | None:
    """The plan with a bare bound on the number that was bounded before, else on the last number shown, on what it is
    ordered by, or on the only number of the things shown that may be on both sides of the bound."""
    if len(bounds) != 1 or not bounds[0].op:
        return None
    by = earlier.order.by if earlier.order is not None else None
    shown = [a for a in (*earlier.answers, by) if isinstance(a, Attribute) and graph.is_numeric(a.predicate)]
    numbers = _bounded_numbers(earlier, graph) or shown or _numbers_around(earlier, bounds[0].value, graph)
    # "More than 20" after the best chooses among all that the best was chosen from.
    every = replace(earlier, order=None, limit=None, offset=0) if earlier.limit is not None else earlier
    return bound_plan(every, numbers[-1], bounds[0].op, bounds[0].value) if numbers else None


def _numbers_around(earlier: Select, value: float, graph: SchemaGraph) -> list[Attribute]:
    """The number of the things that a plan shows that has lower and higher values. Empty if there are several."""
    answer = earlier.answers[0]
    if not isinstance(answer, Itself):
        return []
    own = next(v for v in earlier.variables if v.name == answer.variable)
    nodes = [n.index for n in graph.nodes if (n.classes, n.without) == (own.classes, own.without)]
    found = [
        Attribute(answer.variable, predicate)
        for node in nodes[:1]
        for predicate in graph.literals[node]
        if not graph.is_date(predicate) and graph.about(predicate).role != "identifier"
        if (low := graph.about(predicate).minimum) is not None and (high := graph.about(predicate).maximum) is not None
        if low < value < high
    ]
    return found if len(found) == 1 else []


def _first_in_order(earlier: Select, most: str, how: str, graph: SchemaGraph) -> Select | None:
    """The first things by what the plan is ordered by, shows or bounds; as a summary, the highest or lowest value."""
    if not most or how not in _RANKING_CHANGES:
        return None
    descending = most.startswith("up")
    if how == "summary" and earlier.limit is None:
        return summarise_plan(earlier, ("max" if descending else "min",), False)
    if earlier.order is not None:
        return limit_plan(earlier, earlier.order.by, descending)
    by = _last_value(earlier, graph) or next(iter(reversed(_bounded_numbers(earlier, graph))), None)
    return limit_plan(earlier, by, descending) if by is not None else None


def _bounded_numbers(select: Select, graph: SchemaGraph) -> list[Attribute]:
    """The numeric properties in conditions."""
    return [f.left for f in select.filters if isinstance(f.left, Attribute) and graph.is_numeric(f.left.predicate)]


def _last_value(select: Select, graph: SchemaGraph) -> PlanTerm | None:
    """What to order by if nothing is named: the last number that is shown, else the last value."""
    is_grouped = select.by or select.group
    values = [a for a in select.answers if isinstance(a, Attribute) or (isinstance(a, Aggregate) and is_grouped)]
    numbers = [a for a in values if isinstance(a, Aggregate) or graph.is_numeric(a.predicate)]
    found = numbers or values
    return found[-1] if found else None


def _shows_number(select: Select, graph: SchemaGraph) -> bool:
    """Whether the last property that is shown is a number."""
    shown = [value for answer in select.answers if isinstance(value := aggregated_value(answer), Attribute)]
    return bool(shown) and graph.is_numeric(shown[-1].predicate)
