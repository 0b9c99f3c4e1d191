"""The likeliest answer that sentences of documents give, as a sentence: question + evidence -> DraftFromText.

In order: the draft, the ranking (question + sentences -> TextAnswers with their probabilities), the features of a
span, sentences compared with a question. One log-linear model chooses between all spans of all sentences and "no
answer". Its weights are in `texts/weights.json`, fitted by `python -m evaluation.learn_text_answers`. The probability
of an answer is the sum over all spans with the same value."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from agents.answering.draft import DraftFromText
from agents.answering.select_answer import indexed_sentences
from nacre.extensions.texts.spans import (
    ExpectedAnswer,
    QuestionWord,
    Span,
    clause_starts,
    expected_answer,
    find_answer_spans,
    has_superlative_word,
    is_affirmative,
    is_same_word,
    match_question_words,
)
from nacre.language.data import phrase_map, word_list
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, fold, tokenize
from nacre.language.values import append_unit
from nacre.records.answer import Value
from nacre.records.evidence import Evidence, EvidenceSentence


def best_text_answer(question: str, evidence: Sequence[Evidence]) -> DraftFromText | None:
    """The likeliest answer among the sentences of documents; None if none of them answers.

    It answers the question, or the question with a thing of the graph in the place of a phrase that describes it.
    """
    sentences = [(i, each) for i, each in indexed_sentences(evidence) if each.document is not None]
    drafts = [_answer(question, [(i, each) for i, each in sentences if each.joined is None or each.joined.basis])]
    for joined in dict.fromkeys(
        each.joined for _, each in sentences if each.joined is not None and not each.joined.basis
    ):
        basis = [i for i, each in enumerate(evidence) if each.joined == replace(joined, basis=True)]
        other = _answer(joined.question, [(i, each) for i, each in sentences if each.joined == joined])
        if other is not None:
            chance = other.probability * joined.chance
            known = replace(other, evidence=(*other.evidence, *basis), probability=chance, is_reason=False)
            drafts.append(replace(known, is_sure=chance >= text_weights().threshold))
    return max(filter(None, drafts), key=lambda each: each.probability, default=None)


def _answer(question: str, candidates: Sequence[tuple[int, EvidenceSentence]]) -> DraftFromText | None:
    distinct = {(each.document, each.start, each.end, each.text): i for i, each in reversed(candidates)}
    chosen = sorted(distinct.values())
    sentences = [each for i, each in candidates if i in set(chosen)]
    ranked = rank_answers(question, sentences)
    if not ranked:
        return None
    best = ranked[0]
    sentence = sentences[best.sentence]
    is_sure, is_reason = best.probability >= text_weights().threshold, expected_answer(question).kind == "reason"
    text, place = sentence_phrase(best, sentence), (chosen[best.sentence],)
    return DraftFromText(text, place, best.value, best.unit, best.probability, is_sure, is_reason)


class TextAnswer(NamedTuple):
    """An answer as data, the index of the best sentence for it and its place there in characters."""

    value: Value
    unit: str
    sentence: int
    start: int
    end: int
    probability: float


def sentence_phrase(answer: TextAnswer, sentence: EvidenceSentence) -> str:
    """The sentence; before it the answer if the sentence has it in another form, or its title if it starts with a
    pronoun.

    >>> sentence = EvidenceSentence("lexical", 1, "It slides by 13 centimetres.", "The bench")
    >>> sentence_phrase(TextAnswer(13, "cm", 0, 13, 27, 0.9), sentence)
    '13 cm: The bench: It slides by 13 centimetres.'
    """
    text = quote_line(sentence.text)
    first = next(iter(tokenize(text)), None)
    if (
        sentence.title
        and first is not None
        and first.norm in function_words()
        and first.norm in word_list("answering", "title_pronouns")
    ):
        text = f"{quote_line(sentence.title)}: {text}"
    if isinstance(answer.value, bool):
        return f"{'Yes' if answer.value else 'No'}: {text}"
    wording = sentence.text[answer.start : answer.end]
    is_other = answer.unit and isinstance(answer.value, int | float) and answer.unit not in wording
    # a unit in words: "13 centimetres"
    if is_other and any(len(token.text) > 3 and token.text.isalpha() for token in tokenize(wording)):
        return f"{append_unit(f'{answer.value:,}', answer.unit)}: {text}"
    return text


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


def rank_answers(question: str, sentences: Sequence[EvidenceSentence]) -> list[TextAnswer]:
    """The answers of sentences to a question, the likeliest first; empty if no span has the expected kind."""
    return rank_span_candidates(*span_candidates(expected_answer(question), sentences))


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


# a phrase with more words is long
LONG_PHRASE_WORDS = 4

MAX_MISSING_WORDS = 4


def span_features(
    span: Span, want: ExpectedAnswer, match: SentenceMatch, clauses: tuple[int, ...], best: float
) -> dict[str, float]:
    """The named features of a span, without those of the spans beside it."""
    first, last = _token_range(span, match.tokens)
    clause = max(start for start in clauses if start <= span.start)
    clause_end = min((start for start in clauses if start > span.start), default=math.inf)

    def is_in_clause(place: int) -> bool:
        return clause <= match.tokens[place].start < clause_end

    is_part = span.how == "part"
    all_places = [j for places in match.places.values() for j in places]
    here = sum(any(map(is_in_clause, places)) for places in match.places.values())
    distances = [min(_distance(j, first, last) for j in places) for places in match.places.values()]
    nouns = [j for j, token in enumerate(match.tokens) if token.lemma in want.noun]
    noun_distance = min((_distance(j, first, last) for j in nouns), default=None)
    names = [j for i, places in match.places.items() if want.words[i].name for j in places]
    name_distance = min((_distance(j, first, last) for j in names), default=None)
    previous = match.tokens[first - 1].norm if first else ""
    introductions = phrase_map("texts", "before").get(want.kind, ())
    nearness = sum(1 / (1 + d) for d in distances)
    return {
        "own": match.own,
        "titled": match.titled,
        "before": match.before,
        "lacking": match.lacking,
        "lacks a name": float(match.lacking > 0),
        "tells of another": float(match.lacking > 0 and match.another),
        "name elsewhere": float(bool(names) and not any(map(is_in_clause, names))),
        "lacks the top": float(want.superlative and not has_superlative_word(match.tokens)),
        "unsaid": float(min(MAX_MISSING_WORDS, match.unsaid)),
        "another instead": float(_is_about_another(first, last, want, match)),
        "best": float(match.total >= best - 1e-9),
        "here": here / len(match.places) if match.places else 0.0,
        "near": 1 / (1 + min(distances)) if distances and not is_part else 0.0,
        "nearness": nearness / len(want.words) if want.words and not is_part else 0.0,
        "noun": 1 / (1 + noun_distance) if noun_distance is not None and want.kind != "yes_no" else 0.0,
        "noun next": float(noun_distance is not None and noun_distance <= 1),
        "no noun": float(bool(want.noun) and not nouns),
        "name near": 1 / (1 + name_distance) if name_distance is not None and not is_part else 0.0,
        "nothing own": float(match.own == 0),
        "cue": float(previous in introductions),
        "shared": sum(match.tokens[j].norm in want.forms for j in range(first, last + 1)) / (last - first + 1),
        f"{want.kind} the": float(previous == "the"),
        "long": float(last - first >= LONG_PHRASE_WORDS and not is_part),
        "after": float(bool(all_places) and first > max(all_places)),
        f"{want.kind} {span.how}": 1.0,
    }


def neighbour_features(span: Span, match: SentenceMatch, spans: Sequence[Span]) -> dict[str, float]:
    """The shares of the question's words between this span and the span before it, and the span after it (0..1)."""
    others = [each for each in spans if each.end <= span.start or span.end <= each.start]
    if not others or not match.places:
        return {}
    before = max((each.end for each in others if each.end <= span.start), default=0)
    after = min((each.start for each in others if span.end <= each.start), default=math.inf)
    starts = [[match.tokens[j].start for j in places] for places in match.places.values()]
    leads = sum(any(before <= start < span.start for start in word) for word in starts)
    follows = sum(any(span.end <= start < after for start in word) for word in starts)
    return {"leads": leads / len(starts), "follows": follows / len(starts)}


def _is_about_another(first: int, last: int, want: ExpectedAnswer, match: SentenceMatch) -> bool:
    """Whether a sentence names something else and not what the question names, whatever its title names."""
    if not any(word.name for word in want.words) or any(want.words[i].name for i in match.places):
        return False
    others = (token for j, token in enumerate(match.tokens) if j and not first <= j <= last)
    return any(is_new_name(token, want) for token in others)


def _token_range(span: Span, tokens: Sequence[Token]) -> tuple[int, int]:
    """The first and the last token of a span."""
    inside = [j for j, token in enumerate(tokens) if token.start < span.end and span.start < token.end]
    return (inside[0], inside[-1]) if inside else (0, 0)


def _distance(place: int, first: int, last: int) -> int:
    """Words between a place and a span; 0 within the span."""
    return max(first - place, place - last, 0)


# sentences whose spans are ranked, those with most of the question's words first
MAX_SENTENCES = 16

# characters between two sentences that follow each other in a document, at most
MAX_SENTENCE_GAP = 4


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
        # whether a sentence or its title names something that the question does not name
        within = any(is_new_name(token, want) for token in texts[index][1:])
        another = within or any(is_new_name(token, want) for token in _tokens(sentences[index].title))
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
