"""How long an answer takes: the example's questions, and questions made over graphs of two sizes -> results and limits.

A turn is a question of the example from its text to its record, by the rules. Understanding is timed alone, over the
graphs of `make_graph` with a name of its own for every thing, as names take longer to search than numbers; of the
questions, made from templates, a third misspell what they name, and a third name what the graph does not know.
"""

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import perf_counter

from benchmarks.ingest import BenchmarkResult, Measurement
from benchmarks.make_graph import LABEL, write_graph
from nacre.evaluation.ask_questions import QuestionLine, read_questions
from nacre.evaluation.ask_questions import ask_questions as asked
from nacre.evaluation.score import quantile
from nacre.evaluation.synthetic.reword import add_typo
from nacre.records.answer import Answer

EXAMPLE = Path(__file__).parents[1] / "examples" / "bmw"
TURN_MS, UNDERSTANDING_MS = 40.0, {1: 10.0, 97: 40.0}
QUESTIONS, WARMING = 60, 10
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
    """The measurements, each in a process of its own; seconds of a busy machine are not those of an idle one."""
    found = _measure("turn")
    yield BenchmarkResult(
        f"{found['entities']:,.0f} entities: a turn by the rules, median", found["p50"], "ms", TURN_MS
    )
    yield BenchmarkResult(f"{found['entities']:,.0f} entities: a turn by the rules, 95 of 100", found["p95"], "ms")
    for scale, limit in UNDERSTANDING_MS.items():
        found = _measure("understanding", str(scale))
        size = f"{found['entities']:,.0f} entities"
        yield BenchmarkResult(f"{size}: understanding a question, median", found["p50"], "ms", limit)
        yield BenchmarkResult(f"{size}: understanding a question, 95 of 100", found["p95"], "ms")


def turn(folder: Path) -> Measurement:
    """The questions of the example, each asked once, on the event loop that `nacre serve` runs: what is asked again is
    remembered. The first ones, which load what is loaded at first use, do not count."""
    from graph.context import Context
    from ingestion.pipeline import ingest
    from nacre.config.embedder import local_embedder
    from nacre.config.settings import Settings
    from nacre.serving.garbage_collection import relax_collection
    from nacre.serving.http.event_loop import new_event_loop
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

            _ = [record async for record in asked(questions, ask)]
            with service.library.open("example") as graph:
                entities = sum(home.things for home in graph.lexicon.table_counts)
        return _summed(seconds[WARMING:], entities)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(timed())


def understanding(folder: Path, scale: int) -> Measurement:
    """Questions over a made graph, each once, after a few others have built the indexes."""
    from ingestion.index.names import write_names
    from ingestion.induce.layout import induce_layout
    from ingestion.induce.write_tables import write_layout
    from ingestion.read.parse import parse_files
    from nacre.config.embedder import local_embedder
    from nacre.records.turn import Rewrite
    from nacre.stores.sqlite.lexicon import Lexicon
    from nacre.stores.sqlite.tables import Tables
    from nacre.understanding.understand import understand

    write_graph(scale, folder / "plain.nt")
    rename(folder / "plain.nt", folder / "graph.nt", Random(3))
    layout = induce_layout(parse_files([folder / "graph.nt"]))
    write_names(layout, write_layout(layout, folder / "graph.sqlite"), folder / "names.sqlite")
    tables = Tables(folder / "graph.sqlite")
    lexicon = Lexicon(folder / "names.sqlite", tables.schema, local_embedder("auto"))
    labels = sorted({name.label for name in lexicon.each() if name.kind == "entity"})
    seconds = []
    for question in [*questions(labels, Random(2), len(TEMPLATES)), *questions(labels, Random(1), QUESTIONS)]:
        start = perf_counter()
        understand(Rewrite(question), tables.schema, lexicon)
        seconds.append(perf_counter() - start)
    return _summed(seconds[len(TEMPLATES) :], sum(home.things for home in lexicon.table_counts))


def rename(plain: Path, renamed: Path, draw: Random) -> None:
    """Copy a graph, every label replaced by two invented words."""
    with plain.open(encoding="utf-8") as source, renamed.open("w", encoding="utf-8") as target:
        for line in source:
            head, label, _ = line.partition(LABEL)
            target.write(f'{head}{label} "{_invented(draw)}" .\n' if label else line)


def questions(labels: list[str], draw: Random, count: int) -> list[str]:
    """Questions from the templates about things drawn from `labels`: as they are, with a slip, and unknown ones."""
    made = []
    for n in range(count):
        names = [draw.choice(labels) for _ in range(2)]
        way = n // len(TEMPLATES) % 3
        if way == 1:
            names = [add_typo(name, draw) or f"{name[:-1]}x" for name in names]
        elif way == 2:
            names = [_invented(draw) for _ in names]
        made.append(TEMPLATES[n % len(TEMPLATES)].format(*names))
    return made


def _invented(draw: Random) -> str:
    return " ".join("".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))).capitalize() for _ in range(2))


def _summed(seconds: list[float], entities: int) -> Measurement:
    return {"p50": 1000 * quantile(seconds, 0.5), "p95": 1000 * quantile(seconds, 0.95), "entities": entities}


def _measure(*what: str) -> Measurement:
    command = [sys.executable, "-m", "benchmarks.latency", *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"measuring {' '.join(what)} failed:\n{done.stderr[-2000:]}")
    found: Measurement = json.loads(done.stdout.splitlines()[-1])
    return found


def main(what: str, *scale: str) -> None:
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        found = turn(Path(name)) if what == "turn" else understanding(Path(name), int(scale[0]))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
