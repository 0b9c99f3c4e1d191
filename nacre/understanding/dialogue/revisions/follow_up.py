"""Readings of a follow-up as changes of the plan before it: Question + readings of it + Scope -> plans, best first."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import get_args

from nacre.language.base import language
from nacre.language.tokens import tokenize
from nacre.records.plan import Aggregate, Attribute, Body, Function, Itself, PlanTerm, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.dialogue.revisions.plan_edits import (
    bound_plan,
    compare_with_number,
    count_plan,
    edit_plan,
    limit_plan,
    list_plan,
    negate_last_condition,
    reverse_last_bound,
    sort_plan,
    summarise_plan,
)
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.completion.columns import identifying_properties
from nacre.understanding.question.types import Link, Number, Question

# what a follow-up may want, in the order it is looked for
CHANGE_KINDS = ("list", "opposite", "exclude", "summary", "order", "add", "restrict", "instead", "first")
# stands in a question for the number that was given before, where the parser expects a number
STAND_IN = 999_983.0


def change_kind(question: str, last: EarlierTurn) -> str:
    """What a follow-up wants of the result before it, one of KINDS or "number"; "" for nothing.

    >>> change_kind("Sort them by age", EarlierTurn("q", "q", "a"))
    ''
    """
    body = last.plan.body if last.plan else None
    if not isinstance(body, Select):
        return ""
    text = " ".join(t.norm for t in tokenize(question))
    if language().dialogue["number"].search(question.casefold()) and _is_number(body):
        return "number"
    return next((kind for kind in CHANGE_KINDS if language().dialogue[kind].search(text)), "")


def insert_stand_in(question: str) -> str:
    """The question with a number where it points to the one before.

    >>> insert_stand_in("Which are older than that?")
    'Which are older than 999983?'
    """
    found = language().dialogue["number"].search(question.casefold())
    return f"{question[: found.start('number')]}{STAND_IN:.0f}{question[found.end('number') :]}" if found else question


def strip_exclusion_lead(question: str) -> str:
    """The question that leaves things out, as one that asks for them."""
    found = language().dialogue["exclude"].search(question.casefold())
    return question[: found.start("lead")] + question[found.end("lead") :] if found else question


def changed_plans(
    question: Question, links: Sequence[Link], bodies: Sequence[Body], scope: Scope, graph: SchemaGraph
) -> list[Body]:
    """The plans that the follow-up makes of the earlier one, best first, each once."""
    earlier = scope.plan.body if scope.plan else None
    if not isinstance(earlier, Select):
        return []
    if scope.how in _WHOLE:
        made = _WHOLE[scope.how](earlier)
        return [_by_names(made, graph)] if made is not None else []
    own = _by_cues(question, _shown(links, earlier, graph), earlier, scope.how, graph)
    if own is not None:
        return [_with_order(own, question) if scope.how == "order" else own]
    found: dict[Body, None] = {}
    for body in bodies:
        if not isinstance(body, Select):
            continue
        if scope.how == "number":
            made = compare_with_number(body, STAND_IN, earlier)
        else:
            made = edit_plan(earlier, body, _EDITS.get(scope.how, scope.how))  # type: ignore[arg-type]
        if made is not None and made != earlier:
            found.setdefault(_with_order(made, question) if scope.how == "order" else made)
    return list(found)


def _with_order(select: Select, question: Question) -> Select:
    """The plan with what it is ordered by among its columns, where the question asks to see that as well."""
    by = select.order.by if select.order is not None else None
    shows = language().dialogue["and_shows"].search(question.text.casefold())
    if not shows or not isinstance(by, Attribute) or by in select.answers or select.group or select.by:
        return select
    return replace(select, answers=(*select.answers, by), paired=True)


def _by_names(select: Select, graph: SchemaGraph) -> Select:
    """The plan with what its things are called by, where they have no names."""
    answer = select.answers[0]
    if len(select.answers) > 1 or not isinstance(answer, Itself):
        return select
    own = next(v for v in select.variables if v.name == answer.variable)
    node = next((n for n in graph.nodes if n.classes == own.classes and n.without == own.without), None)
    called = identifying_properties(graph, node.index) if node is not None and not node.named else []
    return replace(select, answers=(Attribute(own.name, called[0]),)) if called else select


def _shown(links: Sequence[Link], earlier: Select, graph: SchemaGraph) -> frozenset[int]:
    """The tokens that name what the earlier plan is about: its kinds of things, the properties it shows."""
    kinds = {v.classes for v in earlier.variables}
    shown = {a.predicate for a in earlier.answers if isinstance(a, Attribute)}
    said = (
        x
        for x in links
        if (x.kind == "class" and x.exact and graph.nodes[x.refs[0].node].classes in kinds)
        or (x.kind == "property" and x.exact and x.refs[0].predicate in shown)
    )
    return frozenset(i for x in said for i in range(x.start, x.end))


def _ends(number: Number) -> tuple[Number, ...]:
    """A number that bounds, of a range either end."""
    if number.until is None:
        return (number,)
    return number._replace(until=None), number._replace(op="<=", value=number.until, until=None)


def _by_cues(question: Question, shown: frozenset[int], earlier: Select, how: str, graph: SchemaGraph) -> Select | None:
    """The change that needs no words of the graph: "also the maximum", "in descending order", "the highest of them"."""
    said = [c for c in question.cues if c.kind in _KINDS]
    bounds = [end for n in question.numbers if n.op and not n.date_start for end in _ends(n)]
    spans = [(c.start, c.end) for c in said] + [(n.start, n.end) for n in bounds]
    covered = {i for start, end in spans for i in range(start, end)}
    result = language().dialogue["result"]
    rest = [
        t.norm
        for i, t in enumerate(question.tokens)
        if i not in covered | shown and i not in question.stopwords and not result.search(t.norm)
    ]
    if rest:
        return None
    if any(n.concepts for n in bounds):
        # "heavier than 90" says what is bounded
        return None
    if bounds:
        return _within(earlier, bounds, graph) if how in ("restrict", "instead") else None
    compared = next((c.value for c in said if c.kind == "compare"), "")
    if compared:
        return reverse_last_bound(earlier, compared) if how == "instead" else None  # type: ignore[arg-type]
    if how == "summary" and any(c.kind == "count" for c in said):
        return count_plan(earlier)
    direction = next((c.value for c in said if c.kind == "direction"), "")
    if how == "order" or direction:
        by = _last_value(earlier, graph)
        return sort_plan(earlier, by, direction == "down") if by is not None else None
    functions = tuple(dict.fromkeys(c.kind for c in sorted(said) if c.kind in _FUNCTIONS))
    if functions and how != "first" and (_has_number(earlier, graph) or not set(functions) & {"avg", "sum"}):
        also = how == "add" or bool(language().dialogue["add"].search(" ".join(t.norm for t in question.tokens)))
        return summarise_plan(earlier, functions, also)  # type: ignore[arg-type]
    most = next((c.value for c in said if c.kind == "most"), "")
    if not most or how not in ("first", "instead", "restrict", "summary"):
        return None
    down = most.startswith("up")
    if how == "summary" and earlier.limit is None:
        return summarise_plan(earlier, ("max" if down else "min",), False)
    if earlier.order is not None:
        return limit_plan(earlier, earlier.order.by, down)
    by = _last_value(earlier, graph) or next(iter(reversed(_bounded_by(earlier, graph))), None)
    return limit_plan(earlier, by, down) if by is not None else None


def _within(earlier: Select, bounds: Sequence[Number], graph: SchemaGraph) -> Select | None:
    """Bounds of which nothing is said but the numbers: on what was bounded before, else on the last number shown."""
    before = _bounded_by(earlier, graph)
    shown = [a for a in earlier.answers if isinstance(a, Attribute) and graph.is_numeric(a.predicate)]
    if len(bounds) != 1 or not bounds[0].op or not (before or shown):
        return None
    return bound_plan(earlier, (before or shown)[-1], bounds[0].op, bounds[0].value)


def _bounded_by(select: Select, graph: SchemaGraph) -> list[Attribute]:
    """The numbers that the things must meet a condition on."""
    return [f.left for f in select.filters if isinstance(f.left, Attribute) and graph.is_numeric(f.left.predicate)]


def _last_value(select: Select, graph: SchemaGraph) -> PlanTerm | None:
    """What the things are ordered by where nothing is named: the last value shown, a number if there is one."""
    values = [
        a
        for a in select.answers
        if isinstance(a, Attribute) or (isinstance(a, Aggregate) and (select.by or select.group))
    ]
    numbers = [a for a in values if isinstance(a, Aggregate) or graph.is_numeric(a.predicate)]
    found = numbers or values
    return found[-1] if found else None


def _has_number(select: Select, graph: SchemaGraph) -> bool:
    """Whether the last property that was shown is a number."""
    shown = [value for answer in select.answers if isinstance(value := aggregated_value(answer), Attribute)]
    return bool(shown) and graph.is_numeric(shown[-1].predicate)


def _is_number(body: Select) -> bool:
    return len(body.answers) == 1 and isinstance(body.answers[0], Aggregate) and not body.group and not body.by


# changes that every word of the follow-up is needed to say
_WHOLE: dict[str, Callable[[Select], Select | None]] = {
    "list": list_plan,
    "opposite": negate_last_condition,
    "same": lambda s: s,
}
_EDITS = {"first": "restrict", "summary": "add"}
_KINDS = frozenset(
    ("avg", "sum", "max", "min", "count", "compare", "direction", "order", "most", "superlative", "open")
)
_FUNCTIONS = tuple(f for f in get_args(Function) if f != "count")
