"""Change the earlier plan as a follow-up says: Question + its candidates + Scope -> plans, best first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.tokens import tokenize
from nacre.records.plan import Aggregate, Attribute, Body, Itself, Select
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.dialogue.revisions.cue_edits import edit_by_cues
from nacre.understanding.dialogue.revisions.plan_edits import (
    EditKind,
    compare_with_number,
    edit_plan,
    list_plan,
    negate_last_condition,
)
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.completion.columns import identifying_properties
from nacre.understanding.question.types import Link, Question

# Changes that a follow-up may ask for, in the order in which they are tried: keys of dialogue.yaml.
CHANGE_KINDS = ("list", "opposite", "exclude", "summary", "order", "add", "restrict", "instead", "first")
# The number that stands in the question for an earlier answer, since the parser expects a number there.
STAND_IN = 999_983.0
# Changes that the follow-up states completely.
_WHOLE_CHANGES: Mapping[str, Callable[[Select], Select | None]] = {
    "list": list_plan,
    "opposite": negate_last_condition,
    "same": lambda select: select,
}
# The edit of a change, if it has another name.
_EDIT_OF_CHANGE: Mapping[str, EditKind] = {"first": "restrict", "summary": "add"}


def change_kind(question: str, last: EarlierTurn) -> str:
    """What a follow-up asks to change in the result before it: one of CHANGE_KINDS or "number". Empty if nothing.

    >>> change_kind("Sort them by age", EarlierTurn("q", "q", "a"))
    ''
    """
    body = last.plan.body if last.plan else None
    patterns = language().dialogue
    text = " ".join(t.norm for t in tokenize(question))
    if not isinstance(body, Select):
        return "opposite" if body is not None and patterns["opposite"].search(text) else ""
    if patterns["number"].search(question.casefold()) and _gives_one_number(body):
        return "number"
    return next((kind for kind in CHANGE_KINDS if patterns[kind].search(text)), "")


def insert_stand_in(question: str) -> str:
    """The question with a number in place of the words that refer to the earlier one.

    >>> insert_stand_in("Which are older than that?")
    'Which are older than 999983?'
    """
    found = language().dialogue["number"].search(question.casefold())
    if found is None:
        return question
    return f"{question[: found.start('number')]}{STAND_IN:.0f}{question[found.end('number') :]}"


def strip_exclusion_lead(question: str) -> str:
    """A question that excludes things, as one that asks for them."""
    found = language().dialogue["exclude"].search(question.casefold())
    return question[: found.start("lead")] + question[found.end("lead") :] if found else question


def changed_plans(
    question: Question, links: Sequence[Link], bodies: Sequence[Body], scope: Scope, graph: SchemaGraph
) -> list[Body]:
    """The plans that a follow-up makes of the earlier one, each once. `bodies` are the plans of its own words."""
    earlier = scope.plan.body if scope.plan else None
    if not isinstance(earlier, Select):
        return []
    if scope.how in _WHOLE_CHANGES:
        whole = _WHOLE_CHANGES[scope.how](earlier)
        return [_show_names(whole, graph)] if whole is not None else []
    by_cues = edit_by_cues(question, links, earlier, scope.how, graph)
    if by_cues is not None:
        return [_show_order(by_cues, question, scope)]
    edited = (_edit(earlier, body, scope.how) for body in bodies if isinstance(body, Select))
    changed = (select for select in edited if select is not None and select != earlier)
    return list(dict.fromkeys(_show_order(select, question, scope) for select in changed))


def _edit(earlier: Select, new: Select, how: str) -> Select | None:
    if how == "number":
        return compare_with_number(new, STAND_IN, earlier)
    return edit_plan(earlier, new, _EDIT_OF_CHANGE.get(how, how))  # type: ignore[arg-type]


def _show_order(select: Select, question: Question, scope: Scope) -> Select:
    """A reordered plan with what it is ordered by as a column, if the question asks to see that as well."""
    by = select.order.by if select.order is not None else None
    shows = scope.how == "order" and language().dialogue["and_shows"].search(question.text.casefold())
    if not shows or not isinstance(by, Attribute) or by in select.answers or select.group or select.by:
        return select
    return replace(select, answers=(*select.answers, by), paired=True)


def _show_names(select: Select, graph: SchemaGraph) -> Select:
    """The plan with identifying properties in place of things that have no names."""
    answer = select.answers[0]
    if len(select.answers) > 1 or not isinstance(answer, Itself):
        return select
    own = next(v for v in select.variables if v.name == answer.variable)
    node = next((n for n in graph.nodes if n.classes == own.classes and n.without == own.without), None)
    properties = identifying_properties(graph, node.index) if node is not None and not node.named else []
    return replace(select, answers=(Attribute(own.name, properties[0]),)) if properties else select


def _gives_one_number(body: Select) -> bool:
    return len(body.answers) == 1 and isinstance(body.answers[0], Aggregate) and not body.group and not body.by
