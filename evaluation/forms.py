"""Measure the forms of questions: small graphs and wordings of each form -> a table of forms, rules alone.

    python -m evaluation.forms [--failing] [FOLDER]

FOLDER (by default `evaluation/forms`) holds `open/NAME.ttl` and `open/NAME.yaml`, a list of cells: a `form`, a `gold`
query in SPARQL and five `wordings` (with `before`, the second turn of a conversation). Cells in `blind/` are counted
like the others, and never listed. A cell is right if all of its wordings are; `said` counts the status `answered`.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox
import yaml

from evaluation.bundled_sets import ROOT, answers_by_rules
from nacre.extensions.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.extensions.evaluation.score import is_right
from nacre.records.answer import Answer, Value

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = {
    f"{XSD}{name}" for name in ("integer", "int", "long", "nonNegativeInteger", "decimal", "double", "float", "gYear")
}


class JudgedWording(NamedTuple):
    """A wording of a cell with its answer."""

    gold: GoldQuestion
    answer: Answer
    right: bool


def gold_values(graph: ox.Store, query: str) -> list[Value]:
    """The distinct cells of a gold query row by row, or one boolean."""
    found = graph.query(query)
    if isinstance(found, ox.QueryBoolean):
        return [bool(found)]
    cells = [term for row in found for term in row if term is not None]
    return list(dict.fromkeys(_value(term) for term in cells))


def _value(term: Any) -> Value:
    if not isinstance(term, ox.Literal):
        return str(term.value)
    if term.datatype.value == f"{XSD}boolean":
        return term.value in ("true", "1")
    if term.datatype.value in NUMBERS:
        number = float(term.value)
        return int(number) if number.is_integer() else number
    return str(term.value)


def cell_questions(file: Path) -> Iterator[GoldQuestion]:
    """The wordings of the cells of a file as questions; `type` is the form, `original` the cell."""
    graph = ox.Store()
    graph.bulk_load(path=str(file.with_suffix(".ttl")), format=ox.RdfFormat.TURTLE)
    for number, cell in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
        values = gold_values(graph, cell["gold"])
        for i, wording in enumerate(cell["wordings"]):
            asked = GoldQuestion(
                id=f"{number}-{i}",
                question=wording,
                type=cell["form"],
                answers=values,
                original=f"{file.stem} {number}",
            )
            if before := cell.get("before"):
                yield GoldQuestion(id=f"{number}-{i}-before", question=before, conversation=asked["id"], turn=1)
                asked |= {"conversation": asked["id"], "turn": 2}
            yield asked


def ask_cells(file: Path, data: Path) -> Iterator[JudgedWording]:
    """Ingest the graph of a file into a data folder, ask all wordings, and judge the answers."""
    questions, predictions = data / f"{file.stem}.jsonl", data / f"{file.stem}.predictions.jsonl"
    golds = list(cell_questions(file))
    questions.write_text("".join(f"{json.dumps(gold)}\n" for gold in golds), encoding="utf-8")
    answers = answers_by_rules(file.stem, questions, predictions, data, (str(file.with_suffix(".ttl")),))
    for gold in read_gold_questions(questions):
        if "answers" in gold:
            yield JudgedWording(gold, answers[gold["id"]], is_right(gold, answers[gold["id"]]))


def form_lines(judged: Sequence[JudgedWording]) -> Iterator[str]:
    """A line of a Markdown table for each form, and one for all."""
    yield "| form | wordings | right | said | of these right | cells right |\n|---|---|---|---|---|---|\n"
    forms = defaultdict(list)
    for each in judged:
        forms[each.gold["type"]].append(each)
    for form, group in [*sorted(forms.items()), ("together", list(judged))]:
        cells = defaultdict(list)
        for each in group:
            cells[each.gold["original"]].append(each.right)
        said = [each.right for each in group if each.answer["status"] == "answered"]
        right = sum(each.right for each in group)
        shares = f"{right / len(group):.0%} | {len(said) / len(group):.0%} | {sum(said)} of {len(said)}"
        yield f"| {form} | {len(group)} | {shares} | {sum(map(all, cells.values()))} of {len(cells)} |\n"


def main() -> None:
    """Ask, print the table of the open graphs, of the blind ones, and on request what fails over the open ones."""
    command = argparse.ArgumentParser(prog="python -m evaluation.forms", description="Measure forms of questions.")
    command.add_argument("folder", type=Path, nargs="?", default=ROOT / "evaluation" / "forms")
    command.add_argument("--failing", action="store_true", help="list the wordings of open graphs that fail")
    options = command.parse_args()
    for part in ("open", "blind"):
        if not (files := sorted((options.folder / part).glob("*.yaml"))):
            continue
        with tempfile.TemporaryDirectory() as data:
            judged = [each for file in files for each in ask_cells(file, Path(data))]
        sys.stdout.write(f"\n{part}: {', '.join(file.stem for file in files)}\n\n{''.join(form_lines(judged))}")
        for gold, answer, _ in (each for each in judged if options.failing and part == "open" and not each.right):
            given = f"{answer['status']} {answer['confidence']} {answer['values'][:8]} {answer['answer'][:160]!r}"
            sys.stdout.write(
                f"{gold['original']} {gold['type']}: {gold['question']}\n  {gold['answers'][:8]}\n  {given}\n"
            )


if __name__ == "__main__":
    main()
