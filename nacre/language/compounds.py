"""Split a name whose words run together: "rangecombined" -> its words."""

from functools import lru_cache

import simplemma

from nacre.language.thesaurus import vocabulary
from nacre.language.tokens import lemma

# Letters of a compound, and of each word in it, at least.
MIN_COMPOUND_LETTERS, MIN_PART_LETTERS = 8, 3


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
