"""Modules that one question runs through: python -m benchmarks.path.

A server over the example is asked "Which BMW X5 variants are there?", then, traced, "Which of them is the cheapest?" in
the same conversation, over HTTP. Printed are the modules of the project with a function that was entered in any thread
between request and end of the reply, in the order of their first functions, and their number.
"""

import inspect
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx

from benchmarks.server import ROOT, run_nacre, started_server
from benchmarks.size import PRODUCT

BEFORE, QUESTION = "Which BMW X5 variants are there?", "Which of them is the cheapest?"
# how long the server may take to begin or end the trace
SIGNAL_SECONDS = 10.0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="nacre-path-") as name:
        data, trace = Path(name) / "data", Path(name) / "trace"
        run_nacre(data, "ingest", str(ROOT / "examples/bmw/kg.ttl"), "--graph", "bmw")
        with (
            started_server(data, module=("benchmarks.path", str(trace))) as server,
            httpx.Client(base_url=server.address, timeout=120) as client,
        ):
            thread = client.post("/api/threads", json={"graph": "bmw"}).raise_for_status().json()["thread"]
            client.post("/api/ask", json={"question": BEFORE, "thread": thread}).raise_for_status()
            switch(server.process.pid, trace.with_suffix(".on"))
            reply = client.post("/api/ask", json={"question": QUESTION, "thread": thread}).raise_for_status()
            switch(server.process.pid, trace)
        if '"answered"' not in reply.text:
            raise SystemExit(f"{QUESTION} was not answered:\n{reply.text[-2000:]}")
        modules = trace.read_text().split()
        print("\n".join(modules))
        print(f"{len(modules)} modules of the project run for {QUESTION!r}")


def switch(pid: int, done: Path) -> None:
    """Let the server begin or end its trace, and wait until it has."""
    os.kill(pid, signal.SIGUSR1)
    give_up = time.monotonic() + SIGNAL_SECONDS
    while not done.exists():
        if time.monotonic() > give_up:
            raise SystemExit("The server did not begin or end its trace.")
        time.sleep(0.05)


class Tracer:
    """Notes the modules of the project whose functions are entered, between two signals."""

    def __init__(self, trace: Path) -> None:
        self._trace, self._is_on = trace, False
        self._modules: dict[str, None] = {}
        self._known: dict[CodeType, str] = {}

    def profile(self, frame: FrameType, event: str, _: Any) -> None:
        if self._is_on and event == "call":
            code = frame.f_code
            if code not in self._known:
                self._known[code] = module_of(code)
            if self._known[code]:
                self._modules.setdefault(self._known[code])

    def switch(self, *_: object) -> None:
        self._is_on = not self._is_on
        if self._is_on:
            self._trace.with_suffix(".on").touch()
            return
        written = self._trace.with_suffix(".new")
        written.write_text("\n".join(self._modules))
        written.rename(self._trace)


def module_of(code: CodeType) -> str:
    """The module of a function of the project; "" for others, and for bodies of modules and classes."""
    path = Path(code.co_filename)
    if not code.co_flags & inspect.CO_OPTIMIZED or not path.is_relative_to(ROOT):
        return ""
    relative = path.relative_to(ROOT)
    return ".".join(relative.with_suffix("").parts) if relative.parts[0] in PRODUCT else ""


def serve(trace: Path, arguments: list[str]) -> None:
    """`nacre` with these arguments, traced."""
    tracer = Tracer(trace)
    signal.signal(signal.SIGUSR1, tracer.switch)
    threading.setprofile(tracer.profile)
    sys.setprofile(tracer.profile)
    from nacre.serving.cli.main import main as nacre

    sys.argv = ["nacre", *arguments]
    nacre()


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else serve(Path(sys.argv[1]), sys.argv[2:])
