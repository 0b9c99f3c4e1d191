"""What was given before, by its kind: "the department", "this colour" + earlier turns -> Rewrite with its name."""

from collections.abc import Sequence
from itertools import pairwise

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, split_name
from nacre.records.plan import Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.focus import focus_of_kind
from nacre.understanding.dialogue.references.pronouns import mentioned_classes, replace_reference
from nacre.understanding.linking.linker import Linker

# turns before the last one that are looked through for a thing of a kind
MAX_TURNS_BACK = 3


def resolve_definite_reference(
    question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite | None:
    """The question with the name of what it means by a kind or a property; None where that is nothing given before."""
    return _value(question, words, earlier, linker) or _thing(question, words, earlier, linker)


def _value(question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "This winery" after a wine's winery was given, which is a text: the text."""
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    asked = aggregated_value(body.answers[-1]) if isinstance(body, Select) else None
    if not isinstance(asked, Attribute) or len(last.labels) != 1 or linker.index.graph.is_numeric(asked.predicate):
        return None
    named = split_name(linker.index.graph.about(asked.predicate).label).split()
    for before, noun in pairwise(words):
        if before.norm in language().words["demonstrative"] and noun.norm in named:
            return Rewrite(question[: before.start] + last.labels[0] + question[noun.end :], True, _as_sure(last))
    return None


def _as_sure(turn: EarlierTurn) -> Scope | None:
    return None if turn.confidence is None else Scope(confidence=turn.confidence)


def _thing(question: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "The department", where nothing says which, after one department was spoken of."""
    known = language().words
    for kind in mentioned_classes(words, linker):
        at = kind.start - 1
        definite = at >= 1 and words[at].norm == "the" and words[at - 1].norm in known["locating"]
        ends = all(t.norm in function_words() for t in words[kind.end :])
        if not definite or not ends or is_plural(words[kind.end - 1].norm):
            continue
        one = focus_of_kind(earlier[-MAX_TURNS_BACK:], kind.relations, linker, single=True)
        if one is not None and len(one.keys) == 1:
            start, end = words[at].start, words[kind.end - 1].end
            return replace_reference(question, start, end, one.labels[0], one.keys[0], one)
    return None
