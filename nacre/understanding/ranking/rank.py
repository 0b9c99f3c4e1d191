"""Rank readings by learned weights: Candidates -> RankedReadings, best first (log-linear, Pasupat and Liang 2015)."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import mul
from typing import NamedTuple

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Question
from nacre.understanding.ranking.features import reading_features
from nacre.understanding.ranking.similarity import add_similarities, doubtful_readings
from nacre.understanding.ranking.weights import Weights


class RankedReading(NamedTuple):
    """A candidate with its features, its share of the belief in all candidates, and its unused tokens."""

    candidate: Candidate
    features: Mapping[str, float]
    share: float
    unused: tuple[int, ...]


def rank_candidates(
    candidates: Sequence[Candidate],
    question: Question,
    graph: SchemaGraph,
    weights: Weights,
    similarity: Callable[[Sequence[Candidate]], Sequence[float]] | None = None,
) -> list[RankedReading]:
    """The candidates, likeliest first. Their features include how the belief is spread over all of them.

    `similarity` compares the first candidates with the question in words, if the features leave open which is meant.
    """
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
    """The positions of readings, likeliest first, and each reading's share of the belief (softmax).

    >>> belief_shares([0.0, 0.0])
    ([0, 1], [0.5, 0.5])
    """
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
    """The weighted sum of features. A feature without a weight counts nothing.

    >>> weighted_sum({"a": 2.0, "new": 1.0}, {"a": 0.5})
    1.0
    """
    return float(sum(map(mul, map(weights.get, features, repeat(0.0)), features.values())))
