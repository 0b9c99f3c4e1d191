"""Learn how likely the rows of the reading that answers are right: graphs + questions -> `said` of weights.json.

    python -m evaluation.calibrate_answers DATA FOLDER... [--out FILE]

DATA is a data folder, FOLDER/GRAPH/questions.jsonl has the questions of its graphs. The order of readings and the
choice among them stay as they are, so that few readings are run and it takes minutes. It prints from which probability
on a share of the readings that use all words and pass the proof is right, each by weights learned without its graph.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from evaluation.answer_limits import RANKED_ONLY
from evaluation.learn import fit_logistic, graph_folds
from evaluation.samples import same_values
from nacre.config.embedder import local_embedder
from nacre.records.plan import Plan
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding import understand
from nacre.understanding.ranking import probabilities
from nacre.understanding.ranking.probabilities import (
    MAX_READINGS_RUN,
    belief_features,
    choose_reading,
    outcome_features,
    probability,
    table_outcome,
)
from nacre.understanding.ranking.proof import doubts_of_rows
from nacre.understanding.ranking.rank import WEIGHTS_FILE, RankedReading, weighted_sum
from nacre.wording.profile import run_plan

FOLDS = 10

# strength of the regularisation (measured at 0.003 to 0.1)
RIDGE = 0.02

# how often readings that may be said count, which the limit divides (measured at 1 and 4, and without the others)
TIMES_SAID = 4

PRECISIONS = (0.97, 0.96, 0.95, 0.94, 0.93)


class JudgedReading(NamedTuple):
    """The reading that answers a question: its features, whether it is right, and whether it may be said."""

    graph: str
    features: Mapping[str, float]
    right: bool
    may_be_said: bool


def judge_questions(graph: Graph, name: str, file: Path) -> Iterator[JudgedReading]:
    """The readings that answer the questions of one graph, without follow-ups and plans that are not ranked."""
    ranked: dict[Plan, Mapping[str, float]] = {}

    def best_readings(scored: Sequence[RankedReading], *rest: Any) -> Any:
        order, readings = probabilities.best_readings(scored, *rest)
        places = {id(each): place for place, each in enumerate(scored)}
        for own, reading in zip(order, readings, strict=False):
            belief = belief_features(own.share, len(own.unused), places[id(own)])
            known = {k: v for k, v in {**own.features, **belief}.items() if not k.startswith(RANKED_ONLY)}
            ranked[reading.plan] = known
        return order, readings

    with patch.object(understand, "best_readings", best_readings):
        for asked in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if "answers" not in asked or (asked.get("turn") or 1) > 1 or "exclude" in (asked.get("tags") or ()):
                continue
            ranked.clear()
            understood = understand.understand(Rewrite(asked["question"]), graph.schema, graph.lexicon)
            readings = understood.readings[:MAX_READINGS_RUN]
            tables = [run_plan(each.plan, graph.tables, round=1)[0] for each in readings]
            outcomes = [table_outcome(table) for table in tables]
            best = choose_reading(understood, outcomes)[0] if readings else 0
            if not readings or readings[best].plan not in ranked:
                continue
            outcome = outcome_features(best, [each.score for each in readings], outcomes)
            table, values = tables[best], outcomes[best].values
            doubts = readings[best].doubts or (table and doubts_of_rows(readings[best].plan.body, table))
            may_be_said = bool(values) and not (doubts or readings[best].unused) and understood.most == 1.0
            right = values is not None and same_values(asked["answers"], values)
            yield JudgedReading(name, {**ranked[readings[best].plan], **outcome}, right, may_be_said)


def learn(judged: Sequence[JudgedReading]) -> dict[str, float]:
    """The weights."""
    counted = [each for each in judged for _ in range(TIMES_SAID if each.may_be_said else 1)]
    return fit_logistic([each.features for each in counted], [each.right for each in counted], RIDGE)


def precision_lines(judged: Sequence[JudgedReading]) -> Iterator[str]:
    """From which probability on a share of what is said is right, if the graph was left out; and how much is said."""
    folds = graph_folds((each.graph for each in judged), FOLDS)
    models = [learn([each for each in judged if folds[each.graph] != fold]) for fold in range(FOLDS)]
    said = [each for each in judged if each.may_be_said]
    chances = {id(each): probability(weighted_sum(each.features, models[folds[each.graph]])) for each in said}
    said.sort(key=lambda each: -chances[id(each)])
    right = list(accumulate(each.right for each in said))
    yield f"{len(judged)} questions of {len(folds)} graphs, {len(said)} may be said, {right[-1]} of these right"
    for precision in PRECISIONS:
        last = max((i for i, good in enumerate(right, 1) if good >= precision * i), default=0)
        if last:
            yield f"{precision}: from {chances[id(said[last - 1])]:.4f} on, {last / len(judged):.1%} are said"


def main() -> None:
    """Ask, learn, print, and write the weights."""
    cli = argparse.ArgumentParser(prog="python -m evaluation.calibrate_answers", description=__doc__)
    cli.add_argument("data", type=Path, help="data folder with the ingested graphs")
    cli.add_argument("gold", type=Path, nargs="+", help="folders with GRAPH/questions.jsonl")
    cli.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    options = cli.parse_args()
    library, judged = Library(options.data, local_embedder("auto")), list[JudgedReading]()
    for name in library.names():
        for file in (folder / name / "questions.jsonl" for folder in options.gold):
            judged += judge_questions(library.open(name), name, file) if file.exists() else ()
    sys.stdout.write("".join(f"{line}\n" for line in precision_lines(judged)))
    text = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    text["said"] = {name: round(w, 5) for name, w in sorted(learn(judged).items()) if abs(w) >= 1e-5}
    options.out.write_text(json.dumps(text, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
