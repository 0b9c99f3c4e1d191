"""Learn the parser's weights from questions and answers: graphs + gold answers -> semantics/ranking/weights.json.

A reading is right when the values of its rows are the gold answer. Everything that is printed is out of fold, with whole
graphs left out. Needs the development extra (scikit-learn).
"""

import argparse
import json
import pickle
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.gold_values import same_values
from evaluation.run_reading import run_values
from records.evidence import Cell
from semantics.linker import Linker
from semantics.linking.index import link
from semantics.ranking.calibrate import MOST_RUN, Outcome, before_features, logistic, outcome_features
from semantics.ranking.features import features, unused_tokens
from semantics.ranking.rank import worth
from semantics.ranking.weights import FILE, Weights
from semantics.understand import derived, read
from stores.catalog import Graph, Library

FILES = ("questions.jsonl", "questions_dev.jsonl")
FOLDS = 5
# strength of the regularisation of the ranker, measured with `python -m evaluation.learn` at 0.003, 0.01, 0.03
RIDGE = 0.01
RIGHT = 0.9
SECONDS = 2.0
_LEAST_ANSWERED = 30


@dataclass
class Sample:
    """One question: the features of its readings, which are right, and what running them gave."""

    graph: str
    id: str
    question: str
    found: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]
    seconds: float = 0.0


