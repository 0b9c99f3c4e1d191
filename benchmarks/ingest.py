"""Speed of an ingest, as ratios measured side by side: graphs of growing size -> a table of results and limits."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.make_graph import write_graph

SCALES = (1, 10, 100)
LARGE_SCALE = 1000
WITH_VECTORS = 3
REPEATS = {1: 5, 10: 5, 100: 3, LARGE_SCALE: 3}
TIMES_PARSING = 5.0
GROWTH = 12.5
BYTES_A_TRIPLE = 400.0
LARGE_SECONDS = 60.0
LARGE_BYTES = 1.5 * 2**30
EMBEDDING = 2.0
UNCHANGED, CHANGED = 50.0, 20.0
CHANGED_SHARE = 0.01

Measurement = dict[str, float]


class BenchmarkResult(NamedTuple):
    """One line of the table; `limit` is None for what is only told."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def run(large: bool = False) -> Iterator[BenchmarkResult]:
    """Every measurement in a process of its own; results come as they are measured."""
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        folder = Path(name)
        scales = (*SCALES, LARGE_SCALE) if large else SCALES
        graphs = {scale: folder / f"{scale}.nt" for scale in scales}
        triples = {scale: write_graph(scale, path) for scale, path in graphs.items()}
        yield from _tables(graphs, triples)
        yield from _everything(graphs[scales[-1]], triples[scales[-1]], large)
        yield from _embedding(graphs[10])
        yield from _again(folder)


def _tables(graphs: dict[int, Path], triples: dict[int, int]) -> Iterator[BenchmarkResult]:
    before: tuple[int, float] | None = None
    for scale, path in graphs.items():
        # in turns, so that another program on the machine is in the way of both
        pairs = [(measure("parsing", path), measure("tables", path)) for _ in range(REPEATS[scale])]
        parsing, tables = (min(each[side]["cpu"] for each in pairs) for side in (0, 1))
        memory = min(pair[1]["peak"] - pair[1]["base"] for pair in pairs)
        size = f"{triples[scale]:,} triples"
        yield BenchmarkResult(f"{size}: RDF to SQLite", triples[scale] / tables, "triples a CPU second")
        yield BenchmarkResult(f"{size}: RDF to SQLite, CPU time", tables / parsing, "x parsing alone", TIMES_PARSING)
        if before is not None:
            growth = tables / before[1] * 10 * before[0] / triples[scale]
            yield BenchmarkResult(f"{size}: CPU time for ten times the triples", growth, "x", GROWTH)
        if scale >= 10:
            yield BenchmarkResult(
                f"{size}: peak memory over the base", memory / triples[scale], "bytes a triple", BYTES_A_TRIPLE
            )
        before = triples[scale], tables


def _everything(path: Path, triples: int, large: bool) -> Iterator[BenchmarkResult]:
    found = measure("everything", path)
    size = f"{triples:,} triples"
    for stage in ("parse", "tables", "names", "verbalise", "index"):
        yield BenchmarkResult(f"{size}: {stage}", found[stage], "CPU seconds")
    limit = LARGE_SECONDS if large else None
    seconds = found["cpu"] - found["names"]
    yield BenchmarkResult(f"{size}: tables, passages and index of words", seconds, "CPU seconds", limit)
    yield BenchmarkResult(f"{size}: everything but vectors", found["cpu"], "CPU seconds")
    limit = LARGE_BYTES / 2**20 if large else None
    yield BenchmarkResult(f"{size}: everything but vectors, peak memory", found["peak"] / 2**20, "MiB", limit)


def _embedding(path: Path) -> Iterator[BenchmarkResult]:
    found = measure("embedding", path)
    yield BenchmarkResult("embedding", found["passages"] / found["ours"], "passages a second")
    ratio = found["theirs"] / found["ours"]
    yield BenchmarkResult("embedding, against fastembed's own batches", ratio, "x as fast", EMBEDDING, at_least=True)


def _again(folder: Path) -> Iterator[BenchmarkResult]:
    path, changed = folder / "first.nt", folder / "changed.nt"
    write_graph(WITH_VECTORS, path)
    triples = write_graph(WITH_VECTORS, changed, CHANGED_SHARE)
    found = measure("again", path, changed)
    size = f"{triples:,} triples with vectors"
    yield BenchmarkResult(f"{size}: first ingest", found["first"], "seconds")
    ratio = found["first"] / found["unchanged"]
    yield BenchmarkResult(f"{size}: second ingest, nothing changed", ratio, "x as fast", UNCHANGED, at_least=True)
    share = 100 * found["changed_embedded"] / found["changed_passages"]
    yield BenchmarkResult(f"{size}: passages embedded with 1 % changed", share, "%")
    ratio = found["first"] / found["changed"]
    yield BenchmarkResult(f"{size}: second ingest, 1 % changed", ratio, "x as fast", CHANGED, at_least=True)


def measure(what: str, *files: Path | str) -> Measurement:
    """What `benchmarks.measure` says of it, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.measure", what, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"measuring {what} failed:\n{done.stderr[-2000:]}")
    found: Measurement = json.loads(done.stdout.splitlines()[-1])
    return found
