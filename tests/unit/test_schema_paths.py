"""The search for paths finds the cheapest of all paths."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import pytest

from nacre.understanding.linking.schema_paths import (
    HINTED_COST_SHARE,
    MAX_EXTRA_PATH_COST,
    MAX_PATH_STEPS,
    SHARED_VALUE_COST,
    UNREACHABLE,
    PathStep,
    ShortestPaths,
)

Steps = Mapping[int, Sequence[PathStep]]


def drawn_steps(draw: Random, nodes: int, links: int) -> Steps:
    steps: dict[int, list[PathStep]] = {node: [] for node in range(nodes)}
    for _ in range(links):
        one, other, predicate = draw.randrange(nodes), draw.randrange(nodes), f"p{draw.randrange(4)}"
        steps[one].append(PathStep(predicate, True, other, draw.choice((0.5, 1.0, 1.25))))
        steps[other].append(PathStep(predicate, False, one, draw.choice((1.0, 1.5))))
    return steps


def all_paths(steps: Steps, between: frozenset[int], source: int, target: int) -> Iterator[tuple[PathStep, ...]]:
    waiting: list[tuple[int, tuple[PathStep, ...]]] = [(source, ())]
    while waiting:
        here, path = waiting.pop()
        if path and here == target:
            yield path
        elif len(path) < MAX_PATH_STEPS and (not path or here in between):
            passed = {source, *(step.target for step in path)} - {target}
            waiting += [(step.target, (*path, step)) for step in steps[here] if step.target not in passed]


def cost_of(path: tuple[PathStep, ...], hints: frozenset[str]) -> float:
    cost = 0.0
    for before, step in zip((None, *path), path, strict=False):
        cost += step.cost * (HINTED_COST_SHARE if step.predicate in hints else 1.0)
        if before is not None and before.predicate == step.predicate and before.forward and not step.forward:
            cost += SHARED_VALUE_COST
    return cost


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_paths_are_found_in_their_order(seed: int) -> None:
    draw = Random(seed)
    steps = drawn_steps(draw, nodes=6, links=7)
    between, hints = frozenset(draw.sample(range(6), 5)), frozenset(draw.sample(["p0", "p1"], 1))
    paths = ShortestPaths(steps, between)
    for source in range(6):
        for target in range(6):
            costs = sorted(cost_of(path, hints) for path in all_paths(steps, between, source, target))
            near = [cost for cost in costs if cost <= costs[0] + MAX_EXTRA_PATH_COST][:3]
            found = [cost for cost, _ in paths.cheapest(source, target, hints)]
            assert found[: len(near)] == pytest.approx(near)
            plain = min((cost_of(path, frozenset()) for path in all_paths(steps, between, source, target)), default=9.0)
            assert paths.distance(source, target) == pytest.approx(0.0 if source == target else min(plain, UNREACHABLE))
