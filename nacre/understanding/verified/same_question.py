"""Whether a question is a verified one, up to case, punctuation and slips of typing: questions -> bool."""

from collections.abc import Sequence
from functools import lru_cache

import simplemma
from rapidfuzz.distance import OSA

from nacre.language.courtesy import strip_courtesy
from nacre.language.tokens import Token, tokenize
from nacre.records.verified_question import VerifiedQuestion, normalised_question
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.question.types import Question

# letters of a word that may have a slip (given)
MIN_LETTERS = 4
# questions whose tokens are kept (given)
CACHED_TEXTS = 2048


def is_same_question(verified: VerifiedQuestion, text: str, question: Question, lexicon: Lexicon) -> bool:
    """Whether the words are the same. One letter may be wrong, missing, additional or swapped with the next in words
    that neither English nor the graph has; `question` has the words of `text`, with their spelling corrected."""
    if normalised_question(verified.standalone) == normalised_question(text):
        return True
    wanted = _plain_tokens(verified.standalone)
    return any(_have_same_words(words, wanted, lexicon) for words in (_plain_tokens(text), question.tokens))


@lru_cache(CACHED_TEXTS)
def _plain_tokens(text: str) -> tuple[Token, ...]:
    return tuple(tokenize(strip_courtesy(text)))


def _have_same_words(words: Sequence[Token], wanted: Sequence[Token], lexicon: Lexicon) -> bool:
    return len(words) == len(wanted) and all(
        word.norm == other.norm or _is_slip(word.norm, other.norm, lexicon)
        for word, other in zip(words, wanted, strict=True)
    )


def _is_slip(word: str, other: str, lexicon: Lexicon) -> bool:
    if min(len(word), len(other)) < MIN_LETTERS or not (word.isalpha() and other.isalpha()):
        return False
    if OSA.distance(word, other, score_cutoff=1) > 1 or simplemma.is_known(word, lang="en"):
        return False
    known = lexicon.word(word)
    return known is None or not known.names
