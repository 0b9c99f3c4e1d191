"""Resolve noun phrases for things given before: "the department", "this colour" + earlier turns -> Rewrite."""

from collections.abc import Sequence
from itertools import pairwise

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, split_name
from nacre.records.plan import Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.focus import focus_of_kind
from nacre.understanding.dialogue.references.pronouns import mentioned_classes
from nacre.understanding.dialogue.references.standalone_text import replace_reference
from nacre.understanding.linking.linker import Linker

# Turns in which a thing of a class is looked for.
MAX_TURNS_BACK = 3


def resolve_definite_reference(
    question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite | None:
    """The question with the name of what a class or property refers to. None if that was not given before."""
    return _resolve_value(question, words, earlier, linker) or _resolve_thing(question, words, earlier, linker)


def _resolve_value(
    question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite | None:
    """ "This winery" after the winery of a wine was given, which is a text: the text."""
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    value = aggregated_value(body.answers[-1]) if isinstance(body, Select) else None
    graph = linker.index.graph
    if not isinstance(value, Attribute) or len(last.labels) != 1 or graph.is_numeric(value.predicate):
        return None
    label = split_name(graph.about(value.predicate).label).split()
    for before, noun in pairwise(words):
        if before.norm in language().words["demonstrative"] and noun.norm in label:
            scope = None if last.confidence is None else Scope(confidence=last.confidence)
            return Rewrite(question[: before.start] + last.labels[0] + question[noun.end :], True, scope)
    return None


def _resolve_thing(
    question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite | None:
    """ "In the department" at the end of a question, after one department was mentioned."""
    for kind in mentioned_classes(words, linker):
        at = kind.start - 1
        is_definite = at >= 1 and words[at].norm == "the" and words[at - 1].norm in language().words["locating"]
        is_last = all(t.norm in function_words() for t in words[kind.end :])
        if not is_definite or not is_last or is_plural(words[kind.end - 1].norm):
            continue
        one = focus_of_kind(earlier[-MAX_TURNS_BACK:], kind.relations, linker, single=True)
        if one is not None and len(one.keys) == 1:
            start, end = words[at].start, words[kind.end - 1].end
            return replace_reference(question, start, end, one.labels[0], one.keys[0], one)
    return None
