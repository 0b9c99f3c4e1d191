"""Readings of a follow-up as changes of the plan before it: Question + readings of it + Scope -> plans, best first."""

from collections.abc import Sequence
from typing import get_args

from records.plan import Aggregate, Attribute, Body, Function, Select, Term
from records.turn import Earlier, Scope
from semantics.dialogue.edit import compared_with, edited, only_first, sorted_by, summarised
from semantics.language.base import language
from semantics.linking.graph import SchemaGraph
from semantics.types import Question
from semantics.words import tokens

# what a follow-up may want, in the order it is looked for
KINDS = ("exclude", "summary", "add", "order", "restrict", "instead", "first")
# stands in a question for the number that was given before, where the parser expects a number
STAND_IN = 999_983.0


def change(question: str, last: Earlier) -> str:
    """What a follow-up wants of the result before it: "add", "order", "restrict", "instead", "first", "number"; "" for nothing.

    >>> change("Sort them by age", Earlier("q", "q", "a"))
    ''
    """
    body = last.plan.body if last.plan else None
    if not isinstance(body, Select):
        return ""
    text = " ".join(t.norm for t in tokens(question))
    if language().dialogue["number"].search(question.casefold()) and _is_number(body):
        return "number"
    return next((kind for kind in KINDS if language().dialogue[kind].search(text)), "")


def with_number(question: str) -> str:
    """The question with a number where it points to the one before.

    >>> with_number("Which are older than that?")
    'Which are older than 999983?'
    """
    found = language().dialogue["number"].search(question.casefold())
    return f"{question[: found.start('number')]}{STAND_IN:.0f}{question[found.end('number') :]}" if found else question


def without_lead(question: str) -> str:
    """The question that leaves things out, as one that asks for them."""
    found = language().dialogue["exclude"].search(question.casefold())
    return question[: found.start("lead")] + question[found.end("lead") :] if found else question


def changes(question: Question, bodies: Sequence[Body], scope: Scope, graph: SchemaGraph) -> list[Body]:
    """The plans that the follow-up makes of the earlier one, best first, each once."""
    earlier = scope.plan.body if scope.plan else None
    if not isinstance(earlier, Select):
        return []
    own = _by_cues(question, earlier, scope.how, graph)
    if own is not None:
        return [own]
    found: dict[Body, None] = {}
    for body in bodies:
        if not isinstance(body, Select):
            continue
        made: Select | None = None
        if scope.how == "number":
            made = compared_with(body, STAND_IN, earlier)
        else:
            made = edited(earlier, body, _EDITS.get(scope.how, scope.how))  # type: ignore[arg-type]
        if made is not None and made != earlier:
            found.setdefault(made)
    return list(found)


def _by_cues(question: Question, earlier: Select, how: str, graph: SchemaGraph) -> Select | None:
    """The change that needs no words of the graph: "also the maximum", "in descending order", "the highest of them"."""
    said = [c for c in question.cues if c.kind in (*_FUNCTIONS, "direction", "order", "most", "superlative", "open")]
    covered = {i for c in said for i in range(c.start, c.end)}
    result = language().dialogue["result"]
    rest = [
        t.norm
        for i, t in enumerate(question.tokens)
        if i not in covered and i not in question.light and not result.search(t.norm)
    ]
    if rest:
        return None
    direction = next((c.value for c in said if c.kind == "direction"), "")
    if how == "order" or direction:
        by = _last_value(earlier, graph)
        return sorted_by(earlier, by, direction == "down") if by is not None else None
    functions = tuple(dict.fromkeys(c.kind for c in sorted(said) if c.kind in _FUNCTIONS))
    if functions and how != "first":
        also = how == "add" or bool(language().dialogue["add"].search(" ".join(t.norm for t in question.tokens)))
        return summarised(earlier, functions, also)  # type: ignore[arg-type]
    most = next((c.value for c in said if c.kind in ("most", "superlative")), "")
    if not most or how not in ("first", "instead", "restrict"):
        return None
    down = most.startswith("up")
    if earlier.order is not None:
        # in an order that was asked for, the first is what stands first
        top = earlier.order.descending if not any(c.kind == "most" for c in said) else down
        return only_first(earlier, earlier.order.by, top)
    by = _last_value(earlier, graph)
    return only_first(earlier, by, down) if by is not None else None


def _last_value(select: Select, graph: SchemaGraph) -> Term | None:
    """What the shown things are ordered by where nothing is named: the last value that was shown, a number if there is one."""
    values = [
        a
        for a in select.answers
        if isinstance(a, Attribute) or (isinstance(a, Aggregate) and (select.by or select.group))
    ]
    numbers = [a for a in values if isinstance(a, Aggregate) or graph.is_numeric(a.predicate)]
    return (numbers or values or [None])[-1]  # type: ignore[return-value]


def _is_number(body: Select) -> bool:
    return len(body.answers) == 1 and isinstance(body.answers[0], Aggregate) and not body.group and not body.by


_EDITS = {"first": "restrict", "summary": "add"}
_FUNCTIONS = tuple(f for f in get_args(Function) if f != "count")
