"""Possessives that ask for one more column: Link + ParseContext -> bool ("pots and their colour")."""

from itertools import pairwise

from nacre.language.base import language
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Link

# how many words after "and" or "with" may make a possessive
WORDS_AFTER = 3


def precedes_own_property(link: Link, context: ParseContext) -> bool:
    """Whether something of the mentioned things is asked for after them: "the masons and their trade"."""
    known = language().words
    after = [token.norm for token in context.question.tokens[link.end : link.end + WORDS_AFTER]]
    at = next((i for i, word in enumerate(after[:2]) if word in known["beside"]), None)
    if at is None or not after[at + 1 : at + 2]:
        return False
    is_possessive = after[at + 1] in _possessives()
    return is_possessive or (after[at + 1] in known["article"] and _says_each_one(link, context))


def follows_possessive(link: Link, context: ParseContext) -> bool:
    """Whether a mention belongs to what was mentioned before: "with their ..."."""
    before = [token.norm for token in context.question.tokens[max(0, link.start - 2) : link.start]]
    return len(before) == 2 and before[0] in language().words["beside"] and before[1] in _possessives()


def _says_each_one(link: Link, context: ParseContext) -> bool:
    """Whether each of the things is spoken of: "the halls and the year each one was built"."""
    words, known = [token.norm for token in context.question.tokens[link.end :]], language().words
    return any(one in known["grouping"] and other in known["stand_in"] for one, other in pairwise(words))


def _possessives() -> frozenset[str]:
    """Possessives, and "there" as a misspelt "their"."""
    return language().words["possessive"] | {"there"}
