"""The words of the names of things: Token -> words of names that it may stand for, each with how well it fits."""

import math
from collections.abc import Mapping, Sequence

import simplemma
from rapidfuzz import fuzz, process

from nacre.language.thesaurus import gradable_adjective, synonyms
from nacre.language.tokens import Token
from nacre.stores.sqlite.lexicon import Lexicon

# A word in more than one name of so many is common, if there are some names.
COMMON_SHARE, FEW_NAMES = 5, 20
# How distinctive a word is at least.
MIN_WORD_DISTINCTIVENESS = 0.02
# How well a word fits by another form, a form that the dictionary lacks, a part of a code, and a synonym.
INFLECTED_FIT, UNLISTED_FORM_FIT, CODE_FIT, SYNONYM_FIT = 0.97, 0.95, 0.9, 0.85
# Letters of a misspelt word: in any name, and in a name of which other words are matched, at least.
MIN_SPELLING_LETTERS, MIN_MISSPELT_PART_LETTERS = 4, 5
# The similarity of the right word (rapidfuzz ratio) in the same two cases; how close others come to the best one; and
# the similarity that would fit fully.
MIN_NAME_SIMILARITY, MIN_PART_SIMILARITY, SIMILARITY_TOLERANCE, FULL_SIMILARITY = 79, 82, 4, 110
MAX_SIMILAR_WORDS = 4

# Words of names with how well they fit.
WordMatches = Mapping[str, float]


class NameWords:
    """Looks up the words of the names of things. `common` words are in so many names that they name nothing."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        # "Ltd" in a list of companies.
        self.common = (
            lexicon.frequent(lexicon.thing_name_count / COMMON_SHARE)
            if lexicon.thing_name_count >= FEW_NAMES
            else frozenset()
        )

    def contains(self, word: str) -> bool:
        """Whether the name of a thing contains a word."""
        known = self.lexicon.word(word)
        return known is not None and known.things > 0

    def is_whole_name(self, word: str) -> bool:
        """Whether a word is the whole name of a thing."""
        known = self.lexicon.word(word)
        return known is not None and known.alone

    def distinctiveness(self, word: str) -> float:
        """How well a word distinguishes things, from 0 to 1 (inverse document frequency)."""
        known = self.lexicon.word(word)
        if known is None or word in self.common:
            return MIN_WORD_DISTINCTIVENESS
        names = self.lexicon.thing_name_count + 2
        return max(MIN_WORD_DISTINCTIVENESS, math.log(names / (known.things + 1)) / math.log(names))

    def similar(self, word: str) -> list[str]:
        """The words of names that are spelt almost like a word."""
        return [near for near in self.lexicon.near(word) if self.contains(near)]

    def match(self, token: Token) -> WordMatches:
        """The words of names that a token may stand for: itself, or else the first kind of match with any result."""
        norm = token.norm
        adjective = gradable_adjective(token)
        is_verb_form = norm != token.lemma and norm.endswith(("ed", "ing"))
        if (adjective is not None and adjective.degree != "positive") or is_verb_form:
            # A verb form names nothing by its stem.
            return {norm: 1.0} if self.contains(norm) else {}
        inflected = self.lexicon.of_lemma(token.lemma)
        if self.contains(norm):
            return {norm: 1.0} | {t: INFLECTED_FIT for t in inflected if t != norm}
        if inflected or self.contains(token.lemma):
            return dict.fromkeys(inflected or [token.lemma], INFLECTED_FIT)
        codes = self.lexicon.of_part(norm) or self.lexicon.of_part(token.lemma)
        if codes:
            return dict.fromkeys(codes, CODE_FIT)
        return self._unlisted_forms(norm) or self._synonyms(token.lemma) or self._spellings(token)

    def may_be_misspelt_part(self, token: Token) -> bool:
        """Whether a token is long enough to be compared with the words of names that are partly matched."""
        return len(token.norm) >= MIN_MISSPELT_PART_LETTERS and token.norm.isalpha()

    def match_spelling(self, norm: str, words: Sequence[str]) -> WordMatches:
        """The most similar one of some words."""
        similar = process.extract(norm, words, scorer=fuzz.ratio, limit=1, score_cutoff=MIN_PART_SIMILARITY)
        return {word: ratio / FULL_SIMILARITY for word, ratio, _ in similar}

    def _unlisted_forms(self, norm: str) -> WordMatches:
        """The singular of a plural and the adjective of an adverb that the dictionary lacks."""
        if norm.endswith("s") and len(norm) > 4 and self.contains(norm[:-1]):
            return {norm[:-1]: UNLISTED_FORM_FIT}
        forms = (norm[:-2], norm[:-1]) if norm.endswith("ly") else ()
        form = next((form for form in forms if self.contains(form)), None)
        return {} if form is None else {form: UNLISTED_FORM_FIT}

    def _synonyms(self, lemma: str) -> WordMatches:
        """Synonyms that are the whole name of a thing."""
        words = (t for word in synonyms(lemma) if word != lemma for t in self.lexicon.of_lemma(word))
        return {t: SYNONYM_FIT for t in words if self.is_whole_name(t)}

    def _spellings(self, token: Token) -> WordMatches:
        """The most similar words of names, for a word that is not English."""
        norm = token.norm
        if len(norm) < MIN_SPELLING_LETTERS or not norm.isalpha() or is_dictionary_word(token):
            return {}
        words = [t for t in self.similar(norm) if len(t) >= MIN_SPELLING_LETTERS and not any(c.isdigit() for c in t)]
        similar = process.extract(
            norm, words, scorer=fuzz.ratio, limit=MAX_SIMILAR_WORDS, score_cutoff=MIN_NAME_SIMILARITY
        )
        best = similar[0][1] if similar else 0
        return {t: ratio / FULL_SIMILARITY for t, ratio, _ in similar if ratio >= best - SIMILARITY_TOLERANCE}


def is_dictionary_word(token: Token) -> bool:
    """Whether a word is in an English dictionary."""
    return bool(simplemma.is_known(token.norm, lang="en"))