def main() -> None:
    """Collect, cross-validate, print, and write the weights."""
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--data", type=Path, required=True, help="data folder with the ingested graphs")
    cli.add_argument("--gold", type=Path, nargs="+", required=True, help="folders with GRAPH/questions.jsonl")
    cli.add_argument("--sample", type=int, help="questions, drawn by the seed")
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--cache", type=Path, help="keep (or read) what was collected")
    cli.add_argument("--ablate", action="store_true", help="leave out groups of features, one at a time")
    cli.add_argument("--curve", action="store_true", help="learn from 10, 25, 50 ... graphs")
    cli.add_argument("--out", type=Path, default=FILE)
    args = cli.parse_args()
    samples = _collected(args.data, args.gold, args.sample, args.seed, args.cache)
    report(samples)
    folds = _folds(samples)
    scores = cross_validated(samples, folds)
    print_ranked("out of fold", samples, scores)
    before, after, threshold, threshold_before = calibrated(samples, scores, folds)
    if args.ablate:
        ablated(samples, folds)
    if args.curve:
        curve(samples)
    learned = Weights(fitted(samples), before, after, threshold, threshold_before, RIGHT)
    text = {
        "features": _rounded(learned.features),
        "before": _rounded(before),
        "after": _rounded(after),
        "threshold": round(threshold, 4),
        "threshold_before": round(threshold_before, 4),
        "right": RIGHT,
    }
    args.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _collected(data: Path, gold: Sequence[Path], size: int | None, seed: int, cache: Path | None) -> list[Sample]:
    if cache is not None and cache.exists():
        with cache.open("rb") as file:
            samples: list[Sample] = pickle.load(file)
            return samples
    library = Library(data, None)
    asked: list[dict[str, Any]] = []
    for name in library.names():
        for path in (folder / name / file for folder in gold for file in FILES):
            if path.exists():
                asked += [json.loads(line) | {"graph": name} for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [q for q in asked if "answers" in q and not q.get("conversation")]
    random.Random(seed).shuffle(asked)
    asked = sorted(asked[:size], key=lambda q: (q["graph"], q["id"]))
    known: dict[str, tuple[Graph, Linker, dict[Any, tuple[Cell, ...] | None]]] = {}
    samples = []
    for question in asked:
        name = question["graph"]
        if name not in known:
            known.clear()
            graph = library.open(name)
            known[name] = graph, Linker(graph.lexicon), {}
        samples.append(collect(question, *known[name]))
    if cache is not None:
        with cache.open("wb") as file:
            pickle.dump(samples, file)
    return samples


def collect(
    question: Mapping[str, Any], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> Sample:
    """All readings of one question with their features, run."""
    started = time.monotonic()
    asked = read(question["question"], linker)
    candidates = derived(asked, link(asked, linker.index), linker, time.monotonic() + SECONDS)
    best = max((c.derivation.prior for c in candidates), default=0.0)
    found = [features(c, asked, linker.index.graph, best) for c in candidates]
    seconds = time.monotonic() - started
    for candidate in candidates:
        if candidate.body not in ran:
            ran[candidate.body] = run_values(candidate.body, graph.tables)
    values = [ran[c.body] for c in candidates]
    right = [v is not None and same_values(question["answers"], v) for v in values]
    unused = [len(unused_tokens(c, asked)) for c in candidates]
    return Sample(question["graph"], str(question["id"]), question["question"], found, right, values, unused, seconds)


def report(samples: Sequence[Sample]) -> None:
    """How often a right reading is among the first by prior, and the time it takes."""
    first = [next((i for i, y in enumerate(s.right) if y), 10**6) for s in samples]
    line = ", ".join(f"at {k} {100 * sum(f < k for f in first) / len(first):.1f} %" for k in (1, 6, 30, 100))
    times = sorted(1000 * s.seconds for s in samples)
    print(f"{len(samples)} questions of {len({s.graph for s in samples})} graphs; oracle in order of prior: {line}")
    print(f"ms a question: median {times[len(times) // 2]:.0f}, 95 of 100 within {times[int(0.95 * len(times))]:.0f}")


def _folds(samples: Sequence[Sample]) -> dict[str, int]:
    graphs = sorted({s.graph for s in samples})
    random.Random(0).shuffle(graphs)
    return {graph: i % FOLDS for i, graph in enumerate(graphs)}


def cross_validated(
    samples: Sequence[Sample], folds: Mapping[str, int], without: str | None = None
) -> list[list[float]]:
    """The scores of all readings, each from weights that never saw its graph."""
    scores: list[list[float]] = [[] for _ in samples]
    for fold in range(FOLDS):
        learned = fitted([s for s in samples if folds[s.graph] != fold], without)
        for i, sample in enumerate(samples):
            if folds[sample.graph] == fold:
                scores[i] = [worth(f, learned) for f in sample.found]
    return scores


def fitted(samples: Sequence[Sample], without: str | None = None) -> dict[str, float]:
    """Log-linear weights: the right readings together should have the belief; ridge-regularised, deterministic."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix, diags

    usable = [s for s in samples if any(s.right) and not all(s.right)]
    names = sorted({n for s in usable for f in s.found for n in f if without is None or not n.startswith(without)})
    column = {name: i for i, name in enumerate(names)}
    rows, columns, cells = [], [], []
    row = 0
    for sample in usable:
        for found in sample.found:
            for name, value in found.items():
                if value and name in column:
                    rows.append(row)
                    columns.append(column[name])
                    cells.append(value)
            row += 1
    x = csr_matrix((np.array(cells, dtype=np.float64), (rows, columns)), shape=(row, len(names)))
    mean = np.asarray(x.mean(axis=0)).ravel()
    scale = np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)).ravel() - mean**2, 0.0)) + 1e-3
    x = (x @ diags(1 / scale)).tocsr()
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


def print_ranked(title: str, samples: Sequence[Sample], scores: Sequence[Sequence[float]]) -> None:
    """How often the first reading, and one of the first six, is right."""
    firsts = []
    for sample, own in zip(samples, scores, strict=True):
        order = np.argsort(-np.array(own), kind="stable")
        firsts.append(next((k for k, i in enumerate(order) if sample.right[i]), 10**6))
    line = ", ".join(f"at {k} {100 * sum(f < k for f in firsts) / len(firsts):.1f} %" for k in (1, 6, 30, 100))
    print(f"{title}: right {line}")


def calibrated(
    samples: Sequence[Sample], scores: Sequence[Sequence[float]], folds: Mapping[str, int]
) -> tuple[dict[str, float], dict[str, float], float, float]:
    """The two logistic models and their thresholds; what is printed is out of fold."""
    rows: list[tuple[str, int, list[dict[str, float]], list[dict[str, float]], list[bool]]] = []
    for k, (sample, own) in enumerate(zip(samples, scores, strict=True)):
        if not own:
            rows.append((sample.graph, k, [], [], []))
            continue
        belief = np.exp(np.array(own) - max(own))
        belief /= belief.sum()
        order = [int(i) for i in np.argsort(-np.array(own), kind="stable")[:MOST_RUN]]
        shares = [float(belief[i]) for i in order]
        outcomes = [Outcome(sample.values[i]) for i in order]
        first = [before_features(shares[j], sample.unused[i], j) for j, i in enumerate(order)]
        both = [{**first[j], **outcome_features(j, shares, outcomes)} for j in range(len(order))]
        rows.append((sample.graph, k, first, both, [sample.right[i] for i in order]))

    def fit(which: int, kept: Sequence[Any]) -> dict[str, float]:
        return _logistic([f for r in kept for f in r[which]], [y for r in kept for y in r[4]])

    results: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for fold in range(FOLDS):
        training = [r for r in rows if folds[r[0]] != fold]
        models = fit(2, training), fit(3, training)
        for row in rows:
            if folds[row[0]] != fold:
                continue
            if not row[4]:
                results["before running"].append((0.0, False))
                results["after running"].append((0.0, False))
                continue
            for which, title in ((2, "before running"), (3, "after running")):
                own = [logistic(f, models[which - 2]) for f in row[which]]
                best = 0 if which == 2 else max(range(len(own)), key=lambda j: (own[j], -j))
                results[title].append((own[best], row[4][best]))
    thresholds = {title: _said(title, found) for title, found in results.items()}
    return fit(2, rows), fit(3, rows), thresholds["after running"], thresholds["before running"]


def _said(title: str, found: Sequence[tuple[float, bool]]) -> float:
    """Print what is right, at which share 90 % are right, and how true the probabilities are; the threshold."""
    ordered = sorted(found, key=lambda f: -f[0])
    threshold, share, right, good = 1.0, 0.0, 0.0, 0
    for i, (probability, correct) in enumerate(ordered, 1):
        good += correct
        if i >= _LEAST_ANSWERED and good / i >= RIGHT:
            threshold, share, right = probability, i / len(ordered), good / i
    exact = sum(c for _, c in ordered) / len(ordered)
    print(
        f"{title}: right {100 * exact:.1f} %; above {threshold:.3f}: {100 * share:.1f} % said,"
        f" {100 * right:.1f} % of them right"
    )
    for low in range(10):
        inside = [(p, c) for p, c in found if low / 10 <= p < (low + 1) / 10 + (low == 9)]
        if inside:
            mean, true = sum(p for p, _ in inside) / len(inside), sum(c for _, c in inside) / len(inside)
            print(f"  {low / 10:.1f}-{(low + 1) / 10:.1f}: {len(inside):5} said {mean:.2f} right {true:.2f}")
    return threshold


def _logistic(found: Sequence[Mapping[str, float]], right: Sequence[bool]) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression

    names = sorted({n for f in found for n in f})
    x = np.array([[f.get(n, 0.0) for n in names] for f in found])
    model = LogisticRegression(C=1.0, fit_intercept=False, max_iter=2000).fit(x, np.array(right))
    return {name: float(w) for name, w in zip(names, model.coef_[0], strict=True)}


def ablated(samples: Sequence[Sample], folds: Mapping[str, int]) -> None:
    """What each group of features is worth: right at 1 out of fold without it."""
    groups = sorted({name.split(" ")[0] for s in samples for f in s.found for name in f})
    for group in groups:
        print_ranked(f"without {group}", samples, cross_validated(samples, folds, group))


def curve(samples: Sequence[Sample]) -> None:
    """Right at 1 on left-out graphs, learned from more and more graphs."""
    graphs = sorted({s.graph for s in samples})
    random.Random(1).shuffle(graphs)
    held, rest = graphs[: len(graphs) // FOLDS], graphs[len(graphs) // FOLDS :]
    test = [s for s in samples if s.graph in held]
    for size in (10, 25, 50, len(rest)):
        learned = fitted([s for s in samples if s.graph in rest[:size]])
        print_ranked(f"learned from {min(size, len(rest))}", test, [[worth(f, learned) for f in s.found] for s in test])


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


def without(sample: Sample, prefix: str) -> Sample:
    """The sample without a group of features."""
    return replace(
        sample, found=[{n: v for n, v in f.items() if not n.startswith(prefix)} for f in sample.found]
    )


if __name__ == "__main__":
    main()
