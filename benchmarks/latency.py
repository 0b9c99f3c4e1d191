"""Latency of answers: questions of the example, and generated questions over two graphs -> results with limits.

A turn is a question of the example from its text to its record, by the rules. Understanding is timed alone, over
`inputs.fleet_graph` with an invented name for every thing, since names take longer to search than numbers. A third of
the generated questions misspell their names, and a third have names that the graph does not know.
"""

import asyncio
import io
import json
import logging
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from benchmarks.inputs.fleet_graph import LABEL, write_graph
from benchmarks.results import BenchmarkResult, Measurement, measure
from nacre.extensions.evaluation.questions import ask_questions, read_questions
from nacre.extensions.evaluation.score import quantile
from nacre.records.answer import Answer, QuestionLine

EXAMPLE = Path(__file__).parents[1] / "examples" / "bmw"
# limits: a turn, and understanding by the scale of the graph
MAX_TURN_MS, MAX_UNDERSTANDING_MS = 40.0, {1: 10.0, 97: 40.0}
QUESTIONS, WARM_UP_TURNS = 60, 10
# the commit that turns are compared with, and how often both are run, in turn
BASELINE, PAIRS = "2ce651a", 3
SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in ("a", "e", "i", "o", "u", "an", "er", "ol")]
TEMPLATES = (
    "what is the price of {}?",
    "{} length",
    "which home port has {}?",
    "how many fittings does {} have?",
    "Is {} longer than {}?",
    "which ships have a beam above 5 m and the engine of {}?",
    "who painted {}?",
    "what is the average price of ships with home port {}?",
    "Which ship of the design {} has the highest price?",
    "list the ships that are not like {}",
)


def run() -> Iterator[BenchmarkResult]:
    """The measurements, each in a process of its own; they are elapsed times, so the machine should be idle."""
    numbers = measure("latency", "turn")
    size = f"{numbers['entities']:,.0f} entities"
    yield BenchmarkResult(f"{size}: a turn by the rules, median", numbers["p50"], "ms", MAX_TURN_MS)
    yield BenchmarkResult(f"{size}: a turn by the rules, 95 of 100", numbers["p95"], "ms")
    yield from compare_turns(BASELINE)
    for scale, limit in MAX_UNDERSTANDING_MS.items():
        numbers = measure("latency", "understanding", scale)
        size = f"{numbers['entities']:,.0f} entities"
        yield BenchmarkResult(f"{size}: understanding a question, median", numbers["p50"], "ms", limit)
        yield BenchmarkResult(f"{size}: understanding a question, 95 of 100", numbers["p95"], "ms")


def compare_turns(commit: str) -> Iterator[BenchmarkResult]:
    """The times of turns in those of a commit, whose files are read from git; both run with the installed packages."""
    files = subprocess.run(["git", "archive", commit], cwd=EXAMPLE.parents[1], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(name, filter="data")
        pairs = [(measure("latency", "turn"), measure("latency", "turn", checkout=Path(name))) for _ in range(PAIRS)]
    for figure, what in (("p50", "median"), ("p95", "95 of 100")):
        ratio = median(now[figure] / before[figure] for now, before in pairs)
        yield BenchmarkResult(f"a turn by the rules, {what}: this state in times of {commit}", ratio, "x")


def turn(folder: Path) -> Measurement:
    """The turns of the example on the event loop of `nacre serve`, each question once, since answers are cached.

    The first turns are for warming up and do not count.
    """
    from graph.context import Context
    from ingestion.pipeline import ingest
    from nacre.config.embedder import local_embedder
    from nacre.config.settings import Settings
    from nacre.records.threads import relax_collection
    from nacre.serving.http.middleware import new_event_loop
    from nacre.serving.turn_service import open_turn_service

    settings = Settings(data=folder, model=None, qdrant_url=None)
    ingest([str(EXAMPLE / "kg.ttl")], "example", data=folder, embedder=local_embedder(settings.embedder))
    questions = read_questions(EXAMPLE / "questions_dev.jsonl")

    async def timed() -> Measurement:
        seconds: list[float] = []
        async with open_turn_service(settings, lasting=False) as service:
            relax_collection()

            async def ask(question: QuestionLine, thread: str) -> Answer:
                start = perf_counter()
                record = await service.answer(question.question, "example", thread, Context(mind="rules"))
                seconds.append(perf_counter() - start)
                return record

            _ = [record async for record in ask_questions(questions, ask)]
            with service.library.open("example") as graph:
                entities = sum(home.things for home in graph.lexicon.table_counts)
        return _summary(seconds[WARM_UP_TURNS:], entities)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(timed())


def understanding(folder: Path, scale: int) -> Measurement:
    """Understanding of generated questions, each once, after a few others have built the indexes."""
    from ingestion.index.lexicon import write_names
    from ingestion.induce.layout import induce_layout
    from ingestion.induce.write_tables import write_layout
    from ingestion.read.parse import parse_files
    from nacre.config.embedder import local_embedder
    from nacre.records.turn import Rewrite
    from nacre.stores.sqlite.lexicon import Lexicon
    from nacre.stores.sqlite.tables import Tables
    from nacre.understanding.understand import understand

    write_graph(scale, folder / "plain.nt")
    rename_things(folder / "plain.nt", folder / "graph.nt", Random(3))
    layout = induce_layout(parse_files([folder / "graph.nt"]))
    write_names(layout, write_layout(layout, folder / "graph.sqlite"), folder / "names.sqlite")
    tables = Tables(folder / "graph.sqlite")
    lexicon = Lexicon(folder / "names.sqlite", tables.schema, local_embedder("auto"))
    labels = sorted({name.label for name in lexicon.each() if name.kind == "entity"})
    seconds = []
    warm_up = generate_questions(labels, Random(2), len(TEMPLATES))
    for question in [*warm_up, *generate_questions(labels, Random(1), QUESTIONS)]:
        start = perf_counter()
        understand(Rewrite(question), tables.schema, lexicon)
        seconds.append(perf_counter() - start)
    return _summary(seconds[len(TEMPLATES) :], sum(home.things for home in lexicon.table_counts))


def rename_things(plain: Path, renamed: Path, draw: Random) -> None:
    """Copy a graph with every label replaced by two invented words."""
    with plain.open(encoding="utf-8") as source, renamed.open("w", encoding="utf-8") as target:
        for line in source:
            head, label, _ = line.partition(LABEL)
            target.write(f'{head}{label} "{_invented_name(draw)}" .\n' if label else line)


def generate_questions(labels: list[str], draw: Random, count: int) -> list[str]:
    """Questions from the templates about drawn labels: a round as they are, one misspelt, one with unknown names."""
    questions = []
    for n in range(count):
        names = [draw.choice(labels) for _ in range(2)]
        variant = n // len(TEMPLATES) % 3
        if variant == 1:
            names = [f"{name[:1]}{name[2:3]}{name[1:2]}{name[3:]}" for name in names]
        elif variant == 2:
            names = [_invented_name(draw) for _ in names]
        questions.append(TEMPLATES[n % len(TEMPLATES)].format(*names))
    return questions


def _invented_name(draw: Random) -> str:
    return " ".join("".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))).capitalize() for _ in range(2))


def _summary(seconds: list[float], entities: int) -> Measurement:
    return {"p50": 1000 * quantile(seconds, 0.5), "p95": 1000 * quantile(seconds, 0.95), "entities": entities}


def main(what: str, *scale: str) -> None:
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        numbers = turn(Path(name)) if what == "turn" else understanding(Path(name), int(scale[0]))
    print(json.dumps(numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
