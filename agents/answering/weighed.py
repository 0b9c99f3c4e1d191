"""How likely rows of readings are right after they were run: Understanding + findings -> the same, weighed."""

from collections.abc import Sequence
from dataclasses import replace

from records.evidence import Cell, Found, Table
from records.turn import Understanding
from semantics.ranking.calibrate import MOST_RUN, Outcome, probabilities_after
from semantics.to_sql import RAW

__all__ = ["MOST_RUN", "weighed"]


def weighed(understanding: Understanding, ran: Sequence[Found]) -> tuple[Found, ...]:
    """The findings of the first readings, in order, each with the probability that its rows are right."""
    outcomes = [_outcome(found) for found in ran]
    chances = probabilities_after(understanding.readings[: len(ran)], outcomes)
    return tuple(
        replace(
            found,
            evidence=tuple(
                replace(each, probability=round(chance, 4)) if each.table is not None else each
                for each in found.evidence
            ),
        )
        for found, chance in zip(ran, chances, strict=True)
    )


def _outcome(found: Found) -> Outcome:
    table = next((each.table for each in found.evidence if each.table is not None), None)
    return Outcome(None) if table is None else Outcome(_values(table), len(table.rows))


def _values(table: Table) -> tuple[Cell, ...]:
    """The distinct cells, row by row, as they are counted when weights are learned."""
    shown = [i for i, name in enumerate(table.columns) if not name.endswith(RAW)]
    return tuple(dict.fromkeys(row[i] for row in table.rows for i in shown if row[i] is not None))
