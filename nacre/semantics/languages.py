"""The language of a question by its function words: text -> a code such as "de"; English where that is unclear."""

from functools import cache
from typing import NamedTuple

from nacre.semantics.english import read

ENGLISH = "en"
FEWEST = 2
_MARGINS = "?!.,;:¿¡\"'“”„«»()।"


class Language(NamedTuple):
    """`name` is what English calls it."""

    name: str
    words: frozenset[str]


def language_of(text: str, fewest: int = FEWEST) -> str:
    """The language with the most function words; another one than English needs `fewest`, and more than English has.

    >>> language_of("Wie viele Inseln hat der See?"), language_of("How many die in an accident?"), language_of("Oslo?")
    ('de', 'en', 'en')
    """
    # apostrophes tie words together in French and Italian
    words = {word.strip(_MARGINS) for word in text.casefold().replace("’", "'").replace("'", "' ").split()}
    found = {code: len(words & language.words) for code, language in languages().items()}
    best = max(found, key=lambda code: (found[code], code == ENGLISH))
    return best if found[best] >= fewest and found[best] > found[ENGLISH] else ENGLISH


def language_name(code: str) -> str:
    """What English calls a language; the code itself where it is not one of ours."""
    return languages()[code].name if code in languages() else code


@cache
def languages() -> dict[str, Language]:
    """The languages that questions are told apart in, by code."""
    table = read("languages.yaml")
    return {code: Language(each["name"], frozenset(each["words"].split())) for code, each in table.items()}
