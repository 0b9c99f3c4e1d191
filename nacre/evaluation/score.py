"""Score answers: a file of questions with gold answers + a file of answer records -> a table.

    python -m nacre.evaluation.score QUESTIONS PREDICTIONS.jsonl

The table has a line for each kind of question: the number of questions, of exact answers and of right statuses, the
F1, and the seconds of a turn (median and 95th percentile). Below it stand the number of answers with confidence (status
`answered`) and how many of them are right.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.evaluation.questions import GoldQuestion, is_answerable, question_kind, read_gold_questions
from nacre.evaluation.ranking_metrics import ranking_scores
from nacre.evaluation.verdict import is_right, status_is_right
from nacre.records.answer import Answer

AnswersById = Mapping[Any, Answer]


class ScoreLine(NamedTuple):
    """The scores of one kind of question; `median` and `slow` are seconds of a turn."""

    kind: str
    asked: int
    right: int
    f1: float
    status: int
    median: float
    slow: float


def score_lines(questions: Sequence[GoldQuestion], answers: AnswersById) -> list[ScoreLine]:
    """A line for each kind of question, then one for all; a question without a record is wrong."""
    kinds = sorted({question_kind(question) for question in questions})
    groups = [(name, [q for q in questions if question_kind(q) == name]) for name in kinds]
    return [_score_line(name, group, answers) for name, group in [*groups, ("together", list(questions))]]


def right_ids(questions: Sequence[GoldQuestion], answers: AnswersById) -> set[Any]:
    """The ids of the questions that were answered right."""
    return {q["id"] for q in questions if q["id"] in answers and is_right(q, answers[q["id"]])}


def count_refused(questions: Sequence[GoldQuestion], answers: AnswersById) -> tuple[int, int]:
    """The number of questions with a gold answer, and how many of them were refused or failed."""
    statuses = [answers[q["id"]]["status"] for q in questions if is_answerable(q) and q["id"] in answers]
    return len(statuses), sum(status in ("not_in_graph", "failed") for status in statuses)


def read_answers(path: Path) -> dict[Any, Answer]:
    """The records of a file of predictions by id."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return {record["id"]: record for record in (json.loads(line) for line in lines if line.strip())}


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below a share of the values; 0 if there are none.

    >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile([4.0, 1.0, 2.0, 3.0], 0.95)
    (2.0, 4.0)
    """
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)] if ranked else 0.0


def _score_line(name: str, questions: Sequence[GoldQuestion], answers: AnswersById) -> ScoreLine:
    pairs = [(question, answers[question["id"]]) for question in questions if question["id"] in answers]
    seconds = [record["seconds"] for _, record in pairs]
    return ScoreLine(
        name,
        len(questions),
        sum(is_right(*pair) for pair in pairs),
        sum(f1_score(*pair) for pair in pairs) / max(1, len(questions)),
        sum(status_is_right(*pair) for pair in pairs),
        quantile(seconds, 0.5),
        quantile(seconds, 0.95),
    )


def f1_score(question: GoldQuestion, record: Answer) -> float:
    """The F1 of an answer, 0..1; prose is right or wrong."""
    if is_right(question, record):
        return 1.0
    scores = ranking_scores(question, record)
    return scores.f1 if scores else 0.0


def score_report(questions: Sequence[GoldQuestion], answers: AnswersById, *, kinds: bool = True) -> str:
    """The table as text and the counts of statuses; without `kinds` only the last line of the table."""
    lines = [f"{'kind':<14}{'asked':>7}{'exact':>7}{'':>7}{'F1':>7}{'status':>8}{'p50 s':>9}{'p95 s':>9}"]
    for each in score_lines(questions, answers)[0 if kinds else -1 :]:
        share = f"{each.right / each.asked:.1%}" if each.asked else ""
        counts = f"{each.kind:<14}{each.asked:>7}{each.right:>7}{share:>7}{each.f1:>7.1%}{each.status:>8}"
        lines.append(f"{counts}{each.median:>9.3f}{each.slow:>9.3f}")
    statuses = Counter(answers[q["id"]]["status"] if q["id"] in answers else "no record" for q in questions)
    right: Counter[str] = Counter(answers[id_]["status"] for id_ in right_ids(questions, answers))
    answerable, refused = count_refused(questions, answers)
    answered = statuses["answered"]
    lines.append(
        f"said with confidence: {answered} of {len(questions)}"
        + (f", of these right: {right['answered']} ({right['answered'] / answered:.1%})" if answered else "")
    )
    lines.append(", ".join(f"{name} {times} ({right[name]} of them right)" for name, times in statuses.most_common()))
    return "\n".join([*lines, f"refused though there is an answer: {refused} of {answerable}", ""])


def main(questions: str, predictions: str) -> None:
    """Print the report."""
    sys.stdout.write(score_report(read_gold_questions(Path(questions)), read_answers(Path(predictions))))


if __name__ == "__main__":
    main(*sys.argv[1:])
