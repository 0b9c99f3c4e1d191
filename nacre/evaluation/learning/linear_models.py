"""Fit linear models to judged readings: features + right or wrong -> weights (needs the extra `learn`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from nacre.understanding.ranking.calibrate import MAX_LOG_ODDS

# Strength of the ranker's regularisation, measured with `python -m nacre.evaluation.learn`
# at 0.003, 0.01 and 0.03
RIDGE = 0.01
# upper bound of the search for the weight of similarity
MAX_SIMILARITY_WEIGHT = 50.0


class JudgedReadings(Protocol):
    """The features of the readings of one question, and which of them are right."""

    @property
    def features(self) -> Sequence[Mapping[str, float]]: ...
    @property
    def right(self) -> Sequence[bool]: ...


def fit_log_linear(samples: Sequence[JudgedReadings], without: str | None = None) -> dict[str, float]:
    """Log-linear weights that maximise the joint probability of the right readings; ridge-regularised, deterministic.

    `without` is the beginning of the names of features that are left out.
    """
    from scipy.optimize import minimize

    usable = [s for s in samples if any(s.right) and not all(s.right)]
    names = sorted({n for s in usable for f in s.features for n in f if without is None or not n.startswith(without)})
    x, scale = _matrix([f for s in usable for f in s.features], names)
    transposed = x.T.tocsr()
    sizes = [len(s.features) for s in usable]
    right = np.array([y for s in usable for y in s.right], dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    sample_of = np.repeat(np.arange(len(usable)), sizes)

    def loss(w: Any) -> tuple[float, Any]:
        score = x @ w
        belief = np.exp(score - np.maximum.reduceat(score, starts)[sample_of])
        total = np.add.reduceat(belief, starts)
        good = np.add.reduceat(belief * right, starts) + 1e-12
        gradient = transposed @ (belief / total[sample_of] - belief * right / good[sample_of])
        value = -(np.log(good) - np.log(total)).sum() / len(usable) + RIDGE * float(w @ w)
        return value, gradient / len(usable) + 2 * RIDGE * w

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 120})
    return {name: float(w) for name, w in zip(names, result.x / scale, strict=True)}


def fit_similarity_weight(samples: Sequence[tuple[Sequence[float], Sequence[float], Sequence[bool]]]) -> float:
    """The weight of similarity beside fixed scores.

    A sample has the scores of the readings of a question, their similarities to the question, and which are right.
    """
    from scipy.optimize import minimize_scalar

    usable = [tuple(map(np.array, each)) for each in samples if any(each[2]) and not all(each[2])]

    def loss(weight: float) -> float:
        value = 0.0
        for scores, similarity, right in usable:
            score = scores + weight * similarity
            belief = np.exp(score - score.max())
            value -= float(np.log(belief[right].sum() / belief.sum()))
        return value

    return float(minimize_scalar(loss, bounds=(0.0, MAX_SIMILARITY_WEIGHT), method="bounded").x) if usable else 0.0


def fit_logistic(features: Sequence[Mapping[str, float]], right: Sequence[bool], ridge: float) -> dict[str, float]:
    """A logistic model over named features, ridge-regularised, deterministic."""
    from scipy.optimize import minimize

    names = sorted({n for f in features for n in f})
    x, scale = _matrix(features, names)
    transposed, labels = x.T.tocsr(), np.array(right, dtype=np.float64)

    def loss(w: Any) -> tuple[float, Any]:
        p = 1 / (1 + np.exp(-np.clip(x @ w, -MAX_LOG_ODDS, MAX_LOG_ODDS)))
        value = -(labels * np.log(p + 1e-9) + (1 - labels) * np.log(1 - p + 1e-9)).mean() + ridge * float(w @ w)
        return value, transposed @ (p - labels) / len(labels) + 2 * ridge * w

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return {name: float(w) for name, w in zip(names, result.x / scale, strict=True)}


def _matrix(features: Sequence[Mapping[str, float]], names: Sequence[str]) -> tuple[Any, Any]:
    """Features as a sparse matrix with columns of equal standard deviation, and the scale of each column."""
    from scipy.sparse import csr_matrix, diags

    column = {name: i for i, name in enumerate(names)}
    rows, columns, cells = [], [], []
    for row, each in enumerate(features):
        for name, value in each.items():
            if value and name in column:
                rows.append(row)
                columns.append(column[name])
                cells.append(value)
    x = csr_matrix((np.array(cells, dtype=np.float64), (rows, columns)), shape=(len(features), len(names)))
    mean = np.asarray(x.mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)).ravel() - mean**2, 0.0))
    # constant columns keep their scale
    scale = np.where(deviation > 0, deviation + 1e-3, 1.0)
    return (x @ diags(1 / scale)).tocsr(), scale
