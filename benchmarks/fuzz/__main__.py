"""Random input for a time: python -m benchmarks.fuzz [PART...] [--seconds N] [--seed N] [--address URL].

The seconds are shared by the parts: guard, routes and readers. Without --seed, it is new at each run. A failure prints
the input and the seed that leads to it again. Exit 1 if there is one.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.fuzz.guard import fuzz_guard
from benchmarks.fuzz.readers import fuzz_readers
from benchmarks.fuzz.routes import fuzz_routes
from benchmarks.fuzz.run import FuzzResult
from benchmarks.server import ROOT, run_nacre, started_server

PARTS = ("guard", "readers", "routes")
MAX_SEED = 10**6


def fuzz(part: str, seconds: float, seed: int, address: str, folder: Path) -> FuzzResult:
    """Fuzz one part until the time is over."""
    if part == "guard":
        return fuzz_guard(seconds, seed)
    if part == "readers":
        return fuzz_readers(seconds, seed, folder)
    if address:
        return fuzz_routes(address, seconds, seed, folder)
    with _server(folder) as (own, log):
        result = fuzz_routes(own, seconds, seed, folder)
        if not result.failure and "Traceback" in log.read_text():
            return result._replace(failure=f"the server logged an error:\n{log.read_text()[-3000:]}")
        return result


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, Path]]:
    data = folder / "data"
    run_nacre(data, "ingest", str(ROOT / "examples/bmw/kg.ttl"), "--graph", "bmw", "--sparql", "--no-vectors")
    with started_server(data) as server:
        yield server.address, server.log


def main() -> int:
    command = argparse.ArgumentParser("python -m benchmarks.fuzz")
    command.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="all by default")
    command.add_argument("--seconds", type=float, default=60.0)
    command.add_argument("--seed", type=int, help="the seed of an earlier run")
    command.add_argument("--address", default="", help="a server without keys, instead of one of its own")
    options = command.parse_args()
    parts = options.parts or PARTS
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(MAX_SEED)
    failed = 0
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="nacre-fuzz-") as folder:
            start = time.perf_counter()
            result = fuzz(part, options.seconds / len(parts), seed, options.address, Path(folder))
        seconds = time.perf_counter() - start
        print(f"{part}: {result.examples} inputs in {seconds:.0f} s from seed {seed}", flush=True)
        if result.failure:
            failed = 1
            print(f"{result.failure}\nFailed. Repeat it: python -m benchmarks.fuzz {part} --seed {result.seed}")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
