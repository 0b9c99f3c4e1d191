"""The likeliest answer that sentences of texts give: question + sentences -> TextAnswers, with their probability.

One log-linear model chooses between all spans of all sentences and "none of them" (`texts/weights.json`, fitted by
`python -m nacre.evaluation.documents.learn`): the probability of an answer is that of all spans that say it.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from nacre.records.answer import Value
from nacre.records.evidence import Sentence
from nacre.semantics.language.base import language
from nacre.semantics.texts.spans import Span, matched, parts_of, polarity, spans
from nacre.semantics.texts.wanted import Wanted, alike, wanted
from nacre.semantics.words import Token, fold, tokens

FILE = Path(__file__).with_name("weights.json")
# sentences that are looked into, those first that have most of the question's words
MOST_SENTENCES = 16
# a phrase of more words is a long one
LONG = 4
# two sentences that stand so close in a document follow each other
CLOSE = 4


class Weights(NamedTuple):
    """`features` are weights of the log-linear model. At `threshold` nine in ten answers were right out of fold."""

    threshold: float
    features: Mapping[str, float]


class Candidate(NamedTuple):
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
    title and the sentence before it say (0..1), and how many of the names in it none of these says."""

    index: int
    said: tuple[Token, ...]
    places: Mapping[int, Sequence[int]]
    own: float
    titled: float
    before: float
    lacking: float

    @property
    def whole(self) -> float:
        return self.own + self.titled + self.before


def answers(question: str, sentences: Sequence[Sentence]) -> list[TextAnswer]:
    """What sentences answer, the likeliest first; empty where there is no span of the kind that is asked for."""
    want = wanted(question)
    found, none = candidates(want, sentences)
    if not found:
        return []
    model = weights()
    worths = [math.exp(_worth(each.features, model.features)) for each in found]
    whole = sum(worths) + math.exp(_worth(none, model.features))
    chances: dict[object, float] = {}
    best: dict[object, int] = {}
    for i, each in enumerate(found):
        key = same(each.span)
        chances[key] = chances.get(key, 0.0) + worths[i] / whole
        if key not in best or worths[i] > worths[best[key]]:
            best[key] = i
    ranked = sorted(best, key=lambda key: (-chances[key], best[key]))
    return [
        TextAnswer(span.value, span.unit, found[best[key]].sentence, span.start, span.end, chances[key])
        for key in ranked
        if (span := found[best[key]].span)
    ]


def same(span: Span) -> object:
    """What two spans have in common that say the same."""
    if isinstance(span.value, str):
        return " ".join(fold(span.value).split())
    return span.value, span.unit


def candidates(want: Wanted, sentences: Sequence[Sentence]) -> tuple[list[Candidate], dict[str, float]]:
    """All spans that may be the answer, and the features of there being none."""
    reads = _reads(want, sentences)
    found: list[Candidate] = []
    best = max((read.whole for read in reads), default=0.0)
    for read in reads:
        text = sentences[read.index].text
        parts = parts_of(text)
        for span in _spans(text, want, read, parts):
            found.append(Candidate(read.index, span, _features(span, want, read, parts, best)))
    lacking = min((read.lacking for read in reads), default=1.0)
    own = max((read.own for read in reads), default=0.0)
    none = {"none": 1.0, f"none {want.kind}": 1.0, "none covered": best, "none own": own, "none lacking": lacking}
    return found, none


def _spans(text: str, want: Wanted, read: _Read, parts: tuple[int, ...]) -> list[Span]:
    if want.kind != "yes_no":
        return spans(text, want, read.said)
    affirmed = not want.denied
    ends = (*parts[1:], len(text))
    said = [
        Span(start, end, "part", polarity(text[start:end]) == affirmed)
        for start, end in zip(parts, ends, strict=True)
        if any(start <= read.said[j].start < end for places in read.places.values() for j in places)
    ]
    return said or [Span(0, len(text), "part", polarity(text) == affirmed)]


def _reads(want: Wanted, sentences: Sequence[Sentence]) -> list[_Read]:
    """The sentences that share most with the question, the best first."""
    said = [_tokens(each.text) for each in sentences]
    titles = [_tokens(each.title) for each in sentences]
    earlier = _before(sentences)
    own = [matched(each, want) for each in said]
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
        shares = [sum(weight[i] for i in places) / whole for places in (found, titled, before)]
        reads.append(_Read(index, said[index], found, *shares, lacking))
    ranked = sorted((read for read in reads if read.whole), key=lambda read: (-read.whole, -read.own, read.index))
    return ranked[:MOST_SENTENCES]


def _says(said: Sequence[Token], word: object) -> bool:
    return any(alike(word, token) for token in said)  # type: ignore[arg-type]


def _before(sentences: Sequence[Sentence]) -> dict[int, int]:
    """For each sentence the one that it follows in its document, where that is among them."""
    ends = {(each.document, each.end): i for i, each in enumerate(sentences) if each.document is not None}
    found = {}
    for i, each in enumerate(sentences):
        for gap in range(CLOSE):
            other = ends.get((each.document, each.start - gap))
            if other is not None and other != i:
                found[i] = other
                break
    return found


def _features(span: Span, want: Wanted, read: _Read, parts: tuple[int, ...], best: float) -> dict[str, float]:
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
        "long": float(last - first >= LONG),
        "after": float(bool(places) and first > max(places)),
        f"{want.kind} {span.how}": 1.0,
    }


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
    return tuple(tokens(text))


@cache
def weights() -> Weights:
    """The weights of the file, read once."""
    return Weights(**json.loads(FILE.read_text(encoding="utf-8")))
