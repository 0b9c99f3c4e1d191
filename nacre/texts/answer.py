"""The likeliest answer that sentences of texts give: question + sentences -> TextAnswers, with their probability.

One log-linear model chooses between all spans of all sentences and "none of them" (`texts/weights.json`, fitted by
`python -m nacre.evaluation.learning.text_answers`): the probability of an answer is that of all spans that say it.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.tokens import Token, fold, tokenize
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence
from nacre.texts.expected_answer import (
    ExpectedAnswer,
    expect_described_thing,
    expected_answer,
    has_superlative_word,
    is_same_word,
)
from nacre.texts.spans import clause_starts, find_answer_spans, is_affirmative, match_question_words
from nacre.texts.value_spans import Span

TEXT_WEIGHTS_FILE = Path(__file__).with_name("weights.json")
# sentences that are looked into, those first that have most of the question's words
MAX_SENTENCES = 16
# a phrase of more words is a long one
LONG_PHRASE_WORDS = 4
MAX_MISSING_WORDS = 4
# two sentences that stand so close in a document follow each other
MAX_SENTENCE_GAP = 4


class TextWeights(NamedTuple):
    """`features` are weights of the log-linear model. At `threshold` nine in ten answers were right out of fold."""

    threshold: float
    features: Mapping[str, float]


class SpanCandidate(NamedTuple):
    """A span of the sentence at a place among those given, and its named features."""

    sentence: int
    span: Span
    features: Mapping[str, float]


class TextAnswer(NamedTuple):
    """An answer as data, with the sentence that gives it best and the place of the words in it (characters)."""

    value: Value
    unit: str
    sentence: int
    start: int
    end: int
    probability: float


class _Read(NamedTuple):
    """A sentence as the question sees it: its words, where it says words of the question, and how much of them it, its
    title and the sentence before it say (0..1), how many of the names in it none of these says (0..1), and whether it
    or its title names something else; `unsaid` words of the question none of these has."""

    place: int
    said: tuple[Token, ...]
    places: Mapping[int, Sequence[int]]
    own: float
    titled: float
    before: float
    lacking: float
    another: bool
    unsaid: int

    @property
    def whole(self) -> float:
        return self.own + self.titled + self.before


def rank_answers(question: str, sentences: Sequence[EvidenceSentence]) -> list[TextAnswer]:
    """What sentences answer, the likeliest first; empty where there is no span of the kind that is asked for."""
    return rank_span_candidates(*span_candidates(expected_answer(question), sentences))


def rank_given_spans(
    clause: str, sentences: Sequence[EvidenceSentence], given: Sequence[Sequence[Span]]
) -> list[TextAnswer]:
    """Of which of the spans `given` for each sentence the sentences say what a clause says, the likeliest first."""
    return rank_span_candidates(*span_candidates(expect_described_thing(clause), sentences, given))


def rank_span_candidates(found: Sequence[SpanCandidate], none: Mapping[str, float]) -> list[TextAnswer]:
    """The values of candidates with their probabilities, the likeliest first."""
    if not found:
        return []
    model = text_weights()
    worths = [math.exp(_worth(each.features, model.features)) for each in found]
    whole = sum(worths) + math.exp(_worth(none, model.features))
    chances: dict[object, float] = {}
    best: dict[object, int] = {}
    for i, each in enumerate(found):
        key = span_key(each.span)
        chances[key] = chances.get(key, 0.0) + worths[i] / whole
        if key not in best or worths[i] > worths[best[key]]:
            best[key] = i
    ranked = sorted(best, key=lambda key: (-chances[key], best[key]))
    return [
        TextAnswer(span.value, span.unit, found[best[key]].sentence, span.start, span.end, chances[key])
        for key in ranked
        if (span := found[best[key]].span)
    ]


def span_key(span: Span) -> object:
    """What two spans have in common that say the same."""
    if isinstance(span.value, str):
        return " ".join(fold(span.value).split())
    return span.value, span.unit


def span_candidates(
    want: ExpectedAnswer, sentences: Sequence[EvidenceSentence], given: Sequence[Sequence[Span]] | None = None
) -> tuple[list[SpanCandidate], dict[str, float]]:
    """All spans that may be the answer, and the features of there being none."""
    reads = _reads(want, sentences)
    found: list[SpanCandidate] = []
    best = max((read.whole for read in reads), default=0.0)
    for read in reads:
        text = sentences[read.place].text
        parts = clause_starts(text)
        own = list(given[read.place]) if given is not None else _spans(text, want, read, parts)
        for span in own:
            within = any(each != span and each.start <= span.start and span.end <= each.end for each in own)
            features = _features(span, want, read, parts, best) | _beside(span, read, own)
            features |= {f"{want.kind} within": 1.0} if within else {}
            found.append(SpanCandidate(read.place, span, features))
    lacking = min((read.lacking for read in reads), default=1.0)
    unsaid = float(min(MAX_MISSING_WORDS, min((read.unsaid for read in reads), default=MAX_MISSING_WORDS)))
    most = max((read.own for read in reads), default=0.0)
    none = {"none": 1.0, f"none {want.kind}": 1.0, "none covered": best, "none own": most, "none lacking": lacking}
    none["none unsaid"] = unsaid
    return found, none


def _spans(text: str, want: ExpectedAnswer, read: _Read, parts: tuple[int, ...]) -> list[Span]:
    if want.kind != "yes_no":
        return find_answer_spans(text, want, read.said)
    affirmed = not want.denied
    ends = (*parts[1:], len(text))
    said = [
        Span(start, end, "part", is_affirmative(text[start:end]) == affirmed)
        for start, end in zip(parts, ends, strict=True)
        if any(start <= read.said[j].start < end for places in read.places.values() for j in places)
    ]
    return said or [Span(0, len(text), "part", is_affirmative(text) == affirmed)]


def _reads(want: ExpectedAnswer, sentences: Sequence[EvidenceSentence]) -> list[_Read]:
    """The sentences that share most with the question, the best first."""
    said = [_tokens(each.text) for each in sentences]
    titles = [_tokens(each.title) for each in sentences]
    earlier = _before(sentences)
    own = [match_question_words(each, want) for each in said]
    total = len(sentences) + 1
    frequency = Counter(i for found in own for i in found)
    weight = [math.log(1 + total / (1 + frequency[i])) for i in range(len(want.words))]
    whole = sum(weight) or 1.0
    names = [i for i, word in enumerate(want.words) if word.name]
    reads = []
    for index, found in enumerate(own):
        titled = {i for i, w in enumerate(want.words) if i not in found and _says(titles[index], w)}
        previous = said[earlier[index]] if index in earlier else ()
        before = {i for i, w in enumerate(want.words) if i not in found and i not in titled and _says(previous, w)}
        known = found.keys() | titled | before
        lacking = sum(i not in known for i in names) / len(names) if names else 0.0
        own_share, titled_share, before_share = (sum(weight[i] for i in p) / whole for p in (found, titled, before))
        another = _names_another(sentences[index], said[index], want)
        unsaid = len(want.words) - len(known)
        reads.append(_Read(index, said[index], found, own_share, titled_share, before_share, lacking, another, unsaid))
    ranked = sorted((read for read in reads if read.whole), key=lambda read: (-read.whole, -read.own, read.place))
    return ranked[:MAX_SENTENCES]


def _names_another(sentence: EvidenceSentence, said: Sequence[Token], want: ExpectedAnswer) -> bool:
    """Whether a sentence or its title names something that the question does not."""
    inside = any(token.text[0].isupper() and token.norm not in want.asked for token in said[1:])
    return inside or any(token.norm not in want.asked and token.text[0].isupper() for token in _tokens(sentence.title))


def _says(said: Sequence[Token], word: object) -> bool:
    return any(is_same_word(word, token) for token in said)  # type: ignore[arg-type]


def _before(sentences: Sequence[EvidenceSentence]) -> dict[int, int]:
    """For each sentence the one that it follows in its document, where that is among them."""
    ends: dict[tuple[str | None, int], int] = {
        (each.document, each.end): i for i, each in enumerate(sentences) if each.document is not None
    }
    found = {}
    for i, each in enumerate(sentences):
        for gap in range(MAX_SENTENCE_GAP):
            other = ends.get((each.document, each.start - gap))
            if other is not None and other != i:
                found[i] = other
                break
    return found


def _features(span: Span, want: ExpectedAnswer, read: _Read, parts: tuple[int, ...], best: float) -> dict[str, float]:
    first, last = _tokens_of(span, read.said)
    part = max(start for start in parts if start <= span.start)
    after = min((start for start in parts if start > span.start), default=math.inf)
    places = [j for found in read.places.values() for j in found]
    here = sum(any(part <= read.said[j].start < after for j in found) for found in read.places.values())
    distances = [min(_distance(j, first, last) for j in found) for found in read.places.values()]
    noun = [j for j, token in enumerate(read.said) if token.lemma in want.noun]
    near = min((_distance(j, first, last) for j in noun), default=None)
    names = [j for i, found in read.places.items() if want.words[i].name for j in found]
    named = min((_distance(j, first, last) for j in names), default=None)
    previous = read.said[first - 1].norm if first else ""
    cues = language().phrases["before"].get(want.kind, ())
    return {
        "own": read.own,
        "titled": read.titled,
        "before": read.before,
        "lacking": read.lacking,
        "lacks a name": float(read.lacking > 0),
        "tells of another": float(read.lacking > 0 and read.another),
        "name elsewhere": float(bool(names) and not any(part <= read.said[j].start < after for j in names)),
        "lacks the top": float(want.top and not has_superlative_word(read.said)),
        "unsaid": float(min(MAX_MISSING_WORDS, read.unsaid)),
        "another instead": float(_is_of_another(first, last, want, read)),
        "best": float(read.whole >= best - 1e-9),
        "here": here / len(read.places) if read.places else 0.0,
        "near": 1 / (1 + min(distances)) if distances and span.how != "part" else 0.0,
        "nearness": sum(1 / (1 + d) for d in distances) / len(want.words) if want.words and span.how != "part" else 0.0,
        "noun": 1 / (1 + near) if near is not None and want.kind != "yes_no" else 0.0,
        "noun next": float(near is not None and near <= 1),
        "no noun": float(bool(want.noun) and not noun),
        "name near": 1 / (1 + named) if named is not None and span.how != "part" else 0.0,
        "nothing own": float(read.own == 0),
        "cue": float(previous in cues),
        "shared": sum(read.said[j].norm in want.asked for j in range(first, last + 1)) / (last - first + 1),
        f"{want.kind} the": float(previous == "the"),
        "long": float(last - first >= LONG_PHRASE_WORDS and span.how != "part"),
        "after": float(bool(places) and first > max(places)),
        f"{want.kind} {span.how}": 1.0,
    }


def _beside(span: Span, read: _Read, own: Sequence[Span]) -> dict[str, float]:
    """How many of the question's words stand between this span and the one before it, and the one after it, of those
    that may be the answer in the same sentence (0..1)."""
    others = [each for each in own if each.end <= span.start or span.end <= each.start]
    if not others or not read.places:
        return {}
    before = max((each.end for each in others if each.end <= span.start), default=0)
    after = min((each.start for each in others if span.end <= each.start), default=math.inf)
    starts = [[read.said[j].start for j in found] for found in read.places.values()]
    leads = sum(any(before <= start < span.start for start in found) for found in starts)
    follows = sum(any(span.end <= start < after for start in found) for found in starts)
    return {"leads": leads / len(starts), "follows": follows / len(starts)}


def _is_of_another(first: int, last: int, want: ExpectedAnswer, read: _Read) -> bool:
    """Whether a sentence that does not name what the question names, though its title may, names something else."""
    if not any(word.name for word in want.words) or any(want.words[i].name for i in read.places):
        return False
    beside = (token for j, token in enumerate(read.said) if j and not first <= j <= last)
    return any(token.text[0].isupper() and token.norm not in want.asked for token in beside)


def _tokens_of(span: Span, said: Sequence[Token]) -> tuple[int, int]:
    inside = [j for j, token in enumerate(said) if token.start < span.end and span.start < token.end]
    return (inside[0], inside[-1]) if inside else (0, 0)


def _distance(place: int, first: int, last: int) -> int:
    """Words between a place and a span; within it 0."""
    return max(first - place, place - last, 0)


def _worth(features: Mapping[str, float], model: Mapping[str, float]) -> float:
    return sum(model.get(name, 0.0) * value for name, value in features.items())


@lru_cache(8192)
def _tokens(text: str) -> tuple[Token, ...]:
    return tuple(tokenize(text))


@cache
def text_weights() -> TextWeights:
    """The weights of the file, read once."""
    return TextWeights(**json.loads(TEXT_WEIGHTS_FILE.read_text(encoding="utf-8")))
