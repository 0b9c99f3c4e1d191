"""Probabilities that rows are right: belief in a reading, and what running it gave -> 0..1 (fitted out of fold)."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from records.evidence import Cell
from records.turn import Reading, Understanding
from semantics.ranking.weights import Weights, weights

# a share that is smaller tells no more
LEAST = 1e-4
# readings that are run
MOST_RUN = 5
THOUSANDS = 1000


class Outcome(NamedTuple):
    """What running one reading gave: `values` are the distinct cells, None where it failed."""

    values: tuple[Cell, ...] | None
    rows: int = 0


def before_running(share: float, unused: int, place: int, learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, from its share of belief, unused words and place."""
    found = before_features(share, unused, place)
    return logistic(found, (learned or weights()).before)


def before_features(share: float, unused: int, place: int) -> dict[str, float]:
    """What the first probability rests on."""
    share = min(1 - LEAST, max(LEAST, share))
    return {
        "bias": 1.0,
        "logit": math.log(share / (1 - share)),
        "unused": float(min(unused, 4)),
        "something unused": float(unused > 0),
        "first": float(place == 0),
    }


def after_running(reading: Mapping[str, float], outcome: Mapping[str, float], learned: Weights | None = None) -> float:
    """The probability that rows are right, from features of the reading and of what running it gave."""
    return logistic({**reading, **outcome}, (learned or weights()).after)


def outcome_features(at: int, shares: Sequence[float], outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What running the reading at a place gave, and how much belief the others that gave the same rows have."""
    own = outcomes[at]
    same = [i for i, o in enumerate(outcomes) if o.values is not None and _signature(o) == _signature(own)]
    agreeing = min(1 - LEAST, max(LEAST, sum(shares[i] for i in same)))
    whole = max(LEAST, sum(shares[: len(outcomes)]))
    values = own.values or ()
    single = values[0] if len(values) == 1 else None
    return {
        "logit agreeing": math.log(agreeing / (1 - agreeing)),
        "agreeing of run": min(1.0, agreeing / whole),
        "others agree": float(len(same) > 1),
        "failed": float(own.values is None),
        "empty": float(own.values is not None and not values),
        "nil": float(single in (0, 0.0) and single is not None),
        "one": float(len(values) == 1),
        "few": float(2 <= len(values) <= 10),
        "many": float(len(values) > 100),
        "thousands": float(len(values) >= THOUSANDS),
        "first gave nothing": float(at > 0 and not outcomes[0].values),
    }


def choose(understanding: Understanding, outcomes: Sequence[Outcome]) -> tuple[int, float]:
    """The reading to answer with among those that were run (the first ones, in order), and its probability."""
    readings = understanding.readings[: len(outcomes)]
    probabilities = probabilities_after(readings, outcomes)
    best = max(range(len(outcomes)), key=lambda i: (probabilities[i], -i))
    return best, probabilities[best]


def probabilities_after(readings: Sequence[Reading], outcomes: Sequence[Outcome]) -> list[float]:
    """The probability of every reading that was run."""
    shares = [r.score for r in readings]
    return [
        after_running(before_features(r.score, len(r.unused), i), outcome_features(i, shares, outcomes))
        for i, r in enumerate(readings)
    ]


def logistic(found: Mapping[str, float], model: Mapping[str, float]) -> float:
    """A logistic model over named features.

    >>> logistic({"bias": 1.0}, {"bias": 0.0})
    0.5
    """
    total = sum(model.get(name, 0.0) * value for name, value in found.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _signature(outcome: Outcome) -> frozenset[str]:
    return frozenset(str(v) for v in outcome.values or ())
