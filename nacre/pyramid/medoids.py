"""k-medoids (partitioning around medoids): distances -> medoids and the members of their clusters."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_ITERATIONS = 50


def k_medoids(distances: Array, k: int) -> tuple[list[int], list[int]]:
    """The indexes of k medoids, and for each item the position of its medoid among them; deterministic.

    `distances` is (m, m), k <= m. The first medoids are chosen greedily (BUILD of Kaufman and Rousseeuw 1990). Then
    each cluster gets its best medoid until nothing changes.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> k_medoids(abs(points[:, None] - points), 2)
    ([1, 3], [0, 0, 0, 1, 1])
    """
    medoids = [int(distances.sum(axis=1).argmin())]
    while len(medoids) < k:
        nearest = distances[:, medoids].min(axis=1)
        gain = np.maximum(0, nearest[None, :] - distances).sum(axis=1)
        gain[medoids] = -1
        medoids.append(int(gain.argmax()))
    for _ in range(MAX_ITERATIONS):
        owner = distances[:, medoids].argmin(axis=1)
        better = []
        for position, medoid in enumerate(medoids):
            members = np.flatnonzero(owner == position)
            inside = distances[np.ix_(members, members)].sum(axis=1) if len(members) else np.zeros(0)
            better.append(int(members[inside.argmin()]) if len(members) else medoid)
        if better == medoids:
            break
        medoids = better
    order = np.argsort(medoids)
    owner = distances[:, [medoids[i] for i in order]].argmin(axis=1)
    return [medoids[i] for i in order], [int(each) for each in owner]


def cluster_within(distances: Array, radius: float) -> tuple[list[int], list[int]]:
    """The k-medoids for the smallest k with every item within `radius` of its medoid.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> cluster_within(abs(points[:, None] - points), 1.0)[0]
    [1, 3]
    """
    for k in range(1, len(distances) + 1):
        medoids, owner = k_medoids(distances, k)
        if all(distances[i, medoids[position]] <= radius for i, position in enumerate(owner)):
            break
    return medoids, owner
