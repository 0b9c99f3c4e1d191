"""Count what was right: a file of questions with gold answers + a file of answer records -> a small table.

    python -m nacre.evaluation.score QUESTIONS PREDICTIONS.jsonl

A line for each kind of question: how many were asked and answered right (exactly), their F1, how many statuses say what
the file tells (`answered` where it has an answer, else that there is none), and the seconds of a turn, median and 95 of
100. Below it, how many were said with confidence (status `answered`), and how many of these are right.
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
    """One line of the table."""

    kind: str
    asked: int
    right: int
    f1: float
    status: int
    median: float
    slow: float


def score_lines(questions: Sequence[GoldQuestion], answers: AnswersById) -> list[ScoreLine]:
    """A line for each kind of question, and one for all; a question without a record is wrong."""
    kinds = sorted({question_kind(question) for question in questions})
    groups = [(name, [q for q in questions if question_kind(q) == name]) for name in kinds]
    return [_line(name, group, answers) for name, group in [*groups, ("together", list(questions))]]


def right_ids(questions: Sequence[GoldQuestion], answers: AnswersById) -> set[Any]:
    """The ids of the questions that were answered right."""
    return {q["id"] for q in questions if q["id"] in answers and is_right(q, answers[q["id"]])}


def count_refused(questions: Sequence[GoldQuestion], answers: AnswersById) -> tuple[int, int]:
    """How many questions have an answer, and how many of these got none: not in the graph, or failed."""
    wanted = [answers[q["id"]]["status"] for q in questions if is_answerable(q) and q["id"] in answers]
    return len(wanted), sum(status in ("not_in_graph", "failed") for status in wanted)


def read_answers(path: Path) -> dict[Any, Answer]:
    """The records of a file of predictions, by id."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return {record["id"]: record for record in (json.loads(line) for line in lines if line.strip())}


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values does not pass; 0 where there is none.

    >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile([4.0, 1.0, 2.0, 3.0], 0.95)
    (2.0, 4.0)
    """
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)] if ranked else 0.0


def _line(name: str, questions: Sequence[GoldQuestion], answers: AnswersById) -> ScoreLine:
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
    """How much of the answer is right, 0..1; prose is right or wrong."""
    if is_right(question, record):
        return 1.0
    found = ranking_scores(question, record)
    return found.f1 if found else 0.0


def score_report(questions: Sequence[GoldQuestion], answers: AnswersById, *, kinds: bool = True) -> str:
    """The table as text, or its last line where kinds are not wanted, and below it how often each status was given."""
    lines = [f"{'kind':<14}{'asked':>7}{'exact':>7}{'':>7}{'F1':>7}{'status':>8}{'p50 s':>9}{'p95 s':>9}"]
    for each in score_lines(questions, answers)[0 if kinds else -1 :]:
        share = f"{each.right / each.asked:.1%}" if each.asked else ""
        counts = f"{each.kind:<14}{each.asked:>7}{each.right:>7}{share:>7}{each.f1:>7.1%}{each.status:>8}"
        lines.append(f"{counts}{each.median:>9.3f}{each.slow:>9.3f}")
    given = Counter(answers[q["id"]]["status"] if q["id"] in answers else "no record" for q in questions)
    hit: Counter[str] = Counter(answers[id_]["status"] for id_ in right_ids(questions, answers))
    wanted, count = count_refused(questions, answers)
    sure = given["answered"]
    lines.append(
        f"said with confidence: {sure} of {len(questions)}"
        + (f", of these right: {hit['answered']} ({hit['answered'] / sure:.1%})" if sure else "")
    )
    lines.append(", ".join(f"{name} {times} ({hit[name]} of them right)" for name, times in given.most_common()))
    return "\n".join([*lines, f"refused though there is an answer: {count} of {wanted}", ""])


def main(questions: str, predictions: str) -> None:
    """Print the report."""
    sys.stdout.write(score_report(read_gold_questions(Path(questions)), read_answers(Path(predictions))))


if __name__ == "__main__":
    main(*sys.argv[1:])
