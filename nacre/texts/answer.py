"""Rank the answers that sentences of texts give: question + sentences -> TextAnswers with their probabilities.

One log-linear model chooses between all spans of all sentences and "no answer". Its weights are in
`texts/weights.json`, fitted by `python -m nacre.evaluation.learning.text_answers`. The probability of an answer is the
sum over all spans with the same value.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nacre.language.tokens import fold
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence
from nacre.texts.expected_answer import ExpectedAnswer, expect_described_thing, expected_answer
from nacre.texts.question_match import SentenceMatch, match_sentences
from nacre.texts.span_features import MAX_MISSING_WORDS, neighbour_features, span_features
from nacre.texts.spans import clause_starts, find_answer_spans, is_affirmative
from nacre.texts.value_spans import Span

TEXT_WEIGHTS_FILE = Path(__file__).with_name("weights.json")


class TextWeights(NamedTuple):
    """The weights of the `features`; out of fold, 90 % of the answers above the `threshold` were right."""

    threshold: float
    features: Mapping[str, float]


class SpanCandidate(NamedTuple):
    """A span with its named features, and the index of its sentence."""

    sentence: int
    span: Span
    features: Mapping[str, float]


class TextAnswer(NamedTuple):
    """An answer as data, the index of the best sentence for it and its place there in characters."""

    value: Value
    unit: str
    sentence: int
    start: int
    end: int
    probability: float


def rank_answers(question: str, sentences: Sequence[EvidenceSentence]) -> list[TextAnswer]:
    """The answers of sentences to a question, the likeliest first; empty if no span has the expected kind."""
    return rank_span_candidates(*span_candidates(expected_answer(question), sentences))


def rank_given_spans(
    clause: str, sentences: Sequence[EvidenceSentence], given: Sequence[Sequence[Span]]
) -> list[TextAnswer]:
    """The `given` spans of each sentence ranked by whether the clause is true of them, the likeliest first."""
    return rank_span_candidates(*span_candidates(expect_described_thing(clause), sentences, given))


def rank_span_candidates(candidates: Sequence[SpanCandidate], none: Mapping[str, float]) -> list[TextAnswer]:
    """The values of the candidates with their probabilities, the likeliest first; `none` are features of no answer."""
    if not candidates:
        return []
    model = text_weights()
    scores = [math.exp(_score(each.features, model.features)) for each in candidates]
    total = sum(scores) + math.exp(_score(none, model.features))
    probabilities: dict[object, float] = {}
    best: dict[object, int] = {}
    for i, each in enumerate(candidates):
        key = span_key(each.span)
        probabilities[key] = probabilities.get(key, 0.0) + scores[i] / total
        if key not in best or scores[i] > scores[best[key]]:
            best[key] = i
    ranked = sorted(best, key=lambda key: (-probabilities[key], best[key]))
    return [
        TextAnswer(span.value, span.unit, candidates[best[key]].sentence, span.start, span.end, probabilities[key])
        for key in ranked
        if (span := candidates[best[key]].span)
    ]


def span_key(span: Span) -> object:
    """A key that spans with the same value share."""
    if isinstance(span.value, str):
        return " ".join(fold(span.value).split())
    return span.value, span.unit


def span_candidates(
    want: ExpectedAnswer, sentences: Sequence[EvidenceSentence], given: Sequence[Sequence[Span]] | None = None
) -> tuple[list[SpanCandidate], dict[str, float]]:
    """All spans that may be the answer with their features, and the features of "no answer"."""
    matches = match_sentences(want, sentences)
    candidates: list[SpanCandidate] = []
    best = max((match.total for match in matches), default=0.0)
    for match in matches:
        text = sentences[match.sentence].text
        clauses = clause_starts(text)
        spans = list(given[match.sentence]) if given is not None else _spans(text, want, match, clauses)
        for span in spans:
            within = any(each != span and each.start <= span.start and span.end <= each.end for each in spans)
            features = span_features(span, want, match, clauses, best) | neighbour_features(span, match, spans)
            features |= {f"{want.kind} within": 1.0} if within else {}
            candidates.append(SpanCandidate(match.sentence, span, features))
    unsaid = min(MAX_MISSING_WORDS, min((match.unsaid for match in matches), default=MAX_MISSING_WORDS))
    return candidates, {
        "none": 1.0,
        f"none {want.kind}": 1.0,
        "none covered": best,
        "none own": max((match.own for match in matches), default=0.0),
        "none lacking": min((match.lacking for match in matches), default=1.0),
        "none unsaid": float(unsaid),
    }


@cache
def text_weights() -> TextWeights:
    """The weights of the file, read once."""
    return TextWeights(**json.loads(TEXT_WEIGHTS_FILE.read_text(encoding="utf-8")))


def _spans(text: str, want: ExpectedAnswer, match: SentenceMatch, clauses: tuple[int, ...]) -> list[Span]:
    """The spans of a sentence; for a yes/no question its clauses with a word of the question."""
    if want.kind != "yes_no":
        return find_answer_spans(text, want, match.tokens)
    affirmative = not want.negated
    ends = (*clauses[1:], len(text))
    parts = [
        Span(start, end, "part", is_affirmative(text[start:end]) == affirmative)
        for start, end in zip(clauses, ends, strict=True)
        if any(start <= match.tokens[j].start < end for places in match.places.values() for j in places)
    ]
    return parts or [Span(0, len(text), "part", is_affirmative(text) == affirmative)]


def _score(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())
