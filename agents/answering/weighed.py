"""How likely rows of readings are right after they were run: Understanding + findings -> the same, weighed."""

from collections.abc import Sequence
from dataclasses import replace

from records.evidence import Cell, Evidence, Found, Rows, Table
from records.turn import Understanding
from semantics.ranking.calibrate import MOST_RUN, Outcome, after_running, choose, outcome_features
from semantics.to_sql import RAW

__all__ = ["MOST_RUN", "weighed"]


def weighed(understanding: Understanding, ran: Sequence[Found]) -> tuple[Found, ...]:
    """The findings of the first readings, in order, each with the probability that its rows are right.

    The one to answer with is chosen by weights of its own; no other gets a higher probability than it.
    """
    readings = understanding.readings[: len(ran)]
    outcomes = [_outcome(found) for found in ran]
    shares = [reading.score for reading in readings]
    best, highest = choose(understanding, outcomes)
    chances = [after_running(each, outcome_features(i, shares, outcomes)) for i, each in enumerate(readings)]
    return tuple(
        replace(
            found,
            evidence=tuple(_with(each, highest if i == best else min(highest, chance)) for each in found.evidence),
        )
        for i, (found, chance) in enumerate(zip(ran, chances, strict=True))
    )


def _with(evidence: Evidence, chance: float) -> Evidence:
    return replace(evidence, probability=round(chance, 4)) if isinstance(evidence, Rows) else evidence


def _outcome(found: Found) -> Outcome:
    table = next((each.table for each in found.rows), None)
    return Outcome(None) if table is None else Outcome(_values(table))


def _values(table: Table) -> tuple[Cell, ...]:
    """The distinct cells, row by row, as they are counted when weights are learned."""
    if table.columns[:1] == ("yes",) and table.rows:
        # a no is as good an answer as a yes, other than a zero
        return ("yes" if table.rows[0][0] else "no",)
    shown = [i for i, name in enumerate(table.columns) if not name.endswith(RAW)]
    return tuple(dict.fromkeys(row[i] for row in table.rows for i in shown if row[i] is not None))
