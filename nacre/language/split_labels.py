"""Split labels of data into words: "budgetMillion" -> "budget in millions", "releasedate" -> "release date"."""

import re
from functools import lru_cache

import simplemma

from nacre.language.base import word_map
from nacre.language.detect_language import language_names
from nacre.language.forms.measure_nouns import amount_name
from nacre.language.thesaurus import unit_words
from nacre.language.tokens import split_name

_ACRONYM = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{0,7}(?=[A-Z][a-z]|(?![A-Za-z0-9]))")
# letters of a compound and of its parts, at least
_MIN_COMPOUND = 8
_MIN_PART, _MIN_LAST_PART = 4, 3
_MAX_ACRONYM = 4


# the wording of a plan needs the same few labels again and again
@lru_cache(maxsize=8192)
def label_words(label: str, labels: frozenset[str]) -> str:
    """A label in words: camel case and compounds are split, abbreviations written out, acronyms kept."""
    acronyms = {word.lower(): word for word in _ACRONYM.findall(label)}
    whole = " ".join(acronyms) if label.isupper() else ""
    short = word_map("wording", "abbreviations")
    parts = [short.get(part, part) for word in _written_words(label) for part in split_compound(word, labels)]
    # "min" may be minutes elsewhere
    parts[:1] = [
        word_map("wording", "leading_abbreviations").get(part, part) for part in parts[:1] if parts[1:]
    ] or parts[:1]
    acronyms |= {part: part.upper() for part in parts if _is_acronym(part)}
    # names of languages are capitalised
    acronyms |= {part: part.capitalize() for part in parts if part.capitalize() in language_names().values()}
    words = " ".join(part if whole else acronyms.get(part, part) for part in parts)
    return amount_name(words) or label.strip() or "value"


def _written_words(label: str) -> list[str]:
    """The words of a label; a hyphen stays where the dictionary has the word with it.

    >>> _written_words("E-mail of birth-place"), _written_words("check-in_date")
    (['e-mail', 'of', 'birth', 'place'], ['check-in', 'date'])
    """
    found: list[str] = []
    for word in label.replace("_", " ").split():
        is_whole = "-" in word and simplemma.is_known(word, lang="en")
        found += [word.lower()] if is_whole else split_name(word).split()
    return found


def _is_acronym(word: str) -> bool:
    """Whether a word in small letters is an acronym because it has no vowel: "gdp"."""
    bare = word.isalpha() and word == word.lower() and not set(word) & set("aeiouy") and 1 < len(word) <= _MAX_ACRONYM
    return bare and word not in unit_words() and not simplemma.is_known(word, lang="en")


@lru_cache(maxsize=65536)
def split_compound(word: str, labels: frozenset[str]) -> tuple[str, ...]:
    """The words of a compound, if English or the other labels of the schema know them; else the word itself.

    >>> split_compound("releasedate", frozenset()), split_compound("population", frozenset())
    (('release', 'date'), ('population',))
    >>> split_compound("sizegrossnet", frozenset())
    ('size', 'gross', 'net')
    """
    known = simplemma.is_known(word, lang="en") or (word.endswith("s") and simplemma.is_known(word[:-1], lang="en"))
    if not (len(word) >= _MIN_COMPOUND or (any(map(str.isdigit, word)) and len(word) > _MIN_PART)) or known:
        return (word,)
    short = word_map("wording", "abbreviations")
    places = sorted(range(2, len(word) - 1), key=lambda i: abs(2 * i - len(word)))
    for at in places:
        parts = word[:at], word[at:]
        if _is_part(parts[0], labels) and _is_part(parts[1], labels, is_last=True):
            return tuple(short.get(part, part) for part in parts)
    for at in places:
        rest = split_compound(word[at:], labels) if _is_part(word[:at], labels) else ()
        if len(rest) > 1:
            return (short.get(word[:at], word[:at]), *rest)
    return (word,)


def _is_part(part: str, labels: frozenset[str], *, is_last: bool = False) -> bool:
    """Whether a compound may have a part."""
    if part in _label_vocabulary(labels) or part in word_map("wording", "abbreviations"):
        return True
    return len(part) >= (_MIN_LAST_PART if is_last else _MIN_PART) and simplemma.is_known(part, lang="en")


@lru_cache(maxsize=64)
def _label_vocabulary(labels: frozenset[str]) -> frozenset[str]:
    """The words of all labels of a schema."""
    return frozenset(word for label in labels for word in split_name(label).split() if len(word) > 1)
