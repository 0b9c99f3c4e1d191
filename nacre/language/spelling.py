"""Correct words that are spelt almost as a word of the graph or of plain English: question -> question."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import simplemma
from rapidfuzz import process
from rapidfuzz.distance import OSA

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import english_data, function_words, superlative_spellings, vocabulary
from nacre.language.tokens import Token, lemma, tokenize
from nacre.stores.sqlite.lexicon import Lexicon

# one slip of the fingers in a word of this length, two in a longer one
SHORT, LONG = 4, 9
# how a plural ends, and its singular instead
_PLURALS = (("ies", "y"), ("es", ""), ("s", ""))


class SpellingCorrector:
    """The words that a question over one graph may be meant to hold: those of its names first, then plain English."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def corrected(self, question: str) -> str:
        """The question with slips corrected, word for word; a word that is right English or a name stays."""
        found = question
        for token in reversed(tokenize(question)):
            better = self._better(token)
            if better is not None:
                found = found[: token.start] + better + found[token.end :]
        return found

    def _better(self, token: Token) -> str | None:
        word = token.norm
        if word in english_data()["contracted"]:
            return str(english_data()["contracted"][word])
        if len(word) < SHORT or not word.isalpha() or self._is_own(word) or self._is_own(token.lemma):
            return None
        if word in function_words() or simplemma.is_known(word, lang="en") or word in _english():
            return None
        slips = 2 if len(word) >= LONG else 1
        # a name that is not known here is not a word of plain English
        named = token.start > 0 and token.text[0].isupper()
        small = _nearest(word, _small_words(), 1) if not named and len(word) > SHORT else None
        own = _nearest(word, self._own(word), slips)
        if small is not None and small[0] == word[0]:
            # a small word, whatever a graph is of
            return small
        return own if own is not None or named else _nearest(word, _in_english(word[0]), slips)

    def almost(self, token: Token) -> Token | None:
        """The one word of the graph that is a letter from a right word of English; None where there is none or more."""
        word = token.norm
        if len(word) < SHORT or not word.isalpha() or word in function_words() or {word, token.lemma} & _english():
            return None
        near = [
            form
            for form in self._own(word)
            if any(OSA.distance(said, form, score_cutoff=1) <= 1 for said in (word, token.lemma))
        ]
        if len({lemma(form) for form in near}) != 1:
            return None
        return tokenize(near[0])[0]

    def _is_own(self, word: str) -> bool:
        known = self._lexicon.word(word)
        return known is not None and known.names > 0

    def _own(self, word: str) -> Sequence[str]:
        """The words of names that are near a word, and their plurals."""
        singular = [word[: -len(ending)] + back for ending, back in _PLURALS if word.endswith(ending)]
        near = {found for form in (word, *singular) for found in self._lexicon.near(form) if found.isalpha()}
        return _by_start(_forms(near)).get(word[0], ())


def _nearest(word: str, among: Sequence[str], slips: int) -> str | None:
    best = process.extractOne(word, among, scorer=OSA.distance, score_cutoff=slips)
    return None if best is None else str(best[0])


@cache
def _small_words() -> Sequence[str]:
    """Words without a meaning of their own, and those that say what is asked: "altogether"."""
    cues = {word for forms in language().cues.values() for said, _, _ in forms for word in said}
    return sorted(function_words() | {word for word in cues if word.isalpha()})


@cache
def _in_english(first: str) -> Sequence[str]:
    """The words of plain English that begin with a letter, and their plurals."""
    return _all_english().get(first, ())


@cache
def _all_english() -> dict[str, list[str]]:
    return _by_start(_forms(_english()))


@cache
def _english() -> frozenset[str]:
    words = english_data()
    small: frozenset[str] = language().words["filler"] | wording_entry("participles")
    units = {w for w in (*words["units"], *words["currencies"], *words["numbers"]) if w.isalpha()}
    return (
        vocabulary()
        | units
        | frozenset(w for w in superlative_spellings() if simplemma.is_known(w, lang="en"))
        | frozenset(words["measures"])
        | function_words()
        | small
    )


def _forms(words: Iterable[str]) -> Iterator[str]:
    """The words with their plurals."""
    for word in words:
        yield word
        yield word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith(("s", "x", "ch")) else "s")


def _by_start(words: Iterable[str]) -> dict[str, list[str]]:
    """Words by their first letter, which is seldom the wrong one."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in sorted(set(words)):
        if len(word) >= SHORT:
            found[word[0]].append(word)
    return found
