"""Speed of an ingest as ratios measured side by side: graphs of growing size -> results with limits."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs.fleet_graph import write_graph
from benchmarks.results import BenchmarkResult, measure

# scales of the graphs: for the tables, with --large, and with vectors
SCALES = (1, 10, 100)
LARGE_SCALE = 1000
VECTORS_SCALE = 3
REPEATS = {1: 5, 10: 5, 100: 3, LARGE_SCALE: 3}
CHANGED_SHARE = 0.01
# limits
MAX_TIMES_PARSING = 5.0
MAX_GROWTH = 12.5
MAX_BYTES_A_TRIPLE = 400.0
MAX_LARGE_SECONDS = 60.0
MAX_LARGE_BYTES = 1.5 * 2**30
MIN_EMBEDDING_SPEEDUP = 2.0
MIN_UNCHANGED_SPEEDUP, MIN_CHANGED_SPEEDUP = 50.0, 20.0


def run(large: bool = False) -> Iterator[BenchmarkResult]:
    """The measurements, each in a process of its own; results come as soon as they are measured."""
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        folder = Path(name)
        scales = (*SCALES, LARGE_SCALE) if large else SCALES
        graphs = {scale: folder / f"{scale}.nt" for scale in scales}
        triples = {scale: write_graph(scale, path) for scale, path in graphs.items()}
        yield from _tables(graphs, triples)
        yield from _full_ingest(graphs[scales[-1]], triples[scales[-1]], large)
        yield from _embedding(graphs[10])
        yield from _repeated_ingest(folder)


def _tables(graphs: dict[int, Path], triples: dict[int, int]) -> Iterator[BenchmarkResult]:
    before: tuple[int, float] | None = None
    for scale, path in graphs.items():
        # alternating, so that other programs on the machine disturb both sides alike
        pairs = [
            (measure("measure", "parsing", path), measure("measure", "tables", path)) for _ in range(REPEATS[scale])
        ]
        parsing, tables = (min(each[side]["cpu"] for each in pairs) for side in (0, 1))
        memory = min(pair[1]["peak"] - pair[1]["base"] for pair in pairs)
        size = f"{triples[scale]:,} triples"
        yield BenchmarkResult(f"{size}: RDF to SQLite", triples[scale] / tables, "triples a CPU second")
        yield BenchmarkResult(
            f"{size}: RDF to SQLite, CPU time", tables / parsing, "x parsing alone", MAX_TIMES_PARSING
        )
        if before is not None:
            growth = tables / before[1] * 10 * before[0] / triples[scale]
            yield BenchmarkResult(f"{size}: CPU time for ten times the triples", growth, "x", MAX_GROWTH)
        if scale >= 10:
            yield BenchmarkResult(
                f"{size}: peak memory over the base", memory / triples[scale], "bytes a triple", MAX_BYTES_A_TRIPLE
            )
        before = triples[scale], tables


def _full_ingest(path: Path, triples: int, large: bool) -> Iterator[BenchmarkResult]:
    numbers = measure("measure", "everything", path)
    size = f"{triples:,} triples"
    for stage in ("parse", "tables", "names", "verbalise", "index"):
        yield BenchmarkResult(f"{size}: {stage}", numbers[stage], "CPU seconds")
    limit = MAX_LARGE_SECONDS if large else None
    seconds = numbers["cpu"] - numbers["names"]
    yield BenchmarkResult(f"{size}: tables, passages and index of words", seconds, "CPU seconds", limit)
    yield BenchmarkResult(f"{size}: everything but vectors", numbers["cpu"], "CPU seconds")
    limit = MAX_LARGE_BYTES / 2**20 if large else None
    yield BenchmarkResult(f"{size}: everything but vectors, peak memory", numbers["peak"] / 2**20, "MiB", limit)


def _embedding(path: Path) -> Iterator[BenchmarkResult]:
    numbers = measure("measure", "embedding", path)
    yield BenchmarkResult("embedding", numbers["passages"] / numbers["ours"], "passages a second")
    ratio = numbers["theirs"] / numbers["ours"]
    yield BenchmarkResult(
        "embedding, against fastembed's own batches", ratio, "x as fast", MIN_EMBEDDING_SPEEDUP, at_least=True
    )


def _repeated_ingest(folder: Path) -> Iterator[BenchmarkResult]:
    path, changed = folder / "first.nt", folder / "changed.nt"
    write_graph(VECTORS_SCALE, path)
    triples = write_graph(VECTORS_SCALE, changed, CHANGED_SHARE)
    numbers = measure("measure", "again", path, changed)
    size = f"{triples:,} triples with vectors"
    yield BenchmarkResult(f"{size}: first ingest", numbers["first"], "seconds")
    ratio = numbers["first"] / numbers["unchanged"]
    yield BenchmarkResult(
        f"{size}: second ingest, nothing changed", ratio, "x as fast", MIN_UNCHANGED_SPEEDUP, at_least=True
    )
    share = 100 * numbers["changed_embedded"] / numbers["changed_passages"]
    yield BenchmarkResult(f"{size}: passages embedded with 1 % changed", share, "%")
    ratio = numbers["first"] / numbers["changed"]
    yield BenchmarkResult(f"{size}: second ingest, 1 % changed", ratio, "x as fast", MIN_CHANGED_SPEEDUP, at_least=True)
