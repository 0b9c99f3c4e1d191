"""Probabilities that the rows of a reading are right: belief in a reading and its rows -> 0..1 (fitted out of fold)."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.records.evidence import Cell, Table
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.rank import RankedReading, weighted_sum
from nacre.understanding.ranking.weights import Weights, load_weights

# Shares of the belief below this are equal.
MIN_BELIEF = 1e-4
# Readings that are run.
MAX_READINGS_RUN = 5
# Sizes of results, and unused words that are told apart.
FEW_CELLS, MANY_CELLS, THOUSANDS_OF_CELLS = 10, 100, 1000
MAX_UNUSED_COUNTED = 4
# Features that do not choose among readings: a no is no better reason to choose one than a yes.
_TRUTH = frozenset(("ran yes", "ran no"))
# Log-odds beyond which a probability is 0 or 1.
MAX_LOG_ODDS = 30.0
# What running a reading adds to its log-odds on average (measured over conversations about four graphs to learn from,
# 32 and 45 follow-ups).
RUNNING_LOG_ODDS = 0.68


class ReadingOutcome(NamedTuple):
    """What running one reading gave: the distinct cells, row by row; one boolean for yes or no; None if it failed."""

    values: tuple[Cell, ...] | None


def table_outcome(table: Table | None) -> ReadingOutcome:
    """The outcome of a reading by its rows. None stands for a failed run.

    >>> table_outcome(Table(("name", "age", "age (text)"), (("Ann", 4, "4 y"), ("Bo", 4, "4 y")))).values
    ('Ann', 4, 'Bo')
    >>> table_outcome(Table(("yes", "left", "right"), ((0, 3, 5),))).values
    (False,)
    """
    if table is None:
        return ReadingOutcome(None)
    if table.columns[:1] == ("yes",):
        return ReadingOutcome(tuple(bool(row[0]) for row in table.rows))
    shown = shown_columns(table)
    return ReadingOutcome(tuple(dict.fromkeys(row[i] for row in table.rows for i in shown if row[i] is not None)))


def shown_columns(table: Table) -> list[int]:
    """The positions of the columns to show. Columns with the original text of a value are left out."""
    return [i for i, name in enumerate(table.columns) if not name.endswith(RAW_TEXT_SUFFIX)]


def probability_before_running(ranked: RankedReading, place: int, learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, before it runs."""
    return probability(_weighted_belief(ranked, place, (learned or load_weights()).before))


def known_log_odds(ranked: RankedReading, place: int, learned: Weights | None = None) -> float:
    """The part of the log-odds after running that is known before running: `Reading.odds`."""
    return _weighted_belief(ranked, place, (learned or load_weights()).after)


def log_odds_before_running(after: float) -> float:
    """The log-odds before running that give a probability `after` running, on average."""
    return math.log(after / (1 - after)) - RUNNING_LOG_ODDS


