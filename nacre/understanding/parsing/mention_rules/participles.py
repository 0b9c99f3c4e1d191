"""Participles that more words complete: Link + ParseContext -> bool ("located in Rome")."""

from nacre.language.base import word_list
from nacre.language.forms.nouns import is_participle
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Link


def is_open_participle(link: Link, context: ParseContext) -> bool:
    """Whether a mention is a participle before a preposition.

    "Not located in Rome" means no location in Rome, or another location.
    """
    first, *after = (token.norm for token in context.question.tokens[link.start : max(link.end, link.start + 2)])
    return is_participle(first) and len(after) == 1 and after[0] in word_list("wording", "prepositions")
