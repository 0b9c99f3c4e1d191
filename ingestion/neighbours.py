"""What is said of a thing and who links to it: Facts -> both directions, by the number of the term."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from ingestion.capsules import Facts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IRI, BLANK, LITERAL, TRIPLE = range(4)
Groups = list[tuple[int, list[int]]]


class Neighbours:
    """Kept as arrays, since there are as many links as triples; `links` are the predicates that count as such.

    `kind[n]` is IRI, BLANK, LITERAL or TRIPLE. Groups are (predicate, terms), each term once, in the order of numbers.
    """

    def __init__(self, facts: Facts, links: Collection[int]) -> None:
        import numpy as np

        kinds = ("iri", "blank", "literal", "triple")
        by_sort = np.array([kinds.index(sort[0]) for sort in facts.sorts], dtype=np.uint8)
        self.kind: bytes = by_sort[facts.sort_of].tobytes()
        self._graphs = facts.graph is not None
        self._said = facts.predicate.data, facts.object.data
        self._spans = _spans(facts.subject)
        rows = np.flatnonzero((by_sort[facts.sort_of[facts.object]] <= BLANK) & np.isin(facts.predicate, list(links)))
        rows = rows[np.isin(facts.object[rows], np.unique(facts.subject))]
        rows = rows[np.lexsort((facts.subject[rows], facts.predicate[rows], facts.object[rows]))]
        self._linked = facts.predicate[rows].data, facts.subject[rows].data
        self._link_spans = _spans(facts.object[rows])

    def subjects(self) -> list[int]:
        """All things of which something is said."""
        return list(self._spans)

    def is_subject(self, number: int) -> bool:
        """Is something said of it?"""
        return number in self._spans

    def is_linked(self, number: int) -> bool:
        """Does anything link to it?"""
        return number in self._link_spans

    def outgoing(self, number: int) -> Groups:
        """What is said of a thing: objects by predicate."""
        span = self._spans.get(number)
        return [] if span is None else self._groups(*self._said, *span)

    def incoming(self, number: int) -> Groups:
        """Who links to a described thing: subjects by predicate."""
        span = self._link_spans.get(number)
        return [] if span is None else self._groups(*self._linked, *span)

    def _groups(self, keys: "memoryview[int]", terms: "memoryview[int]", start: int, end: int) -> Groups:
        groups: Groups = []
        members: list[int] = []
        last = -1
        for key, term in zip(keys[start:end].tolist(), terms[start:end].tolist(), strict=True):
            if key != last:
                members = [term]
                groups.append((key, members))
                last = key
            elif not self._graphs or term != members[-1]:  # else the same triple in two named graphs
                members.append(term)
        return groups


def _spans(sorted_numbers: "NDArray[np.int32]") -> dict[int, tuple[int, int]]:
    import numpy as np

    if not len(sorted_numbers):
        return {}
    starts = np.flatnonzero(np.diff(sorted_numbers, prepend=-1))
    ends = np.append(starts[1:], len(sorted_numbers))
    return dict(zip(sorted_numbers[starts].tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
