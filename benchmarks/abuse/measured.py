"""A command in a process of its own: command and environment -> its end, seconds, and the peak memory of its tree."""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.abuse.case import busy_factor

# a process that exceeds one of these is killed, so that the benchmark goes on
KILL_SECONDS, KILL_MEGABYTES = 90.0, 5000.0
POLL_SECONDS = 0.02
MAX_OUTPUT = 20_000


class Ended(NamedTuple):
    """How a process ended; a code below 0 is a signal."""

    code: int
    output: str
    seconds: float
    megabytes: float
    processor: float


def run_measured(arguments: list[str], env: Mapping[str, str], folder: Path) -> Ended:
    """Run a module of Python: its end."""
    with tempfile.TemporaryFile() as output:
        seconds_allowed = KILL_SECONDS * busy_factor()
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments], env=dict(env), cwd=folder, stdout=output, stderr=output
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, sum(map(resident_megabytes, process_tree(process.pid))), _peak_megabytes(process.pid))
            if time.perf_counter() - start > seconds_allowed or peak > KILL_MEGABYTES:
                process.kill()
            time.sleep(POLL_SECONDS)
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        output.seek(0)
        text = output.read(MAX_OUTPUT).decode("utf-8", "replace")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ended(process.returncode, text, seconds, peak, processor)


def process_tree(pid: int) -> Iterator[int]:
    """A process and all below it that run."""
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        # it has ended
        return
    for child in children:
        yield from process_tree(child)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended may stay listed until its parent asks for its end."""
    return _status(pid, "State").partition("\t")[2][:1] not in ("", "Z", "X")


def resident_megabytes(pid: int) -> float:
    """MB in use now, 0 if the process has ended."""
    return _megabytes(_status(pid, "VmRSS"))


def _peak_megabytes(pid: int) -> float:
    return _megabytes(_status(pid, "VmHWM"))


def _megabytes(line: str) -> float:
    return int(line.split()[1]) / 1024 if line else 0.0


def _status(pid: int, name: str) -> str:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(f"{name}:")), "")
