"""Requests derived from the document of the API: every reply has a documented status, and none is 5xx."""

import re
import subprocess
import sys
import time
from pathlib import Path

import httpx

from benchmarks.fuzz.run import FuzzResult

EXAMPLES = 3
# how long a round may take beyond the time
GRACE_SECONDS = 150.0
CHECKS = "not_a_server_error,status_code_conformance"
# turns of these kinds take most of the time; they are included in every third round
SLOW_PATHS = "^/ask/(stream_events|stream_log|batch)"


def fuzz_routes(address: str, seconds: float, seed: int, folder: Path) -> FuzzResult:
    """Send requests to a server until the time is over; the seeds are `seed` and those that follow it."""
    until, generated, number = time.monotonic() + seconds, 0, 0
    graphs = [graph["name"] for graph in httpx.get(f"{address}/api/graphs", timeout=30).json()]
    config = folder / "schemathesis.toml"
    while number == 0 or time.monotonic() < until:
        # requests about a graph that exists reach more code; in the other rounds its name is random, too
        config.write_text(f'[parameters]\n"path.graph" = "{graphs[0]}"\n' if number % 2 == 0 else "")
        left = max(0.0, until - time.monotonic())
        try:
            done = _run(address, config, seed + number, number % 3 != 0, left)
        except subprocess.TimeoutExpired as error:
            return FuzzResult("routes", generated, f"a round did not end: {error.stdout!r}", seed + number)
        found = re.search(r"(\d+) generated", done.stdout)
        generated += int(found[1]) if found else 0
        if done.returncode or not found:
            output = "\n".join(line.rstrip() for line in done.stdout.splitlines())
            return FuzzResult("routes", generated, output[-6000:] + done.stderr[-1000:], seed + number)
        number += 1
    alive = httpx.get(f"{address}/healthz", timeout=10).status_code == 200
    return FuzzResult("routes", generated, "" if alive else "the server does not answer", seed + number - 1)


def _run(
    address: str, config: Path, seed: int, without_slow: bool, seconds: float
) -> "subprocess.CompletedProcess[str]":
    program = str(Path(sys.executable).with_name("schemathesis"))
    command = [
        *(program, "--config-file", str(config), "run", f"{address}/api/openapi.json", "--no-color"),
        *("--checks", CHECKS, "--max-examples", str(EXAMPLES), "--seed", str(seed), "--phases", "fuzzing"),
        *("--generation-database", "none", "--warnings", "off"),
        *(("--exclude-path-regex", SLOW_PATHS) if without_slow else ()),
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=config.parent, timeout=seconds + GRACE_SECONDS)
