"""Whether things are asked for together with what they have: a mention + ParseContext -> bool ("pots and their colour")."""

from itertools import pairwise

from nacre.language.base import language
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Link, Question


def precedes_own_property(link: Link, context: ParseContext) -> bool:
    """Whether things are asked for together with something of theirs: "the masons and their trade"."""
    after = [t.norm for t in context.question.tokens[link.end : link.end + 3]]
    words = language().words
    joined = next((i for i, word in enumerate(after[:2]) if word in words["beside"]), None)
    if joined is None or not after[joined + 1 : joined + 2]:
        return False
    return after[joined + 1] in _own_words() or (
        after[joined + 1] in words["article"] and _says_each_one(link, context)
    )


def follows_possessive(link: Link, context: ParseContext) -> bool:
    """Whether something is said to be of what was named before: "with their ..."."""
    before = [t.norm for t in context.question.tokens[max(0, link.start - 2) : link.start]]
    words = language().words
    return len(before) == 2 and before[0] in words["beside"] and before[1] in _own_words()


def has_possessive_column(question: Question) -> bool:
    """Whether a question asks for things and for something of theirs: "the bells of the abbey with their weight",
    "events in May, where they take place"."""
    words, known = [t.norm for t in question.tokens], language().words
    own = any(a in known["beside"] and b in _own_words() for a, b in pairwise(words))
    return own or any(a in known["asking_after_things"] and b in known["pronoun_many"] for a, b in pairwise(words[1:]))


def _says_each_one(link: Link, context: ParseContext) -> bool:
    """Whether what follows is said of each of the things: "the halls and the year each one was built"."""
    words, known = [t.norm for t in context.question.tokens[link.end :]], language().words
    return any(a in known["grouping"] and b in known["stand_in"] for a, b in pairwise(words))


def _own_words() -> frozenset[str]:
    """Words before what belongs to something, with how they are often misspelt after "with" and "and"."""
    return language().words["possessive"] | {"there"}
