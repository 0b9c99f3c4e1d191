"""Split joined words of a name: "emissioncombined" -> "emission combined"."""

from collections.abc import Collection
from functools import lru_cache

import simplemma

from nacre.language.thesaurus import vocabulary
from nacre.language.tokens import lemma

# minimum lengths of a word that is split, of its parts, and of parts that are frequent in data
SHORTEST, PART, KNOWN_PART = 8, 4, 3
MAX_PARTS = 4


def split_joined_words(words: str, others: Collection[str]) -> str:
    """The name with its joined words split; `others` are the words of all names of the graph.

    A word is split into the fewest English words, of which one is frequent in data; an abbreviation is split after
    another abbreviation of the graph.

    >>> [split_joined_words(name, {"WLTP"}) for name in ("fuelcapacity", "WLTPCO2 emission", "top speed")]
    ['fuel capacity', 'WLTP CO2 emission', 'top speed']
    """
    return " ".join(part for word in words.split() for part in _parts(word, others))


def _parts(word: str, others: Collection[str]) -> tuple[str, ...]:
    if word.isupper():
        first = max(
            (o for o in others if o.isupper() and 3 <= len(o) <= len(word) - 2 and word.startswith(o)), default=""
        )
        return (first, word[len(first) :]) if first else (word,)
    if len(word) < SHORTEST or not word.isascii() or not word.islower() or _is_word(word):
        return (word,)
    ways = [way for way in _splits(word, MAX_PARTS) if any(lemma(part) in vocabulary() for part in way)]
    return min(ways, key=len, default=(word,))


@lru_cache(maxsize=4096)
def _splits(word: str, most: int) -> tuple[tuple[str, ...], ...]:
    """All ways to split letters into known words."""
    whole = ((word,),) if _is_part(word) else ()
    if most == 1:
        return whole
    cuts = range(KNOWN_PART, len(word) - KNOWN_PART + 1)
    return (
        *whole,
        *((word[:at], *rest) for at in cuts if _is_part(word[:at]) for rest in _splits(word[at:], most - 1)),
    )


def _is_part(word: str) -> bool:
    return lemma(word) in vocabulary() if len(word) < PART else _is_word(word)


def _is_word(word: str) -> bool:
    return word in vocabulary() or simplemma.is_known(word, lang="en")
