"""Ingest and ask graphs that are large in one dimension: files, classes, predicates, namesakes, or one long text."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.inputs import wide_graphs as inputs
from benchmarks.results import BenchmarkResult, format_row, measure

FILES_TIMES_ONE, FILES_TIMES_PARSER = 2.5, 2.0
FILE_SECONDS = 0.001
TEXT_SECONDS, TEXT_BYTES = 15.0, 2.0
SHAPES: dict[str, tuple[Callable[[Path], int], str, str, float]] = {
    "5,000 classes of one member each": (inputs.many_kinds, "Which kind 77 is there?", "Lantern 77", 30.0),
    "3,000 predicates": (inputs.many_predicates, "What is the property 7 of Item 7?", "14", 30.0),
    "100,000 things of one label": (inputs.one_label, "How many parts are there?", "100000", 60.0),
}


def run() -> Iterator[BenchmarkResult]:
    """The measurements, each in a process of its own; a wrong answer to a question ends the run."""
    with tempfile.TemporaryDirectory(prefix="nacre-wide-") as name:
        folder = Path(name)
        yield from _files(folder)
        for what, (make, question, answer, limit) in SHAPES.items():
            path = folder / "graph.nt"
            make(path)
            numbers = measure("measure", "wide", path, question, answer)
            yield BenchmarkResult(f"{what}: everything but vectors", numbers["ingest"], "CPU seconds", limit)
            yield BenchmarkResult(f"{what}: a first question, answered right", numbers["ask"], "CPU seconds")
        path = folder / "text.nt"
        inputs.long_text(path)
        numbers = measure("measure", "wide", path, "How many reports are there?", "1")
        yield BenchmarkResult("a text of 10 MB: everything but vectors", numbers["ingest"], "CPU seconds", TEXT_SECONDS)
        size = numbers["passages"] / path.stat().st_size
        yield BenchmarkResult("a text of 10 MB: passages", size, "x its size", TEXT_BYTES)


def _files(folder: Path) -> Iterator[BenchmarkResult]:
    many, one = folder / "many", folder / "one.ttl"
    triples = inputs.many_files(many)
    with one.open("wb") as out:
        for path in sorted(many.iterdir()):
            out.write(path.read_bytes())
    numbers = measure("measure", "files", many, one)
    size = f"{triples:,} triples in {inputs.FILES:,} files"
    yield BenchmarkResult(f"{size}: read", numbers["many"], "CPU seconds")
    yield BenchmarkResult(
        f"{size}: read, against all in one file", numbers["many"] / numbers["one"], "x", FILES_TIMES_ONE
    )
    yield BenchmarkResult(
        f"{size}: read, against the parser alone", numbers["many"] / numbers["parser"], "x", FILES_TIMES_PARSER
    )
    each = (numbers["many"] - numbers["one"]) / inputs.FILES
    yield BenchmarkResult(f"{size}: cost of a file, apart from its triples", each, "CPU seconds", FILE_SECONDS)


if __name__ == "__main__":
    results = []
    for result in run():
        results.append(result)
        print(format_row(result), flush=True)
    sys.exit(not all(result.holds for result in results))
