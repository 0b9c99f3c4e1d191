"""Measure robustness to rewording: questions, rewordings and answers to both -> the share of answers that stay right.

    python -m evaluation.robustness QUESTIONS PREDICTIONS REWORDED PREDICTIONS_OF_REWORDED [--failing]

With `--failing` the rewordings with a wrong answer to a question with a right answer follow: the kind, both wordings,
the expected and the given answer.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.evaluation.score import AnswersById, read_answers, right_ids

# values and characters of an answer that are shown, at most
_MAX_VALUES, _MAX_LETTERS = 6, 160


class RobustnessLine(NamedTuple):
    """The rewordings of one kind of questions with a right answer, and how many of them stay right."""

    rewording: str
    asked: int
    right: int


def robustness_lines(reworded: Sequence[GoldQuestion], before: set[Any], after: set[Any]) -> list[RobustnessLine]:
    """A line for each kind of rewording, then one for all; `before` and `after` are the ids answered right."""
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
    originals = {gold["id"]: gold["question"] for gold in questions}
    texts = []
    for gold in (gold for gold in reworded if gold["id"] in lost):
        given = "no record"
        if record := answers.get(gold["id"]):
            given = f"{record['status']}, {record['values'][:_MAX_VALUES]}, {record['answer'][:_MAX_LETTERS]!r}"
        gold_answers = [gold.get("answers"), gold.get("must_include"), gold.get("nuggets")]
        expected = str(next((each for each in gold_answers if each), "nothing"))[:_MAX_LETTERS]
        texts.append(
            f"{gold['rewording']}: {gold['question']}\n  at first: {originals.get(gold['original'], '')}\n"
            f"  expected: {expected}\n  given: {given}\n"
        )
    return texts


def main() -> None:
    """Print the table, and on request the failing rewordings."""
    command = argparse.ArgumentParser(
        prog="python -m evaluation.robustness", description="Measure robustness to rewording."
    )
    for name in ("questions", "predictions", "reworded", "predictions_of_reworded"):
        command.add_argument(name, type=Path)
    command.add_argument("--failing", action="store_true", help="list the rewordings that are answered wrong")
    options = command.parse_args()
    questions, reworded = read_gold_questions(options.questions), read_gold_questions(options.reworded)
    answers = read_answers(options.predictions_of_reworded)
    before, after = right_ids(questions, read_answers(options.predictions)), right_ids(reworded, answers)
    sys.stdout.write(f"{'rewording':<12}{'asked':>7}{'right':>7}\n")
    for line in robustness_lines(reworded, before, after):
        share = f"{line.right / line.asked:.1%}" if line.asked else ""
        sys.stdout.write(f"{line.rewording:<12}{line.asked:>7}{line.right:>7}{share:>8}\n")
    if options.failing:
        lost = {gold["id"] for gold in reworded if gold["original"] in before} - after
        sys.stdout.write("\n" + "\n".join(failing_rewordings(questions, reworded, answers, lost)))


if __name__ == "__main__":
    main()
