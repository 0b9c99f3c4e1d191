"""One attack as a row: its name, seconds, memory and limits -> a row of the table; /healthz is polled meanwhile."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import httpx

REQUEST_SECONDS, FILE_SECONDS, FILE_MEGABYTES, HEALTH_SECONDS = 2.0, 10.0, 1500.0, 0.5
POLL_SECONDS = 0.05
HEADER = ["| attack | seconds | at most | MB | at most | |", "|---|---:|---:|---:|---:|---|"]


class AttackResult(NamedTuple):
    """The outcome of an attack. `problem` says what else is wrong, "" if nothing is; 0 MB were not measured."""

    what: str
    seconds: float
    limit: float = REQUEST_SECONDS
    megabytes: float = 0.0
    problem: str = ""

    @property
    def broken(self) -> str:
        """The limits that are broken, "" if all hold."""
        problems = [self.problem] if self.problem else []
        if self.seconds > self.limit:
            problems.append("too slow")
        if self.megabytes > FILE_MEGABYTES:
            problems.append("too much memory")
        return "; ".join(problems)

    @property
    def row(self) -> str:
        """A row of a Markdown table."""
        memory = f"{self.megabytes:.0f} | {FILE_MEGABYTES:,.0f}" if self.megabytes else "|"
        broken = f"BROKEN: {self.broken}".replace("|", "/").replace("\n", " ")[:300] if self.broken else ""
        what = self.what.replace("|", "\\|")
        return f"| {what} | {self.seconds:.2f} | {self.limit:g} | {memory} | {broken} |"


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
