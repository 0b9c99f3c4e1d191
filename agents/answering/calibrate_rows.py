"""The probability of rows after the readings ran: Understanding + results -> the same results with probabilities."""

from collections.abc import Sequence
from dataclasses import replace

from agents.answering.selection.rows import UNSURE
from nacre.records.evidence import BranchResult, Evidence, Rows, Table
from nacre.records.turn import Understanding
from nacre.understanding.ranking.calibrate import (
    MAX_READINGS_RUN,
    choose_reading,
    outcome_features,
    probability_after_running,
    table_outcome,
)
from nacre.understanding.ranking.weights import load_weights

__all__ = ["MAX_READINGS_RUN", "calibrate_rows"]


def calibrate_rows(understanding: Understanding, ran: Sequence[BranchResult]) -> tuple[BranchResult, ...]:
    """The results of the first readings, in order, each with the probability that its rows are right.

    Separate weights choose the best reading. No other gets a higher probability, and none a higher one than the turn
    that the question refers to. If time ran out before all readings were found, none is sure: the probabilities were
    learned with all of them present.
    """
    readings = understanding.readings[: len(ran)]
    outcomes = [table_outcome(_table(found)) for found in ran]
    shares = [reading.score for reading in readings]
    best, chance = choose_reading(understanding, outcomes)
    highest = min(chance, understanding.most)
    if understanding.cut:
        highest = min(highest, load_weights().threshold - UNSURE)
    chances = [
        probability_after_running(each, outcome_features(i, shares, outcomes)) for i, each in enumerate(readings)
    ]
    return tuple(
        replace(
            found,
            evidence=tuple(
                _with_probability(each, highest if i == best else min(highest, chance)) for each in found.evidence
            ),
        )
        for i, (found, chance) in enumerate(zip(ran, chances, strict=True))
    )


def _with_probability(evidence: Evidence, chance: float) -> Evidence:
    return replace(evidence, probability=round(chance, 4)) if isinstance(evidence, Rows) else evidence


def _table(found: BranchResult) -> Table | None:
    return next((each.table for each in found.rows), None)
