"""Measure one step of an ingest in a process of its own: step and files -> a line of JSON.

Run by `benchmarks.ingest` and `benchmarks.wide_graphs`. Everything that is loaded at first use is loaded before the
clock starts, on both sides of a ratio.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from math import inf
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.inputs.fleet_graph import write_graph

# bytes of a small file, and the runs of a measurement with it
SMALL, SMALL_RUNS = 2**20, 30
FILE_RUNS = 5


def parsing(path: Path, folder: Path) -> None:
    """The minimum work of a reader: parse the file and take the text of every term."""
    import pyoxigraph as ox

    for quad in ox.parse(path=str(path), format=ox.RdfFormat.N_TRIPLES):
        _ = quad.subject.value, quad.predicate.value, quad.object.value


def tables(path: Path, folder: Path) -> None:
    """RDF -> SQLite."""
    from ingestion.induce.write_tables import write_tables
    from ingestion.read.parse import parse_files

    write_tables(parse_files([path]), folder / f"{path.stem}.sqlite")


def full_ingest(path: Path, folder: Path) -> dict[str, float]:
    """RDF -> SQLite, lexicon, passages and index of words: an ingest without vectors."""
    from ingestion.pipeline import ingest

    clock = process_time()
    stages: dict[str, float] = {}

    def note(stage: str, done: int, total: int) -> None:
        nonlocal clock
        if done == 0:
            clock = process_time()
        elif (done, total) == (1, 1):
            stages[stage] = process_time() - clock

    ingest([str(path)], "bench", data=folder / path.stem, no_vectors=True, on_stage=note)
    return stages


def repeated_ingest(path: Path, folder: Path, changed: Path) -> dict[str, float]:
    """Seconds of a first ingest with vectors, of the same ingest again, and of one with a share of changed things."""
    from ingestion.pipeline import ingest
    from nacre.config.embedder import local_embedder

    model = local_embedder("bundled")
    assert model is not None
    model.embed(["loads the model"])
    seconds = {}
    for name, source in (("first", path), ("unchanged", path), ("changed", changed)):
        start = perf_counter()
        ingested = ingest([str(source)], "bench", data=folder / "again", embedder=model)
        seconds[name] = perf_counter() - start
        seconds[f"{name}_embedded"] = ingested.embedded
        seconds[f"{name}_passages"] = ingested.passages
    return seconds


def embedding(path: Path, folder: Path, most: int = 400) -> dict[str, float]:
    """Seconds to embed a sample of the passages, with the batches of Nacre and with those of fastembed."""
    from ingestion.induce.write_tables import write_tables
    from ingestion.read.parse import parse_files
    from nacre.config.embedder import BUNDLED_EMBEDDER, THREADS, local_embedder
    from nacre.extensions.fact_sentences.passages import verbalise
    from nacre.stores.sqlite.passages import PredicateNumbers

    facts = parse_files([path])
    schema = write_tables(facts, folder / "sample.sqlite")
    passages = [f"{each.title}\n{each.text}" for each in verbalise(facts, schema, PredicateNumbers(count().__next__))]
    sample = passages[:: max(1, len(passages) // most)][:most]
    ours = local_embedder(BUNDLED_EMBEDDER)
    assert ours is not None
    model = ours._loaded(THREADS)
    ours.embed(sample[:8])
    start = perf_counter()
    ours.embed(sample)
    middle = perf_counter()
    # what fastembed does: 256 texts in the given order
    list(model.embed(sample, 256))
    return {"ours": middle - start, "theirs": perf_counter() - middle, "passages": len(sample)}


def files(many: Path, one: Path) -> dict[str, float]:
    """CPU seconds to read a folder of small files, to read them as one file, and only to parse the small files.

    The three alternate, and the fastest run of each counts.
    """
    import pyoxigraph as ox

    from ingestion.read.parse import read_sources
    from ingestion.read.sources import ReadOptions, find_sources

    paths = sorted(many.iterdir())
    read_sources(find_sources([str(paths[0])], ReadOptions()))
    gc.disable()

    def parse_all() -> None:
        # reading also lists the files
        for path in sorted(many.iterdir()):
            for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
                _ = quad.subject.value, quad.predicate.value, quad.object.value

    readers: dict[str, Callable[[], object]] = {
        "parser": parse_all,
        "many": lambda: read_sources(find_sources([str(many)], ReadOptions())),
        "one": lambda: read_sources(find_sources([str(one)], ReadOptions())),
    }
    seconds = dict.fromkeys(readers, inf)
    for _ in range(FILE_RUNS):
        for name, read in readers.items():
            start = process_time()
            read()
            seconds[name] = min(seconds[name], process_time() - start)
            gc.collect()
    return seconds


def wide_graph(path: Path, folder: Path, question: str, answer: str) -> dict[str, float]:
    """CPU seconds to ingest a graph without vectors, and to ask it a first question."""
    from ingestion.pipeline import ingest
    from nacre.stores import versions

    start = process_time()
    ingested = ingest([str(path)], "wide", data=folder, no_vectors=True)
    middle = process_time()
    reply = subprocess.run(
        [sys.executable, "-m", "nacre.serving.cli.main", "ask", question, "--graph", "wide", "--json"],
        env={**os.environ, "NACRE_DATA": str(folder), "NACRE_MODEL": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    values = [str(value) for value in json.loads(reply.stdout)["values"]]
    if values != [answer]:
        raise SystemExit(f"{question} gave {values}, not {answer}")
    passages = versions.version_folder(folder / "wide", ingested.version) / versions.PASSAGES
    return {
        "ingest": middle - start,
        "ask": usage.ru_utime + usage.ru_stime,
        "passages": passages.stat().st_size,
    }


TIMED: dict[str, Callable[[Path, Path], dict[str, float] | None]] = {
    "parsing": parsing,
    "tables": tables,
    "everything": full_ingest,
}


def main(what: str, *arguments: str) -> None:
    paths = [Path(each) for each in arguments]
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        folder = Path(name)
        if what == "again":
            numbers = repeated_ingest(paths[0], folder, paths[1])
        elif what == "files":
            numbers = files(*paths)
        elif what == "wide":
            numbers = wide_graph(paths[0], folder, *arguments[1:])
        elif what == "embedding":
            numbers = embedding(paths[0], folder)
        else:
            warm = folder / "warm.nt"
            write_graph(0.05, warm)
            TIMED[what](warm, folder)
            # an ingest also runs without garbage collection
            gc.disable()
            base, seconds = _base(), []
            # of short runs the fastest of several counts, on both sides of a ratio
            for number in range(SMALL_RUNS if paths[0].stat().st_size < SMALL else 1):
                clear_name_caches()
                # a first ingest replaces nothing
                empty = folder / str(number)
                empty.mkdir()
                start = process_time()
                stages = TIMED[what](paths[0], empty)
                seconds.append(process_time() - start)
            numbers = {"cpu": min(seconds), "base": base, "peak": _peak(), **(stages or {})}
    print(json.dumps(numbers))


def clear_name_caches() -> None:
    """Empty the caches of names, which are empty in a first ingest."""
    from ingestion.induce.names import column_name, readable_name
    from ingestion.vocabulary import local_name, name_rank

    for each in (column_name, readable_name, local_name, name_rank):
        each.cache_clear()


def _base() -> int:
    return _memory("VmRSS")


def _peak() -> int:
    return _memory("VmHWM")


def _memory(which: str) -> int:
    """Bytes in use now or at the peak; the peak in both cases on systems without /proc.

    On Linux `ru_maxrss` is not usage, since a process inherits that of its parent.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))


if __name__ == "__main__":
    main(*sys.argv[1:])
