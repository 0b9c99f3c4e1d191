"""Split labels of data into words: "budgetMillion" -> "budget in millions", "releasedate" -> "release date"."""

import re
from functools import lru_cache

import simplemma

from nacre.language.base import word_map
from nacre.language.detect_language import language_names
from nacre.language.forms.nouns import amount_name
from nacre.language.thesaurus import unit_words, vocabulary
from nacre.language.tokens import lemma, split_name

_ACRONYM = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{0,7}(?=[A-Z][a-z]|(?![A-Za-z0-9]))")
# letters of a compound and of its parts, at least
_MIN_COMPOUND = 8
_MIN_PART = 4
_MAX_ACRONYM = 4


# the wording of a plan needs the same few labels again and again
@lru_cache(maxsize=8192)
def label_words(label: str, labels: frozenset[str]) -> str:
    """A label in words: camel case and compounds are split, abbreviations written out, acronyms kept."""
    acronyms = {word.lower(): word for word in _ACRONYM.findall(label)}
    whole = " ".join(acronyms) if label.isupper() else ""
    short = word_map("wording", "abbreviations")
    parts = [short.get(part, part) for word in split_name(label).split() for part in _split_compound(word, labels)]
    # "min" may be minutes elsewhere
    parts[:1] = [
        word_map("wording", "leading_abbreviations").get(part, part) for part in parts[:1] if parts[1:]
    ] or parts[:1]
    acronyms |= {part: part.upper() for part in parts if _is_acronym(part)}
    # names of languages are capitalised
    acronyms |= {part: part.capitalize() for part in parts if part.capitalize() in language_names().values()}
    words = " ".join(part if whole else acronyms.get(part, part) for part in parts)
    return amount_name(words) or label.strip() or "value"


# letters of a compound in a name, and of each word in it, at least
MIN_COMPOUND_LETTERS, MIN_PART_LETTERS = 8, 3


def _is_acronym(word: str) -> bool:
    """Whether a word in small letters is an acronym because it has no vowel: "gdp"."""
    bare = word.isalpha() and word == word.lower() and not set(word) & set("aeiouy") and 1 < len(word) <= _MAX_ACRONYM
    return bare and word not in unit_words() and not simplemma.is_known(word, lang="en")


def _split_compound(word: str, labels: frozenset[str]) -> list[str]:
    """The two words of a compound, if English or the other labels of the schema know both; else the word itself.

    >>> _split_compound("releasedate", frozenset()), _split_compound("population", frozenset())
    (['release', 'date'], ['population'])
    """
    known = simplemma.is_known(word, lang="en") or (word.endswith("s") and simplemma.is_known(word[:-1], lang="en"))
    if not (len(word) >= _MIN_COMPOUND or (any(map(str.isdigit, word)) and len(word) > _MIN_PART)) or known:
        return [word]
    own, short = _label_vocabulary(labels), word_map("wording", "abbreviations")
    for at in sorted(range(2, len(word) - 1), key=lambda i: abs(2 * i - len(word))):
        parts = word[:at], word[at:]
        if all(p in own or p in short or (len(p) >= _MIN_PART and simplemma.is_known(p, lang="en")) for p in parts):
            return [short.get(p, p) for p in parts]
    return [word]


@lru_cache(maxsize=64)
def _label_vocabulary(labels: frozenset[str]) -> frozenset[str]:
    """The words of all labels of a schema."""
    return frozenset(word for label in labels for word in split_name(label).split() if len(word) > 1)


@lru_cache(maxsize=65536)
def split_compound(word: str) -> tuple[str, ...]:
    """The words of a compound. A known word, or one that cannot be split, is returned as it is.

    >>> split_compound("rangecombined"), split_compound("altitude")
    (('range', 'combine'), ('altitude',))
    """
    if len(word) < MIN_COMPOUND_LETTERS or not word.isalpha() or simplemma.is_known(word, lang="en"):
        return (word,)
    for at in range(len(word) - MIN_PART_LETTERS, MIN_PART_LETTERS - 1, -1):
        first = word[:at]
        if first not in vocabulary() and lemma(first) not in vocabulary():
            continue
        rest = split_compound(word[at:]) if at < len(word) else ()
        if all(lemma(w) in vocabulary() or simplemma.is_known(w, lang="en") for w in rest):
            return (lemma(first), *(lemma(w) for w in rest))
    return (word,)
