"""Learn the parser's weights: graphs + questions with gold answers -> nacre/understanding/ranking/weights.json.

A reading is right when the values of its rows are the gold answer. Everything that is printed is out of fold, with
whole graphs left out. Needs the extra `learn` (scipy).
"""

import argparse
import json
import pickle
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from nacre.config.embedder import local_embedder
from nacre.evaluation.learning.follow_ups import JudgedTurn, judge_turns
from nacre.evaluation.learning.linear_models import fit_log_linear, fit_similarity_weight
from nacre.evaluation.learning.row_probabilities import (
    TARGET_PRECISION,
    answer_threshold,
    fit_row_probabilities,
    offer_threshold,
)
from nacre.records.evidence import Cell
from nacre.records.plan import Plan
from nacre.stores.catalog import Graph, Library
from nacre.understanding.linking.linker import Linker
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.ranking.features import reading_features
from nacre.understanding.ranking.rank import belief_shares, weighted_sum
from nacre.understanding.ranking.similarity import add_similarities, doubtful_readings, similarities
from nacre.understanding.ranking.weights import WEIGHTS_FILE
from nacre.wording.phrases.plan import verbalise_plan

FILES = ("questions.jsonl", "questions_dev.jsonl", "conversations.jsonl")
FOLDS = 5
# a smaller group of features is not left out on its own
MIN_ABLATED = 3


@dataclass
class ParserSample:
    """One question: the features of its readings, which are right, what running them gave and what they are in words;
    `own`: it was written together with the rules, and says nothing of how well they do."""

    graph: str
    id: str
    question: str
    found: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]
    words: list[str]
    seconds: float = 0.0
    own: bool = False


def main() -> None:
    """Collect, cross-validate, print, and write the weights."""
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--data", type=Path, required=True, help="data folder with the ingested graphs")
    cli.add_argument("--gold", type=Path, nargs="+", required=True, help="folders with GRAPH/questions.jsonl")
    cli.add_argument("--own", type=Path, nargs="*", default=[], help="the same, learned from and not measured")
    cli.add_argument("--sample", type=int, help="questions, drawn by the seed")
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--cache", type=Path, help="keep (or read) what was collected")
    cli.add_argument("--ablate", action="store_true", help="leave out groups of features, one at a time")
    cli.add_argument("--curve", action="store_true", help="learn from 10, 25, 50 ... graphs")
    cli.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    args = cli.parse_args()
    samples = _collected(args.data, args.gold, args.own, args.sample, args.seed, args.cache)
    print_prior_ranks([s for s in samples if not s.own])
    folds = _folds(samples)
    scores = cross_validate(samples, folds)
    print_ranked("out of fold", samples, scores)
    scores, weight = with_similarity(samples, scores)
    print_ranked(f"with likeness, weighing {weight:.2f}", samples, scores)
    models, levels, levels_before = fit_row_probabilities(samples, scores, folds)
    if args.ablate:
        print_ablation(samples, folds)
    if args.curve:
        print_learning_curve(samples)
    text = {
        "features": _rounded(fit_log_linear(samples)),
        **{name: _rounded(model) for name, model in models.items()},
        "likeness": round(weight, 4),
        "threshold": answer_threshold(levels),
        "threshold_before": answer_threshold(levels_before),
        "offered": offer_threshold(samples, scores),
        "right": TARGET_PRECISION,
        "levels": levels,
    }
    args.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _collected(
    data: Path, gold: Sequence[Path], own: Sequence[Path], size: int | None, seed: int, cache: Path | None
) -> list[ParserSample]:
    if cache is not None and cache.exists():
        with cache.open("rb") as file:
            samples: list[ParserSample] = pickle.load(file)
            return samples
    library = Library(data, None)
    asked: list[dict[str, Any]] = []
    for name in library.names():
        for folder, name_of in product((*gold, *own), FILES):
            if (path := folder / name / name_of).exists():
                known_by = {"graph": name, "own": folder in own}
                asked += [json.loads(line) | known_by for line in path.read_text(encoding="utf-8").splitlines()]
    # the turns of a conversation are asked in their order, after each other
    apart: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for q in asked:
        if "answers" in q:
            alone = q["graph"], str(q.get("conversation") or ""), "" if q.get("conversation") else str(q["id"])
            apart[alone].append(q)
    drawn = sorted(apart)
    random.Random(seed).shuffle(drawn)
    known: dict[str, tuple[Graph, Linker, dict[Any, tuple[Cell, ...] | None]]] = {}
    samples = []
    for key in sorted(drawn[:size]):
        name = key[0]
        if name not in known:
            known.clear()
            graph = library.open(name)
            known[name] = graph, Linker(graph.lexicon), {}
        samples += _judged(apart[key], *known[name])
    if cache is not None:
        cache.write_bytes(pickle.dumps(samples))
    return samples


