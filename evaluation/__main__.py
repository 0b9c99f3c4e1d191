"""Measure answer quality: the bundled graphs and the named graphs -> a table for each.

    python -m evaluation [GRAPH=QUESTIONS ...]

The bundled graphs are stored in the folder `evaluation` of the data folder, apart from the graphs of the user. All
questions go through the command line and are answered by the rules.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.bundled_sets import ROOT, EvaluationSet, bundled_sets, evaluate_set
from nacre.config.settings import Settings


def main(named: Sequence[str]) -> None:
    """Print each report as soon as it is ready; `named` are arguments of the form GRAPH=QUESTIONS."""
    folder = Settings().data / "evaluation"
    named_sets = (EvaluationSet(graph, Path(file)) for graph, _, file in (each.partition("=") for each in named))
    for each in (*bundled_sets(ROOT), *named_sets):
        sys.stdout.write(evaluate_set(each, folder))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
