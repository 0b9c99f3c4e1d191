"""Correct words that are spelt almost as a word of the graph or of plain English: question -> question."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

import simplemma
from rapidfuzz import process
from rapidfuzz.distance import OSA

from semantics.english import function_words, resource, superlatives, vocabulary
from semantics.words import Token, tokens

# one slip of the fingers in a word of this length, two in a longer one
SHORT, LONG = 4, 9


class Spelling:
    """The words that a question over one graph may be meant to hold: those of its names first, then plain English."""

    def __init__(self, names: Iterable[str]) -> None:
        self._own = frozenset(w for w in names if w.isalpha())
        self._near: list[dict[str, list[str]]] = [_by_start(_forms(self._own)), _by_start(_forms(_english()))]

    def corrected(self, question: str) -> str:
        """The question with slips corrected, word for word; a word that is right English or a name stays."""
        found = question
        for token in reversed(tokens(question)):
            better = self._better(token)
            if better is not None:
                found = found[: token.start] + better + found[token.end :]
        return found

    def _better(self, token: Token) -> str | None:
        word = token.norm
        if len(word) < SHORT or not word.isalpha() or word in self._own or token.lemma in self._own:
            return None
        if word in function_words() or simplemma.is_known(word, lang="en") or word in _english():
            return None
        # a name that is not known here is not a word of plain English
        named = token.start > 0 and token.text[0].isupper()
        for near in self._near[: 1 if named else 2]:
            best = process.extractOne(
                word, near[word[0]], scorer=OSA.distance, score_cutoff=2 if len(word) >= LONG else 1
            )
            if best is not None:
                return str(best[0])
        return None


@cache
def _english() -> frozenset[str]:
    words = resource()
    units = {w for w in (*words["units"], *words["currencies"], *words["numbers"]) if w.isalpha()}
    return (
        vocabulary()
        | units
        | frozenset(w for w in superlatives() if simplemma.is_known(w, lang="en"))
        | frozenset(words["measures"])
        | function_words()
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