def probability_after_running(reading: Reading, outcome: Mapping[str, float], learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, given the features of its outcome (`outcome_features`)."""
    return probability(reading.odds + weighted_sum(outcome, (learned or load_weights()).after))


def choose_reading(
    understanding: Understanding, outcomes: Sequence[ReadingOutcome], learned: Weights | None = None
) -> tuple[int, float]:
    """The position of the reading to answer with, and its probability. The outcomes are those of the first readings."""
    readings = understanding.readings[: len(outcomes)]
    shares = [r.score for r in readings]
    ran = [outcome_features(i, shares, outcomes) for i in range(len(readings))]
    beliefs = [belief_features(r.score, len(r.unused), i) for i, r in enumerate(readings)]
    model = (learned or load_weights()).choice
    worths = [weighted_sum(choice_features(*each), model) for each in zip(beliefs, ran, strict=True)]
    heeds_all = not readings[0].lost
    eligible = eligible_readings([len(r.unused) for r in readings], outcomes)
    eligible = [i for i in eligible if not (heeds_all and readings[i].lost)]
    best = max(eligible, key=lambda i: (worths[i], -i))
    if outcomes[best].values:
        # Among readings with the same rows, the likeliest one explains best what was understood.
        best = next(i for i in eligible if _cells(outcomes[i]) == _cells(outcomes[best]))
    return best, probability_after_running(readings[best], ran[best], learned)


def eligible_readings(unused: Sequence[int], outcomes: Sequence[ReadingOutcome]) -> list[int]:
    """The positions of the readings that may answer. If the first one gave no rows, readings that leave out more words
    may not.

    >>> empty = eligible_readings([0, 1, 0], [ReadingOutcome(()), ReadingOutcome((5,)), ReadingOutcome((3,))])
    >>> empty, eligible_readings([0, 1], [ReadingOutcome((1,)), ReadingOutcome((5,))])
    ([0, 2], [0, 1])
    """
    is_first_empty = outcomes[0].values == ()
    return [i for i, more in enumerate(unused) if not i or not is_first_empty or more <= unused[0]]


def belief_features(share: float, unused: int, place: int) -> dict[str, float]:
    """Features of the belief in a reading: its share, its number of unused words, and its position."""
    return {
        "belief": _log_odds(share),
        "belief unused": float(min(unused, MAX_UNUSED_COUNTED)),
        "belief something unused": float(unused > 0),
        "belief first": float(place == 0),
    }


def choice_features(beliefs: Mapping[str, float], ran: Mapping[str, float]) -> dict[str, float]:
    """What chooses among readings: belief and outcome, except whether the answer is a yes or a no."""
    return {**beliefs, **{name: value for name, value in ran.items() if name not in _TRUTH}}


def outcome_features(at: int, shares: Sequence[float], outcomes: Sequence[ReadingOutcome]) -> dict[str, float]:
    """Features of what the reading at a position gave, and of the belief in others with the same or other rows."""
    own = outcomes[at]
    cells = [_cells(each) for each in outcomes]
    same = [i for i, o in enumerate(outcomes) if o.values is not None and cells[i] == cells[at]]
    agreeing = _bounded(sum(shares[i] for i in same))
    whole = max(MIN_BELIEF, sum(shares[: len(outcomes)]))
    values = own.values or ()
    single = values[0] if len(values) == 1 else None
    return {
        # Two readings often give the same yes or no by chance.
        **({} if isinstance(single, bool) else _rival_features(at, shares, cells)),
        "ran agreeing": _log_odds(agreeing),
        "ran agreeing of run": min(1.0, agreeing / whole),
        "ran others agree": float(len(same) > 1),
        "ran failed": float(own.values is None),
        "ran empty": float(own.values is not None and not values),
        # Unlike a zero, a no is as good an answer as a yes.
        "ran nil": float(single is not None and single is not False and single == 0),
        "ran yes": float(single is True),
        "ran no": float(single is False),
        "ran one": float(len(values) == 1),
        "ran few": float(1 < len(values) <= FEW_CELLS),
        "ran many": float(len(values) > MANY_CELLS),
        "ran thousands": float(len(values) >= THOUSANDS_OF_CELLS),
        "ran first gave nothing": float(at > 0 and not outcomes[0].values),
    }


def probability(log_odds: float) -> float:
    """A probability from log-odds.

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, log_odds))))


def _weighted_belief(ranked: RankedReading, place: int, model: Mapping[str, float]) -> float:
    return weighted_sum({**ranked.features, **belief_features(ranked.share, len(ranked.unused), place)}, model)


def _bounded(share: float) -> float:
    return min(1 - MIN_BELIEF, max(MIN_BELIEF, share))


def _log_odds(share: float) -> float:
    share = _bounded(share)
    return math.log(share / (1 - share))


def _cells(outcome: ReadingOutcome) -> frozenset[str]:
    return frozenset(str(v) for v in outcome.values or ())


def _rival_features(at: int, shares: Sequence[float], cells: Sequence[frozenset[str]]) -> dict[str, float]:
    """The belief in the likeliest other rows, relative to the belief in these."""
    beliefs: dict[frozenset[str], float] = {}
    for share, own in zip(shares, cells, strict=False):
        if own:
            beliefs[own] = beliefs.get(own, 0.0) + share
    mine = max(MIN_BELIEF, beliefs.get(cells[at], shares[at]))
    others = [belief for rows, belief in beliefs.items() if rows != cells[at]]
    rival = max(others, default=0.0)
    return {"ran rival": math.log(max(MIN_BELIEF, rival) / mine), "ran no rival": float(not others)}
