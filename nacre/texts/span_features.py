"""The named features of a span that may be the answer: span + SentenceMatch + ExpectedAnswer -> features."""

import math
from collections.abc import Sequence

from nacre.language.base import phrase_map
from nacre.language.tokens import Token
from nacre.texts.expected_answer import ExpectedAnswer, has_superlative_word
from nacre.texts.question_match import SentenceMatch, is_new_name
from nacre.texts.value_spans import Span

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
