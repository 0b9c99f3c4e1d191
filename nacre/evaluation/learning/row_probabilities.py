"""Fit the probabilities that rows are right: judged readings and their scores -> three models, and thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nacre.evaluation.learning.linear_models import fit_logistic
from nacre.records.evidence import Cell
from nacre.understanding.ranking.calibrate import (
    MAX_READINGS_RUN,
    Outcome,
    belief_features,
    choice_features,
    eligible_readings,
    outcome_features,
    probability,
)
from nacre.understanding.ranking.rank import belief_shares, spread_features, weighted_sum

RIDGE_SURE, RIDGE_CHOICE = 0.05, 0.0003
# the share of confident answers that must be right: given (what "answered" means)
TARGET_PRECISION = 0.9
# shares of right answers that thresholds are printed and kept for
LEVELS = (0.95, 0.91, 0.9, 0.87, 0.85, 0.8, 0.7)
_LEAST_ANSWERED = 30
# the share of offers ("or did you mean") that must be right: given
MIN_OFFER_PRECISION = 1 / 6


class JudgedQuestion(Protocol):
    """A question whose readings were run and judged."""

    graph: str
    found: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]
    own: bool


@dataclass
class JudgedRun:
    """The first readings of one question as they are run: features of each model, which are right, which may answer."""

    graph: str
    before: list[dict[str, float]]
    choice: list[dict[str, float]]
    after: list[dict[str, float]]
    right: list[bool]
    able: list[int]


def _runs(samples: Sequence[JudgedQuestion], scores: Sequence[Sequence[float]]) -> list[JudgedRun]:
    found = []
    for sample, own in zip(samples, scores, strict=True):
        run = JudgedRun(sample.graph, [], [], [], [], [])
        found.append(run)
        if not own:
            continue
        order, shares = belief_shares(own)
        spread = spread_features([shares[i] for i in order])
        first = order[:MAX_READINGS_RUN]
        ran, outcomes = [shares[i] for i in first], [Outcome(sample.values[i]) for i in first]
        run.able += eligible_readings([sample.unused[i] for i in first], outcomes)
        for place, i in enumerate(first):
            known = belief_features(shares[i], sample.unused[i], place)
            given = outcome_features(place, ran, outcomes)
            run.before.append(sample.found[i] | spread | known)
            run.choice.append(choice_features(known, given))
            run.after.append(sample.found[i] | spread | known | given)
            run.right.append(sample.right[i])
    return found


def fit_row_probabilities(
    samples: Sequence[JudgedQuestion], scores: Sequence[Sequence[float]], folds: Mapping[str, int]
) -> tuple[dict[str, dict[str, float]], list[list[float]], list[list[float]]]:
    """The three models of probability, and thresholds after and before running; what is printed is out of fold."""
    runs = _runs(samples, scores)
    folded = sorted(set(folds.values()))
    before: list[tuple[float, bool]] = []
    after: list[tuple[float, bool]] = []
    for fold in folded:
        models = _models([r for r in runs if folds[r.graph] != fold])
        for sample, run in zip(samples, runs, strict=True):
            if folds[run.graph] != fold or sample.own:
                continue
            if not run.right:
                before.append((0.0, False))
                after.append((0.0, False))
                continue
            before.append((probability(weighted_sum(run.before[0], models["before"])), run.right[0]))
            best = _chosen(run, models["choice"])
            after.append((probability(weighted_sum(run.after[best], models["after"])), run.right[best]))
    return _models(runs), _said("after running", after), _said("before running", before)


def _models(runs: Sequence[JudgedRun]) -> dict[str, dict[str, float]]:
    asked = [r for r in runs if r.right]
    choice = fit_logistic([f for r in asked for f in r.choice], [y for r in asked for y in r.right], RIDGE_CHOICE)
    chosen = [(r, _chosen(r, choice)) for r in asked]
    return {
        "before": fit_logistic([r.before[0] for r in asked], [r.right[0] for r in asked], RIDGE_SURE),
        "choice": choice,
        "after": fit_logistic([r.after[i] for r, i in chosen], [r.right[i] for r, i in chosen], RIDGE_SURE),
    }


def _chosen(run: JudgedRun, choice: Mapping[str, float]) -> int:
    """The reading that is answered with, as `choose` takes it."""
    worths = [weighted_sum(f, choice) for f in run.choice]
    return max(run.able, key=lambda i: (worths[i], -i))


def _said(title: str, found: Sequence[tuple[float, bool]]) -> list[list[float]]:
    """Print how true the probabilities are; for each level [threshold, share said, share right]."""
    ordered = sorted(found, key=lambda f: -f[0])
    reached = {level: [level, 1.0, 0.0, 0.0] for level in LEVELS}
    good = 0
    for i, (sure, correct) in enumerate(ordered, 1):
        good += correct
        for level in LEVELS:
            if i >= _LEAST_ANSWERED and good / i >= level:
                reached[level] = [level, round(sure, 4), round(i / len(ordered), 3), round(good / i, 3)]
    print(f"{title}: right {100 * sum(c for _, c in ordered) / len(ordered):.1f} %")
    for level, threshold, share, right in reached.values():
        print(f"  above {threshold:.3f}: {100 * share:.1f} % said, {100 * right:.1f} % of them right (level {level})")
    for low in range(10):
        inside = [(p, c) for p, c in found if low / 10 <= p < (low + 1) / 10 + (low == 9)]
        if inside:
            mean, true = sum(p for p, _ in inside) / len(inside), sum(c for _, c in inside) / len(inside)
            print(f"  {low / 10:.1f}-{(low + 1) / 10:.1f}: {len(inside):5} said {mean:.2f} right {true:.2f}")
    return list(reached.values())


def offer_threshold(samples: Sequence[JudgedQuestion], scores: Sequence[Sequence[float]]) -> float:
    """The least share of the belief that makes another reading worth an offer: of all that have more, enough are right.

    Readings that give the same count as one, with their shares together.
    """
    others: list[tuple[float, bool]] = []
    for sample, own in zip(samples, scores, strict=True):
        if sample.own or not own:
            continue
        order, shares = belief_shares(own)
        same: dict[tuple[Cell, ...] | None, list[int]] = {}
        for i in order[:MAX_READINGS_RUN]:
            same.setdefault(sample.values[i], []).append(i)
        filled = [alike for values, alike in same.items() if values]
        others += [(sum(shares[i] for i in alike), sample.right[alike[0]]) for alike in filled[1:]]
    least, good = 1.0, 0
    for i, (share, right) in enumerate(sorted(others, key=lambda each: -each[0]), 1):
        good += right
        if i >= _LEAST_ANSWERED and good / i >= MIN_OFFER_PRECISION:
            least = share
    print(f"offers from a share of {least:.3f}: {sum(s >= least for s, _ in others)} for {len(scores)} questions")
    return round(least, 4)


def answer_threshold(levels: Sequence[Sequence[float]]) -> float:
    """The threshold of the level that an answer has to reach."""
    return next(threshold for level, threshold, _, _ in levels if level == TARGET_PRECISION)
