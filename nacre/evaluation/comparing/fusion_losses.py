"""What fusion loses: questions and answer records -> those that a candidate had right and the answer has wrong.

    python -m nacre.evaluation.comparing.fusion_losses QUESTIONS=PREDICTIONS.jsonl ...

The candidates of a turn are the queries of its record, run again over NACRE_DATA: a model's through the guard, those of
the rules by the readings that give them. Questions that only words can answer are left out.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agents.answering.draft import verbalise_answer
from nacre.config.settings import Settings
from nacre.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.evaluation.score import read_answers
from nacre.evaluation.verdict import is_right
from nacre.records.answer import Answer, Value
from nacre.records.evidence import BranchResult
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding.ranking.calibrate import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from nacre.wording.answers.answer import verbalise_rows
from tools.run_model_sql import run_model_sql
from tools.sql import run_reading


class FusionCandidate(NamedTuple):
    """Values that could have been the answer, who found them, and how."""

    by: Literal["rules", "model"]
    values: tuple[Value, ...]
    words: str


class FusionLoss(NamedTuple):
    """A question, what was answered, and the candidate that was right."""

    gold: GoldQuestion
    record: Answer
    right: FusionCandidate


def fusion_candidates(record: Answer, graph: Graph) -> Iterator[FusionCandidate]:
    """All that the queries of a record give."""
    tried = {(query["text"], tuple(query["params"])) for query in record["queries"]}
    rewrite = Rewrite(record["standalone"], language=record["language"])
    readings = understand(rewrite, graph.schema, graph.lexicon).readings[:MAX_READINGS_RUN]
    for index, reading in enumerate(readings):
        found = run_reading(reading, index, graph.tables, round=1)
        if {(query.text, query.params) for query in found.queries} <= tried:
            for rows in found.rows:
                told = verbalise_answer(rows, reading.plan, graph.schema, record["question"])
                yield FusionCandidate("rules", told.values, reading.words)
    for query in record["queries"]:
        if query["by"] == "model" and query["error"] is None:
            yield from _of_written(run_model_sql(query["text"], graph.tables, round=1), query["text"])


def _of_written(found: BranchResult, text: str) -> Iterator[FusionCandidate]:
    for rows in found.rows:
        values = verbalise_rows(rows.table).values
        yield FusionCandidate("model", values, text)
        if values in ((0,), (1,)):
            # the record does not say that a yes or no was asked for
            yield FusionCandidate("model", (bool(values[0]),), text)


def find_fusion_losses(
    questions: Sequence[GoldQuestion], answers: Mapping[Any, Answer], library: Library
) -> tuple[int, int, list[FusionLoss]]:
    """How many questions that want values were asked, how many of these were answered right, and what was lost."""
    asked = [(gold, answers[gold["id"]]) for gold in questions if gold["id"] in answers and _values(gold)]
    wrong = [(gold, record) for gold, record in asked if not (is_right(gold, record) or _is_right(gold, record))]
    found: list[FusionLoss] = []
    for gold, record in wrong:
        with library.open(record["graph"]) as graph:
            known = (each for each in fusion_candidates(record, graph) if _is_right(gold, record, each))
            right = next(known, None)
        if right is not None:
            found.append(FusionLoss(gold, record, right))
    return len(asked), len(asked) - len(wrong), found


def _values(gold: GoldQuestion) -> list[list[Value]]:
    """The gold answers as values; none where only words can answer."""
    return [values for values in (gold.get("answers"), *(gold.get("alt_answers") or [])) if values]


def _is_right(gold: GoldQuestion, record: Answer, candidate: FusionCandidate | None = None) -> bool:
    """Whether values are right: those of a candidate, or the record's own, whatever its prose says."""
    by_values = gold.copy()
    by_values.pop("must_include", None)
    by_values.pop("nuggets", None)
    told = record.copy()
    if candidate is not None:
        told["values"], told["status"] = list(candidate.values), "answered"
    return bool(told["values"]) and is_right(by_values, told)


def fusion_loss_report(asked: int, right: int, found: Sequence[FusionLoss]) -> str:
    """The totals, then a line for each question that was lost."""
    declined = sum(not each.record["values"] for each in found)
    lines = [
        f"asked {asked}, right {right}, lost {len(found)} ({len(found) / max(1, asked):.1%}): "
        f"{len(found) - declined} answered otherwise, {declined} without values"
    ]
    for gold, record, candidate in found:
        lines.append(f"{gold['id']} ({record['status']}, {record['confidence']}): by {candidate.by}: {candidate.words}")
    return "\n".join([*lines, ""])


def main(*pairs: str) -> None:
    """Print the report over all pairs of files."""
    library = Library(Settings().data, None)
    asked, right, found = 0, 0, list[FusionLoss]()
    for questions, _, predictions in (pair.partition("=") for pair in pairs):
        counted = find_fusion_losses(read_gold_questions(Path(questions)), read_answers(Path(predictions)), library)
        asked, right, found = asked + counted[0], right + counted[1], found + counted[2]
    sys.stdout.write(fusion_loss_report(asked, right, found))


if __name__ == "__main__":
    main(*sys.argv[1:])
