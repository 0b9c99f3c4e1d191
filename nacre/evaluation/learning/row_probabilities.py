"""Fit the probabilities that rows are right: judged readings and their scores -> three models and thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nacre.evaluation.learning.linear_models import fit_logistic
from nacre.records.evidence import Cell
from nacre.understanding.ranking.calibrate import (
    MAX_READINGS_RUN,
    ReadingOutcome,
    belief_features,
    choice_features,
    eligible_readings,
    outcome_features,
    probability,
)
from nacre.understanding.ranking.rank import belief_shares, spread_features, weighted_sum

RIDGE_SURE, RIDGE_CHOICE = 0.05, 0.0003
# precision that the status "answered" stands for (given)
TARGET_PRECISION = 0.9
# precisions whose thresholds are printed and written to the weights
LEVELS = (0.95, 0.91, 0.9, 0.87, 0.85, 0.8, 0.7)
# answers from which a precision is measured, at least
_MIN_ANSWERED = 30
# precision of offered readings ("or did you mean") (given)
MIN_OFFER_PRECISION = 1 / 6


class JudgedQuestion(Protocol):
    """A question with its readings, run and judged."""

    graph: str
    features: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]
    own: bool


@dataclass
class JudgedRun:
    """The readings of one question that are run: features of the three models, right or wrong, eligible ones."""

    graph: str
    before: list[dict[str, float]]
    choice: list[dict[str, float]]
    after: list[dict[str, float]]
    right: list[bool]
    eligible: list[int]


def fit_row_probabilities(
    samples: Sequence[JudgedQuestion], scores: Sequence[Sequence[float]], folds: Mapping[str, int]
) -> tuple[dict[str, dict[str, float]], list[list[float]], list[list[float]]]:
    """The three models, and the levels after and before running; all printed figures are out of fold."""
    runs = [_judged_run(sample, own) for sample, own in zip(samples, scores, strict=True)]
    before: list[tuple[float, bool]] = []
    after: list[tuple[float, bool]] = []
    for fold in sorted(set(folds.values())):
        models = _models([r for r in runs if folds[r.graph] != fold])
        for sample, run in zip(samples, runs, strict=True):
            if folds[run.graph] != fold or sample.own:
                continue
            if not run.right:
                before.append((0.0, False))
                after.append((0.0, False))
                continue
            before.append((probability(weighted_sum(run.before[0], models["before"])), run.right[0]))
            best = _best_reading(run, models["choice"])
            after.append((probability(weighted_sum(run.after[best], models["after"])), run.right[best]))
    return _models(runs), _print_levels("after running", after), _print_levels("before running", before)


def offer_threshold(samples: Sequence[JudgedQuestion], scores: Sequence[Sequence[float]]) -> float:
    """The smallest share of the belief from which other readings reach the precision of offers.

    Readings with the same values count as one, with the sum of their shares.
    """
    others: list[tuple[float, bool]] = []
    for sample, own in zip(samples, scores, strict=True):
        if sample.own or not own:
            continue
        order, shares = belief_shares(own)
        same: dict[tuple[Cell, ...] | None, list[int]] = {}
        for i in order[:MAX_READINGS_RUN]:
            same.setdefault(sample.values[i], []).append(i)
        with_values = [readings for values, readings in same.items() if values]
        others += [(sum(shares[i] for i in readings), sample.right[readings[0]]) for readings in with_values[1:]]
    threshold, good = 1.0, 0
    for i, (share, right) in enumerate(sorted(others, key=lambda each: -each[0]), 1):
        good += right
        if i >= _MIN_ANSWERED and good / i >= MIN_OFFER_PRECISION:
            threshold = share
    offers = sum(share >= threshold for share, _ in others)
    print(f"offers from a share of {threshold:.3f}: {offers} for {len(scores)} questions")
    return round(threshold, 4)


def answer_threshold(levels: Sequence[Sequence[float]]) -> float:
    """The probability from which answers reach the target precision."""
    return next(threshold for level, threshold, _, _ in levels if level == TARGET_PRECISION)


def _judged_run(sample: JudgedQuestion, scores: Sequence[float]) -> JudgedRun:
    """The first readings by their scores; an empty run for a question without readings."""
    run = JudgedRun(sample.graph, [], [], [], [], [])
    if not scores:
        return run
    order, shares = belief_shares(scores)
    spread = spread_features([shares[i] for i in order])
    first = order[:MAX_READINGS_RUN]
    shares_run, outcomes = [shares[i] for i in first], [ReadingOutcome(sample.values[i]) for i in first]
    run.eligible += eligible_readings([sample.unused[i] for i in first], outcomes)
    for rank, i in enumerate(first):
        belief = belief_features(shares[i], sample.unused[i], rank)
        outcome = outcome_features(rank, shares_run, outcomes)
        run.before.append(sample.features[i] | spread | belief)
        run.choice.append(choice_features(belief, outcome))
        run.after.append(sample.features[i] | spread | belief | outcome)
        run.right.append(sample.right[i])
    return run


def _models(runs: Sequence[JudgedRun]) -> dict[str, dict[str, float]]:
    usable = [r for r in runs if r.right]
    choice = fit_logistic([f for r in usable for f in r.choice], [y for r in usable for y in r.right], RIDGE_CHOICE)
    chosen = [(r, _best_reading(r, choice)) for r in usable]
    return {
        "before": fit_logistic([r.before[0] for r in usable], [r.right[0] for r in usable], RIDGE_SURE),
        "choice": choice,
        "after": fit_logistic([r.after[i] for r, i in chosen], [r.right[i] for r, i in chosen], RIDGE_SURE),
    }


def _best_reading(run: JudgedRun, choice: Mapping[str, float]) -> int:
    """The reading that gives the answer, chosen as when a question is answered."""
    scores = [weighted_sum(f, choice) for f in run.choice]
    return max(run.eligible, key=lambda i: (scores[i], -i))


def _print_levels(title: str, judged: Sequence[tuple[float, bool]]) -> list[list[float]]:
    """Print the calibration of (probability, right); return [level, threshold, share answered, precision] by level."""
    ordered = sorted(judged, key=lambda each: -each[0])
    reached = {level: [level, 1.0, 0.0, 0.0] for level in LEVELS}
    good = 0
    for i, (chance, correct) in enumerate(ordered, 1):
        good += correct
        for level in LEVELS:
            if i >= _MIN_ANSWERED and good / i >= level:
                reached[level] = [level, round(chance, 4), round(i / len(ordered), 3), round(good / i, 3)]
    print(f"{title}: right {100 * sum(c for _, c in ordered) / len(ordered):.1f} %")
    for level, threshold, share, right in reached.values():
        print(f"  above {threshold:.3f}: {100 * share:.1f} % answered, {100 * right:.1f} % right (level {level})")
    for low in range(10):
        inside = [(p, c) for p, c in judged if low / 10 <= p < (low + 1) / 10 + (low == 9)]
        if inside:
            mean, true = sum(p for p, _ in inside) / len(inside), sum(c for _, c in inside) / len(inside)
            print(f"  {low / 10:.1f}-{(low + 1) / 10:.1f}: {len(inside):5} predicted {mean:.2f} right {true:.2f}")
    return list(reached.values())
