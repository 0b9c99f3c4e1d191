"""Fit linear models to judged readings: features + what is right -> weights (needs the extra `learn`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from nacre.understanding.ranking.calibrate import MAX_LOG_ODDS

# Strength of the ranker's regularisation, measured with `python -m nacre.evaluation.learning.parser_weights`
# at 0.003, 0.01 and 0.03
RIDGE = 0.01
# the weight of likeness is looked for up to this
MAX_SIMILARITY_WEIGHT = 50.0


class JudgedReadings(Protocol):
    """The features of the readings of one question, and which of them are right."""

    found: list[dict[str, float]]
    right: list[bool]


def fit_log_linear(samples: Sequence[JudgedReadings], without: str | None = None) -> dict[str, float]:
    """Log-linear weights: the right readings together should have the belief; ridge-regularised, deterministic."""
    from scipy.optimize import minimize

    usable = [s for s in samples if any(s.right) and not all(s.right)]
    names = sorted({n for s in usable for f in s.found for n in f if without is None or not n.startswith(without)})
    x, scale = _matrix([f for s in usable for f in s.found], names)
    turned = x.T.tocsr()
    sizes = [len(s.found) for s in usable]
    right = np.array([y for s in usable for y in s.right], dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    of = np.repeat(np.arange(len(usable)), sizes)

    def loss(w: Any) -> tuple[float, Any]:
        score = x @ w
        belief = np.exp(score - np.maximum.reduceat(score, starts)[of])
        whole = np.add.reduceat(belief, starts)
        good = np.add.reduceat(belief * right, starts) + 1e-12
        slope = turned @ (belief / whole[of] - belief * right / good[of])
        value = -(np.log(good) - np.log(whole)).sum() / len(usable) + RIDGE * float(w @ w)
        return value, slope / len(usable) + 2 * RIDGE * w

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 120})
    return {name: float(w) for name, w in zip(names, result.x / scale, strict=True)}


def fit_similarity_weight(found: Sequence[tuple[Sequence[float], Sequence[float], Sequence[bool]]]) -> float:
    """The weight of likeness beside scores that stay as they are: of the readings of each question the scores, how like
    it they are, and which are right."""
    from scipy.optimize import minimize_scalar

    usable = [tuple(map(np.array, each)) for each in found if any(each[2]) and not all(each[2])]

    def loss(weight: float) -> float:
        lost = 0.0
        for scores, likeness, right in usable:
            score = scores + weight * likeness
            belief = np.exp(score - score.max())
            lost -= float(np.log(belief[right].sum() / belief.sum()))
        return lost

    return float(minimize_scalar(loss, bounds=(0.0, MAX_SIMILARITY_WEIGHT), method="bounded").x) if usable else 0.0


def fit_logistic(found: Sequence[Mapping[str, float]], right: Sequence[bool], ridge: float) -> dict[str, float]:
    """A logistic model over named features, ridge-regularised, deterministic."""
    from scipy.optimize import minimize

    names = sorted({n for f in found for n in f})
    x, scale = _matrix(found, names)
    turned, wanted = x.T.tocsr(), np.array(right, dtype=np.float64)

    def loss(w: Any) -> tuple[float, Any]:
        p = 1 / (1 + np.exp(-np.clip(x @ w, -MAX_LOG_ODDS, MAX_LOG_ODDS)))
        value = -(wanted * np.log(p + 1e-9) + (1 - wanted) * np.log(1 - p + 1e-9)).mean() + ridge * float(w @ w)
        return value, turned @ (p - wanted) / len(wanted) + 2 * ridge * w

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return {name: float(w) for name, w in zip(names, result.x / scale, strict=True)}


def _matrix(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> tuple[Any, Any]:
    """Features as a sparse matrix with columns of one spread, and what each column was divided by."""
    from scipy.sparse import csr_matrix, diags

    column = {name: i for i, name in enumerate(names)}
    rows, columns, cells = [], [], []
    for row, each in enumerate(found):
        for name, value in each.items():
            if value and name in column:
                rows.append(row)
                columns.append(column[name])
                cells.append(value)
    x = csr_matrix((np.array(cells, dtype=np.float64), (rows, columns)), shape=(len(found), len(names)))
    mean = np.asarray(x.mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)).ravel() - mean**2, 0.0))
    # what never changes needs no weight but the bias
    scale = np.where(spread > 0, spread + 1e-3, 1.0)
    return (x @ diags(1 / scale)).tocsr(), scale
