"""Probabilities that rows are right: belief in a reading, and what running it gave -> 0..1 (fitted out of fold)."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.records.evidence import Cell, Table
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.rank import RankedReading, weighted_sum
from nacre.understanding.ranking.weights import Weights, load_weights

# a share of belief that is smaller tells no more
MIN_BELIEF = 1e-4
# readings that are run
MAX_READINGS_RUN = 5
FEW_CELLS, MANY_CELLS, THOUSANDS_OF_CELLS = 10, 100, 1000
MAX_UNUSED_COUNTED = 4
# a no is no better a reason to choose a reading than a yes
_TRUTH = frozenset(("ran yes", "ran no"))
# log-odds beyond which a probability is 0 or 1
MAX_LOG_ODDS = 30.0
# what running a reading adds to its log-odds on average (measured over conversations about four graphs to learn from,
# 32 and 45 follow-ups)
RUNNING_LOG_ODDS = 0.68


class Outcome(NamedTuple):
    """What running one reading gave: `values` are the distinct cells row by row, of yes/no one boolean; None where it
    failed."""

    values: tuple[Cell, ...] | None


def table_outcome(table: Table | None) -> Outcome:
    """What the rows of a reading are to the calibration; None where running it failed.

    >>> table_outcome(Table(("name", "age", "age (text)"), (("Ann", 4, "4 y"), ("Bo", 4, "4 y")))).values
    ('Ann', 4, 'Bo')
    >>> table_outcome(Table(("yes", "left", "right"), ((0, 3, 5),))).values
    (False,)
    """
    if table is None:
        return Outcome(None)
    if table.columns[:1] == ("yes",):
        return Outcome(tuple(bool(row[0]) for row in table.rows))
    shown = shown_columns(table)
    return Outcome(tuple(dict.fromkeys(row[i] for row in table.rows for i in shown if row[i] is not None)))


def shown_columns(table: Table) -> list[int]:
    """The places of the columns that are shown: those that keep a value as it was written are not."""
    return [i for i, name in enumerate(table.columns) if not name.endswith(RAW_TEXT_SUFFIX)]


def probability_before_running(ranked: RankedReading, place: int, learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, before it runs."""
    model = (learned or load_weights()).before
    return probability(
        weighted_sum({**ranked.found, **belief_features(ranked.share, len(ranked.unused), place)}, model)
    )


def known_log_odds(ranked: RankedReading, place: int, learned: Weights | None = None) -> float:
    """The part of the log-odds after running that is known before: `Reading.odds`."""
    model = (learned or load_weights()).after
    return weighted_sum({**ranked.found, **belief_features(ranked.share, len(ranked.unused), place)}, model)


