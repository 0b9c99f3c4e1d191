"""Whether putting branches together loses what one of them knew: answers of all + answers of each alone -> a table.

    python -m nacre.evaluation.comparing.branches QUESTIONS ALL.jsonl sql=SQL.jsonl vector=VECTOR.jsonl ...

The files are written by `nacre eval QUESTIONS --branches sql --out SQL.jsonl`, and so on.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nacre.evaluation.questions import read_gold_questions
from nacre.evaluation.score import read_answers, right_ids


class BranchLoss(NamedTuple):
    """What one branch alone has right, and which of that is wrong with all branches together."""

    name: str
    right: int
    lost: tuple[Any, ...]


def compare_branches(together: set[Any], alone: Mapping[str, set[Any]]) -> list[BranchLoss]:
    """A line for each branch, then one for whatever any of them has right.

    >>> compare_branches({1, 2}, {"sql": {1, 3}, "vector": {2}})[-1]
    BranchLoss(name='any alone', right=3, lost=(3,))
    """
    anyone = {"any alone": set().union(*alone.values())}
    return [
        BranchLoss(name, len(known), tuple(sorted(known - together, key=str)))
        for name, known in {**alone, **anyone}.items()
    ]


def main(questions: str, together: str, *alone: str) -> None:
    """Print the table."""
    asked = read_gold_questions(Path(questions))
    files = dict(each.split("=", 1) for each in alone)
    known = {name: right_ids(asked, read_answers(Path(file))) for name, file in files.items()}
    whole = right_ids(asked, read_answers(Path(together)))
    sys.stdout.write(f"{'branch':<12}{'right':>7}{'lost':>6}\n")
    for name, count, lost in compare_branches(whole, known):
        sys.stdout.write(f"{name:<12}{count:>7}{len(lost):>6}  {' '.join(map(str, lost))}\n")
    sys.stdout.write(f"{'together':<12}{len(whole):>7} of {len(asked)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
