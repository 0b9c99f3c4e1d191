"""One attack as a row: its name, seconds, memory and limits -> a row of the table; /healthz is polled meanwhile."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx

REQUEST_SECONDS, FILE_SECONDS, FILE_MEGABYTES, HEALTH_SECONDS = 2.0, 10.0, 1500.0, 0.5
POLL_SECONDS = 0.05
# the graph of a server that is attacked
GRAPH = "load"
HEADER = ["| attack | seconds | at most | processor s | MB | at most | |", "|---|---:|---:|---:|---:|---:|---|"]


class AttackResult(NamedTuple):
    """The outcome of an attack. `problem` says what else is wrong, "" if nothing is.

    `megabytes` and the seconds of `processor` time are those of a process of its own, 0 if there is none.
    """

    what: str
    seconds: float
    limit: float = REQUEST_SECONDS
    megabytes: float = 0.0
    problem: str = ""
    processor: float = 0.0

    @property
    def broken(self) -> str:
        """The limits that are broken, "" if all hold."""
        problems = [self.problem] if self.problem else []
        if self.seconds > self.limit:
            problems.append("too slow")
        if self.megabytes > FILE_MEGABYTES:
            problems.append("too much memory")
        return "; ".join(problems)

    def on_busy_machine(self, factor: float) -> "AttackResult":
        """The same with more time, for a machine that others slow down by this factor."""
        return self._replace(limit=round(self.limit * factor, 1))

    @property
    def row(self) -> str:
        """A row of a Markdown table."""
        memory = f"{self.megabytes:.0f} | {FILE_MEGABYTES:,.0f}" if self.megabytes else "|"
        processor = f"{self.processor:.2f}" if self.processor else ""
        broken = f"BROKEN: {self.broken}".replace("|", "/").replace("\n", " ")[:300] if self.broken else ""
        what = self.what.replace("|", "\\|")
        return f"| {what} | {self.seconds:.2f} | {self.limit:g} | {processor} | {memory} | {broken} |"


@dataclass(frozen=True)
class RequestCase:
    """A request, the statuses that are right, and its limit in seconds; `content` and `headers` are sent as they
    are."""

    what: str
    path: str
    body: Any = None
    statuses: tuple[int, ...] = (422,)
    method: str = "POST"
    content: bytes | None = None
    headers: Mapping[str, str] | None = None
    limit: float = REQUEST_SECONDS


def busy_factor() -> float:
    """By how much others slow this machine down: 1 if they do not.

    The load counts processes that run or wait for a processor. Attacks alone keep as many as there are processors busy.
    """
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1) - 1)


class HealthLog:
    """Seconds of each request to /healthz."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failed = 0

    def result(self, during: str) -> AttackResult:
        """The slowest request as a result."""
        what = f"/healthz during {during}, the slowest of {len(self.seconds)}"
        problem = f"{self.failed} failed" if self.failed else "" if self.seconds else "never asked"
        return AttackResult(what, max(self.seconds, default=0.0), HEALTH_SECONDS, 0.0, problem)


@contextmanager
def polled_health(address: str) -> Iterator[HealthLog]:
    """Request /healthz all the time, in a thread."""
    log, stop = HealthLog(), threading.Event()

    def poll() -> None:
        with httpx.Client(base_url=address, timeout=10) as http:
            while not stop.wait(POLL_SECONDS):
                start = time.perf_counter()
                try:
                    log.failed += http.get("/healthz").status_code != 200
                except httpx.TransportError:
                    log.failed += 1
                log.seconds.append(time.perf_counter() - start)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield log
    finally:
        stop.set()
        thread.join()
