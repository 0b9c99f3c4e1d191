"""Learn when a property of a named thing is unstated: ranked readings of questions -> a share of the belief.

The likeliest reading looks up a property of a named thing and gives nothing. Another reading answers in its place if it
has at least this share of the belief in the first. Both errors are counted: answers that are lost, and values that are
given although the graph states none. The latter are counted over stated properties, as if these were not stated.
"""

from collections.abc import Sequence
from typing import Protocol

from nacre.records.evidence import Cell
from nacre.understanding.ranking.calibrate import MAX_READINGS_RUN
from nacre.understanding.ranking.rank import belief_shares

# look-ups of what the graph does not state, for one of what it states (given)
UNSTATED_PER_STATED = 0.1


class JudgedLookUp(Protocol):
    """A question with its readings, run and judged."""

    features: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]


def unstated_share(samples: Sequence[JudgedLookUp], scores: Sequence[Sequence[float]]) -> float:
    """The share of the first reading's belief with the fewest errors."""
    losses: list[tuple[float, float]] = []
    for sample, own in zip(samples, scores, strict=True):
        if own:
            losses += _losses(sample, own)
    candidates = sorted({1.0, *(ratio for ratio, _ in losses)})
    best = min(candidates, key=lambda share: sum(_loss(share, *each) for each in losses))
    return round(best, 4)


def _loss(share: float, ratio: float, weight: float) -> float:
    """The loss by a rival of this ratio: a right one (weight above 0) is left out, or a wrong one answers."""
    return weight if weight > 0 and ratio < share else -weight if weight < 0 and ratio >= share else 0.0


def _losses(sample: JudgedLookUp, scores: Sequence[float]) -> list[tuple[float, float]]:
    """The ratio of the likeliest rival with rows and its weight: positive if it is right."""
    order, shares = belief_shares(scores)
    first, *others = order[:MAX_READINGS_RUN]
    if not sample.features[first].get("own property") or sample.unused[first]:
        return []
    rivals = [i for i in others if sample.values[i] and sample.values[i] != sample.values[first]]
    if not rivals or (sample.values[first] and not sample.right[first]):
        return []
    ratio = shares[rivals[0]] / shares[first]
    if sample.values[first]:
        return [(ratio, -UNSTATED_PER_STATED)]
    right = next((shares[i] / shares[first] for i in rivals if sample.right[i]), None)
    return [(ratio, -1.0)] if right is None else [(right, 1.0)]
