"""The terms above each term of a hierarchy, within a limit of work: direct links -> ancestors."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

Term = TypeVar("Term", bound=Any)

# steps to the ancestors of all terms, for each direct link and besides: a chain of n links needs n²/2. Real hierarchies
# need up to thirty for each link (given), and small ones may be chains
STEPS_PER_LINK, FREE_STEPS = 60, 150_000
# beyond them, a term has so many of its nearest ancestors (given)
MAX_NEAREST = 30


Ancestors = Mapping[Any, frozenset[Any]]


class Closure(NamedTuple):
    """All ancestors of each term; only the nearest ones if it is not `complete`."""

    ancestors: Ancestors
    complete: bool


def transitive_closure(direct: Mapping[Term, Iterable[Term]]) -> Closure:
    """The ancestors of each term; cycles are allowed, and a term is never its own ancestor.

    >>> transitive_closure({1: [2], 2: [3]})
    Closure(ancestors={1: frozenset({2, 3}), 2: frozenset({3})}, complete=True)
    """
    left = FREE_STEPS + STEPS_PER_LINK * sum(len(list(above)) for above in direct.values())
    found: dict[Term, frozenset[Term]] = {}
    for start in direct:
        seen: set[Term] = set()
        queue = [start]
        while queue:
            term = queue.pop()
            above = found.get(term, direct.get(term, ()))
            left -= len(above)  # type: ignore[arg-type]
            if left < 0:
                return Closure({each: _nearest(direct, each) for each in direct}, complete=False)
            if term in found:
                seen |= found[term]
                continue
            new = set(above) - seen
            seen |= new
            queue += new
        found[start] = frozenset(seen - {start})
    return Closure(found, complete=True)


def _nearest(direct: Mapping[Term, Iterable[Term]], start: Term) -> frozenset[Term]:
    """The nearest ancestors of a term, level by level."""
    found: dict[Term, None] = {}
    level = [start]
    while level:
        higher: list[Term] = []
        for term in level:
            for above in direct.get(term, ()):
                if above != start and above not in found:
                    found[above] = None
                    higher.append(above)
                    if len(found) == MAX_NEAREST:
                        return frozenset(found)
        level = higher
    return frozenset(found)
