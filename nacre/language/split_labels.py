"""Labels of data in words: "budgetMillion" -> "budget in millions", "releasedate" -> "release date"."""

import re
from functools import lru_cache

import simplemma

from nacre.language.detect_language import language_names
from nacre.language.forms.nouns import amount_name, wording_entry
from nacre.language.thesaurus import unit_words
from nacre.language.tokens import split_name

_ACRONYM = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{0,7}(?=[A-Z][a-z]|(?![A-Za-z0-9]))")
_GLUED = 8
_PART = 4
# letters of a word that is spelled, at most
_SPELLED = 4


# a plan's words name the same few labels again and again
@lru_cache(maxsize=8192)
def label_words(label: str, labels: frozenset[str]) -> str:
    """A label in words: names of code split, acronyms kept, words that are glued together parted."""
    acronyms = {word.lower(): word for word in _ACRONYM.findall(label)}
    whole = " ".join(acronyms) if label.isupper() else ""
    short: dict[str, str] = wording_entry("abbreviations")
    parts = [short.get(part, part) for word in split_name(label).split() for part in _parted(word, labels)]
    # "min" may be minutes elsewhere
    parts[:1] = [wording_entry("leading_abbreviations").get(part, part) for part in parts[:1] if parts[1:]] or parts[:1]
    acronyms |= {part: part.upper() for part in parts if _is_spelled(part)}
    # names of languages have capitals
    acronyms |= {part: part.capitalize() for part in parts if part.capitalize() in language_names().values()}
    said = " ".join(part if whole else acronyms.get(part, part) for part in parts)
    return amount_name(said) or label.strip() or "value"


def _is_spelled(word: str) -> bool:
    """Whether a word in small letters has no vowel, so that it is spelled: "gdp"."""
    bare = word.isalpha() and word == word.lower() and not set(word) & set("aeiouy") and 1 < len(word) <= _SPELLED
    return bare and word not in unit_words() and not simplemma.is_known(word, lang="en")


def _parted(word: str, labels: frozenset[str]) -> list[str]:
    """The words that a long one is glued from, where English or the schema's other labels know each of them.

    >>> _parted("releasedate", frozenset()), _parted("population", frozenset())
    (['release', 'date'], ['population'])
    """
    known = simplemma.is_known(word, lang="en") or (word.endswith("s") and simplemma.is_known(word[:-1], lang="en"))
    if not (len(word) >= _GLUED or (any(map(str.isdigit, word)) and len(word) > _PART)) or known:
        return [word]
    own, short = _vocabulary(labels), wording_entry("abbreviations")
    for at in sorted(range(2, len(word) - 1), key=lambda i: abs(2 * i - len(word))):
        pieces = word[:at], word[at:]
        if all(p in own or p in short or (len(p) >= _PART and simplemma.is_known(p, lang="en")) for p in pieces):
            return [short.get(p, p) for p in pieces]
    return [word]


@lru_cache(maxsize=64)
def _vocabulary(labels: frozenset[str]) -> frozenset[str]:
    """The words of all labels of predicates."""
    return frozenset(word for label in labels for word in split_name(label).split() if len(word) > 1)
