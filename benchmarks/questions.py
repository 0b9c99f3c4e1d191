"""Processor time of questions of several kinds as a graph grows: scales -> results with limits.

Questions are asked cold, in a process of their own like `nacre ask`, and warm, the second time in one process.
Processor time is measured because elapsed time depends on other programs on the machine.
"""

import asyncio
import json
import logging
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.inputs.fleet_graph import write_graph
from benchmarks.results import BenchmarkResult, Measurement, measure

SCALES, LARGE_SCALE = (10, 100), 1000
# limits
MAX_COLD_SECONDS, MAX_COLD_BYTES = 3.0, 500 * 2**20
MAX_MEDIAN_MS, MAX_SLOWEST_MS, MAX_GROWTH = 200.0, 1500.0, 2.0
QUESTIONS = {
    "lookup": "What is the price of {ship}?",
    "misspelt name": "What is the price of {misspelt_ship}?",
    "misspelt property": "What is the {misspelt_property} of {ship}?",
    "list": "Which fuels are there?",
    "count": "How many ships are there?",
    "group": "How many fittings are there for each maker?",
    "superlative": "Which ship has the highest price?",
    "average": "What is the average price of ships with a beam above 5 m?",
    "yes or no": "Is the price of {ship} above 50000?",
    "two steps": "What is the fuel of the engine of {ship}?",
    "description": "Tell me about {ship}.",
}


def run(large: bool = False) -> Iterator[BenchmarkResult]:
    """The measurements for each graph, and the growth from each graph to the next."""
    before: Measurement | None = None
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        for scale in (*SCALES, LARGE_SCALE) if large else SCALES:
            folder = Path(name) / str(scale)
            graph = measure("questions", "write", folder, scale)
            cold, warm = measure("questions", "ask", folder, 1), measure("questions", "ask", folder, 2)
            size = f"{graph['things']:,.0f} things"
            kinds = f"{size}: questions of {len(QUESTIONS)} kinds, CPU time, median"
            yield BenchmarkResult(f"{size}: a first question, CPU time", cold["cpu"], "s", MAX_COLD_SECONDS)
            yield BenchmarkResult(f"{size}: a first question, peak memory", cold["peak"], "bytes", MAX_COLD_BYTES)
            yield BenchmarkResult(kinds, warm["p50"], "ms", MAX_MEDIAN_MS)
            yield BenchmarkResult(f"{size}: the slowest of them ({_slowest(warm)})", warm["most"], "ms", MAX_SLOWEST_MS)
            if before is not None:
                growth, what = warm["p50"] / before["p50"], f"{size}: CPU time of a question for ten times the things"
                yield BenchmarkResult(what, growth, "x", MAX_GROWTH)
            before = warm


def write_fleet_graph(folder: Path, scale: int) -> Measurement:
    """Write a graph, and ingest its tables and names."""
    from ingestion.pipeline import ingest

    folder.mkdir()
    write_graph(scale, folder / "graph.nt")
    done = ingest([str(folder / "graph.nt")], "bench", data=folder / "data", tables_only=True)
    return {"things": done.schema.entities}


def ask_kinds(folder: Path, rounds: int) -> Measurement:
    """Ask the first kind once for one round, else all kinds in each round; the last round counts."""
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.serving.turn_service import open_turn_service
    from nacre.stores.catalog import Library

    library = Library(folder / "data", None)
    with library.open("bench") as graph:
        ship_label = "SELECT label FROM entity WHERE iri LIKE '%/ship/7'"
        ship = str(graph.tables.trusted().execute(ship_label).fetchone()[0])
    library.close()
    words = {"ship": ship, "misspelt_ship": _misspell(ship), "misspelt_property": _misspell("length")}
    texts = {kind: text.format(**words) for kind, text in QUESTIONS.items()}
    milliseconds: Measurement = {}

    async def ask() -> None:
        settings = Settings(data=folder / "data", model=None, qdrant_url=None)
        async with open_turn_service(settings, lasting=False) as service:
            for turn in range(rounds):
                for kind, text in texts.items() if rounds > 1 else [next(iter(texts.items()))]:
                    start = process_time()
                    await service.answer(text, "bench", f"{kind} {turn}", Context(mind="rules"))
                    milliseconds[kind] = 1000 * (process_time() - start)

    asyncio.run(ask())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    times = milliseconds.values()
    return milliseconds | {"cpu": process_time(), "peak": float(peak), "p50": median(times), "most": max(times)}


def _misspell(word: str) -> str:
    """The word with two letters swapped."""
    return word[:2] + word[3] + word[2] + word[4:]


def _slowest(milliseconds: Measurement) -> str:
    return max(QUESTIONS, key=lambda kind: milliseconds[kind])


def main(what: str, folder: str, number: str) -> None:
    logging.disable()
    print(json.dumps((write_fleet_graph if what == "write" else ask_kinds)(Path(folder), int(number))))


if __name__ == "__main__":
    main(*sys.argv[1:])
