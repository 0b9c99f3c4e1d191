"""Evaluate a SPARQL property path over all triples: path -> pairs of start and end."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nacre.errors import IngestionError
from nacre.plans.sparql.property_path import (
    MAX_REPETITIONS,
    Alternative,
    Link,
    PropertyPath,
    Repeated,
    Reverse,
    Sequence,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Terms = NDArray[np.int32]

# pairs that a step may give: about 160 MB (measured: 16 bytes a pair and their sort)
MAX_PAIRS = 5_000_000


class PathEvaluator:
    """Evaluates paths over the pairs that `links` gives for a property."""

    def __init__(self, links: "Callable[[str], tuple[Terms, Terms]]") -> None:
        self._links = links

    def pairs(self, path: PropertyPath) -> "tuple[Terms, Terms]":
        """The distinct pairs of start and end. Raises IngestionError for more than MAX_PAIRS.

        A path that may have no link (`?`, `*`) only gives such pairs after another path of a sequence.
        """
        if isinstance(path, Link):
            return self._links(path.iri)
        if isinstance(path, Reverse):
            start, end = self.pairs(path.path)
            return end, start
        if isinstance(path, Alternative):
            found = [self.pairs(part) for part in path.parts]
            return _distinct(np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found]))
        if isinstance(path, Repeated):
            once = self.pairs(path.path)
            return once if path.mark == "?" else self._closure(once)
        return self._sequence(path)

    def _sequence(self, path: Sequence) -> "tuple[Terms, Terms]":
        result: tuple[Terms, Terms] | None = None
        for part in path.parts:
            optional = isinstance(part, Repeated) and part.mark in "?*"
            step = self.pairs(part)
            if result is None:
                if optional:
                    following = path.parts[1:]
                    rest = self.pairs(Sequence(following) if len(following) > 1 else following[0])
                    joined = _join(step, rest)
                    return _distinct(np.concatenate((joined[0], rest[0])), np.concatenate((joined[1], rest[1])))
                result = step
                continue
            joined = _join(result, step)
            if optional:
                joined = _distinct(np.concatenate((joined[0], result[0])), np.concatenate((joined[1], result[1])))
            result = joined
        if result is None:
            raise IngestionError("an empty path.")
        return result

    def _closure(self, once: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
        found, last = once, once
        for _ in range(MAX_REPETITIONS):
            new = _without(_join(last, once), found)
            if not len(new[0]):
                break
            found = np.concatenate((found[0], new[0])), np.concatenate((found[1], new[1]))
            _check(len(found[0]))
            last = new
        return _distinct(*found)


def _join(left: "tuple[Terms, Terms]", right: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
    """The distinct pairs of starts of the left and ends of the right that meet."""
    order = np.argsort(right[0], kind="stable")
    starts, ends = right[0][order], right[1][order]
    low = np.searchsorted(starts, left[1], side="left")
    counts = np.searchsorted(starts, left[1], side="right") - low
    total = int(counts.sum())
    _check(total)
    before = np.cumsum(counts) - counts
    index = np.repeat(low - before, counts) + np.arange(total)
    return _distinct(np.repeat(left[0], counts), ends[index])


def _distinct(start: "Terms", end: "Terms") -> "tuple[Terms, Terms]":
    _check(len(start))
    keys = np.unique(start.astype(np.int64) << 32 | end.astype(np.int64))
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _without(pairs: "tuple[Terms, Terms]", known: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
    keys = pairs[0].astype(np.int64) << 32 | pairs[1].astype(np.int64)
    new = ~np.isin(keys, known[0].astype(np.int64) << 32 | known[1].astype(np.int64))
    return pairs[0][new], pairs[1][new]


def _check(pairs: int) -> None:
    if pairs > MAX_PAIRS:
        raise IngestionError(f"it gives {pairs:,} pairs; at most {MAX_PAIRS:,} are allowed. Restrict it with 'of'.")