def probability_after_running(reading: Reading, outcome: Mapping[str, float], learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, with what running it gave (`outcome_features`)."""
    return probability(reading.odds + weighted_sum(outcome, (learned or load_weights()).after))


def choose_reading(
    understanding: Understanding, outcomes: Sequence[Outcome], learned: Weights | None = None
) -> tuple[int, float]:
    """The reading to answer with among those that were run (the first ones, in their order), and its probability."""
    model = (learned or load_weights()).choice
    readings = understanding.readings[: len(outcomes)]
    shares = [r.score for r in readings]
    given = [outcome_features(i, shares, outcomes) for i in range(len(readings))]
    known = [belief_features(r.score, len(r.unused), i) for i, r in enumerate(readings)]
    worths = [weighted_sum(choice_features(*each), model) for each in zip(known, given, strict=True)]
    heeds_all = not readings[0].lost
    fair = [
        i
        for i in eligible_readings([len(r.unused) for r in readings], outcomes)
        if not (heeds_all and readings[i].lost)
    ]
    best = max(fair, key=lambda i: (worths[i], -i))
    if outcomes[best].values:
        # of readings that give the same rows the likeliest says what was understood
        best = next(i for i in fair if _signature(outcomes[i]) == _signature(outcomes[best]))
    return best, probability_after_running(readings[best], given[best], learned)


def eligible_readings(unused: Sequence[int], outcomes: Sequence[Outcome]) -> list[int]:
    """The readings that may answer: where the first gave no rows, none that leaves out more words for the sake of some.

    >>> eligible_readings([0, 1, 0], [Outcome(()), Outcome((5,)), Outcome((3,))]), eligible_readings([0, 1], [Outcome((1,)), Outcome((5,))])
    ([0, 2], [0, 1])
    """
    nothing = outcomes[0].values == ()
    return [i for i, more in enumerate(unused) if not i or not nothing or more <= unused[0]]


def belief_features(share: float, unused: int, place: int) -> dict[str, float]:
    """What the belief in a reading says."""
    share = min(1 - MIN_BELIEF, max(MIN_BELIEF, share))
    return {
        "belief": math.log(share / (1 - share)),
        "belief unused": float(min(unused, MAX_UNUSED_COUNTED)),
        "belief something unused": float(unused > 0),
        "belief first": float(place == 0),
    }


def choice_features(known: Mapping[str, float], given: Mapping[str, float]) -> dict[str, float]:
    """What chooses among readings: `belief_features` and `outcome_features`, but for whether the answer is a yes or a no."""
    return {**known, **{name: value for name, value in given.items() if name not in _TRUTH}}


def outcome_features(at: int, shares: Sequence[float], outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What running the reading at a place gave, and how much belief others that gave the same or other rows have."""
    own = outcomes[at]
    gave = [_signature(each) for each in outcomes]
    same = [i for i, o in enumerate(outcomes) if o.values is not None and gave[i] == gave[at]]
    agreeing = min(1 - MIN_BELIEF, max(MIN_BELIEF, sum(shares[i] for i in same)))
    whole = max(MIN_BELIEF, sum(shares[: len(outcomes)]))
    values = own.values or ()
    single = values[0] if len(values) == 1 else None
    return {
        # two readings often give the same yes or no by chance
        **({} if isinstance(single, bool) else _rival(at, shares, gave)),
        "ran agreeing": math.log(agreeing / (1 - agreeing)),
        "ran agreeing of run": min(1.0, agreeing / whole),
        "ran others agree": float(len(same) > 1),
        "ran failed": float(own.values is None),
        "ran empty": float(own.values is not None and not values),
        # a no is as good an answer as a yes, other than a zero
        "ran nil": float(single is not None and single is not False and single == 0),
        "ran yes": float(single is True),
        "ran no": float(single is False),
        "ran one": float(len(values) == 1),
        "ran few": float(1 < len(values) <= FEW_CELLS),
        "ran many": float(len(values) > MANY_CELLS),
        "ran thousands": float(len(values) >= THOUSANDS_OF_CELLS),
        "ran first gave nothing": float(at > 0 and not outcomes[0].values),
    }


def probability(odds: float) -> float:
    """A probability from log-odds.

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, odds))))


def log_odds_before_running(probability: float) -> float:
    """The log-odds before running that make a probability after it, on average."""
    return math.log(probability / (1 - probability)) - RUNNING_LOG_ODDS


def _signature(outcome: Outcome) -> frozenset[str]:
    return frozenset(str(v) for v in outcome.values or ())


def _rival(at: int, shares: Sequence[float], gave: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much belief the likeliest other rows have, beside the belief in these."""
    beliefs: dict[frozenset[str], float] = {}
    for share, each in zip(shares, gave, strict=False):
        if each:
            beliefs[each] = beliefs.get(each, 0.0) + share
    mine = max(MIN_BELIEF, beliefs.pop(gave[at], shares[at]))
    rival = max(beliefs.values(), default=0.0)
    return {"ran rival": math.log(max(MIN_BELIEF, rival) / mine), "ran no rival": float(not beliefs)}
