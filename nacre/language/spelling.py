"""Correct the spelling of a question by the words of a graph and of English: question -> question."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import simplemma
from rapidfuzz import process
from rapidfuzz.distance import OSA

from nacre.language.base import language, word_list
from nacre.language.thesaurus import english_data, function_words, superlative_spellings, vocabulary
from nacre.language.tokens import Token, lemma, tokenize
from nacre.stores.sqlite.lexicon import Lexicon

# letters of a word in which one edit is corrected, and of one in which two are
MIN_LETTERS, MIN_LETTERS_OF_TWO_EDITS = 4, 9
# endings of a plural and of its singular
_PLURAL_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""))


class SpellingCorrector:
    """Corrects questions about one graph: to the words of its names first, then to words of English."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def correct(self, question: str) -> str:
        """The question with misspelt words corrected one by one; words of English and of the graph stay."""
        text = question
        for token in reversed(tokenize(question)):
            correction = self._correction(token)
            if correction is not None:
                text = text[: token.start] + correction + text[token.end :]
        return text

    def _correction(self, token: Token) -> str | None:
        word = token.norm
        if word in english_data()["contracted"]:
            return str(english_data()["contracted"][word])
        if len(word) < MIN_LETTERS or not word.isalpha() or self._is_in_graph(word) or self._is_in_graph(token.lemma):
            return None
        if word in function_words() or simplemma.is_known(word, lang="en") or word in _english():
            return None
        edits = 2 if len(word) >= MIN_LETTERS_OF_TWO_EDITS else 1
        # a capitalised word that the graph does not know is a name, and no word of English
        is_name = token.start > 0 and token.text[0].isupper()
        small = _nearest(word, _function_and_cue_words(), 1) if not is_name and len(word) > MIN_LETTERS else None
        own = _nearest(word, self._graph_words_near(word), edits)
        if small is not None and small[0] == word[0]:
            # function words win over the words of any graph
            return small
        if own is not None or is_name:
            return own
        found = _nearest(word, _english_by_letter().get(word[0], ()), edits)
        # "nite" is no nine: a number is said in few letters, and changes what is asked
        return None if found in english_data()["numbers"] and len(word) <= MIN_LETTERS else found

    def graph_word_near(self, token: Token) -> Token | None:
        """The only word of the graph one edit away from a word of English; None if there are none or several."""
        word = token.norm
        if (
            len(word) < MIN_LETTERS
            or not word.isalpha()
            or word in function_words()
            or {word, token.lemma} & _english()
        ):
            return None
        near = [
            form
            for form in self._graph_words_near(word)
            if any(OSA.distance(known, form, score_cutoff=1) <= 1 for known in (word, token.lemma))
        ]
        if len({lemma(form) for form in near}) != 1:
            return None
        return tokenize(near[0])[0]

    def _is_in_graph(self, word: str) -> bool:
        known = self._lexicon.word(word)
        return known is not None and known.names > 0

    def _graph_words_near(self, word: str) -> Sequence[str]:
        """The words of names that are near a word and share its first letter, and their plurals."""
        singular = [word[: -len(ending)] + back for ending, back in _PLURAL_ENDINGS if word.endswith(ending)]
        near = {other for form in (word, *singular) for other in self._lexicon.near(form) if other.isalpha()}
        return _by_first_letter(_with_plurals(near)).get(word[0], ())


def _nearest(word: str, among: Sequence[str], edits: int) -> str | None:
    best = process.extractOne(word, among, scorer=OSA.distance, score_cutoff=edits)
    return None if best is None else str(best[0])


@cache
def _function_and_cue_words() -> Sequence[str]:
    """Function words, and the words of cues such as "altogether"."""
    cues = {word for forms in language().cues.values() for expression, _, _ in forms for word in expression}
    return sorted(function_words() | {word for word in cues if word.isalpha()})


@cache
def _english_by_letter() -> dict[str, list[str]]:
    """The words of English and their plurals by their first letter."""
    return _by_first_letter(_with_plurals(_english()))


@cache
def _english() -> frozenset[str]:
    """The words of English to which a misspelt word is corrected."""
    data = english_data()
    small: frozenset[str] = language().words["filler"] | word_list("wording", "participles")
    units = {w for w in (*data["units"], *data["currencies"], *data["numbers"]) if w.isalpha()}
    return (
        vocabulary()
        | units
        | frozenset(w for w in superlative_spellings() if simplemma.is_known(w, lang="en"))
        | frozenset(data["measures"])
        | function_words()
        | small
    )


def _with_plurals(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield word
        yield word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith(("s", "x", "ch")) else "s")


def _by_first_letter(words: Iterable[str]) -> dict[str, list[str]]:
    """Words by their first letter, which is seldom misspelt."""
    by_letter: dict[str, list[str]] = defaultdict(list)
    for word in sorted(set(words)):
        if len(word) >= MIN_LETTERS:
            by_letter[word[0]].append(word)
    return by_letter
