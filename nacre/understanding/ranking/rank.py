"""Order readings by learned weights: Candidates -> RankedReading, best first (log-linear, Pasupat and Liang 2015)."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import mul
from typing import NamedTuple

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.question.types import Question
from nacre.understanding.ranking.features import reading_features
from nacre.understanding.ranking.similarity import add_similarities, doubtful_readings
from nacre.understanding.ranking.weights import Weights


class RankedReading(NamedTuple):
    """A reading with its features, its share of the belief in all readings, and its unused words."""

    candidate: Candidate
    found: Mapping[str, float]
    share: float
    unused: tuple[int, ...]


def rank_candidates(
    candidates: Sequence[Candidate],
    question: Question,
    graph: SchemaGraph,
    learned: Weights,
    like: Callable[[Sequence[Candidate]], Sequence[float]] | None = None,
) -> list[RankedReading]:
    """The readings, likeliest first; their features say how the belief is spread as well. `like` says how like the
    question the first of them are in words, where the features leave it open which is meant."""
    if not candidates:
        return []
    best = max(c.derivation.prior for c in candidates)
    found = [reading_features(c, question, graph, best) for c in candidates]
    scores = [weighted_sum(f, learned.features) for f in found]
    order, shares = belief_shares(scores)
    if like is not None and (open_ := doubtful_readings(order, shares)):
        order, shares = belief_shares(
            add_similarities(scores, open_, like([candidates[i] for i in open_]), learned.likeness)
        )
    spread = spread_features([shares[i] for i in order])
    return [
        RankedReading(candidates[i], found[i] | spread, shares[i], tuple(unused_tokens(candidates[i], question)))
        for i in order
    ]


def belief_shares(scores: Sequence[float]) -> tuple[list[int], list[float]]:
    """The places of readings, likeliest first, and each reading's share of the belief.

    >>> belief_shares([0.0, 0.0])
    ([0, 1], [0.5, 0.5])
    """
    best = max(scores)
    shares = [math.exp(score - best) for score in scores]
    whole = math.fsum(shares)
    return sorted(range(len(scores)), key=lambda i: -scores[i]), [share / whole for share in shares]


def spread_features(shares: Sequence[float]) -> dict[str, float]:
    """How the belief is spread over readings, likeliest first."""
    return {
        "spread readings": math.log(len(shares)),
        "spread entropy": -math.fsum(share * math.log(share + 1e-9) for share in shares),
        "spread margin": shares[0] - shares[1] if len(shares) > 1 else 1.0,
    }


def weighted_sum(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of features.

    >>> weighted_sum({"a": 2.0, "new": 1.0}, {"a": 0.5})
    1.0
    """
    return float(sum(map(mul, map(weights.get, found, repeat(0.0)), found.values())))
