"""Where a sentence names something of the graph: a list of its words + Lexicon -> stretches of them."""

from collections.abc import Sequence

from semantics.english import function_words
from stores.lexicon import Lexicon, Name

# what more names than this hold tells nothing apart
_COMMON = 3000


def known_names(words: Sequence[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """The longest names of things, values and properties, as (first word, after the last); a bare number is no name."""
    found: list[tuple[int, int]] = []
    for first, word in enumerate(words):
        if found and first < found[-1][1]:
            continue
        longest = max((_length(name, words, first) for name in _beginning(word, lexicon)), default=0)
        if not all(each.isdigit() or each in function_words() for each in words[first : first + longest]):
            found.append((first, first + longest))
    return found


def _beginning(word: str, lexicon: Lexicon) -> list[Name]:
    if len(lexicon.postings.get(word, ())) > _COMMON:
        return []
    return [name for name in lexicon.with_token(word) if name.tokens[0] == word and _tells(name, lexicon)]


def _tells(name: Name, lexicon: Lexicon) -> bool:
    """Whether the name stands for something in particular: classes and what all things have do not."""
    if name.kind == "predicate":
        predicate = lexicon.schema.predicate_of.get(name.target)
        return predicate is not None and predicate.role == "fact"
    return name.kind in ("entity", "value")


def _length(name: Name, words: Sequence[str], first: int) -> int:
    size = len(name.tokens)
    return size if tuple(words[first : first + size]) == name.tokens else 0
