"""Find where a sentence names something of the graph: words + Lexicon -> spans of words."""

from collections.abc import Sequence

from nacre.language.thesaurus import function_words
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry


def name_spans(words: Sequence[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """The longest names of things, values and properties, as (first word, after the last). A bare number is not a
    name."""
    found: list[tuple[int, int]] = []
    for first in range(len(words)):
        if found and first < found[-1][1]:
            continue
        size = _longest_name(words[first:], lexicon)
        if not all(each.isdigit() or each in function_words() for each in words[first : first + size]):
            found.append((first, first + size))
    return found


def _longest_name(words: Sequence[str], lexicon: Lexicon) -> int:
    """How many words the longest name has that the words begin with. 0 if they begin with none."""
    opening = lexicon.word(words[0])
    longest = min(len(words), opening.longest) if opening is not None else 0
    sizes = range(longest, 0, -1)
    return next((n for n in sizes if any(_is_specific(name, lexicon) for name in lexicon.exact(words[:n]))), 0)


def _is_specific(name: LexiconEntry, lexicon: Lexicon) -> bool:
    """Whether a name means something in particular. Classes, and properties of all things, do not."""
    if name.kind == "predicate":
        predicate = lexicon.schema.predicate_of.get(name.target)
        return predicate is not None and predicate.role == "fact"
    return name.kind in ("entity", "value")
