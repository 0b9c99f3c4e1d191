"""Learn the parser's weights from questions and answers: graphs + gold answers -> semantics/ranking/weights.json.

A reading is right when the values of its rows are the gold answer. Everything that is printed is out of fold, with
whole graphs left out. Needs the extra `learn` (scipy).
"""

import argparse
import json
import pickle
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.fit import fitted, logistic
from evaluation.gold_values import same_values
from evaluation.run_reading import run_values
from records.evidence import Cell
from semantics.linker import Linker
from semantics.linking.index import link
from semantics.ranking.calibrate import MOST_RUN, Outcome, able, belief, outcome_features, probability
from semantics.ranking.features import features, unused_tokens
from semantics.ranking.rank import beliefs, spread_of, worth
from semantics.ranking.weights import FILE
from semantics.understand import derived, read
from stores.catalog import Graph, Library

FILES = ("questions.jsonl", "questions_dev.jsonl")
FOLDS = 5
RIDGE_SURE, RIDGE_CHOICE = 0.05, 0.0003
# the share of confident answers that must be right: given (what "answered" means)
RIGHT = 0.87
SECONDS = 2.0
_LEAST_ANSWERED = 30
# a smaller group of features is not left out on its own
LEAST_ABLATED = 3
# shares of right answers that thresholds are printed and kept for
LEVELS = (0.95, 0.9, 0.87, 0.85, 0.8, 0.7)


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
    models, levels, levels_before = calibrated(samples, scores, folds)
    if args.ablate:
        ablated(samples, folds)
    if args.curve:
        curve(samples)
    text = {
        "features": _rounded(fitted(samples)),
        **{name: _rounded(model) for name, model in models.items()},
        "threshold": _at(levels),
        "threshold_before": _at(levels_before),
        "right": RIGHT,
        "levels": levels,
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
        cache.write_bytes(pickle.dumps(samples))
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


def print_ranked(title: str, samples: Sequence[Sample], scores: Sequence[Sequence[float]]) -> None:
    """How often the first reading, and one of the first six, is right."""
    firsts = []
    for sample, own in zip(samples, scores, strict=True):
        order = np.argsort(-np.array(own), kind="stable")
        firsts.append(next((k for k, i in enumerate(order) if sample.right[i]), 10**6))
    line = ", ".join(f"at {k} {100 * sum(f < k for f in firsts) / len(firsts):.1f} %" for k in (1, 6, 30, 100))
    print(f"{title}: right {line}")


@dataclass
class Run:
    """The first readings of one question as they are run: features of each model, which are right, which may answer."""

    graph: str
    before: list[dict[str, float]]
    choice: list[dict[str, float]]
    after: list[dict[str, float]]
    right: list[bool]
    able: list[int]


def _runs(samples: Sequence[Sample], scores: Sequence[Sequence[float]]) -> list[Run]:
    found = []
    for sample, own in zip(samples, scores, strict=True):
        run = Run(sample.graph, [], [], [], [], [])
        found.append(run)
        if not own:
            continue
        order, shares = beliefs(own)
        spread = spread_of([shares[i] for i in order])
        first = order[:MOST_RUN]
        ran, outcomes = [shares[i] for i in first], [Outcome(sample.values[i]) for i in first]
        run.able += able([sample.unused[i] for i in first], outcomes)
        for place, i in enumerate(first):
            known = belief(shares[i], sample.unused[i], place)
            given = outcome_features(place, ran, outcomes)
            run.before.append(sample.found[i] | spread | known)
            run.choice.append(known | given)
            run.after.append(sample.found[i] | spread | known | given)
            run.right.append(sample.right[i])
    return found


def calibrated(
    samples: Sequence[Sample], scores: Sequence[Sequence[float]], folds: Mapping[str, int]
) -> tuple[dict[str, dict[str, float]], list[list[float]], list[list[float]]]:
    """The three models of probability, and thresholds after and before running; what is printed is out of fold."""
    runs = _runs(samples, scores)
    before: list[tuple[float, bool]] = []
    after: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        models = _models([r for r in runs if folds[r.graph] != fold])
        for run in runs:
            if folds[run.graph] != fold:
                continue
            if not run.right:
                before.append((0.0, False))
                after.append((0.0, False))
                continue
            before.append((probability(worth(run.before[0], models["before"])), run.right[0]))
            worths = [worth(f, models["choice"]) for f in run.choice]
            best = max(run.able, key=lambda i: (worths[i], -i))
            after.append((probability(worth(run.after[best], models["after"])), run.right[best]))
    return _models(runs), _said("after running", after), _said("before running", before)


def _models(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    asked = [r for r in runs if r.right]
    first = [r.right[0] for r in asked]
    return {
        "before": logistic([r.before[0] for r in asked], first, RIDGE_SURE),
        "choice": logistic([f for r in asked for f in r.choice], [y for r in asked for y in r.right], RIDGE_CHOICE),
        "after": logistic([r.after[0] for r in asked], first, RIDGE_SURE),
    }


def _said(title: str, found: Sequence[tuple[float, bool]]) -> list[list[float]]:
    """Print how true the probabilities are; for each level [threshold, share said, share right]."""
    ordered = sorted(found, key=lambda f: -f[0])
    reached = {level: [level, 1.0, 0.0, 0.0] for level in LEVELS}
    good = 0
    for i, (sure, correct) in enumerate(ordered, 1):
        good += correct
        for level in LEVELS:
            if i >= _LEAST_ANSWERED and good / i >= level:
                reached[level] = [level, round(sure, 4), round(i / len(ordered), 3), round(good / i, 3)]
    print(f"{title}: right {100 * sum(c for _, c in ordered) / len(ordered):.1f} %")
    for level, threshold, share, right in reached.values():
        print(f"  above {threshold:.3f}: {100 * share:.1f} % said, {100 * right:.1f} % of them right (level {level})")
    for low in range(10):
        inside = [(p, c) for p, c in found if low / 10 <= p < (low + 1) / 10 + (low == 9)]
        if inside:
            mean, true = sum(p for p, _ in inside) / len(inside), sum(c for _, c in inside) / len(inside)
            print(f"  {low / 10:.1f}-{(low + 1) / 10:.1f}: {len(inside):5} said {mean:.2f} right {true:.2f}")
    return list(reached.values())


def ablated(samples: Sequence[Sample], folds: Mapping[str, int]) -> None:
    """What each group of features (those whose names begin alike) is worth: right at 1 out of fold without it."""
    names = {name for s in samples for f in s.found for name in f}
    sizes = Counter(name.split(" ")[0] for name in names)
    for group in sorted(g for g, n in sizes.items() if n >= LEAST_ABLATED):
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


def _at(levels: Sequence[Sequence[float]]) -> float:
    """The threshold of the level that an answer has to reach."""
    return next(threshold for level, threshold, _, _ in levels if level == RIGHT)


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


if __name__ == "__main__":
    main()
