"""Turns that ask one thing more about the turn before: "in which years?", "how many for each?" -> Rewrite."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.tokens import Token, tokenize
from nacre.records.plan import Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.focus import focus
from nacre.understanding.dialogue.revisions.ellipsis import is_standalone
from nacre.understanding.linking.linker import Linker

# Words of a fragment, at most.
MAX_FRAGMENT_TOKENS = 4


def is_fragment(words: Sequence[Token]) -> bool:
    """Whether a question is a preposition with a question word, and so needs the turn before: "in which episodes?",
    "since when?"."""
    known = language().words
    has_size = 2 <= len(words) <= MAX_FRAGMENT_TOKENS
    return has_size and words[0].norm in known["asking_after"] and words[1].norm in known["question_words"]


def complete_fragment(question: str, last: EarlierTurn) -> Rewrite | None:
    """ "In which years?" after "Has Ann ever won?": in which years has Ann ever won?"""
    before = tokenize(last.standalone)
    if not before or before[0].norm not in language().words["asking_yes_no"] or not is_standalone(last):
        return None
    confidence = 1.0 if last.confidence is None else last.confidence
    rest = last.standalone[:1].lower() + last.standalone[1:]
    return Rewrite(f"{question.rstrip(' ?')} {rest}", True, Scope(None, (), (), "", confidence))


def grouped_property(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> str:
    """The label of the property that the last turn asked for, if a turn ends with "for each": "list the number of rooms
    for each" after "how many different styles are there?". Empty if there is none."""
    body = earlier[-1].plan.body if earlier[-1].plan else None
    if len(words) < 2 or words[-1].norm not in language().words["grouping"] or not isinstance(body, Select):
        return ""
    value = aggregated_value(body.answers[-1])
    return linker.index.graph.about(value.predicate).label if isinstance(value, Attribute) else ""


def grouped_things(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Scope | None:
    """The things that were listed before, if a turn ends with "for each". None if there are not several."""
    known = language().words
    if len(words) < 2 or words[-1].norm not in known["grouping"] or words[-2].norm not in known["locating"]:
        return None
    many = focus(earlier[-1:], True, linker)
    return many if len(many.keys) > 1 else None
