"""The bundled graphs with questions: a checkout -> EvaluationSets, and the report of each."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.config.settings import Settings
from nacre.extensions.evaluation.questions import read_gold_questions
from nacre.extensions.evaluation.score import read_answers, score_report
from nacre.records.answer import Answer

ROOT = Path(__file__).parents[1]


class EvaluationSet(NamedTuple):
    """A graph and a file of questions about it. `sources` are the arguments of `nacre ingest`, empty if the graph
    exists. Of a `blind` set only totals are printed."""

    graph: str
    questions: Path
    sources: tuple[str, ...] = ()
    blind: bool = False


def bundled_sets(root: Path) -> Iterator[EvaluationSet]:
    """The graphs of a checkout that have questions: the example, the blind graphs, those of the tests."""
    example = root / "examples" / "bmw"
    if example.exists():
        graph, texts = str(example / "kg.ttl"), str(example / "texts")
        yield EvaluationSet("example", example / "questions_dev.jsonl", (graph,))
        yield EvaluationSet("example-texts", example / "questions_texts.jsonl", (graph, "--texts", texts))
    for file in sorted((root / "evaluation" / "graphs").glob("*/questions.jsonl")):
        yield EvaluationSet(file.parent.name, file, (str(file.with_name("kg.ttl")),), blind=True)
    for file in sorted((root / "tests" / "fixtures" / "questions").glob("*.yaml")):
        graph = str(file.parents[1] / "graphs" / f"{file.stem}.ttl")
        yield EvaluationSet(file.stem.replace("_", "-"), file, (graph,))


def evaluate_set(each: EvaluationSet, folder: Path) -> str:
    """Ask the questions and return their report; bundled graphs and the answers are written to `folder`."""
    data = folder if each.sources else Settings().data
    out = folder / "predictions" / f"{each.graph}.jsonl"
    answers = answers_by_rules(each.graph, each.questions, out, data, each.sources)
    report = score_report(read_gold_questions(each.questions), answers, kinds=not each.blind)
    return f"\n{each.graph}: {each.questions}\n{report}"


def answers_by_rules(graph: str, questions: Path, out: Path, data: Path, sources: Sequence[str]) -> dict[Any, Answer]:
    """The records of the rules for a file of questions, which are also written to `out`; the graph of a data folder is
    made of the `sources` first, if there are any."""
    environment = {**os.environ, "NACRE_DATA": str(data)}
    if sources:
        run_nacre("ingest", *sources, "--graph", graph, environment=environment)
    options = ("--graph", graph, "--reasoner", "rules", "--out", str(out))
    run_nacre("eval", str(questions), *options, environment=environment)
    return read_answers(out)


def run_nacre(*arguments: str, environment: dict[str, str]) -> None:
    """Run the command line; print its errors and exit if it fails."""
    command = [sys.executable, "-m", "nacre.serving.cli.main", *arguments]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.stderr.write(process.stderr[-2000:])
        raise SystemExit(process.returncode)
