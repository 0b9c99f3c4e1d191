"""Compare the semantic distributions of two layers: vectors -> priorities of what one layer lacks.

PolyRAG, section 3.2, in log densities, since densities in hundreds of dimensions are outside the range of floats.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gaussian:
    """A multivariate normal distribution: `mean` (n), `factor` the lower Cholesky factor of its covariance (n, n)."""

    mean: Array
    factor: Array

    def log_density(self, points: Array) -> Array:
        """log F(X) (equation 4) of points (m, n) as (m)."""
        n = len(self.mean)
        centred = np.linalg.solve(self.factor, (np.atleast_2d(points) - self.mean).T)
        log_det = 2 * float(np.log(np.diag(self.factor)).sum())
        result: Array = -0.5 * (n * np.log(2 * np.pi) + log_det + (centred**2).sum(axis=0))
        return result


def fit_gaussian(points: Array, floor: float = 1e-6) -> Gaussian:
    """The Gaussian of points (m, n), m >= 1.

    Its covariance is shrunk towards a multiple of the identity by the share that Ledoit and Wolf (2004) derive from
    the points, since there are fewer points than dimensions; `floor` is the least variance in any direction.

    >>> fit_gaussian(np.array([[0.0], [2.0]])).log_density(np.array([[1.0]])).round(4).tolist()
    [-0.9189]
    """
    points = np.asarray(points, dtype=np.float64)
    m, n = points.shape
    mean = points.mean(axis=0)
    centred = points - mean
    sample = centred.T @ centred / m
    scale = float(np.trace(sample)) / n
    target = scale * np.eye(n)
    distance = float(((sample - target) ** 2).sum())
    spread = float(((centred**2).sum(axis=1) ** 2).sum()) / m**2 - float((sample**2).sum()) / m
    share = min(1.0, max(0.0, spread / distance)) if distance > 0 else 1.0
    covariance = (1 - share) * sample + share * target + floor * np.eye(n)
    return Gaussian(mean, np.linalg.cholesky(covariance))


def completion_priorities(log_ontology: Array, log_triples: Array) -> Array:
    """Pr(X) = D(O||K) - D(K||O) (equations 5 to 7) at each point, as sign(Pr) log(1 + |Pr|), from log densities (m).

    A density depends on the unit of the space, and with it the sign of its logarithm. The unit is chosen so that the
    lowest log density at any of the points is 1: then x - log x grows with each log density x, and Pr is positive just
    where the triples are denser than the ontology.

    >>> completion_priorities(np.array([1.0, 2.0]), np.array([2.0, 2.0])).round(4).tolist()
    [1.0826, 0.0]
    """
    unit = 1 - min(float(log_ontology.min()), float(log_triples.min()))
    o, k = log_ontology + unit, log_triples + unit
    highest = np.maximum(o, k)
    # Pr = F_K log F_O - F_O log F_K, with the greater power of e factored out
    scaled = np.exp(k - highest) * o - np.exp(o - highest) * k
    size = np.log(np.abs(scaled), out=np.full_like(scaled, -np.inf), where=scaled != 0) + highest
    result: Array = np.sign(scaled) * np.logaddexp(0, size)
    return result
