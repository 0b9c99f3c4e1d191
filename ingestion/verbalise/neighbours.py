"""The outgoing and incoming facts of things: Facts -> both directions, by number of the term."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ingestion.read.capsules import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

IRI, BLANK, LITERAL, TRIPLE = range(4)
ObjectGroups = list[tuple[int, list[int]]]


class GroupedPairs:
    """Pairs (predicate, term) by thing, stored as arrays, since there are as many as triples.

    The arrays are sorted by thing, then by predicate; things are numbers below `count`.
    """

    def __init__(self, things: "Ints", predicates: "Ints", terms: "Ints", count: int) -> None:
        self.things, self.predicates, self.terms = things, predicates, terms
        self.sizes = np.bincount(things, minlength=count)
        self._ends = np.concatenate(([0], np.cumsum(self.sizes))).data

    def has(self, thing: int) -> bool:
        """Whether a thing has any pair."""
        return self._ends[thing] != self._ends[thing + 1]

    def rows(self, first: int, last: int) -> slice:
        """The slice of the arrays with the pairs of things from `first` to before `last`."""
        return slice(self._ends[first], self._ends[last])

    def of(self, thing: int) -> ObjectGroups:
        """The distinct terms of a thing by predicate, in the order of numbers."""
        return next((groups for _, groups in self.between(thing, thing + 1)), [])

    def between(self, first: int, last: int) -> Iterator[tuple[int, ObjectGroups]]:
        """The terms of all things from `first` to before `last` that have any."""
        rows = self.rows(first, last)
        at = by = -1
        groups: ObjectGroups = []
        members: list[int] = []
        for thing, predicate, term in zip(
            self.things[rows].tolist(), self.predicates[rows].tolist(), self.terms[rows].tolist(), strict=True
        ):
            if thing != at:
                if groups:
                    yield at, groups
                groups, at, by = [], thing, -1
            if predicate != by:
                members, by = [term], predicate
                groups.append((predicate, members))
            elif term != members[-1]:  # otherwise the same triple in two named graphs
                members.append(term)
        if groups:
            yield at, groups


class Neighbours:
    """Facts in both directions; `links` are the predicates of links. `kind[n]` is IRI, BLANK, LITERAL or TRIPLE."""

    def __init__(self, facts: Facts, links: Collection[int]) -> None:
        kinds = ("iri", "blank", "literal", "triple")
        by_sort = np.array([kinds.index(sort[0]) for sort in facts.sorts], dtype=np.uint8)
        terms = len(facts.texts)
        self.kind: bytes = by_sort[facts.sort_of].tobytes()
        self.outgoing = GroupedPairs(facts.subject, facts.predicate, facts.object, terms)
        rows = np.flatnonzero((by_sort[facts.sort_of[facts.object]] <= BLANK) & np.isin(facts.predicate, list(links)))
        rows = rows[self.outgoing.sizes[facts.object[rows]] > 0]
        rows = rows[np.lexsort((facts.subject[rows], facts.predicate[rows], facts.object[rows]))]
        self.incoming = GroupedPairs(facts.object[rows], facts.predicate[rows], facts.subject[rows], terms)
