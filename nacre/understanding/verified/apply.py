"""Use verified questions: Understanding + VerifiedQuestions -> Understanding with their reading, and examples."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import simplemma
from rapidfuzz.distance import OSA

from nacre.language.small_talk import strip_courtesy
from nacre.language.tokens import Token, tokenize
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding, VerifiedMatch
from nacre.records.verified_question import VerifiedQuestion, normalised_question
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.link_mentions import Linker
from nacre.understanding.parse_question import expected_kind
from nacre.understanding.question.records import Link, Question
from nacre.understanding.ranking.probabilities import MAX_LOG_ODDS, MAX_READINGS
from nacre.understanding.verified.offer import (
    LIKELY,
    Offer,
    merge_offer,
    offers,
    standing_offer,
)
from nacre.understanding.verified.template import template_of
from nacre.wording.plan_phrases import verbalise_plan

# verified questions that a model sees (given)
MAX_EXAMPLES = 3

# letters of a word that may have a slip (given)
MIN_LETTERS = 4

# questions whose tokens are kept (given)
CACHED_TEXTS = 2048


def apply_verified(
    understanding: Understanding,
    verified: Sequence[VerifiedQuestion],
    text: str,
    question: Question,
    links: Sequence[Link],
    linker: Linker,
) -> Understanding:
    """The understanding with what verified questions say, the most similar of them given first.

    The same question is a match; its plan comes first and is certain. Otherwise the likeliest plan of a similar
    question is one more reading.
    """
    if not verified:
        return understanding
    schema = linker.schema
    same = next((each for each in verified if _is_same_question(each, text, question, linker.lexicon)), None)
    if same is not None:
        return _with_match(replace(understanding, examples=(same,)), same, schema)
    found = offers(verified, question, links, understanding.readings, linker.index.graph)
    understanding = replace(understanding, examples=_examples(found, verified))
    best = standing_offer(found, question, links, linker.index.graph)
    readings = merge_offer(best, understanding.readings, schema, MAX_READINGS)
    if best is None or readings == understanding.readings:
        return understanding
    expected = expected_kind(readings[0].plan.body, schema)
    if readings[0].plan.body != best.alignment.plan.body or best.probability < LIKELY:
        return replace(understanding, readings=readings, expected=expected)
    # what its words mean is known from the verified question
    return replace(understanding, readings=readings, expected=expected, unknown=(), absent=(), unstated=None)


def _with_match(understanding: Understanding, same: VerifiedQuestion, schema: Schema) -> Understanding:
    query = (same.query["tool"], same.query["text"]) if same.query else ("", "")
    match = VerifiedMatch(same.id, same.by, same.at, same.standalone, *query)
    template = template_of(same, schema)
    if template is None:
        return replace(understanding, verified=match) if same.query else understanding
    plan = template.plan
    reading = Reading(plan, 1.0, 1.0, verbalise_plan(plan, schema), 1.0, (), MAX_LOG_ODDS)
    others = tuple(each for each in understanding.readings if each.plan.body != plan.body)
    return replace(
        understanding,
        readings=(reading, *others)[:MAX_READINGS],
        expected=expected_kind(plan.body, schema),
        unknown=(),
        absent=(),
        unstated=None,
        verified=match,
    )


def _examples(found: Sequence[Offer], verified: Sequence[VerifiedQuestion]) -> tuple[VerifiedQuestion, ...]:
    """The nearest verified questions: the likeliest offers, then the others in their order."""
    nearest = [offer.verified for offer in found]
    return tuple([*nearest, *(each for each in verified if each not in nearest)][:MAX_EXAMPLES])


def _is_same_question(verified: VerifiedQuestion, text: str, question: Question, lexicon: Lexicon) -> bool:
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