def _judged(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> list[ParserSample]:
    """The samples of one question, as often as it is listed, or of the turns of a conversation."""
    if not lines[0].get("conversation"):
        sample = collect_sample(lines[0], graph, linker, ran)
        return [replace(sample, own=line["own"]) for line in lines]
    times = Counter(line["id"] for line in lines)
    once = {line["id"]: line for line in sorted(lines, key=lambda line: line["turn"])}
    return [
        sample_of_turn(turn, graph, linker)
        for turn in judge_turns(list(once.values()), graph, linker, ran)
        # what changes the plan before it is not ranked
        if not turn.changed
        for _ in range(times[turn.line["id"]])
    ]


def collect_sample(
    question: Mapping[str, Any], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> ParserSample:
    """All readings of one question with their features, run."""
    return sample_of_turn(next(iter(judge_turns([question], graph, linker, ran))), graph, linker)


def sample_of_turn(turn: JudgedTurn, graph: Graph, linker: Linker) -> ParserSample:
    """What is learned from a question that was read and run."""
    best = max((c.derivation.prior for c in turn.candidates), default=0.0)
    found = [reading_features(c, turn.question, linker.index.graph, best) for c in turn.candidates]
    unused = [len(unused_tokens(c, turn.question)) for c in turn.candidates]
    words = [verbalise_plan(Plan(c.body), graph.schema) for c in turn.candidates]
    line = turn.line
    name, text = str(line["id"]), turn.question.text
    return ParserSample(line["graph"], name, text, found, turn.right, turn.values, unused, words, turn.seconds)


def print_prior_ranks(samples: Sequence[ParserSample]) -> None:
    """How often a right reading is among the first by prior, and the time it takes."""
    first = [next((i for i, y in enumerate(s.right) if y), 10**6) for s in samples]
    line = ", ".join(f"at {k} {100 * sum(f < k for f in first) / len(first):.1f} %" for k in (1, 6, 30, 100))
    times = sorted(1000 * s.seconds for s in samples)
    print(f"{len(samples)} questions of {len({s.graph for s in samples})} graphs; oracle in order of prior: {line}")
    print(f"ms a question: median {times[len(times) // 2]:.0f}, 95 of 100 within {times[int(0.95 * len(times))]:.0f}")


def _folds(samples: Sequence[ParserSample]) -> dict[str, int]:
    graphs = sorted({s.graph for s in samples})
    random.Random(0).shuffle(graphs)
    return {graph: i % FOLDS for i, graph in enumerate(graphs)}


def cross_validate(
    samples: Sequence[ParserSample], folds: Mapping[str, int], without: str | None = None
) -> list[list[float]]:
    """The scores of all readings, each from weights that never saw its graph."""
    scores: list[list[float]] = [[] for _ in samples]
    for fold in range(FOLDS):
        learned = fit_log_linear([s for s in samples if folds[s.graph] != fold], without)
        for i, sample in enumerate(samples):
            if folds[sample.graph] == fold:
                scores[i] = [weighted_sum(f, learned) for f in sample.found]
    return scores


def with_similarity(
    samples: Sequence[ParserSample], scores: Sequence[Sequence[float]]
) -> tuple[list[list[float]], float]:
    """The scores where the first readings are compared with their questions in words, and what that weighs; as they are
    without an embedder."""
    model = local_embedder("auto")
    compared: dict[int, tuple[list[int], list[float]]] = {}
    for i, (sample, own) in enumerate(zip(samples, scores, strict=True)):
        if own and model is not None and (open_ := doubtful_readings(*belief_shares(own))):
            compared[i] = open_, similarities(sample.question, [sample.words[k] for k in open_], model.embed)
    judged = [
        ([scores[i][k] for k in open_], found, [samples[i].right[k] for k in open_])
        for i, (open_, found) in compared.items()
        if not samples[i].own
    ]
    weight = fit_similarity_weight(judged)
    return [add_similarities(own, *compared.get(i, ([], [])), weight) for i, own in enumerate(scores)], weight


def print_ranked(title: str, samples: Sequence[ParserSample], scores: Sequence[Sequence[float]]) -> None:
    """How often the first reading, and one of the first six, is right."""
    firsts = []
    for sample, own in zip(samples, scores, strict=True):
        if sample.own:
            continue
        order = np.argsort(-np.array(own), kind="stable")
        firsts.append(next((k for k, i in enumerate(order) if sample.right[i]), 10**6))
    line = ", ".join(f"at {k} {100 * sum(f < k for f in firsts) / len(firsts):.1f} %" for k in (1, 6, 30, 100))
    print(f"{title}: right {line}")


def print_ablation(samples: Sequence[ParserSample], folds: Mapping[str, int]) -> None:
    """What each group of features (those whose names begin alike) is worth: right at 1 out of fold without it."""
    names = {name for s in samples for f in s.found for name in f}
    sizes = Counter(name.split(" ")[0] for name in names)
    for group in sorted(g for g, n in sizes.items() if n >= MIN_ABLATED):
        print_ranked(f"without {group}", samples, cross_validate(samples, folds, group))


def print_learning_curve(samples: Sequence[ParserSample]) -> None:
    """Right at 1 on left-out graphs, learned from more and more graphs."""
    graphs = sorted({s.graph for s in samples})
    random.Random(1).shuffle(graphs)
    held, rest = graphs[: len(graphs) // FOLDS], graphs[len(graphs) // FOLDS :]
    test = [s for s in samples if s.graph in held]
    for size in (10, 25, 50, len(rest)):
        learned = fit_log_linear([s for s in samples if s.graph in rest[:size]])
        print_ranked(
            f"learned from {min(size, len(rest))}", test, [[weighted_sum(f, learned) for f in s.found] for s in test]
        )


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


if __name__ == "__main__":
    main()
