"""Turns that ask one thing more about the turn before: "in which years?", "how many for each?" -> Rewrite."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.tokens import Token, tokenize
from nacre.records.plan import Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.question_shape import without_conjunction
from nacre.understanding.dialogue.references.focus import focus
from nacre.understanding.dialogue.references.standalone_text import strip_opener
from nacre.understanding.dialogue.revisions.ellipsis import is_standalone
from nacre.understanding.linking.linker import Linker

# Words of a fragment, at most.
MAX_FRAGMENT_TOKENS = 4


def is_fragment(words: Sequence[Token]) -> bool:
    """Whether a question is a question word alone or after a preposition, and so needs the turn before: "and where?",
    "in which episodes?", "since when?"."""
    known = language().words
    words = without_conjunction(words)
    if len(words) == 1:
        return words[0].norm in known["question_words"] - known["choosing"]
    has_size = 2 <= len(words) <= MAX_FRAGMENT_TOKENS
    return has_size and words[0].norm in known["asking_after"] and words[1].norm in known["question_words"]


def complete_fragment(question: str, last: EarlierTurn) -> Rewrite | None:
    """ "In which years?" after "Has Ann ever won?": in which years has Ann ever won? "And where?" after "When was Ann
    born?": where was Ann born?"""
    before, known = tokenize(last.standalone), language().words
    first = next((i for i, t in enumerate(before[:2]) if t.norm in known["asking_yes_no"]), None)
    if first is None or (first and before[0].norm not in known["question_words"]) or not is_standalone(last):
        return None
    confidence = 1.0 if last.confidence is None else last.confidence
    start = before[first].start
    rest = last.standalone[start : start + 1].lower() + last.standalone[start + 1 :]
    return Rewrite(f"{strip_opener(question).rstrip(' ?')} {rest}", True, Scope(None, (), (), "", confidence))


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
