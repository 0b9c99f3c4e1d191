"""Learn the weights of the ranker of readings: samples -> weights, scores out of fold, and printed figures.

All printed figures are out of fold: whole graphs are left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from nacre.config.embedder import local_embedder
from nacre.evaluation.learning.linear_models import fit_log_linear, fit_similarity_weight
from nacre.evaluation.learning.samples import ParserSample
from nacre.understanding.ranking.rank import belief_shares, weighted_sum
from nacre.understanding.ranking.similarity import add_similarities, doubtful_readings, similarities

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


def graph_folds(samples: Sequence[ParserSample]) -> dict[str, int]:
    """The fold of each graph, drawn by a fixed seed."""
    graphs = sorted({s.graph for s in samples})
    Random(0).shuffle(graphs)
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
        learned = fit_log_linear([s for s in samples if s.graph in rest[:size]])
        print_ranked(
            f"learned from {min(size, len(rest))}", test, [[weighted_sum(f, learned) for f in s.features] for s in test]
        )
