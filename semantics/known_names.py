"""Where a sentence names something of the graph: a list of its words + Lexicon -> stretches of them."""

from collections.abc import Sequence

from semantics.english import function_words
from stores.lexicon import Lexicon, Name

# what more names than this hold tells nothing apart
_COMMON = 3000


def known_names(words: Sequence[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """The longest names of things and values, as (first word, after the last); names of one bare number are none."""
    found: list[tuple[int, int]] = []
    for first, word in enumerate(words):
        if word in function_words() or (found and first < found[-1][1]):
            continue
        longest = max((_length(name, words, first) for name in _beginning(word, lexicon)), default=0)
        if longest and not all(each.isdigit() for each in words[first : first + longest]):
            found.append((first, first + longest))
    return found


def _beginning(word: str, lexicon: Lexicon) -> list[Name]:
    if len(lexicon.postings.get(word, ())) > _COMMON:
        return []
    return [n for n in lexicon.with_token(word) if n.kind in ("entity", "value") and n.tokens[0] == word]


def _length(name: Name, words: Sequence[str], first: int) -> int:
    size = len(name.tokens)
    return size if tuple(words[first : first + size]) == name.tokens else 0
