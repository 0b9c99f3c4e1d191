"""A turn that changes the plan before it: "sort them by age", "also show the capacity" -> Rewrite with the change."""

from nacre.language.base import language, word_map
from nacre.language.thesaurus import gradable_adjective
from nacre.language.tokens import tokenize
from nacre.plans.inspect_select import variable_of
from nacre.records.plan import Attribute, Plan, Select
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.question_shape import is_bare_property, is_choice_of_best
from nacre.understanding.dialogue.references.focus import focus, requested_nodes
from nacre.understanding.dialogue.references.pronouns import (
    find_pronoun,
    mentioned_classes,
)
from nacre.understanding.dialogue.revisions.ellipsis import SCOPE_OPENING
from nacre.understanding.dialogue.revisions.follow_up import change_kind
from nacre.understanding.dialogue.revisions.plan_edits import list_plan, tested_select
from nacre.understanding.dialogue.revisions.plan_substitution import inline_earlier_plans
from nacre.understanding.linking.linker import Linker, prepare_question
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.types import RANKING_CUES
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.phrases.plan import verbalise_plan

# Kinds of cues that restrict things.
_CONDITION_CUES = frozenset(("compare", "most", "negation", "both"))


def change_earlier_plan(
    question: str, earlier: tuple[EarlierTurn, ...], linker: Linker, how: str = ""
) -> Rewrite | None:
    """The question with the plan before it in its scope, and how to change that. Without `how` the question says it.
    None if the question changes nothing, or asks something new."""
    last = earlier[-1]
    how = how or change_kind(question, last)
    body = last.plan.body if last.plan else None
    if body is not None and how == "opposite":
        body = tested_select(body)
    if not how or not isinstance(body, Select) or _asks_anew(question, body, how, linker):
        return None
    if how == "restrict" and language().dialogue["shows"].match(question.casefold()):
        # "show the ones over 20" after "how many are there?"
        body = list_plan(body) or body
    plan = Plan(inline_earlier_plans(body, earlier[:-1]))
    try:
        about = verbalise_plan(plan, linker.lexicon.schema)
    except KeyError:
        # The graph no longer has what the plan is about.
        return None
    meant = focus(earlier[-1:], True, linker)
    if len(meant.keys) > 1 and _means_earlier_things(question, meant, earlier, linker):
        return None
    confidence = 1.0 if last.confidence is None else last.confidence
    scope = Scope(plan, meant.keys or last.keys, meant.labels or last.labels, how, confidence)
    # For people. The parser reads the question, and the plan in the scope.
    note = f"{SCOPE_OPENING}{about})" if about and not set(about) & set("()") else ""
    end = len(question.rstrip(" ?.!"))
    return Rewrite(question[:1].upper() + question[1:end] + note + question[end:], True, scope)


def bound_earlier_things(bound: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """A bound alone, "more than 20", on the things that were given before."""
    return change_earlier_plan(f"{word_map('dialogue', 'standalone')['those']} {bound}", earlier, linker, "restrict")


def best_by_other_measure(question: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "What about the one with the highest price?" after the best by something else: the best of the same things."""
    body = earlier[-1].plan.body if earlier[-1].plan else None
    found = language().dialogue["placed_one"].match(" ".join(t.norm for t in tokenize(question)))
    if found is None or not isinstance(body, Select) or body.limit != 1 or body.order is None:
        return None
    name = variable_of(body.order.by)
    things = next((v for v in body.variables if v.name == name), None)
    if things is None or not any(c.kind in RANKING_CUES for c in analyse_question(found[0]).cues):
        return None
    noun = class_noun(things, linker.lexicon.schema)
    return change_earlier_plan(f"the {found['ahead']}{noun}{found['behind']}", earlier, linker, "restrict")


def _asks_anew(question: str, body: Select, how: str, linker: Linker) -> bool:
    """Whether a question that looks like a change says everything itself, or only asks for another property."""
    words = tokenize(question)
    if how == "opposite" and (named := mentioned_classes(words, linker)):
        # "Which rooms are not?" after rooms
        shown = {v.classes for v in body.variables}
        nodes = [n for n in linker.index.graph.nodes if n.classes in shown]
        return not any(c.relations & n.relations for c in named for n in nodes)
    if how == "instead" and _asks_property(question, linker):
        return True
    is_ranked = any(c.kind in RANKING_CUES for c in analyse_question(question).cues)
    if how == "add" and is_ranked and find_pronoun(words, ()) is None and mentioned_classes(words, linker):
        # "Also show the oldest bridge" adds nothing to a list.
        return True
    is_of_all = how == "instead" and language().dialogue["of_all"].search(question.casefold())
    if is_of_all and mentioned_classes(words, linker):
        # "and the oldest of all the bridges?"
        return True
    # "which is the oldest?" says by what to rank those that were listed.
    return how in ("first", "instead") and is_choice_of_best(words) and _names_measure(question, body)


def _means_earlier_things(question: str, meant: Scope, earlier: tuple[EarlierTurn, ...], linker: Linker) -> bool:
    """Whether the pronoun stands for things from before the last list: "which of them is the heaviest"."""
    words = tokenize(question)
    pronoun = find_pronoun(words, ())
    if pronoun is None:
        return False
    return focus(earlier, True, linker, requested_nodes(words, pronoun, linker)).keys != meant.keys


def _asks_property(question: str, linker: Linker) -> bool:
    """Whether a question asks for a property of what was given before, without a condition: "and the directors?"."""
    words = tokenize(question)
    has_condition = any(c.kind in _CONDITION_CUES for c in prepare_question(question, linker).cues)
    return is_bare_property(words, linker) and not has_condition and not any(gradable_adjective(t) for t in words)


def _names_measure(question: str, before: Select) -> bool:
    """Whether a superlative says what it measures, which "highest" does not after a list of prices."""
    cues = analyse_question(question).cues
    has_measure = before.order is not None or any(isinstance(answer, Attribute) for answer in before.answers)
    vague = {c.end for c in cues if c.kind == "most"} if has_measure else set()
    return any(c.kind == "superlative" and c.end not in vague for c in cues)
