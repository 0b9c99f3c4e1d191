"""Kill ingests at random moments and check the graph: python -m benchmarks.soak_kill [MOMENTS] [SEED].

After every kill a reader must find the whole old graph, the whole new graph, or the new graph without its vectors. The
next ingest, or the next index if only vectors are missing, must clean up and finish.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

from benchmarks.inputs.fleet_graph import write_graph
from ingestion.pipeline import index_graph, ingest

ROOT = Path(__file__).parents[1]
GRAPH = "soak"
SCALE, CHANGED_SHARE = 0.3, 0.2
WITHOUT_VECTORS = "new, without vectors"


class Kill(NamedTuple):
    """A kill `seconds` after the start, the graph that readers `found` then, and the problem, "" if none."""

    seconds: float
    found: str
    wrong: str


class WordSums:
    """An embedder whose vectors are checksums; only their presence matters."""

    name = "word-sums"
    size = 32

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0 + zlib.crc32(f"{n} {text}".encode()) % 97 for n in range(self.size)] for text in texts]


def kill_ingests(moments: int, seed: int, folder: Path) -> Iterator[Kill]:
    """Ingest two graphs in turn; each ingest is killed once and then finished, and compared with a fresh ingest."""
    sources = [folder / "one.nt", folder / "two.nt"]
    for source, share in zip(sources, (0.0, CHANGED_SHARE), strict=True):
        write_graph(SCALE, source, share)
    expected = []
    for source in sources:
        fresh = folder / f"fresh-{source.stem}"
        _ingest(source, fresh)
        expected.append(_content(fresh))
    data = folder / "data"
    _ingest(sources[0], data)
    chance = random.Random(seed)
    full_seconds = _time_ingest(sources[1], folder / "timed", folder)
    for number in range(moments):
        old, new = number % 2, (number + 1) % 2
        seconds = chance.uniform(0, 1.05 * full_seconds)
        _kill_ingest(sources[new], data, seconds, folder)
        content = _content(data)
        known = {expected[old]: "old", expected[new]: "new", (expected[new][0], ""): WITHOUT_VECTORS}
        found = known.get(content, "a mix")
        wrong = "" if found != "a mix" else f"readers find neither graph: {content}"
        if found == WITHOUT_VECTORS:
            index_graph(GRAPH, data=data, embedder=WordSums())
        else:
            _ingest(sources[new], data)
        if _content(data) != expected[new]:
            wrong = wrong or "the next command did not make the new graph"
        files = sorted(path.name for place in ("versions", "vectors") for path in (data / GRAPH / place).iterdir())
        if len(files) != 2:
            wrong = wrong or f"the next command did not clean up: {files}"
        yield Kill(seconds, found, wrong)


def _ingest(source: Path, data: Path) -> None:
    ingest([str(source)], GRAPH, data=data, embedder=WordSums())


def _content(data: Path) -> tuple[str, str]:
    """A hash of the tables, passages and words that a reader gets, and one of the vectors; "" without vectors."""
    from nacre.stores.catalog import Library

    library = Library(data, WordSums())
    try:
        with library.open(GRAPH) as graph:
            if graph.unavailable.keys() - {"vector"} or graph.passages is None or graph.lexical is None:
                return f"unavailable: {graph.unavailable}", ""
            digest = blake2b("\n".join(graph.tables.trusted().iterdump()).encode(), digest_size=8)
            vector_digest = blake2b(digest_size=8)
            for number, title, text in graph.passages.each():
                digest.update(f"{number} {title} {text}\n".encode())
                if graph.vectors is not None:
                    hits = graph.vectors.search(f"{title}\n{text}", 1)
                    vector_digest.update(f"{number} {hits and round(hits[0].score, 3)}\n".encode())
            digest.update(str(graph.lexical.search("ship engine design", 20)).encode())
            return digest.hexdigest(), vector_digest.hexdigest() if graph.vectors is not None else ""
    finally:
        library.close()


def _start_ingest(source: Path, data: Path, folder: Path) -> "subprocess.Popen[str]":
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    # temporary files of a killed process are removed with this folder
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "benchmarks.soak_kill", "--ingest", str(source), str(data)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    if child.stdout.readline().strip() != "ready":
        raise SystemExit("the ingest to be killed did not start")
    return child


def _time_ingest(source: Path, data: Path, folder: Path) -> float:
    child = _start_ingest(source, data, folder)
    start = perf_counter()
    child.communicate()
    return perf_counter() - start


def _kill_ingest(source: Path, data: Path, seconds: float, folder: Path) -> None:
    child = _start_ingest(source, data, folder)
    sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.communicate()


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--ingest"]:
        print("ready", flush=True)
        _ingest(Path(arguments[1]), Path(arguments[2]))
        return 0
    moments = int(arguments[0]) if arguments else 50
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="nacre-soak-") as name:
        for number, kill in enumerate(kill_ingests(moments, seed, Path(name)), 1):
            wrong += bool(kill.wrong)
            print(f"{number:>3}  killed after {kill.seconds:.3f} s: the {kill.found} graph  {kill.wrong}", flush=True)
    print(f"{moments} kills (seed {seed}), {wrong} of them left something wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
