"""Questions designed to take long, clients that disconnect, SIGTERM under full load, and hostile SQL statements.

Times are compared with those of an ordinary question, and /healthz is requested throughout.
"""

import asyncio
import socket
import sqlite3
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.abuse.case import busy_factor
from benchmarks.inputs.hostile_sql import hostile_statements
from benchmarks.load import GRAPH, server
from benchmarks.server import ROOT, memory
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.errors import ToolError
from tools.sandbox import Sandbox

MAX_QUESTION_LETTERS = 4000
QUESTION_SECONDS, HEALTH_SECONDS, GROWTH, STOP_SECONDS = 2.0, 0.1, 1.5, 20.0
STATEMENTS, STATEMENT_SECONDS, GRACE_SECONDS = 200, 1.0, 2.0
ORDINARY = "Which cars are there?"
QUESTIONS = (
    "What is " + "the engine of " * 250 + "the car?",
    "Which cars weigh more than " + " ".join(map(str, range(500))),
    "car " * 1000,
    "Which cars weigh more than 1000 kg" + " and less than 2000 kg and more than 1000 kg" * 85,
    "a" * MAX_QUESTION_LETTERS,
    "(" * 2000 + "car" + ")" * 1990,
    "which car has " + "the longest " * 300,
    "X5 or " * 600 + "?",
    "list " + ", ".join(["name", "price", "payload", "colour"] * 150),
    "中" * MAX_QUESTION_LETTERS,
    "1.2.3.4" * 500,
    '"' * MAX_QUESTION_LETTERS,
    "who's " * 600,
    "is the X5 " * 400,
    "12.5kg " * 500,
    "not fewer than the average of " * 130,
    "per " * 1000,
    "\u0301" * MAX_QUESTION_LETTERS,
)


