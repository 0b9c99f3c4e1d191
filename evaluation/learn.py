"""Learn the weights of the rules together with the limits of what is answered: graphs + questions -> weights.json.

In order: all of it, the weights of the ranker of readings, the probabilities that rows are right, linear models
(needs the extra `learn`).

    python -m evaluation.learn --data DATA --gold FOLDER ... [--own FOLDER ...] [--cache FILE]

Readings are ranked, calibrated and judged out of fold: whole graphs are left out. Needs the extra `learn` (scipy).
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from evaluation.answer_limits import (
    STATED_PER_REMOVED,
    SURE,
    TARGET_PRECISION,
    JudgedRun,
    WeighedRun,
    choose_limits,
    describe_gains,
    judged_run,
    sure_levels,
)
from evaluation.samples import ParserSample, read_or_collect, without_answer
from nacre.config.embedder import local_embedder
from nacre.understanding.ranking.probabilities import MAX_LOG_ODDS
from nacre.understanding.ranking.rank import (
    WEIGHTS_FILE,
    add_similarities,
    belief_shares,
    doubtful_readings,
    load_weights,
    similarities,
    weighted_sum,
)

# the features of the readings of one question, and which of them are right
JudgedReadings = tuple[Sequence[Mapping[str, float]], Sequence[bool]]


def main() -> None:
    """Collect, cross-validate, choose the limits, print, and write the weights."""
    cli = argparse.ArgumentParser(prog="python -m evaluation.learn", description=__doc__)
    cli.add_argument("--data", type=Path, required=True, help="data folder with the ingested graphs")
    cli.add_argument("--gold", type=Path, nargs="+", required=True, help="folders with GRAPH/questions.jsonl")
    cli.add_argument("--own", type=Path, nargs="*", default=[], help="the same, learned from and not measured")
    cli.add_argument("--sample", type=int, help="questions, drawn by the seed")
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--cache", type=Path, help="write the collected samples to this file, or read them from it")
    cli.add_argument("--ablate", action="store_true", help="leave out one group of features at a time")
    cli.add_argument("--curve", action="store_true", help="learn from 10, 25, 50 ... graphs")
    cli.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    args = cli.parse_args()
    samples = read_or_collect(args.data, args.gold, args.own, args.sample, args.seed, args.cache)
    text = learn(samples)
    if args.ablate:
        print_ablation(samples, graph_folds(s.graph for s in samples))
    if args.curve:
        print_learning_curve(samples)
    args.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def learn(samples: Sequence[ParserSample]) -> dict[str, object]:
    """All that `weights.json` holds; the figures that it rests on are printed."""
    print_prior_ranks([s for s in samples if not s.own and not s.variant])
    folds = graph_folds(s.graph for s in samples)
    scores = cross_validate(samples, folds)
    print_ranked("out of fold", samples, scores)
    scores, likeness = with_similarity(samples, scores)
    print_ranked(f"with similarity, weight {likeness:.2f}", samples, scores)
    runs = [judged_run(sample, own) for sample, own in zip(samples, scores, strict=True)]
    removed = [
        judged_run(other, own)
        for sample, own in zip(samples, scores, strict=True)
        if not sample.own and (other := without_answer(sample)) is not None
    ]
    learned = [*runs, *removed[::STATED_PER_REMOVED]]
    models = [fit_models([run for run in learned if folds[run.graph] != fold]) for fold in range(FOLDS)]
    weighed = [
        WeighedRun(run, run.chances(models[folds[run.graph]]["choice"], models[folds[run.graph]]["after"]))
        for run in (*runs, *removed)
    ]
    limits = choose_limits(weighed)
    print(describe_gains(weighed, limits))
    return {
        "features": _rounded(fit_log_linear(_readings(samples))),
        **{name: _rounded(model) for name, model in fit_models(learned).items()},
        "likeness": round(likeness, 4),
        "threshold": limits.answered,
        "sure": SURE,
        "said": dict(load_weights().said),
        "said_from": load_weights().said_from,
        "unstated": limits.unstated,
        "refused": limits.refused,
        "right": TARGET_PRECISION,
        "levels": sure_levels(weighed, limits),
    }


def _readings(samples: Sequence[ParserSample]) -> list[JudgedReadings]:
    return [(sample.features, sample.right) for sample in samples]


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


FOLDS = 5

# rank of a right reading that does not exist
_NO_RANK = 10**6

# smaller groups of features are not ablated
MIN_ABLATED = 3


def print_prior_ranks(samples: Sequence[ParserSample]) -> None:
    """Print how often a right reading is among the first by prior, and the time of a question."""
    first = [next((i for i, y in enumerate(s.right) if y), _NO_RANK) for s in samples]
    line = ", ".join(f"at {k} {100 * sum(f < k for f in first) / len(first):.1f} %" for k in (1, 6, 30, 100))
    times = sorted(1000 * s.seconds for s in samples)
    print(f"{len(samples)} questions of {len({s.graph for s in samples})} graphs; oracle in order of prior: {line}")
    print(f"ms a question: median {times[len(times) // 2]:.0f}, 95 of 100 within {times[int(0.95 * len(times))]:.0f}")


def graph_folds(names: Iterable[str], count: int = FOLDS) -> dict[str, int]:
    """The fold of each graph, drawn by a fixed seed."""
    graphs = sorted(set(names))
    Random(0).shuffle(graphs)
    return {graph: i % count for i, graph in enumerate(graphs)}


def cross_validate(
    samples: Sequence[ParserSample], folds: Mapping[str, int], without: str | None = None
) -> list[list[float]]:
    """The scores of all readings, each by weights learned without its graph."""
    scores: list[list[float]] = [[] for _ in samples]
    for fold in range(FOLDS):
        learned = fit_log_linear(_readings([s for s in samples if folds[s.graph] != fold]), without)
        for i, sample in enumerate(samples):
            if folds[sample.graph] == fold:
                scores[i] = [weighted_sum(f, learned) for f in sample.features]
    return scores


def with_similarity(
    samples: Sequence[ParserSample], scores: Sequence[Sequence[float]]
) -> tuple[list[list[float]], float]:
    """The scores with the similarity of doubtful readings in words to their questions, and its weight.

    Without an embedder the scores stay as they are.
    """
    model = local_embedder("auto")
    compared: dict[int, tuple[list[int], list[float]]] = {}
    for sample, own in zip(samples, scores, strict=True):
        # a sample that counts several times is compared once
        if own and model is not None and id(sample) not in compared:
            doubtful = doubtful_readings(*belief_shares(own))
            words = [sample.words[k] for k in doubtful]
            compared[id(sample)] = doubtful, similarities(sample.question, words, model.embed) if words else []
    pairs = [(own, *compared.get(id(sample), ([], []))) for sample, own in zip(samples, scores, strict=True)]
    judged = [
        ([own[k] for k in doubtful], similarity, [sample.right[k] for k in doubtful])
        for sample, (own, doubtful, similarity) in zip(samples, pairs, strict=True)
        if doubtful and not sample.own
    ]
    weight = fit_similarity_weight(judged)
    return [add_similarities(*each, weight) for each in pairs], weight


def print_ranked(title: str, samples: Sequence[ParserSample], scores: Sequence[Sequence[float]]) -> None:
    """Print how often one of the first 1, 6, 30 and 100 readings is right."""
    firsts = []
    for sample, own in zip(samples, scores, strict=True):
        if sample.own:
            continue
        order = np.argsort(-np.array(own), kind="stable")
        firsts.append(next((k for k, i in enumerate(order) if sample.right[i]), _NO_RANK))
    line = ", ".join(f"at {k} {100 * sum(f < k for f in firsts) / len(firsts):.1f} %" for k in (1, 6, 30, 100))
    print(f"{title}: right {line}")


def print_ablation(samples: Sequence[ParserSample], folds: Mapping[str, int]) -> None:
    """Print the accuracy out of fold without each group of features; the names of a group share their first word."""
    names = {name for s in samples for f in s.features for name in f}
    sizes = Counter(name.split(" ")[0] for name in names)
    for group in sorted(g for g, n in sizes.items() if n >= MIN_ABLATED):
        print_ranked(f"without {group}", samples, cross_validate(samples, folds, group))


def print_learning_curve(samples: Sequence[ParserSample]) -> None:
    """Print the accuracy on left-out graphs, learned from more and more graphs."""
    graphs = sorted({s.graph for s in samples})
    Random(1).shuffle(graphs)
    left_out, rest = graphs[: len(graphs) // FOLDS], graphs[len(graphs) // FOLDS :]
    test = [s for s in samples if s.graph in left_out]
    for size in (10, 25, 50, len(rest)):
        learned = fit_log_linear(_readings([s for s in samples if s.graph in rest[:size]]))
        print_ranked(
            f"learned from {min(size, len(rest))}", test, [[weighted_sum(f, learned) for f in s.features] for s in test]
        )


# strength of the regularisation (measured out of fold at 0.002 to 0.1)
RIDGE_SURE = 0.01

Models = dict[str, dict[str, float]]


def fit_models(runs: Sequence[JudgedRun]) -> Models:
    """The models for a reading before it runs, for the choice among those that ran, and for the chosen one."""
    usable = [run for run in runs if run.readings]
    eligible = [[run.readings[i] for i in run.eligible] for run in usable]
    choice = fit_log_linear([([each.choice for each in ran], [each.right for each in ran]) for ran in eligible])
    first = [run.readings[0] for run in usable]
    chosen = [run.readings[run.best(choice)] for run in usable]
    # readings that ignore a bound are never likely, whatever their features are
    first, chosen = ([each for each in group if not each.penalty] for group in (first, chosen))
    return {
        "before": fit_logistic([each.before for each in first], [each.right for each in first], RIDGE_SURE),
        "choice": choice,
        "after": fit_logistic([each.after for each in chosen], [each.right for each in chosen], RIDGE_SURE),
    }


# Strength of the ranker's regularisation, measured with `python -m evaluation.learn`
# at 0.003, 0.01 and 0.03
RIDGE = 0.01

# upper bound of the search for the weight of similarity
MAX_SIMILARITY_WEIGHT = 50.0


def fit_log_linear(
    samples: Sequence[JudgedReadings], without: str | None = None, ridge: float = RIDGE, *, is_scaled: bool = True
) -> dict[str, float]:
    """Log-linear weights that maximise the joint probability of the right readings; ridge-regularised, deterministic.

    `without` is the beginning of the names of features that are left out. The ridge is that of features of equal
    deviation, unless they are not scaled.
    """
    from scipy.optimize import minimize

    usable = [each for each in samples if any(each[1]) and not all(each[1])]
    features = [reading for readings, _ in usable for reading in readings]
    names = sorted({n for each in features for n in each if without is None or not n.startswith(without)})
    x, scale = _matrix(features, names, is_scaled=is_scaled)
    transposed = x.T.tocsr()
    sizes = [len(readings) for readings, _ in usable]
    right = np.array([is_right for _, judged in usable for is_right in judged], dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    sample_of = np.repeat(np.arange(len(usable)), sizes)

    def loss(w: Any) -> tuple[float, Any]:
        score = x @ w
        belief = np.exp(score - np.maximum.reduceat(score, starts)[sample_of])
        total = np.add.reduceat(belief, starts)
        good = np.add.reduceat(belief * right, starts) + 1e-12
        gradient = transposed @ (belief / total[sample_of] - belief * right / good[sample_of])
        value = -(np.log(good) - np.log(total)).sum() / len(usable) + ridge * float(w @ w)
        return value, gradient / len(usable) + 2 * ridge * w

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


def _matrix(
    features: Sequence[Mapping[str, float]], names: Sequence[str], *, is_scaled: bool = True
) -> tuple[Any, Any]:
    """Features as a sparse matrix, with columns of equal standard deviation if scaled, and the scale of each column."""
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
    scale = np.where(is_scaled & (deviation > 0), deviation + 1e-3, 1.0)
    return (x @ diags(1 / scale)).tocsr(), scale


if __name__ == "__main__":
    main()
