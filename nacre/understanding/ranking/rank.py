"""Rank readings by learned weights: Candidates -> RankedReadings, best first (log-linear, Pasupat and Liang 2015).

With an embedder, the similarity of the first readings in words with the question adds to their scores, but only if the
features leave open which reading is meant: embedding takes longer than everything else. Its weight was learned with the
bundled embedder, so it is used with no other.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate, unused_tokens
from nacre.understanding.question.records import Question
from nacre.understanding.ranking.features import reading_features


class RankedReading(NamedTuple):
    """A candidate with its features, its share of the belief in all candidates, and its unused tokens."""

    candidate: Candidate
    features: Mapping[str, float]
    share: float
    unused: tuple[int, ...]


@dataclass(frozen=True)
class Weights:
    """Linear models over named features, and thresholds.

    `features` ranks readings. `before` gives the log-odds that the rows of a reading are right, before it runs.
    `choice` chooses among the readings that ran, and `after` gives the log-odds for the chosen one. Of the answers with
    a probability over `threshold` after running the share `right` was right, out of fold.
    If the likeliest reading looks up a property of a named thing and gives nothing, other readings answer only if they
    have at least the share `unstated` of its belief. Rows that leave words out are refused below `refused`.
    `levels` are further thresholds after running: wanted share, threshold, share of questions above it, share of these
    that were right. `likeness` is the weight of the similarity of a reading with the question. On graphs of people who
    had seen nothing of this, fewer are right than out of fold, so that a reading is only sure from `sure`. `said` gives
    the log-odds of a chosen reading that uses all words and passes the proof, learned for those above all; with such
    log-odds, it is also sure from `said_from`.
    """

    features: Mapping[str, float]
    before: Mapping[str, float]
    choice: Mapping[str, float]
    after: Mapping[str, float]
    threshold: float
    right: float
    likeness: float
    unstated: float
    refused: float
    sure: float
    levels: Sequence[Sequence[float]] = ()
    said: Mapping[str, float] = field(default_factory=dict)
    said_from: float = 1.0


def rank_candidates(
    candidates: Sequence[Candidate],
    question: Question,
    graph: SchemaGraph,
    weights: Weights,
    similarity: Callable[[Sequence[Candidate]], Sequence[float]] | None = None,
) -> list[RankedReading]:
    """The candidates, likeliest first. Their features include how the belief is spread over all of them. `similarity`
    compares the first candidates with the question in words, if the features leave open which is meant."""
    if not candidates:
        return []
    best = max(c.derivation.prior for c in candidates)
    features = [reading_features(c, question, graph, best) for c in candidates]
    scores = [weighted_sum(f, weights.features) for f in features]
    order, shares = belief_shares(scores)
    if similarity is not None and (doubtful := doubtful_readings(order, shares)):
        similarities = similarity([candidates[i] for i in doubtful])
        order, shares = belief_shares(add_similarities(scores, doubtful, similarities, weights.likeness))
    spread = spread_features([shares[i] for i in order])
    return [
        RankedReading(candidates[i], features[i] | spread, shares[i], tuple(unused_tokens(candidates[i], question)))
        for i in order
    ]


def belief_shares(scores: Sequence[float]) -> tuple[list[int], list[float]]:
    """The positions of readings, likeliest first, and each reading's share of the belief (softmax)."""
    best = max(scores)
    shares = [math.exp(score - best) for score in scores]
    whole = math.fsum(shares)
    return sorted(range(len(scores)), key=lambda i: -scores[i]), [share / whole for share in shares]


def spread_features(shares: Sequence[float]) -> dict[str, float]:
    """How the belief is spread over readings, given likeliest first."""
    return {
        "spread readings": math.log(len(shares)),
        "spread entropy": -math.fsum(share * math.log(share + 1e-9) for share in shares),
        "spread margin": shares[0] - shares[1] if len(shares) > 1 else 1.0,
    }


def weighted_sum(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of features. A feature without a weight counts nothing."""
    return float(sum(map(mul, map(weights.get, features, repeat(0.0)), features.values())))


# A first reading with a larger share is not doubtful, and how many readings are compared (both measured with
# `python -m evaluation.learn`: 0.5 to 0.95, and 3, 5 and 8).
MAX_DOUBTED_SHARE, MAX_READINGS_COMPARED = 0.6, 3

Embed = Callable[[Sequence[str]], Sequence[Any]]


def doubtful_readings(order: Sequence[int], shares: Sequence[float]) -> list[int]:
    """The positions of the readings to compare, likeliest first. None if the first one is clear."""
    return [] if len(order) < 2 or shares[order[0]] >= MAX_DOUBTED_SHARE else list(order[:MAX_READINGS_COMPARED])


def similarities(question: str, readings: Sequence[str], embed: Embed) -> list[float]:
    """The cosine similarity of each reading with the question, minus that of the first reading."""
    if len(set(readings)) == 1:
        return [0.0] * len(readings)
    vector, *others = embed([question, *readings])
    found = [float(vector @ other) for other in others]
    return [similarity - found[0] for similarity in found]


def level_same_names(parses: Sequence[object], similarities: Sequence[float]) -> list[float]:
    """The similarities, made equal for readings with an equal parse. They differ only in which thing of one name they
    mean, a book or a film, and the labels of their classes must not decide that."""
    return [max(other for parse, other in zip(parses, similarities, strict=True) if parse == own) for own in parses]


def add_similarities(
    scores: Sequence[float], places: Sequence[int], similarities: Sequence[float], weight: float
) -> list[float]:
    """The scores, with the weighted similarity added at some positions."""
    added = dict(zip(places, similarities, strict=True))
    return [score + weight * added[i] if i in added else score for i, score in enumerate(scores)]


WEIGHTS_FILE = Path(__file__).with_name("weights.json")


@cache
def load_weights() -> Weights:
    """The weights, read once. `python -m evaluation.learn` writes the file."""
    return Weights(**json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))
