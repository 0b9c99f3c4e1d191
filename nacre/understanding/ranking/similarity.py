"""How like a question readings are in words, by an embedder: the first readings and their scores -> their scores.

Only where the features leave it open which reading is meant: embedding the readings takes longer than all else. What
it weighs is learned with the embedder that comes with Nacre, and used with no other.
"""

from collections.abc import Callable, Sequence
from typing import Any

# a first reading with more of the belief is not doubted, and readings that are compared (both measured with
# `python -m nacre.evaluation.learning.parser_weights`: 0.5 to 0.95, and 3, 5 and 8)
MAX_DOUBTED_SHARE, MAX_READINGS_COMPARED = 0.6, 3

Embed = Callable[[Sequence[str]], Sequence[Any]]


def doubtful_readings(order: Sequence[int], shares: Sequence[float]) -> list[int]:
    """The places of the readings to compare, likeliest first; none where the first one is sure."""
    if len(order) < 2 or shares[order[0]] >= MAX_DOUBTED_SHARE:
        return []
    return list(order[:MAX_READINGS_COMPARED])


def similarities(question: str, words: Sequence[str], embed: Embed) -> list[float]:
    """How like a question each reading is, by the cosine of their vectors, less what the first one has."""
    asked, *read = embed([question, *words])
    found = [float(asked @ vector) for vector in read]
    return [likeness - found[0] for likeness in found]


def level_same_names(read: Sequence[object], likenesses: Sequence[float]) -> list[float]:
    """The likenesses, the same for readings that were `read` alike, of the same words by the same rules: a book and a
    film of one name are as likely, whatever the kinds are called.

    >>> level_same_names(["a", "b", "a"], [0.0, 0.2, 0.1])
    [0.1, 0.2, 0.1]
    """
    return [max(other for each, other in zip(read, likenesses, strict=True) if each == own) for own in read]


def add_similarities(
    scores: Sequence[float], places: Sequence[int], likenesses: Sequence[float], weight: float
) -> list[float]:
    """The scores with the likeness of the readings at some places.

    >>> add_similarities([2.0, 1.0, 0.0], [0, 1], [0.0, 0.5], 4.0)
    [2.0, 3.0, 0.0]
    """
    found = list(scores)
    for place, likeness in zip(places, likenesses, strict=True):
        found[place] += weight * likeness
    return found
