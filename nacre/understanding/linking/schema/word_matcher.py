"""Match words of a question with words of class and property names: word -> words of names, each with a score."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import simplemma
from rapidfuzz import fuzz, process

from nacre.language.base import phrase_list
from nacre.language.thesaurus import gradable_adjective, synonyms
from nacre.language.tokens import Token
from nacre.understanding.linking.schema.schema_terms import (
    LEMMA_SCORE,
    SAME_WORD_SCORE,
    SPELLING_SCORE,
    STEM_SCORE,
    SYNONYM_SCORE,
    SchemaTerm,
)

# Letters of a word that is matched by its stem, and the share of both words that they have in common, at least.
MIN_STEM_WORD_LETTERS, MIN_STEM_SHARE = 5, 0.6
# The letters that words with one stem begin with.
STEM_PREFIX_LETTERS = 4
# Letters of a code that is matched with the end of a longer one, at least.
MIN_CODE_LETTERS = 3
# Letters of a misspelt word, its similarity with the right one (rapidfuzz ratio), and words that it may stand for.
MIN_MISSPELT_WORD_LETTERS, MIN_SPELLING_RATIO, MAX_SPELLINGS = 5, 82, 2


class WordMatcher:
    """The words of the terms. `terms_of_word` are the terms that contain a word, with its place in their name."""

    def __init__(self, terms: Sequence[SchemaTerm], name_words: Collection[str]) -> None:
        self.terms_of_word = _terms_of_word(terms)
        self.vocabulary = sorted(self.terms_of_word)
        self._by_prefix: dict[str, list[str]] = defaultdict(list)
        for word in self.vocabulary:
            # Only the graph's own words: "stations" are not "stationers".
            if len(word) >= MIN_STEM_WORD_LETTERS and word in name_words:
                self._by_prefix[word[:STEM_PREFIX_LETTERS]].append(word)
        self.match = lru_cache(maxsize=4096)(self._match)

    def _match(self, norm: str, lemma: str) -> tuple[tuple[str, float], ...]:
        """The words of names that a word may stand for, each with how well it fits. The best kind of match of a word
        counts."""
        terms = self.terms_of_word
        found = {norm: SAME_WORD_SCORE} if norm in terms else {}
        if lemma in terms:
            found.setdefault(lemma, LEMMA_SCORE if norm != lemma else SAME_WORD_SCORE)
        adjective = gradable_adjective(Token(norm, 0, len(norm), norm, lemma))
        if adjective is not None and adjective.degree != "positive":
            # "longest" orders by a length. It does not name the length.
            return tuple(sorted(found.items()))
        same_meaning = synonyms(lemma) | (synonyms(norm) if norm != lemma else frozenset())
        for word in [w for w in same_meaning if w in terms] + self._gerunds(norm, lemma):
            found.setdefault(word, SYNONYM_SCORE)
        found |= dict.fromkeys(self._longer_codes(norm), STEM_SCORE)
        for word in self._same_stem(lemma):
            found.setdefault(word, STEM_SCORE)
        return tuple(sorted((found or self._spellings(norm, lemma)).items()))

    def _gerunds(self, norm: str, lemma: str) -> list[str]:
        """The gerund of a participle: "how is it heated" asks for the heating."""
        if norm == lemma or not norm.endswith("ed"):
            return []
        return [w for w in (f"{lemma}ing", f"{lemma.removesuffix('e')}ing") if w in self.terms_of_word]

    def _longer_codes(self, norm: str) -> list[str]:
        """Words that end with a code."""
        is_code = len(norm) >= MIN_CODE_LETTERS and norm[-1].isdigit() and not norm[0].isdigit()
        return [w for w in self.vocabulary if w.endswith(norm) and w != norm] if is_code else []

    def _same_stem(self, lemma: str) -> list[str]:
        """Words that share a long beginning."""
        if len(lemma) < MIN_STEM_WORD_LETTERS:
            return []
        return [w for w in self._by_prefix.get(lemma[:STEM_PREFIX_LETTERS], ()) if _has_same_stem(w, lemma)]

    def _spellings(self, norm: str, lemma: str) -> dict[str, float]:
        """The most similar words to one that is not English."""
        is_word = len(norm) >= MIN_MISSPELT_WORD_LETTERS and norm.isalpha()
        if not is_word or simplemma.is_known(norm, lang="en"):
            return {}
        stems = (lemma.removesuffix(ending) for ending in phrase_list("linking", "verb_endings"))
        found: dict[str, float] = {}
        for form in {lemma, *(stem for stem in stems if len(stem) >= MIN_STEM_WORD_LETTERS)}:
            similar = process.extract(
                form, self.vocabulary, scorer=fuzz.ratio, limit=MAX_SPELLINGS, score_cutoff=MIN_SPELLING_RATIO
            )
            for word, ratio, _ in similar:
                found[word] = max(found.get(word, 0.0), SPELLING_SCORE * ratio / 100)
        return found


def _terms_of_word(terms: Sequence[SchemaTerm]) -> Mapping[str, Sequence[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, term in enumerate(terms):
        for place, word in enumerate(term.words):
            found[word].append((index, place))
    return dict(found)


def _has_same_stem(one: str, other: str) -> bool:
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return shared >= max(MIN_STEM_WORD_LETTERS - 1, MIN_STEM_SHARE * max(len(one), len(other)))
