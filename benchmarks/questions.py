"""How much processor time questions of ten kinds take as a graph grows: scales -> results and limits.

Asked cold, in a process of its own, as `nacre ask` is, and warm, the second time in one process. Processor time and
not seconds, as those of a busy machine are not those of an idle one.
"""

import asyncio
import json
import logging
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.ingest import BenchmarkResult, Measurement
from benchmarks.make_graph import write_graph

SCALES, LARGE = (10, 100), 1000
COLD_SECONDS, COLD_BYTES = 3.0, 500 * 2**20
MEDIAN_MS, MOST_MS, GROWTH = 200.0, 1500.0, 2.0
QUESTIONS = {
    "lookup": "What is the price of {ship}?",
    "misspelt name": "What is the price of {slip}?",
    "misspelt property": "What is the {slipped} of {ship}?",
    "list": "Which fuels are there?",
    "count": "How many ships are there?",
    "group": "How many fittings are there for each maker?",
    "superlative": "Which ship has the highest price?",
    "average": "What is the average price of ships with a beam above 5 m?",
    "yes/no": "Is the price of {ship} above 50000?",
    "two steps": "What is the fuel of the engine of {ship}?",
    "description": "Tell me about {ship}.",
}


def run(large: bool = False) -> Iterator[BenchmarkResult]:
    """The measurements; the limits hold for the largest graph, the growth from each graph to the next."""
    before: Measurement | None = None
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        for scale in (*SCALES, LARGE) if large else SCALES:
            folder = Path(name) / str(scale)
            made = _measure("made", folder, scale)
            cold, warm = _measure("asked", folder, 1), _measure("asked", folder, 2)
            size = f"{made['things']:,.0f} things"
            yield BenchmarkResult(f"{size}: a first question, CPU time", cold["cpu"], "s", COLD_SECONDS)
            yield BenchmarkResult(f"{size}: a first question, peak memory", cold["peak"], "bytes", COLD_BYTES)
            yield BenchmarkResult(
                f"{size}: questions of {len(QUESTIONS)} kinds, CPU time, median", warm["p50"], "ms", MEDIAN_MS
            )
            yield BenchmarkResult(f"{size}: the slowest of them ({_slowest(warm)})", warm["most"], "ms", MOST_MS)
            if before is not None:
                growth = warm["p50"] / before["p50"]
                yield BenchmarkResult(f"{size}: CPU time of a question for ten times the things", growth, "x", GROWTH)
            before = warm


def write_fleet_graph(folder: Path, scale: int) -> Measurement:
    """Write a graph and ingest its tables and names."""
    from ingestion.pipeline import ingest

    folder.mkdir()
    write_graph(scale, folder / "graph.nt")
    done = ingest([str(folder / "graph.nt")], "bench", data=folder / "data", tables_only=True)
    return {"things": done.schema.entities}


def ask_kinds(folder: Path, rounds: int) -> Measurement:
    """Ask the first kind once, or all kinds so many times; of these the last counts."""
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.serving.turn_service import open_turn_service
    from nacre.stores.catalog import Library

    library = Library(folder / "data", None)
    with library.open("bench") as graph:
        wanted = "SELECT label FROM entity WHERE iri LIKE '%/ship/7'"
        ship = str(graph.tables.trusted().execute(wanted).fetchone()[0])
    library.close()
    words = {"ship": ship, "slip": _slip(ship), "slipped": _slip("length")}
    texts = {kind: text.format(**words) for kind, text in QUESTIONS.items()}
    taken: Measurement = {}

    async def ask() -> None:
        settings = Settings(data=folder / "data", model=None, qdrant_url=None)
        async with open_turn_service(settings, lasting=False) as service:
            for turn in range(rounds):
                for kind, text in texts.items() if rounds > 1 else [next(iter(texts.items()))]:
                    start = process_time()
                    await service.answer(text, "bench", f"{kind} {turn}", Context(mind="rules"))
                    taken[kind] = 1000 * (process_time() - start)

    asyncio.run(ask())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    found = {"cpu": process_time(), "peak": float(peak), "p50": median(taken.values()), "most": max(taken.values())}
    return taken | found


def _slip(word: str) -> str:
    """Two letters change places."""
    return word[:2] + word[3] + word[2] + word[4:]


def _slowest(found: Measurement) -> str:
    return max(QUESTIONS, key=lambda kind: found[kind])


def _measure(*what: object) -> Measurement:
    command = [sys.executable, "-m", "benchmarks.questions", *map(str, what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"measuring {' '.join(map(str, what))} failed:\n{done.stderr[-2000:]}")
    found: Measurement = json.loads(done.stdout.splitlines()[-1])
    return found


def main(what: str, folder: str, number: str) -> None:
    logging.disable()
    print(json.dumps((write_fleet_graph if what == "made" else ask_kinds)(Path(folder), int(number))))


if __name__ == "__main__":
    main(*sys.argv[1:])
