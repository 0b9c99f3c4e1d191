"""Find the things of a graph that a sentence mentions: sentence + Lexicon -> IRIs."""

from collections.abc import Sequence

from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry

# a name of more things is ambiguous and not linked (given)
MAX_SAME_NAME = 3


def find_mentioned_things(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The things whose names a sentence contains, in the order of the text; longer names take precedence.

    A name with a capital letter only matches if the sentence capitalises it too.
    """
    words = tokenize(text)
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        size, names = _longest(words[at:], lexicon)
        found.update((name.target, None) for name in names)
        at += size or 1
    return tuple(found)


def _longest(words: Sequence[Token], lexicon: Lexicon) -> tuple[int, list[LexiconEntry]]:
    """The number of words of the longest name at the beginning of these, and the things with that name."""
    opening = lexicon.word(words[0].norm)
    for size in range(min(len(words), opening.longest) if opening is not None else 0, 0, -1):
        norms = [word.norm for word in words[:size]]
        if all(norm.isdigit() or norm in function_words() for norm in norms):
            continue
        names = [name for name in lexicon.exact(norms) if name.kind == "entity" and _is_written(name, words[:size])]
        if names and len({name.target for name in names}) <= MAX_SAME_NAME:
            return size, names
    return 0, []


def _is_written(name: LexiconEntry, words: Sequence[Token]) -> bool:
    """Whether words are capitalised as the name is."""
    written = any(word.text[0].isupper() or word.text[0].isdigit() for word in words)
    return written or not any(c.isupper() for c in name.label)