async def abuse_server(address: str, pid: int) -> tuple[list[str], list[str]]:
    """The rows of the measurements, and the broken limits."""
    rows: list[str] = []
    broken: list[str] = []

    def note(what: str, value: float, unit: str, limit: float) -> None:
        limit = limit * busy_factor() if unit == "s" else limit
        rows.append(f"| {what} | {value:.3g} {unit} | at most {limit:.3g} | {'' if value <= limit else 'BROKEN'} |")
        if value > limit:
            broken.append(what)

    async with httpx.AsyncClient(base_url=address, timeout=120) as http:
        ordinary = [await _ask(http, ORDINARY) for _ in range(6)][1:]
        usual = sorted(ordinary)[len(ordinary) // 2]
        before = memory(pid)
        health: list[float] = []
        polling = asyncio.create_task(_poll_health(http, health))
        alone = [await _ask(http, question[:MAX_QUESTION_LETTERS]) for question in QUESTIONS]
        note("the longest question of 4,000 characters, one at a time", max(alone), "s", QUESTION_SECONDS)
        rows.append(f"| the same, in ordinary questions ({usual * 1000:.0f} ms) | {max(alone) / usual:.0f} x | | |")
        start = time.perf_counter()
        await asyncio.gather(*(_ask(http, question[:MAX_QUESTION_LETTERS]) for question in QUESTIONS))
        rows.append(f"| all {len(QUESTIONS)} of them at once | {time.perf_counter() - start:.1f} s | | |")
        # the work for clients that disconnect must stop
        for question in QUESTIONS[:6]:
            with suppress(httpx.ReadTimeout):
                await http.post("/ask/invoke", json=_body(question[:MAX_QUESTION_LETTERS]), timeout=0.2)
        await asyncio.to_thread(_send_unreadable, address)
        note("an ordinary question after clients have left", await _ask(http, ORDINARY), "s", QUESTION_SECONDS)
        polling.cancel()
        note(
            f"/healthz meanwhile, 99 of 100 ({len(health)})",
            sorted(health)[int(len(health) * 0.99)],
            "s",
            HEALTH_SECONDS,
        )
        note("memory, against before", memory(pid) / before, "x", GROWTH)
    return rows, broken


def _body(question: str) -> dict[str, dict[str, str]]:
    return {"input": {"question": question, "graph": GRAPH}}


async def _ask(http: httpx.AsyncClient, question: str) -> float:
    start = time.perf_counter()
    reply = await http.post("/ask/invoke", json=_body(question))
    assert reply.status_code == 200, reply.text[:200]
    return time.perf_counter() - start


async def _poll_health(http: httpx.AsyncClient, seconds: list[float]) -> None:
    while True:
        start = time.perf_counter()
        await http.get("/healthz")
        seconds.append(time.perf_counter() - start)
        await asyncio.sleep(0.05)


def _send_unreadable(address: str) -> None:
    """Send headers and bodies that never end, or are too long."""
    parts = urlsplit(address)
    start = b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900000\r\n\r\n"
    for sent in (b"GET / HTTP/1.1\r\nX: " + b"a" * 50_000_000, start + b"[" * 100_000, start + b"[" * 900_000):
        with suppress(OSError), socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
            line.sendall(sent)


async def leave_requests_open(address: str) -> None:
    """Send all questions and disconnect, so that the server is under full load when it gets SIGTERM."""
    async with httpx.AsyncClient(base_url=address, timeout=0.5) as http:
        requests = [http.post("/ask/invoke", json=_body(question[:MAX_QUESTION_LETTERS])) for question in QUESTIONS]
        await asyncio.gather(*requests, return_exceptions=True)


async def run_hostile_statements(limit: float = STATEMENT_SECONDS, number: int = STATEMENTS) -> tuple[float, str]:
    """The seconds of the slowest hostile statement, and the counts of their outcomes."""
    outcomes: dict[str, int] = {}
    longest = 0.0
    with tempfile.TemporaryDirectory(prefix="nacre-abuse-") as folder:
        file = Path(folder) / "graph.sqlite"
        write_tables(parse_files([ROOT / "examples/bmw/kg.ttl"]), file)
        before = sha256(file.read_bytes()).hexdigest()
        sandbox = Sandbox()
        try:
            for text in hostile_statements(number, seed=1):
                # the start of a new process is not counted
                await sandbox.run(file, "SELECT 1", round=1, limit=1, seconds=60)
                start = time.perf_counter()
                try:
                    found = await sandbox.run(file, text, round=1, limit=100, seconds=limit)
                    end = found.error.kind if found.error else "rows"
                except ToolError as error:
                    end = error.kind
                longest = max(longest, time.perf_counter() - start)
                outcomes[end] = outcomes.get(end, 0) + 1
        finally:
            sandbox.close()
        with sqlite3.connect(file) as whole:
            assert whole.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert sha256(file.read_bytes()).hexdigest() == before
    return longest, ", ".join(f"{kind} {count}" for kind, count in sorted(outcomes.items()))


def attack_with_questions() -> tuple[str, list[str]]:
    """A table of the measurements, and the broken limits."""
    with server(1) as (address, pid):
        rows, broken = asyncio.run(abuse_server(address, pid))
        asyncio.run(leave_requests_open(address))
        start = time.perf_counter()
    seconds = time.perf_counter() - start
    longest, outcomes = asyncio.run(run_hostile_statements())
    for what, value, seconds_allowed in (
        ("SIGTERM under all of it", seconds, STOP_SECONDS),
        (f"{STATEMENTS} statements of {STATEMENT_SECONDS:g} s ({outcomes}), the longest", longest, GRACE_SECONDS),
    ):
        limit = seconds_allowed * busy_factor()
        rows.append(f"| {what} | {value:.3g} s | at most {limit:.3g} | {'' if value <= limit else 'BROKEN'} |")
        if value > limit:
            broken.append(what)
    return "\n".join(["| what | measured | limit | |", "|---|---:|---:|---|", *rows]), broken
