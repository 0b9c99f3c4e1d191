"""The readings of a question as they are run and answer: sample + scores -> JudgedRun.

The order of readings and the choice among them are those of a turn (`best_readings`, `choose_reading`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nacre.evaluation.learning.samples import ParserSample
from nacre.evaluation.learning.screening import Refusal, Screening
from nacre.records.evidence import Cell
from nacre.understanding.ranking.best_readings import MAX_READINGS_CHECKED, MIN_SHARE
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

# beginnings of the names of features that rank readings and do not say how sure they are: with them, fewer answers
# reach the same precision on graphs that were left out (measured: 50.0 and 52.3 % at 0.9)
RANKED_ONLY = ("rule ", "asked ")


@dataclass(frozen=True)
class RunReading:
    """A reading that is run: the features of the three models, its values, and what becomes of it.

    `looks_up` readings give a property of a named thing.
    """

    before: Mapping[str, float]
    choice: Mapping[str, float]
    after: Mapping[str, float]
    right: bool
    values: tuple[Cell, ...] | None
    share: float
    unused: int
    penalty: float
    refusal: Refusal
    looks_up: bool


@dataclass(frozen=True)
class JudgedRun:
    """The readings of one question in the order in which they are run, and the positions of those that may answer.

    `own` questions are learned from and not measured. `variant` is empty for a question as it was asked. Of a question
    that is `near` its answer, the facts of the named things or the lack of one are a helpful answer.
    """

    graph: str
    own: bool
    variant: str
    near: bool
    readings: tuple[RunReading, ...] = ()
    eligible: tuple[int, ...] = ()

    def best(self, choice: Mapping[str, float]) -> int:
        """The reading that gives the answer, chosen as when a question is answered."""
        worths = [weighted_sum(each.choice, choice) for each in self.readings]
        return max(self.eligible, key=lambda i: (worths[i], -i))

    def chances(self, choice: Mapping[str, float], after: Mapping[str, float]) -> tuple[float, ...]:
        """The probability of each reading; none is likelier than the one that gives the answer."""
        chances = [probability(weighted_sum(each.after, after) + each.penalty) for each in self.readings]
        highest = chances[self.best(choice)] if chances else 0.0
        return tuple(min(highest, chance) for chance in chances)


def judged_run(sample: ParserSample, scores: Sequence[float]) -> JudgedRun:
    """The first readings by their scores; without readings an empty run."""
    judged = zip(sample.right, sample.features, sample.values, strict=True)
    near = any(right and (features.get("own property") or values == ()) for right, features, values in judged)
    if not scores:
        return JudgedRun(sample.graph, sample.own, sample.variant, near)
    order, shares = belief_shares(scores)
    spread = spread_features([shares[i] for i in order])
    places = sorted(range(len(order)), key=lambda place: _is_late(sample, order[place], place, shares))
    places = places[:MAX_READINGS_RUN]
    first = [order[place] for place in places]
    outcomes, beliefs = [ReadingOutcome(sample.values[i]) for i in first], [round(shares[i], 4) for i in first]
    screened = [sample.screened.get(i, Screening(sample.unused[i], 0, 0.0, "never")) for i in first]
    readings = []
    for rank, (place, i, screening) in enumerate(zip(places, first, screened, strict=True)):
        outcome = outcome_features(rank, beliefs, outcomes)
        known = {name: value for name, value in sample.features[i].items() if not name.startswith(RANKED_ONLY)}
        known |= spread | belief_features(shares[i], sample.unused[i], place)
        readings.append(
            RunReading(
                before=known,
                choice=choice_features(belief_features(beliefs[rank], screening.unused, rank), outcome),
                after=known | outcome,
                right=sample.right[i],
                values=sample.values[i],
                share=beliefs[rank],
                unused=screening.unused,
                penalty=screening.penalty,
                refusal=screening.refusal,
                looks_up=bool(sample.features[i].get("own property")),
            )
        )
    eligible = eligible_readings([each.unused for each in screened], outcomes)
    eligible = [i for i in eligible if screened[0].lost or not screened[i].lost]
    return JudgedRun(sample.graph, sample.own, sample.variant, near, tuple(readings), tuple(eligible))


def _is_late(sample: ParserSample, at: int, place: int, shares: Sequence[float]) -> bool:
    """Whether a reading comes after those that heed all of the question."""
    screening = sample.screened.get(at)
    return place >= MAX_READINGS_CHECKED or screening is None or bool(screening.lost) or shares[at] < MIN_SHARE
