"""Choose the limits of what is answered: judged runs with their probabilities out of fold -> AnswerLimits.

A judged run has the readings of a question as they are run and answer: sample + scores -> JudgedRun.

An answer gains by what it shows: the right one, a wrong one with or without a warning, or facts nearby. The limits
are those with the highest gain over all questions, among limits at which enough of what is said to be sure is right.
Some look-ups are asked as if their fact was not in the graph (`variant` "removed").

The order of readings and the choice among them are those of a turn (`best_readings`, `choose_reading`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.answering.select_answer import DECLINED
from evaluation.samples import REMOVED, ParserSample, Refusal, Screening
from nacre.records.evidence import Cell
from nacre.understanding.ranking.probabilities import (
    MAX_READINGS_CHECKED,
    MAX_READINGS_RUN,
    MIN_SHARE,
    ReadingOutcome,
    belief_features,
    choice_features,
    eligible_readings,
    outcome_features,
    probability,
)
from nacre.understanding.ranking.rank import belief_shares, spread_features, weighted_sum

# what an answer gains: a right one, a wrong one with a doubt and without, and facts nearby if they help (given)
RIGHT, DOUBTED, WRONG, HELPFUL = 1.0, -0.5, -2.0, 0.5

# precision that the status "answered" stands for (given)
TARGET_PRECISION = 0.9

# probability from which a reading is sure (given; measured: 93 % right over ten graphs of newcomers, 89 % without it)
SURE = 0.88

# precisions whose thresholds are printed and written to the weights (given)
LEVELS = (0.95, 0.91, 0.9, 0.87, 0.85, 0.8, 0.7)

# answers from which a precision is measured, at least (given)
MIN_ANSWERED = 30

# steps of the search, and the share `unstated` that it starts with (given)
STEPS, UNSTATED_AT_FIRST = 20, 0.5

# of this many look-ups, one counts as asked of a graph without its fact (given)
STATED_PER_REMOVED = 10


class AnswerLimits(NamedTuple):
    """Probabilities from which answers are sure and from which rows may leave words out, and the share of the belief
    in an empty look-up from which another reading answers in its place."""

    answered: float
    refused: float
    unstated: float


@dataclass(frozen=True)
class RunReading:
    """A reading that is run: the features of the three models, its values, and what becomes of it. `looks_up` readings
    give a property of a named thing."""

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


class WeighedRun(NamedTuple):
    """A run with the probabilities of its readings."""

    run: JudgedRun
    chances: tuple[float, ...]


class Shown(NamedTuple):
    """What is shown for a question: the reading that answers (None: facts nearby), and whether it is sure."""

    reading: int | None
    is_sure: bool


def choose_limits(weighed: Sequence[WeighedRun]) -> AnswerLimits:
    """The limits with the highest gain; `answered` is the lowest threshold with the wanted precision.

    The others are searched one after the other. Rows are refused only as far as the data say: the limit is the lowest
    whose gain is within one standard error of the highest.
    """
    grid = [step / STEPS for step in range(STEPS)]
    measured = [each for each in weighed if not each.run.own]

    def gains(refused: float, unstated: float) -> tuple[AnswerLimits, list[float]]:
        levels = sure_levels(weighed, AnswerLimits(1.0, refused, unstated))
        limits = AnswerLimits(answer_threshold(levels), refused, unstated)
        return limits, [gain(run, show(run, chances, limits)) for run, chances in measured]

    by_refused = [gains(refused, UNSTATED_AT_FIRST) for refused in grid]
    _, highest = max(by_refused, key=lambda each: sum(each[1]))
    refused = next(limits.refused for limits, own in by_refused if not _is_lower(own, highest))
    return max((gains(refused, unstated) for unstated in grid), key=lambda each: sum(each[1]))[0]


def _is_lower(gains: Sequence[float], others: Sequence[float]) -> bool:
    """Whether gains are lower than others of the same questions by more than one standard error."""
    differences = [other - own for own, other in zip(gains, others, strict=True)]
    mean = sum(differences) / len(differences)
    variance = sum((each - mean) ** 2 for each in differences) / len(differences)
    return mean > math.sqrt(variance / len(differences))


def answer_threshold(levels: Sequence[Sequence[float]]) -> float:
    """The probability from which answers reach the target precision."""
    return next(threshold for level, threshold, *_ in levels if level == TARGET_PRECISION)


def gain(run: JudgedRun, shown: Shown) -> float:
    """What an answer gains, weighted by how many such questions there are."""
    weight = 1 / STATED_PER_REMOVED if run.variant == REMOVED else 1.0
    if shown.reading is None:
        return weight * HELPFUL if run.near else 0.0
    if run.readings[shown.reading].right:
        return weight * RIGHT
    return weight * (WRONG if shown.is_sure else DOUBTED)


def show(run: JudgedRun, chances: Sequence[float], limits: AnswerLimits) -> Shown:
    """What is shown for a question, as `select_answer_rows` chooses it."""
    kept = _kept(run, chances, limits)
    if not kept:
        return Shown(None, False)
    first = run.readings[kept[0]]
    if chances[kept[0]] >= limits.answered:
        return Shown(kept[0], not (first.values and first.unused))
    return Shown(next((i for i in kept if run.readings[i].values), None), False)


def _kept(run: JudgedRun, chances: Sequence[float], limits: AnswerLimits) -> list[int]:
    """The readings that may answer, likeliest first; none if the graph does not state what is asked."""
    readings = run.readings
    order = sorted(range(len(readings)), key=lambda i: (-chances[i], i))
    if not order:
        return []
    first = readings[0]
    is_unstated = first.looks_up and not first.unused and first.values == ()
    if is_unstated and all(each.share < limits.unstated * first.share for each in readings if each.values):
        return []
    refused = [
        each.refusal == "always" or (each.refusal == "unlikely" and p < limits.refused)
        for each, p in zip(readings, chances, strict=True)
    ]
    smallest = min(limits.refused, chances[order[0]]) if refused[order[0]] else DECLINED
    return [i for i in order if not refused[i] and chances[i] >= max(smallest, DECLINED)]


def sure_levels(weighed: Sequence[WeighedRun], limits: AnswerLimits) -> list[list[float]]:
    """[level, threshold, share answered, precision] by level, over the questions that were asked as they are."""
    measured = [(run, chances) for run, chances in weighed if not run.own and not run.variant]
    judged: list[tuple[float, bool]] = []
    for run, chances in measured:
        shown = show(run, chances, limits._replace(answered=0.0))
        if shown.is_sure and shown.reading is not None:
            judged.append((chances[shown.reading], run.readings[shown.reading].right))
    return precision_levels(judged, len(measured))


def precision_levels(judged: Iterable[tuple[float, bool]], count: int) -> list[list[float]]:
    """[level, threshold, share of `count` questions above it, precision] by level."""
    reached = {level: [level, 1.0, 0.0, 0.0] for level in LEVELS}
    good = 0
    for i, (chance, is_right) in enumerate(sorted(judged, key=lambda each: -each[0]), 1):
        good += is_right
        for level in LEVELS:
            if i >= MIN_ANSWERED and good / i >= level:
                reached[level] = [level, round(chance, 4), round(i / count, 3), round(good / i, 3)]
    return list(reached.values())


def describe_gains(weighed: Sequence[WeighedRun], limits: AnswerLimits) -> str:
    """What the limits give, a line for each kind of question."""
    measured = [(run, show(run, chances, limits)) for run, chances in weighed if not run.own]
    lines = [str(limits)]
    for variant in sorted({run.variant for run, _ in measured}):
        shown = [(run, each) for run, each in measured if run.variant == variant]
        answers = [(each.is_sure, run.readings[each.reading].right) for run, each in shown if each.reading is not None]
        sure = [right for is_sure, right in answers if is_sure]
        lines.append(
            f"{variant or 'asked'}: {len(shown)} questions, {sum(right for _, right in answers)} right,"
            f" {len(sure)} sure, of these {sum(sure)} right, {len(shown) - len(answers)} not answered,"
            f" gain {sum(gain(run, each) for run, each in shown):.1f}"
        )
    lines += [
        f"probability {low / 10:.1f} to {(low + 1) / 10:.1f}: {len(right)} questions, {sum(right)} right"
        for low, right in sorted(_by_tenth(weighed).items())
    ]
    return "\n".join(lines)


def _by_tenth(weighed: Sequence[WeighedRun]) -> dict[int, list[bool]]:
    """Whether the likeliest readings of questions as they were asked are right, by tenths of their probability."""
    tenths: dict[int, list[bool]] = {}
    for run, chances in weighed:
        if chances and not run.own and not run.variant:
            best = max(range(len(chances)), key=chances.__getitem__)
            tenths.setdefault(min(9, int(10 * chances[best])), []).append(run.readings[best].right)
    return tenths


# beginnings of the names of features that rank readings and do not say how sure they are: with them, fewer answers
# reach the same precision on graphs that were left out (measured: 50.0 and 52.3 % at 0.9)
RANKED_ONLY = ("rule ", "asked ")


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
    """Whether a reading comes after those that use all of the question."""
    screening = sample.screened.get(at)
    return place >= MAX_READINGS_CHECKED or screening is None or bool(screening.lost) or shares[at] < MIN_SHARE
