"""Compare all branches together with each branch alone: their answers -> a table of lost answers.

    python -m evaluation.compare_branches QUESTIONS ALL.jsonl sql=SQL.jsonl vector=VECTOR.jsonl ...

The files are written by `nacre eval QUESTIONS --branches sql --out SQL.jsonl`, and so on.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nacre.evaluation.questions import read_gold_questions
from nacre.evaluation.score import read_answers, right_ids


class BranchLoss(NamedTuple):
    """The number of right answers of a branch alone, and those that all branches together get wrong."""

    name: str
    right: int
    lost: tuple[Any, ...]


def compare_branches(together: set[Any], alone: Mapping[str, set[Any]]) -> list[BranchLoss]:
    """A line for each branch, then one for the right answers of any branch.

    >>> compare_branches({1, 2}, {"sql": {1, 3}, "vector": {2}})[-1]
    BranchLoss(name='any alone', right=3, lost=(3,))
    """
    any_branch = {"any alone": set().union(*alone.values())}
    return [
        BranchLoss(name, len(right), tuple(sorted(right - together, key=str)))
        for name, right in {**alone, **any_branch}.items()
    ]


def main(questions: str, together: str, *alone: str) -> None:
    """Print the table."""
    golds = read_gold_questions(Path(questions))
    files = dict(each.split("=", 1) for each in alone)
    right_alone = {name: right_ids(golds, read_answers(Path(file))) for name, file in files.items()}
    right_together = right_ids(golds, read_answers(Path(together)))
    sys.stdout.write(f"{'branch':<12}{'right':>7}{'lost':>6}\n")
    for name, count, lost in compare_branches(right_together, right_alone):
        sys.stdout.write(f"{name:<12}{count:>7}{len(lost):>6}  {' '.join(map(str, lost))}\n")
    sys.stdout.write(f"{'together':<12}{len(right_together):>7} of {len(golds)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
