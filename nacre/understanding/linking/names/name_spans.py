"""Where a sentence names something of the graph: a list of its words + Lexicon -> stretches of them."""

from collections.abc import Sequence

from nacre.language.thesaurus import function_words
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry


def name_spans(words: Sequence[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """The longest names of things, values and properties, as (first word, after the last); a bare number is no name."""
    found: list[tuple[int, int]] = []
    for first in range(len(words)):
        if found and first < found[-1][1]:
            continue
        longest = _longest(words[first:], lexicon)
        if not all(each.isdigit() or each in function_words() for each in words[first : first + longest]):
            found.append((first, first + longest))
    return found


def _longest(words: Sequence[str], lexicon: Lexicon) -> int:
    """How many of the words the longest name has that they begin with; 0 where they begin with none."""
    opening = lexicon.word(words[0])
    longest = min(len(words), opening.longest) if opening is not None else 0
    sizes = range(longest, 0, -1)
    return next((n for n in sizes if any(_tells(name, lexicon) for name in lexicon.exact(words[:n]))), 0)


def _tells(name: LexiconEntry, lexicon: Lexicon) -> bool:
    """Whether the name stands for something in particular: classes and what all things have do not."""
    if name.kind == "predicate":
        predicate = lexicon.schema.predicate_of.get(name.target)
        return predicate is not None and predicate.role == "fact"
    return name.kind in ("entity", "value")
