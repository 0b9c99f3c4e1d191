"""Learn the weights of the rules together with the limits of what is answered: graphs + questions -> weights.json.

    python -m nacre.evaluation.learn --data DATA --gold FOLDER ... [--own FOLDER ...] [--cache FILE]

Readings are ranked, calibrated and judged out of fold: whole graphs are left out. Needs the extra `learn` (scipy).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from nacre.evaluation.learning.judged_runs import JudgedRun, judged_run
from nacre.evaluation.learning.limits import (
    STATED_PER_REMOVED,
    TARGET_PRECISION,
    WeighedRun,
    answer_threshold,
    choose_limits,
    describe_gains,
    offer_threshold,
    precision_levels,
    sure_levels,
)
from nacre.evaluation.learning.linear_models import fit_log_linear
from nacre.evaluation.learning.parser_weights import (
    cross_validate,
    graph_folds,
    print_ablation,
    print_learning_curve,
    print_prior_ranks,
    print_ranked,
    with_similarity,
)
from nacre.evaluation.learning.row_probabilities import fit_models, models_out_of_fold
from nacre.evaluation.learning.samples import ParserSample, read_or_collect, without_answer
from nacre.understanding.ranking.calibrate import probability
from nacre.understanding.ranking.rank import weighted_sum
from nacre.understanding.ranking.weights import WEIGHTS_FILE


def main() -> None:
    """Collect, cross-validate, choose the limits, print, and write the weights."""
    cli = argparse.ArgumentParser(prog="python -m nacre.evaluation.learn", description=__doc__)
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
        print_ablation(samples, graph_folds(samples))
    if args.curve:
        print_learning_curve(samples)
    args.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def learn(samples: Sequence[ParserSample]) -> dict[str, object]:
    """All that `weights.json` holds; the figures that it rests on are printed."""
    print_prior_ranks([s for s in samples if not s.own and not s.variant])
    folds = graph_folds(samples)
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
    models = models_out_of_fold(learned, folds)
    weighed = [
        WeighedRun(run, run.chances(models[folds[run.graph]]["choice"], models[folds[run.graph]]["after"]))
        for run in (*runs, *removed)
    ]
    limits = choose_limits(weighed)
    print(describe_gains(weighed, limits))
    return {
        "features": _rounded(fit_log_linear(samples)),
        **{name: _rounded(model) for name, model in fit_models(learned).items()},
        "likeness": round(likeness, 4),
        "threshold": limits.answered,
        "threshold_before": answer_threshold(_levels_before(runs, models, folds)),
        "offered": offer_threshold(samples, scores),
        "unstated": limits.unstated,
        "refused": limits.refused,
        "right": TARGET_PRECISION,
        "levels": sure_levels(weighed, limits),
    }


def _levels_before(
    runs: Sequence[JudgedRun], models: Sequence[Mapping[str, Mapping[str, float]]], folds: Mapping[str, int]
) -> list[list[float]]:
    """The levels of precision by the probability of the first reading before it runs."""
    first = [(run.graph, run.readings[0]) for run in runs if run.readings and not run.own and not run.variant]
    judged = [
        (probability(weighted_sum(each.before, models[folds[graph]]["before"]) + each.penalty), each.right)
        for graph, each in first
    ]
    return precision_levels(judged, len(judged))


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: round(w, 5) for name, w in sorted(model.items()) if abs(w) >= 1e-5}


if __name__ == "__main__":
    main()
