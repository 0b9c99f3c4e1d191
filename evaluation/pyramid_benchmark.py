"""The pyramid benchmark: a fictional faculty, asked layer by layer, with and without completion and condensation.

    python -m evaluation.pyramid_benchmark [--seed 7] [--keep FOLDER]

Prints the ablation of PolyRAG (tables 2 and 3): precision, recall and F1 of the chosen options, the share of questions
answered above the texts, and the time of a question. Faculty, texts and triples are generated from the seed by rules.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from evaluation.faculty import faculty_questions, write_faculty
from evaluation.metrics import ChoiceScores, choice_scores, chosen_options, hit_rate, mean_choice_scores
from graph.app import Composition, compose
from graph.builder import App
from graph.stream import stream_turn
from ingestion.pipeline import change_layers, ingest
from ingestion.stages import NO_PROGRESS
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.extensions.pyramid.complete_schema import (
    apply_completion,
    complete_schema,
    publish_condensed,
    remove_completion,
)
from nacre.extensions.pyramid.extract_triples import extract_triples, publish_triples
from nacre.extensions.pyramid.extractor import by_rules
from nacre.records.answer import Answer
from nacre.stores.catalog import Library
from nacre.stores.graph import Servers
from nacre.stores.search.vectors import Embedder

GRAPH = "faculty"
TEXTS = ("vector", "lexical")

LAYERS: Mapping[str, tuple[str, ...]] = {
    "ontology": ("sql",),
    "triples": ("triples",),
    "texts": TEXTS,
    "ontology + texts": ("sql", *TEXTS),
    "triples + texts": ("triples", *TEXTS),
    "ontology + triples": ("sql", "triples"),
    "all, waterfall": ("sql", "triples", *TEXTS),
}

# whether the layers are completed, and whether they are condensed
STAGES: Mapping[str, tuple[bool, bool]] = {
    "as extracted": (False, False),
    "condensed": (False, True),
    "completed": (True, False),
    "completed and condensed": (True, True),
}


class PyramidLine(NamedTuple):
    """The results of one setting: scores, the share answered `above` the texts, and the seconds of a question."""

    stage: str
    layers: str
    choice: ChoiceScores
    hits: float
    above: float
    seconds: float


def build_faculty_graph(folder: Path, seed: int, model: Embedder) -> list[dict[str, Any]]:
    """Ingest a faculty below `folder`, extract the triples of its texts, and return its questions."""
    faculty = write_faculty(folder, seed)
    data = folder / "data"
    ingest([str(folder / "faculty.ttl")], GRAPH, data=data, texts=[str(folder / "texts")], embedder=model)
    library = Library(data, model)
    try:
        with library.open(GRAPH) as graph:
            extraction = asyncio.run(extract_triples(graph, by_rules))
            publish_triples(data / GRAPH, graph.version, extraction.triples)
    finally:
        library.close()
    return faculty_questions(faculty, seed)


def rebuild_layers(data: Path, model: Embedder, *, completing: bool, condensing: bool) -> None:
    """Complete and condense the layers, or restore them as they were extracted."""
    home = data / GRAPH
    change = partial(change_layers, GRAPH, data=data, server=Servers(), on_stage=NO_PROGRESS, embedder=model)
    remove_completion(home, change)
    library = Library(data, model)
    try:
        with library.open(GRAPH) as graph:
            completion = complete_schema(graph, model, condensing=condensing)
            publish_condensed(home, graph, completion.condensed)
            if completing:
                apply_completion(home, graph, completion, change)
    finally:
        library.close()


async def ask_faculty_questions(
    app: App, questions: Sequence[Mapping[str, Any]], context: Mapping[str, Any]
) -> list[Answer]:
    """The records of the questions, each asked in a thread of its own."""
    records = []
    for each in questions:
        async for kind, data in stream_turn(app, each["question"], graph=GRAPH, context=context, id=each["id"]):
            if kind == "answer":
                records.append(data)
    return records


def pyramid_line(
    stage: str, layers: str, questions: Sequence[Mapping[str, Any]], records: Sequence[Answer]
) -> PyramidLine:
    """The mean results of one setting."""
    pairs = list(zip(questions, records, strict=True))
    scores = [
        choice_scores(chosen_options(question["options"], record["values"], record["answer"]), question["answers"])
        for question, record in pairs
    ]
    return PyramidLine(
        stage,
        layers,
        mean_choice_scores(scores),
        mean(hit_rate(record["answer"], question["answers"]) for question, record in pairs),
        mean(not set(r["visited"]) & set(TEXTS) for r in records),
        mean(r["seconds"] for r in records),
    )


def pyramid_table(lines: Sequence[PyramidLine]) -> str:
    """The lines as a Markdown table."""
    head = "| layers are | asked | precision | recall | F1 | hit rate | above the texts | ms |\n"
    head += "|---|---|---|---|---|---|---|---|\n"
    return head + "".join(map(_row, lines))


def _row(each: PyramidLine) -> str:
    measures = (*each.choice, each.hits)
    shown = " | ".join(f"{measure:.3f}" for measure in measures)
    return f"| {each.stage} | {each.layers} | {shown} | {each.above:.0%} | {each.seconds * 1000:.0f} |\n"


def main(arguments: Sequence[str] = ()) -> None:
    """Generate the faculty and print the table."""
    command = argparse.ArgumentParser(
        prog="python -m evaluation.pyramid_benchmark", description="The pyramid benchmark."
    )
    command.add_argument("--seed", type=int, default=7)
    command.add_argument("--keep", type=Path, help="write everything to this folder and keep it")
    options = command.parse_args(arguments)
    model = local_embedder("bundled")
    if model is None:
        sys.exit("The benchmark needs an embedder. Install the bundled one: pip install 'nacre[bundled]'")
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        questions = build_faculty_graph(folder, options.seed, model)
        composition = compose(Settings(data=folder / "data", model=None, forbid_models=True))
        try:
            lines = _run_stages(composition, folder, questions, model)
        finally:
            composition.library.close()
    sys.stdout.write(pyramid_table(lines))


def _run_stages(
    composition: Composition, folder: Path, questions: list[dict[str, Any]], model: Embedder
) -> list[PyramidLine]:
    """The results of all stages and layers; the records are written to files in the folder."""
    app = composition.build()
    lines = []
    for stage, (completing, condensing) in STAGES.items():
        rebuild_layers(folder / "data", model, completing=completing, condensing=condensing)
        settings = {
            layers: {"branches": list(branches), "strategy": "waterfall"} for layers, branches in LAYERS.items()
        }
        settings["all, parallel"] = {"branches": list(LAYERS["all, waterfall"]), "strategy": "parallel"}
        for layers, context in settings.items():
            records = asyncio.run(ask_faculty_questions(app, questions, context))
            lines.append(pyramid_line(stage, layers, questions, records))
            file = folder / f"{stage} {layers}.jsonl".replace(" ", "-")
            file.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
