"""Compare sentences with a question: ExpectedAnswer + sentences -> SentenceMatches, the best first."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from nacre.language.tokens import Token, tokenize
from nacre.records.evidence import EvidenceSentence
from nacre.texts.expected_answer import ExpectedAnswer, QuestionWord, is_same_word
from nacre.texts.spans import match_question_words

# sentences whose spans are ranked, those with most of the question's words first
MAX_SENTENCES = 16
# characters between two sentences that follow each other in a document, at most
MAX_SENTENCE_GAP = 4


class SentenceMatch(NamedTuple):
    """A sentence compared with the question.

    `places` are the places of the question's words among its `tokens`. `own`, `titled` and `before` are the weighted
    shares of these words in the sentence, in its title and in the sentence before it (0..1). `lacking` is the share of
    the question's names in none of the three, `unsaid` the number of its words in none of them. `another` tells whether
    the sentence or its title names something else.
    """

    sentence: int
    tokens: tuple[Token, ...]
    places: Mapping[int, Sequence[int]]
    own: float
    titled: float
    before: float
    lacking: float
    another: bool
    unsaid: int

    @property
    def total(self) -> float:
        return self.own + self.titled + self.before


def match_sentences(want: ExpectedAnswer, sentences: Sequence[EvidenceSentence]) -> list[SentenceMatch]:
    """The sentences that share words with the question, those with most first."""
    texts = [_tokens(each.text) for each in sentences]
    titles = [_tokens(each.title) for each in sentences]
    previous = _previous_sentences(sentences)
    own = [match_question_words(each, want) for each in texts]
    frequency = Counter(i for places in own for i in places)
    total = len(sentences) + 1
    weights = [math.log(1 + total / (1 + frequency[i])) for i in range(len(want.words))]
    whole = sum(weights) or 1.0
    names = [i for i, word in enumerate(want.words) if word.name]
    matches = []
    for index, places in enumerate(own):
        titled = {i for i, w in enumerate(want.words) if i not in places and _has_word(titles[index], w)}
        other = texts[previous[index]] if index in previous else ()
        before = {i for i, w in enumerate(want.words) if i not in places and i not in titled and _has_word(other, w)}
        known = places.keys() | titled | before
        lacking = sum(i not in known for i in names) / len(names) if names else 0.0
        own_share, titled_share, before_share = (
            sum(weights[i] for i in part) / whole for part in (places, titled, before)
        )
        another = _names_another(sentences[index], texts[index], want)
        unsaid = len(want.words) - len(known)
        matches.append(
            SentenceMatch(index, texts[index], places, own_share, titled_share, before_share, lacking, another, unsaid)
        )
    ranked = sorted(
        (match for match in matches if match.total), key=lambda each: (-each.total, -each.own, each.sentence)
    )
    return ranked[:MAX_SENTENCES]


def is_new_name(token: Token, want: ExpectedAnswer) -> bool:
    """Whether a capitalised word does not occur in the question."""
    return token.text[0].isupper() and token.norm not in want.forms


def _names_another(sentence: EvidenceSentence, tokens: Sequence[Token], want: ExpectedAnswer) -> bool:
    """Whether a sentence or its title names something that the question does not name."""
    within = any(is_new_name(token, want) for token in tokens[1:])
    return within or any(is_new_name(token, want) for token in _tokens(sentence.title))


def _has_word(tokens: Sequence[Token], word: QuestionWord) -> bool:
    return any(is_same_word(word, token) for token in tokens)


def _previous_sentences(sentences: Sequence[EvidenceSentence]) -> dict[int, int]:
    """For each sentence the sentence before it in its document, if that is among them."""
    ends: dict[tuple[str | None, int], int] = {
        (each.document, each.end): i for i, each in enumerate(sentences) if each.document is not None
    }
    previous = {}
    for i, each in enumerate(sentences):
        for gap in range(MAX_SENTENCE_GAP):
            other = ends.get((each.document, each.start - gap))
            if other is not None and other != i:
                previous[i] = other
                break
    return previous


@lru_cache(8192)
def _tokens(text: str) -> tuple[Token, ...]:
    return tuple(tokenize(text))
