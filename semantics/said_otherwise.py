"""What English says otherwise than a name does: other names of links, forms of words, expressions of several words."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from semantics.english import ends, phrases, turned
from semantics.words import Token, lemma
from stores.lexicon import Name

BACKWARD = "backward"
_NOUN_ENDINGS = ("er", "or", "ee", "ment", "ing", "al", "ance", "ence", "ation", "ion")
_BEFORE_NOUN = frozenset("the a an of all which what many and or in some any these those most".split()) | {""}
_AFTER_VERB = frozenset("the a an at in on to by for from with into through over".split())


def said_otherwise(names: Sequence[Name]) -> Iterator[Name]:
    """What a predicate's name of several words stands for: "reports to" names a manager."""
    known = {lemma(name.tokens[0]) for name in names if name.kind != "entity" and len(name.tokens) == 1}
    for name in names:
        if name.kind == "predicate":
            said = tuple(lemma(t) for t in name.tokens)
            for concept in (*phrases().get(said, ())[:3], *ends().get(said, ())):
                if concept not in known:
                    yield name._replace(tokens=(concept,), label=concept)
            for concept in turned().get(said[0], ()) if len(said) == 1 else ():
                if concept not in known:
                    yield name._replace(tokens=(concept,), label=concept, relation=BACKWARD)


@cache
def phrases_from() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The expressions of several words by their first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = defaultdict(list)
    for words, concepts in phrases().items():
        found[words[0]].append((words, concepts))
    return found


def acts(tokens: Sequence[Token], at: int) -> bool:
    """Is a word the verb of its clause: "the line that ends at X", "which company runs the line"?"""
    token = tokens[at]
    before = tokens[at - 1].norm if at else ""
    after = tokens[at + 1].norm if at + 1 < len(tokens) else ""
    if before in ("that", "who"):
        return True
    return token.norm != token.lemma and before not in _BEFORE_NOUN and after in _AFTER_VERB


def ending(word: str) -> str:
    """The ending that makes a verb's form of a word, or ""."""
    return next((each for each in ("ing", "ed") if word.endswith(each)), "")


def nouns_of(verb: str) -> tuple[str, ...]:
    """How English forms the names of those who do something, and of what is done."""
    stem = verb[:-1] if verb.endswith("e") else verb
    return tuple(stem + ending for ending in _NOUN_ENDINGS)
