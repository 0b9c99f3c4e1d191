"""The cheapest ways between the nodes of a graph: its steps -> ways, each with its cost."""

import heapq
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

# a link that the question names is followed at this part of its cost
HINTED_COST_SHARE = 0.35
MAX_PATH_STEPS = 5
UNREACHABLE = 9.0


class PathStep(NamedTuple):
    """One link from a node to another; `forward` when the node at hand holds the subject."""

    predicate: str
    forward: bool
    target: int
    cost: float


# ways from one node to another, each with its cost
WeightedPaths = tuple[tuple[float, tuple[PathStep, ...]], ...]


class ShortestPaths:
    """The ways over the steps from each node, in between over nodes of `between` alone; searched once each."""

    def __init__(self, steps: Mapping[int, Sequence[PathStep]], between: frozenset[int]) -> None:
        self.steps, self.between = steps, between
        self.cheapest = lru_cache(maxsize=8192)(self._cheapest)
        self.distance = lru_cache(maxsize=16384)(self._distance)
        self.arriving = lru_cache(maxsize=1024)(self._arriving)

    def _distance(self, a: int, b: int) -> float:
        if a == b:
            return 0.0
        found = self.cheapest(a, b, most=1)
        return found[0][0] if found else UNREACHABLE

    def _arriving(self, target: int) -> dict[int, int]:
        """How many steps of a way to a node are left at each node that one may lead over."""
        found = {target: 0}
        edge = [target]
        for far in range(1, MAX_PATH_STEPS):
            next_to = dict.fromkeys(s.target for here in edge for s in self.steps[here])
            edge = [n for n in next_to if n in self.between and n not in found]
            found |= dict.fromkeys(edge, far)
        return found

    def _cheapest(self, source: int, target: int, hints: frozenset[str] = frozenset(), most: int = 3) -> WeightedPaths:
        """The cheapest ways from one node to another (at least one step), each with its cost."""
        found: list[tuple[float, tuple[PathStep, ...]]] = []
        queue: list[tuple[float, int, int, tuple[PathStep, ...]]] = [(0.0, 0, source, ())]
        number, popped = 0, 0
        near = self.arriving(target)
        while queue and len(found) < most and popped < 400:
            cost, _, here, way = heapq.heappop(queue)
            popped += 1
            if way and here == target:
                found.append((cost, way))
                continue
            if len(way) == MAX_PATH_STEPS or (found and cost > found[0][0] + 1.5):
                continue
            for step in self.steps[here]:
                if step.target not in near or len(way) + near[step.target] >= MAX_PATH_STEPS:
                    continue
                if step.target == source != target or any(s.target == step.target for s in way):
                    continue
                if way and way[-1].predicate == step.predicate and way[-1].forward and not step.forward:
                    # two things that share a value have nothing else in common; two rows of one thing do
                    extra = 1.0
                else:
                    extra = 0.0
                number += 1
                step_cost = step.cost * (HINTED_COST_SHARE if step.predicate in hints else 1.0) + extra
                heapq.heappush(queue, (cost + step_cost, number, step.target, (*way, step)))
        return tuple(found)
