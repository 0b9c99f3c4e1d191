"""Find what the fusion loses: questions and answer records -> wrong answers with a right candidate.

    python -m evaluation.fusion_losses QUESTIONS=PREDICTIONS.jsonl ...

The candidates of a turn are the queries of its record, run again over NACRE_DATA: queries of a model through the guard,
queries of the rules by the readings that give them. Questions with a gold answer in prose are left out.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agents.answering.draft import verbalise_answer
from nacre.config.settings import Settings
from nacre.extensions.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.extensions.evaluation.score import is_right, read_answers
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.records.answer import Answer, Value
from nacre.records.evidence import BranchResult
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from nacre.wording.answer import verbalise_rows
from tools.sql import run_reading


class FusionCandidate(NamedTuple):
    """Values that could have been the answer, the reasoner behind them, and its reading or query."""

    by: Literal["rules", "model"]
    values: tuple[Value, ...]
    words: str


class FusionLoss(NamedTuple):
    """A question with its wrong answer and the right candidate."""

    gold: GoldQuestion
    record: Answer
    right: FusionCandidate


def fusion_candidates(record: Answer, graph: Graph) -> Iterator[FusionCandidate]:
    """The values of all queries of a record."""
    tried = {(query["text"], tuple(query["params"])) for query in record["queries"]}
    rewrite = Rewrite(record["standalone"], language=record["language"])
    readings = understand(rewrite, graph.schema, graph.lexicon).readings[:MAX_READINGS_RUN]
    for index, reading in enumerate(readings):
        result = run_reading(reading, index, graph.tables, round=1)
        if {(query.text, query.params) for query in result.queries} <= tried:
            for rows in result.rows:
                answer = verbalise_answer(rows, reading.plan, graph.schema, record["question"])
                yield FusionCandidate("rules", answer.values, reading.words)
    for query in record["queries"]:
        if query["by"] == "model" and query["error"] is None:
            yield from _model_candidates(run_model_sql(query["text"], graph.tables, round=1), query["text"])


def find_fusion_losses(
    questions: Sequence[GoldQuestion], answers: Mapping[Any, Answer], library: Library
) -> tuple[int, int, list[FusionLoss]]:
    """The number of questions with gold values, the number answered right, and the losses."""
    asked = [(gold, answers[gold["id"]]) for gold in questions if gold["id"] in answers and _gold_values(gold)]
    wrong = [
        (gold, record) for gold, record in asked if not (is_right(gold, record) or _has_right_values(gold, record))
    ]
    losses: list[FusionLoss] = []
    for gold, record in wrong:
        with library.open(record["graph"]) as graph:
            candidates = (each for each in fusion_candidates(record, graph) if _has_right_values(gold, record, each))
            right = next(candidates, None)
        if right is not None:
            losses.append(FusionLoss(gold, record, right))
    return len(asked), len(asked) - len(wrong), losses


def fusion_loss_report(asked: int, right: int, losses: Sequence[FusionLoss]) -> str:
    """The totals, then a line for each loss."""
    declined = sum(not each.record["values"] for each in losses)
    lines = [
        f"asked {asked}, right {right}, lost {len(losses)} ({len(losses) / max(1, asked):.1%}): "
        f"{len(losses) - declined} answered otherwise, {declined} without values"
    ]
    for gold, record, candidate in losses:
        lines.append(f"{gold['id']} ({record['status']}, {record['confidence']}): by {candidate.by}: {candidate.words}")
    return "\n".join([*lines, ""])


def _model_candidates(result: BranchResult, text: str) -> Iterator[FusionCandidate]:
    for rows in result.rows:
        values = verbalise_rows(rows.table).values
        yield FusionCandidate("model", values, text)
        if values in ((0,), (1,)):
            # the record does not tell whether it was a yes/no question
            yield FusionCandidate("model", (bool(values[0]),), text)


def _gold_values(gold: GoldQuestion) -> list[list[Value]]:
    """The gold answers as values; empty for a gold answer in prose."""
    return [values for values in (gold.get("answers"), *(gold.get("alt_answers") or [])) if values]


def _has_right_values(gold: GoldQuestion, record: Answer, candidate: FusionCandidate | None = None) -> bool:
    """Whether the values of a candidate, or of the record itself, are right, whatever the prose."""
    by_values = gold.copy()
    by_values.pop("must_include", None)
    by_values.pop("nuggets", None)
    judged = record.copy()
    if candidate is not None:
        judged["values"], judged["status"] = list(candidate.values), "answered"
    return bool(judged["values"]) and is_right(by_values, judged)


def main(*pairs: str) -> None:
    """Print the report over all pairs of files."""
    library = Library(Settings().data, None)
    asked, right, losses = 0, 0, list[FusionLoss]()
    for questions, _, predictions in (pair.partition("=") for pair in pairs):
        counted = find_fusion_losses(read_gold_questions(Path(questions)), read_answers(Path(predictions)), library)
        asked, right, losses = asked + counted[0], right + counted[1], losses + counted[2]
    sys.stdout.write(fusion_loss_report(asked, right, losses))


if __name__ == "__main__":
    main(*sys.argv[1:])
