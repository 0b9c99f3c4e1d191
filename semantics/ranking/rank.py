"""Order readings by learned weights: Candidates -> Ranked, best first (log-linear, Pasupat and Liang 2015)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from semantics.linking.graph import SchemaGraph
from semantics.parsing.derive import Candidate
from semantics.ranking.features import features, unused_tokens
from semantics.types import Question


class Ranked(NamedTuple):
    """A reading with its score, its share of the belief in all readings, and its unused words."""

    candidate: Candidate
    score: float
    share: float
    unused: tuple[int, ...]


def rank(
    candidates: Sequence[Candidate], question: Question, graph: SchemaGraph, weights: Mapping[str, float]
) -> list[Ranked]:
    """The readings, likeliest first."""
    if not candidates:
        return []
    best = max(c.derivation.prior for c in candidates)
    scores = np.array([worth(features(c, question, graph, best), weights) for c in candidates])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    order = np.argsort(-scores, kind="stable")
    return [
        Ranked(candidates[i], float(scores[i]), float(shares[i]), tuple(unused_tokens(candidates[i], question)))
        for i in order
    ]


def worth(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of features.

    >>> worth({"a": 2.0, "new": 1.0}, {"a": 0.5})
    1.0
    """
    return sum(weights.get(name, 0.0) * value for name, value in found.items())
