"""Similarity of readings with the question, by an embedder: readings in words -> scores of the first readings.

It is used only if the features leave open which reading is meant, because embedding takes longer than everything else.
Its weight was learned with the bundled embedder, so it is used with no other.
"""

from collections.abc import Callable, Sequence
from typing import Any

# A first reading with a larger share is not doubtful, and how many readings are compared (both measured with
# `python -m nacre.evaluation.learn`: 0.5 to 0.95, and 3, 5 and 8).
MAX_DOUBTED_SHARE, MAX_READINGS_COMPARED = 0.6, 3

Embed = Callable[[Sequence[str]], Sequence[Any]]


def doubtful_readings(order: Sequence[int], shares: Sequence[float]) -> list[int]:
    """The positions of the readings to compare, likeliest first. None if the first one is clear."""
    if len(order) < 2 or shares[order[0]] >= MAX_DOUBTED_SHARE:
        return []
    return list(order[:MAX_READINGS_COMPARED])


def similarities(question: str, readings: Sequence[str], embed: Embed) -> list[float]:
    """The cosine similarity of each reading with the question, minus that of the first reading."""
    vector, *others = embed([question, *readings])
    found = [float(vector @ other) for other in others]
    return [similarity - found[0] for similarity in found]


def level_same_names(parses: Sequence[object], similarities: Sequence[float]) -> list[float]:
    """The similarities, made equal for readings with an equal parse. They differ only in which thing of one name they
    mean, a book or a film, and the labels of their classes must not decide that.

    >>> level_same_names(["a", "b", "a"], [0.0, 0.2, 0.1])
    [0.1, 0.2, 0.1]
    """
    return [max(other for parse, other in zip(parses, similarities, strict=True) if parse == own) for own in parses]


def add_similarities(
    scores: Sequence[float], places: Sequence[int], similarities: Sequence[float], weight: float
) -> list[float]:
    """The scores, with the weighted similarity added at some positions.

    >>> add_similarities([2.0, 1.0, 0.0], [0, 1], [0.0, 0.5], 4.0)
    [2.0, 3.0, 0.0]
    """
    added = dict(zip(places, similarities, strict=True))
    return [score + weight * added[i] if i in added else score for i, score in enumerate(scores)]
