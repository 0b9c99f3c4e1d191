"""What rewordings cost: questions, their rewordings and the answers to both -> the share of right answers that stay.

    python -m nacre.evaluation.comparing.robustness QUESTIONS PREDICTIONS REWORDED PREDICTIONS_OF_REWORDED [--failing]

With `--failing` each rewording that is answered wrong though its question was answered right follows: its kind, what
was asked at first and now, what is expected and what was given.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.evaluation.score import AnswersById, read_answers, right_ids


class RobustnessLine(NamedTuple):
    """How many rewordings of one kind there are of questions answered right, and how many stay right."""

    rewording: str
    asked: int
    right: int


def robustness_lines(reworded: Sequence[GoldQuestion], before: set[Any], after: set[Any]) -> list[RobustnessLine]:
    """A line for each kind of rewording, and one for all; `before` and `after` are the ids answered right."""
    counted = [gold for gold in reworded if gold["original"] in before]
    kinds = sorted({gold["rewording"] for gold in counted})
    groups = [(kind, [g for g in counted if g["rewording"] == kind]) for kind in kinds]
    return [
        RobustnessLine(kind, len(group), sum(gold["id"] in after for gold in group))
        for kind, group in [*groups, ("together", counted)]
    ]


def failing_rewordings(
    questions: Sequence[GoldQuestion], reworded: Sequence[GoldQuestion], answers: AnswersById, lost: set[Any]
) -> list[str]:
    """A few lines of text for each rewording whose id is in `lost`."""
    asked = {gold["id"]: gold["question"] for gold in questions}
    found = []
    for gold in (gold for gold in reworded if gold["id"] in lost):
        record = answers.get(gold["id"])
        given = f"{record['status']}, {record['values'][:6]}, {record['answer'][:160]!r}" if record else "no record"
        expected = [gold.get("answers"), gold.get("must_include"), gold.get("nuggets")]
        wanted = str(next((each for each in expected if each), "nothing"))[:160]
        found.append(
            f"{gold['rewording']}: {gold['question']}\n  at first: {asked.get(gold['original'], '')}\n"
            f"  expected: {wanted}\n  given: {given}\n"
        )
    return found


def main() -> None:
    """Print the table, and the failing ones where they are wanted."""
    command = argparse.ArgumentParser(
        prog="python -m nacre.evaluation.comparing.robustness", description="What rewordings cost."
    )
    for name in ("questions", "predictions", "reworded", "predictions_of_reworded"):
        command.add_argument(name, type=Path)
    command.add_argument("--failing", action="store_true", help="list the rewordings that are answered wrong")
    given = command.parse_args()
    questions, reworded = read_gold_questions(given.questions), read_gold_questions(given.reworded)
    answers = read_answers(given.predictions_of_reworded)
    before, after = right_ids(questions, read_answers(given.predictions)), right_ids(reworded, answers)
    sys.stdout.write(f"{'rewording':<12}{'asked':>7}{'right':>7}\n")
    for line in robustness_lines(reworded, before, after):
        share = f"{line.right / line.asked:.1%}" if line.asked else ""
        sys.stdout.write(f"{line.rewording:<12}{line.asked:>7}{line.right:>7}{share:>8}\n")
    if given.failing:
        lost = {gold["id"] for gold in reworded if gold["original"] in before} - after
        sys.stdout.write("\n" + "\n".join(failing_rewordings(questions, reworded, answers, lost)))


if __name__ == "__main__":
    main()
