"""Measure how often a removed fact is missed: graph + questions -> how many then get no value.

    python -m evaluation.removed_facts GRAPH.nt QUESTIONS [--count 40] [--seed 1] [--each]

The questions are asked of the whole graph. Then the facts of some right look-ups are removed, and these questions are
asked again of what is left. All stores are written to a temporary folder.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluation.bundled_sets import run_nacre
from evaluation.unanswerable import write_unanswerable
from nacre.evaluation.questions import GoldQuestion
from nacre.evaluation.score import AnswersById, read_answers


def removed_report(asked: Sequence[GoldQuestion], answers: AnswersById, each: bool = False) -> str:
    """How many of the questions got no value, and their statuses; with `each`, a line for every question."""
    records = [answers[gold["id"]] for gold in asked]
    statuses = Counter((record["status"], bool(record["values"])) for record in records)
    counts = ", ".join(
        f"{status} {count}{' with a value' if has_value else ''}"
        for (status, has_value), count in sorted(statuses.items())
    )
    lines = [
        f"{'value' if record['values'] else 'none '} | {record['status']} | {record['question']} | {record['answer']}"
        for record in records
        if each
    ]
    total = f"{sum(not record['values'] for record in records)} of {len(records)} without a value: {counts}"
    return "\n".join((*lines, total)) + "\n"


def measure_removed(graph: Path, questions: Path, count: int, seed: int, folder: Path, each: bool = False) -> str:
    """Ask, remove the facts of `count` right look-ups, ask these again, and report."""
    answers = _ask(graph, questions, "whole", folder)
    reduced, asked = folder / "reduced.nq", folder / "unanswerable.jsonl"
    unanswerable = write_unanswerable(graph, questions, answers, count, seed, reduced, asked)
    return removed_report(unanswerable, _ask(reduced, asked, "reduced", folder), each)


def _ask(graph: Path, questions: Path, name: str, folder: Path) -> AnswersById:
    """Ingest a graph, and the answers of the rules to all questions."""
    environment = {**os.environ, "NACRE_DATA": str(folder / "data")}
    predictions = folder / f"{name}.jsonl"
    run_nacre("ingest", str(graph), "--graph", name, "--no-vectors", environment=environment)
    options = ("--graph", name, "--reasoner", "rules", "--out", str(predictions))
    run_nacre("eval", str(questions), *options, environment=environment)
    return read_answers(predictions)


def main() -> None:
    """Print the report of a graph and its questions."""
    command = argparse.ArgumentParser(
        prog="python -m evaluation.removed_facts", description="Measure how often a removed fact is missed."
    )
    command.add_argument("graph", type=Path)
    command.add_argument("questions", type=Path)
    command.add_argument("--count", type=int, default=40, help="how many questions to make unanswerable")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--each", action="store_true", help="print every question with its answer")
    options = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(
            measure_removed(options.graph, options.questions, options.count, options.seed, Path(folder), options.each)
        )


if __name__ == "__main__":
    main()
