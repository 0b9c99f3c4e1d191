"""Learn the weights of the parser: graphs + questions with gold answers -> nacre/understanding/ranking/weights.json.

A reading is right if the values of its rows are the gold answer. All printed figures are out of fold: whole graphs are
left out. Needs the extra `learn` (scipy).
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
from nacre.evaluation.learning.unstated import unstated_share
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
# rank of a right reading that does not exist
_NO_RANK = 10**6
# smaller groups of features are not ablated
MIN_ABLATED = 3


@dataclass
class ParserSample:
    """A question with its readings: features, right or wrong, values, unused words, and the reading in words.

    `own` questions were written together with the rules, so they are learned from and not measured.
    """

    graph: str
    id: str
    question: str
    features: list[dict[str, float]]
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
    cli.add_argument("--cache", type=Path, help="write the collected samples to this file, or read them from it")
    cli.add_argument("--ablate", action="store_true", help="leave out one group of features at a time")
    cli.add_argument("--curve", action="store_true", help="learn from 10, 25, 50 ... graphs")
    cli.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    args = cli.parse_args()
    samples = _read_or_collect(args.data, args.gold, args.own, args.sample, args.seed, args.cache)
    print_prior_ranks([s for s in samples if not s.own])
    folds = _folds(samples)
    scores = cross_validate(samples, folds)
    print_ranked("out of fold", samples, scores)
    scores, weight = with_similarity(samples, scores)
    print_ranked(f"with similarity, weight {weight:.2f}", samples, scores)
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
        "unstated": unstated_share(samples, scores),
        "right": TARGET_PRECISION,
        "levels": levels,
    }
    args.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _read_or_collect(
    data: Path, gold: Sequence[Path], own: Sequence[Path], size: int | None, seed: int, cache: Path | None
) -> list[ParserSample]:
    if cache is not None and cache.exists():
        with cache.open("rb") as file:
            samples: list[ParserSample] = pickle.load(file)
            return samples
    library = Library(data, None)
    conversations = _conversations(library, gold, own)
    drawn = sorted(conversations)
    random.Random(seed).shuffle(drawn)
    # the open graph with its linker and the values of plans that were run
    opened: dict[str, tuple[Graph, Linker, dict[Any, tuple[Cell, ...] | None]]] = {}
    samples = []
    for key in sorted(drawn[:size]):
        name = key[0]
        if name not in opened:
            opened.clear()
            graph = library.open(name)
            opened[name] = graph, Linker(graph.lexicon), {}
        samples += _judge(conversations[key], *opened[name])
    if cache is not None:
        cache.write_bytes(pickle.dumps(samples))
    return samples


def _conversations(
    library: Library, gold: Sequence[Path], own: Sequence[Path]
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The lines with gold answers by graph and conversation; a single question is a conversation of its own."""
    conversations: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for name in library.names():
        for folder, file in product((*gold, *own), FILES):
            path = folder / name / file
            for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
                line = json.loads(text) | {"graph": name, "own": folder in own}
                if "answers" in line:
                    conversation = str(line.get("conversation") or "")
                    conversations[name, conversation, "" if conversation else str(line["id"])].append(line)
    return conversations


def _judge(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> list[ParserSample]:
    """The samples of one question, once per line, or of the turns of a conversation."""
    if not lines[0].get("conversation"):
        sample = collect_sample(lines[0], graph, linker, ran)
        return [replace(sample, own=line["own"]) for line in lines]
    times = Counter(line["id"] for line in lines)
    once = {line["id"]: line for line in sorted(lines, key=lambda line: line["turn"])}
    return [
        sample_of_turn(turn, graph, linker)
        for turn in judge_turns(list(once.values()), graph, linker, ran)
        # plans made of the turn before are not ranked
        if not turn.changed
        for _ in range(times[turn.line["id"]])
    ]


def collect_sample(
    question: Mapping[str, Any], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> ParserSample:
    """One question with all its readings, run and judged."""
    return sample_of_turn(next(iter(judge_turns([question], graph, linker, ran))), graph, linker)


def sample_of_turn(turn: JudgedTurn, graph: Graph, linker: Linker) -> ParserSample:
    """A judged turn as a sample."""
    best = max((c.derivation.prior for c in turn.candidates), default=0.0)
    features = [reading_features(c, turn.question, linker.index.graph, best) for c in turn.candidates]
    unused = [len(unused_tokens(c, turn.question)) for c in turn.candidates]
    words = [verbalise_plan(Plan(c.body), graph.schema) for c in turn.candidates]
    line = turn.line
    name, text = str(line["id"]), turn.question.text
    return ParserSample(line["graph"], name, text, features, turn.right, turn.values, unused, words, turn.seconds)


def print_prior_ranks(samples: Sequence[ParserSample]) -> None:
    """Print how often a right reading is among the first by prior, and the time of a question."""
    first = [next((i for i, y in enumerate(s.right) if y), _NO_RANK) for s in samples]
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
    """The scores of all readings, each by weights learned without its graph."""
    scores: list[list[float]] = [[] for _ in samples]
    for fold in range(FOLDS):
        learned = fit_log_linear([s for s in samples if folds[s.graph] != fold], without)
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
    for i, (sample, own) in enumerate(zip(samples, scores, strict=True)):
        if own and model is not None and (doubtful := doubtful_readings(*belief_shares(own))):
            compared[i] = doubtful, similarities(sample.question, [sample.words[k] for k in doubtful], model.embed)
    judged = [
        ([scores[i][k] for k in doubtful], similarity, [samples[i].right[k] for k in doubtful])
        for i, (doubtful, similarity) in compared.items()
        if not samples[i].own
    ]
    weight = fit_similarity_weight(judged)
    return [add_similarities(own, *compared.get(i, ([], [])), weight) for i, own in enumerate(scores)], weight


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
    random.Random(1).shuffle(graphs)
    left_out, rest = graphs[: len(graphs) // FOLDS], graphs[len(graphs) // FOLDS :]
    test = [s for s in samples if s.graph in left_out]
    for size in (10, 25, 50, len(rest)):
        learned = fit_log_linear([s for s in samples if s.graph in rest[:size]])
        print_ranked(
            f"learned from {min(size, len(rest))}", test, [[weighted_sum(f, learned) for f in s.features] for s in test]
        )


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


if __name__ == "__main__":
    main()
