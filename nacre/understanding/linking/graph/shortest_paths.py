"""The cheapest paths between nodes of the schema graph: PathSteps -> paths, each with its cost."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

# The share of its cost at which a step is taken that the question names.
HINTED_COST_SHARE = 0.35
# Steps of the longest path, and the distance of nodes without a path.
MAX_PATH_STEPS, UNREACHABLE = 5, 9.0
# Paths looked at in one search, and how much dearer than the cheapest a path may be.
MAX_PATHS_EXPANDED, MAX_EXTRA_PATH_COST = 400, 1.5
# Steps looked at in one search: 20 ms. Only graphs of many overlapping classes have more (measured on time scales).
MAX_STEPS_SEEN = 40_000
# The extra cost of going to a shared value and back: two things that share a value have nothing else in common.
SHARED_VALUE_COST = 1.0


class PathStep(NamedTuple):
    """One link from a node to another. `forward` says that the node at hand has the subject."""

    predicate: str
    forward: bool
    target: int
    cost: float


# Paths from one node to another, each with its cost, cheapest first.
WeightedPaths = tuple[tuple[float, tuple[PathStep, ...]], ...]


class ShortestPaths:
    """Paths over the steps from each node that pass only through the nodes `between`. Results are cached."""

    def __init__(self, steps: Mapping[int, Sequence[PathStep]], between: frozenset[int]) -> None:
        self.steps, self.between = steps, between
        self.cheapest = lru_cache(maxsize=8192)(self._cheapest)
        self.distance = lru_cache(maxsize=16384)(self._distance)
        self._lean_steps = lru_cache(maxsize=4096)(self._cheapest_steps)
        self._steps_left = lru_cache(maxsize=1024)(self._count_steps_left)

    def _distance(self, source: int, target: int) -> float:
        if source == target:
            return 0.0
        found = self._search(source, target, self._lean_steps, frozenset(), 1)
        return found[0][0] if found else UNREACHABLE

    def _cheapest_steps(self, node: int) -> Sequence[PathStep]:
        """The two cheapest steps of different predicates to each neighbour: the cheapest path takes no other.

        Two, since a step costs more after a step of the same predicate.
        """
        lean: dict[int, list[PathStep]] = {}
        for step in sorted(self.steps[node], key=lambda step: step.cost):
            known = lean.setdefault(step.target, [])
            if len(known) < 2 and all(step.predicate != each.predicate for each in known):
                known.append(step)
        return [step for steps in lean.values() for step in steps]

    def _count_steps_left(self, target: int) -> Mapping[int, int]:
        """The fewest steps to a node from each node on a path to it."""
        found = {target: 0}
        edge = [target]
        for steps in range(1, MAX_PATH_STEPS):
            neighbours = dict.fromkeys(s.target for here in edge for s in self.steps[here])
            edge = [n for n in neighbours if n in self.between and n not in found]
            found |= dict.fromkeys(edge, steps)
        return found

    def _cheapest(self, source: int, target: int, hints: frozenset[str] = frozenset(), most: int = 3) -> WeightedPaths:
        """The cheapest paths from one node to another, of at least one step. Predicates among the hints cost less."""
        return self._search(source, target, self.steps.__getitem__, hints, most)

    def _search(
        self,
        source: int,
        target: int,
        steps_from: Callable[[int], Sequence[PathStep]],
        hints: frozenset[str],
        most: int,
    ) -> WeightedPaths:
        found: list[tuple[float, tuple[PathStep, ...]]] = []
        queue: list[tuple[float, int, int, tuple[PathStep, ...]]] = [(0.0, 0, source, ())]
        number, expanded = 0, 0
        steps_left = self._steps_left(target)
        seen = 0
        while queue and len(found) < most and expanded < MAX_PATHS_EXPANDED and seen < MAX_STEPS_SEEN:
            cost, _, here, path = heapq.heappop(queue)
            expanded += 1
            if path and here == target:
                found.append((cost, path))
                continue
            if len(path) == MAX_PATH_STEPS or (found and cost > found[0][0] + MAX_EXTRA_PATH_COST):
                continue
            steps = steps_from(here)
            seen += len(steps)
            for step in steps:
                if step.target not in steps_left or len(path) + steps_left[step.target] >= MAX_PATH_STEPS:
                    continue
                if step.target == source != target or any(s.target == step.target for s in path):
                    continue
                number += 1
                step_cost = step.cost * (HINTED_COST_SHARE if step.predicate in hints else 1.0)
                step_cost += SHARED_VALUE_COST if _returns_from_value(path, step) else 0.0
                heapq.heappush(queue, (cost + step_cost, number, step.target, (*path, step)))
        return tuple(found)


def _returns_from_value(path: Sequence[PathStep], step: PathStep) -> bool:
    """Whether a step goes back over the link that the path came by, to another thing with the same value."""
    return bool(path) and path[-1].predicate == step.predicate and path[-1].forward and not step.forward
