"""A started `nacre serve` and commands of `nacre`: a data folder, options and settings -> a process on loopback."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
NACRE = ("nacre.serving.cli.main",)
START_SECONDS, STOP_SECONDS, COMMAND_SECONDS = 180.0, 30.0, 300.0
INHERITED_PREFIXES = ("NACRE_", "OPENAI_", "OLLAMA_")


@dataclass(frozen=True)
class StartedServer:
    """A server that answers at `address`; what it logs is in `log`."""

    address: str
    process: "subprocess.Popen[bytes]"
    log: Path


def environment(data: Path, **settings: str) -> dict[str, str]:
    """The environment of a process with these settings and no others."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(INHERITED_PREFIXES)}
    return {**inherited, "NACRE_DATA": str(data), "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", **settings}


def run_nacre(data: Path, *arguments: str, **settings: str) -> str:
    """Run a command that must succeed: its output."""
    done = subprocess.run(
        [sys.executable, "-m", *NACRE, *arguments],
        env=environment(data, **settings),
        cwd=data.parent,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
    )
    if done.returncode:
        raise SystemExit(f"nacre {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def started_server(
    data: Path, *options: str, module: tuple[str, ...] = NACRE, **settings: str
) -> Iterator[StartedServer]:
    """Start `nacre serve` over a data folder and end it with SIGTERM. `module` runs instead of the command line."""
    log = data.parent / f"log-{time.monotonic_ns()}"
    command = [sys.executable, "-m", *module, "serve", "--port", "0", *options]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=environment(data, **settings),
            cwd=data.parent,
            stderr=output,
            stdout=output,
            preexec_fn=_default_signals,
        )
        try:
            yield StartedServer(_address(process, log), process, log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def memory(pid: int) -> float:
    """MB in use by a process and its children; shared pages count for each of them."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = [int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in (pid, *children)]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _default_signals() -> None:
    # a shell starts background processes with some signals ignored, and children inherit that
    for each in (signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        time.sleep(0.1)
        match = re.search(r"http://\S+", log.read_text())
        if process.poll() is not None:
            raise SystemExit(log.read_text())
        try:
            if match and httpx.get(f"{match[0]}/readyz", timeout=5).status_code == 200:
                return match[0]
        except httpx.TransportError:
            continue
    raise SystemExit(f"the server did not start:\n{log.read_text()[-2000:]}")
