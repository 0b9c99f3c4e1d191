"""Words of a name that run together: "rangecombined" -> its words."""

from functools import lru_cache

import simplemma

from nacre.language.thesaurus import vocabulary
from nacre.language.tokens import lemma

# a name whose words run together has at least so many letters, and each of its words
SHORTEST_JOINED, SHORTEST_PART = 8, 3


@lru_cache(maxsize=65536)
def apart(word: str) -> tuple[str, ...]:
    """The words of a name that run together; the word itself where it is known or does not come apart.

    >>> apart("rangecombined"), apart("altitude")
    (('range', 'combine'), ('altitude',))
    """
    if len(word) < SHORTEST_JOINED or not word.isalpha() or simplemma.is_known(word, lang="en"):
        return (word,)
    for at in range(len(word) - SHORTEST_PART, SHORTEST_PART - 1, -1):
        first = word[:at]
        if first not in vocabulary() and lemma(first) not in vocabulary():
            continue
        rest = apart(word[at:]) if at < len(word) else ()
        if all(lemma(w) in vocabulary() or simplemma.is_known(w, lang="en") for w in rest):
            return (lemma(first), *(lemma(w) for w in rest))
    return (word,)
