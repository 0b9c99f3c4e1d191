"""How much easier or harder the questions of one graph are than those of others: judged answers -> shift of log-odds.

A logistic model with a random intercept for each graph: the log-odds of a reading of the rules plus the shift of its
graph. The shift is normally distributed with the standard deviation `SPREAD`, so few answers move it little.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nacre.records.turn import Reading
from nacre.understanding.ranking.calibrate import probability

# deviation of the shifts of 25 graphs with 1,701 questions (maximum of the marginal likelihood)
SPREAD = 0.45
# judged answers from which a shift is fitted (given)
MIN_JUDGED = 30
# If fewer answers of the rules are right, people mostly corrected wrong ones (given; 51 to 90 % on the 25 graphs).
MIN_RIGHT = 0.5
STEPS = 30


class JudgedAnswer(NamedTuple):
    """The log-odds of the answer of the rules, and whether it was right. `written`: a person wrote the query that says
    so, whether or not the rules found it."""

    log_odds: float
    right: bool
    written: bool


def graph_shift(judged: Sequence[JudgedAnswer]) -> float:
    """The shift of a graph; 0 if the answers do not show one.

    People confirm right answers more readily than wrong ones. Such answers can lower the probabilities, but only
    answers to which people wrote the query raise them. A shift must lower the logarithmic loss of answers that it was
    not fitted on (each left out in turn).
    """
    if len(judged) < MIN_JUDGED or sum(each.right for each in judged) < MIN_RIGHT * len(judged):
        return 0.0
    lower = _kept_shift(judged)
    return lower if lower < 0 else max(0.0, _kept_shift([each for each in judged if each.written]))


def shift_readings(readings: tuple[Reading, ...], shift: float) -> tuple[Reading, ...]:
    """The readings with shifted probabilities. Those that are certain stay so, and plans of verified questions have
    probabilities of their own."""
    if not shift:
        return readings
    return tuple(
        replace(each, odds=each.odds + shift, probability=probability(log_odds(each.probability) + shift))
        if each.verified is None and each.probability is not None and 0 < each.probability < 1
        else each
        for each in readings
    )


def log_odds(chance: float) -> float:
    """The log-odds of a probability between 0 and 1, both excluded."""
    return math.log(chance / (1 - chance))


def _kept_shift(judged: Sequence[JudgedAnswer]) -> float:
    """The likeliest shift; 0 if there are too few answers, or if it does not help on those left out."""
    if len(judged) < MIN_JUDGED:
        return 0.0
    without = sum(_loss(each, 0.0) for each in judged)
    left_out = sum(_loss(each, _fit([*judged[:i], *judged[i + 1 :]])) for i, each in enumerate(judged))
    return _fit(judged) if left_out < without else 0.0


def _fit(judged: Sequence[JudgedAnswer]) -> float:
    """The maximum of the posterior, by Newton's method; the posterior is concave."""
    shift = 0.0
    for _ in range(STEPS):
        chances = [probability(each.log_odds + shift) for each in judged]
        slope = sum(each.right - p for each, p in zip(judged, chances, strict=True)) - shift / SPREAD**2
        step = slope / (sum(p * (1 - p) for p in chances) + 1 / SPREAD**2)
        shift += step
        if abs(step) < 1e-6:
            break
    return shift


def _loss(judged: JudgedAnswer, shift: float) -> float:
    chance = probability(judged.log_odds + shift)
    return -math.log(chance if judged.right else 1 - chance)
