"""Measure answer quality: the graphs that come with Nacre, and those named -> a table each.

    python -m nacre.evaluation [GRAPH=QUESTIONS ...]

The graphs that come with Nacre are kept in a folder of their own beside those of the user, whose graphs are asked where
they are. All of it goes through the command line, as a user's questions do; the rules answer.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.config.settings import Settings
from nacre.evaluation.questions import read_gold_questions
from nacre.evaluation.score import read_answers, score_report

ROOT = Path(__file__).parents[2]


class EvaluationSet(NamedTuple):
    """A graph and a file of questions about it.

    `sources` is what to ingest, nothing where the graph is there; of a `blind` one only totals are read.
    """

    graph: str
    questions: Path
    sources: tuple[str, ...] = ()
    blind: bool = False


def bundled_sets(root: Path) -> Iterator[EvaluationSet]:
    """The graphs of a checkout that have questions: the example, the blind ones, those of the tests."""
    example = root / "examples" / "bmw"
    if example.exists():
        graph, texts = str(example / "kg.ttl"), str(example / "texts")
        yield EvaluationSet("example", example / "questions_dev.jsonl", (graph,))
        yield EvaluationSet("example-texts", example / "questions_texts.jsonl", (graph, "--texts", texts))
    for file in sorted((root / "nacre" / "evaluation" / "graphs").glob("*/questions.jsonl")):
        yield EvaluationSet(file.parent.name, file, (str(file.with_name("kg.ttl")),), blind=True)
    for file in sorted((root / "tests" / "fixtures" / "questions").glob("*.yaml")):
        graph = str(file.parents[1] / "graphs" / f"{file.stem}.ttl")
        yield EvaluationSet(file.stem.replace("_", "-"), file, (graph,))


def evaluate_set(each: EvaluationSet, own: Path) -> str:
    """Ask the questions, and give their report; what is ingested and answered lies in the folder `own`."""
    predictions = own / "predictions" / f"{each.graph}.jsonl"
    environment = {**os.environ, "NACRE_DATA": str(own)} if each.sources else dict(os.environ)
    if each.sources:
        run_nacre("ingest", *each.sources, "--graph", each.graph, environment=environment)
    asked = ("--graph", each.graph, "--mind", "rules", "--out", str(predictions))
    run_nacre("eval", str(each.questions), *asked, environment=environment)
    found = score_report(read_gold_questions(each.questions), read_answers(predictions), kinds=not each.blind)
    return f"\n{each.graph}: {each.questions}\n{found}"


def run_nacre(*arguments: str, environment: dict[str, str]) -> None:
    """Run the command line; what it says is shown only where it fails."""
    command = [sys.executable, "-m", "nacre.serving.cli.main", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
        raise SystemExit(done.returncode)


def main(named: Sequence[str]) -> None:
    """Print the reports, each as soon as it is there."""
    own = Settings().data / "evaluation"
    theirs = (EvaluationSet(graph, Path(file)) for graph, _, file in (each.partition("=") for each in named))
    for each in (*bundled_sets(ROOT), *theirs):
        sys.stdout.write(evaluate_set(each, own))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
