"""Many clients at once over server-sent events: python -m benchmarks.load [SECONDS] [options].

64 clients ask the rules, each in a thread of its own, 4 s after its last answer. With --closed there is no pause. With
--distinct no question is repeated in the same letters, so that no answer comes from a cache. With --describe two of
three questions ask for the description of a thing or a class. Each client checks the numbers of its turns, which shows
lost or mixed messages. Exit 1 if a limit is broken; the limits of the seconds of a turn and of the growth of memory
apply with the pause only. --workers N is the number of workers of the server. --write writes the result to
docs/performance.md.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.performance_page import write_section
from benchmarks.server import ROOT, memory, run_nacre, started_server

CLIENTS, PAUSE_SECONDS = 64, 4.0
LIMIT_SECONDS, GROWTH_LIMIT = 1.0, 1.15
WARM_SHARE = 0.25
GRAPH = "load"
EXAMPLE = ROOT / "examples/bmw/kg.ttl"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
DESCRIPTION_SHARE = 2 / 3
DESCRIPTIONS = ("describe {}", "Tell me about {}", "What do you know about {}?", "what is {} like?")


@dataclass
class LoadLog:
    """Seconds of turns and of their first words, problems, and the memory of the server in MB over time."""

    seconds: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Workload:
    """What the clients ask: after which pause, whether never in the same letters, and about which names."""

    pause: float = PAUSE_SECONDS
    distinct: bool = False
    names: tuple[str, ...] = ()

    def question(self, examples: Sequence[str], chance: random.Random) -> str:
        """A suggested question of the graph, or the request to describe one of the names."""
        if self.names and chance.random() < DESCRIPTION_SHARE:
            question = chance.choice(DESCRIPTIONS).format(chance.choice(self.names))
        else:
            question = chance.choice(examples)
        if self.distinct:
            return " ".join(word.upper() if chance.random() < 0.3 else word for word in question.split())
        return question

    def is_good(self, status: str) -> bool:
        """Whether a reply with this status is right. A name may be that of several things."""
        return status == "answered" or (bool(self.names) and status in ("clarify", "partial"))


@contextmanager
def server(workers: int) -> Iterator[tuple[str, int]]:
    """Start `nacre serve` over the example graph: its address and process id."""
    with tempfile.TemporaryDirectory(prefix="nacre-load-") as folder:
        data = Path(folder) / "data"
        run_nacre(data, "ingest", str(EXAMPLE), "--graph", GRAPH, NACRE_EMBEDDER="auto")
        with started_server(data, "--workers", str(workers), NACRE_EMBEDDER="auto") as started:
            yield started.address, started.process.pid


def example_names() -> tuple[str, ...]:
    """The labels of the example graph: those of its things, classes and properties."""
    import pyoxigraph as ox

    quads = ox.parse(path=str(EXAMPLE), format=ox.RdfFormat.TURTLE)
    return tuple(sorted({quad.object.value for quad in quads if quad.predicate.value == LABEL}))


async def client(address: str, number: int, until: float, workload: Workload, log: LoadLog) -> None:
    """Ask in a new thread until the time is over; each reply must be the next turn of that thread."""
    chance = random.Random(number)
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        examples = (await http.get(f"/api/graphs/{GRAPH}/examples")).json()
        thread = (await http.post("/api/threads", json={"graph": GRAPH})).json()["thread"]
        await asyncio.sleep(chance.uniform(0, workload.pause))
        turn = 0
        while time.monotonic() < until:
            question = workload.question(examples, chance)
            turn += 1
            try:
                problem = await _turn(http, thread, turn, question, workload, log)
            except (httpx.HTTPError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                log.wrong.append(f"client {number}, turn {turn}: {problem}")
            await asyncio.sleep(workload.pause)
        stored = (await http.get(f"/api/threads/{thread}")).json()["turns"]
        if [each["record"]["turn"] for each in stored] != list(range(1, turn + 1)):
            log.wrong.append(f"client {number}: {turn} turns were asked, {len(stored)} are stored")


async def _turn(
    http: httpx.AsyncClient, thread: str, turn: int, question: str, workload: Workload, log: LoadLog
) -> str:
    """Ask once; the problem of the reply, "" if none."""
    start, first, tokens, record, kind, last = time.perf_counter(), 0.0, "", None, "", ""
    async with http.stream("POST", "/api/ask", json={"question": question, "thread": thread}) as reply:
        if reply.status_code != 200:
            return f"status {reply.status_code}"
        async for line in reply.aiter_lines():
            if line.startswith("event: "):
                kind = last = line[7:]
            elif line.startswith("data: ") and kind == "token":
                first = first or time.perf_counter() - start
                tokens += json.loads(line[6:])
            elif line.startswith("data: ") and kind == "answer":
                record = json.loads(line[6:])
    log.seconds.append(time.perf_counter() - start)
    log.first.append(first)
    if record is None or last != "done":
        return f"the stream ended with {last!r}"
    if (record["thread"], record["turn"], record["question"]) != (thread, turn, question):
        return f"turn {record['turn']} of {record['thread']}: {record['question']!r} came for {question!r}"
    if record["answer"] != tokens or not workload.is_good(record["status"]):
        return f"{record['status']}: {record['answer']!r}, streamed {tokens!r}"
    return ""


async def run(address: str, pid: int, seconds: float, workload: Workload) -> LoadLog:
    """Run all clients for so many seconds."""
    log = LoadLog()
    until = time.monotonic() + seconds
    clients = [asyncio.create_task(client(address, n, until, workload, log)) for n in range(CLIENTS)]
    while time.monotonic() < until:
        await asyncio.sleep(1.0)
        log.memory.append(memory(pid))
    await asyncio.gather(*clients)
    return log


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.load")
    parser.add_argument("seconds", nargs="?", type=float, default=120.0)
    parser.add_argument("--closed", action="store_true", help="without a pause")
    parser.add_argument("--distinct", action="store_true", help="never repeat a question in the same letters")
    parser.add_argument("--describe", action="store_true", help="ask for descriptions in two of three questions")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the result to docs/performance.md")
    options = parser.parse_args(arguments)
    with server(options.workers) as (address, pid):
        names = example_names() if options.describe else ()
        workload = Workload(0.0 if options.closed else PAUSE_SECONDS, options.distinct, names)
        log = asyncio.run(run(address, pid, options.seconds, workload))
    line, holds = load_summary(log, options.seconds, options.closed, options.workers)
    print(line)
    for problem in log.wrong[:10]:
        print(problem)
    if options.write:
        kinds = [kind for kind in ("closed", "distinct", "describe") if getattr(options, kind)]
        command = " ".join([f"python -m benchmarks.load {options.seconds:g}", *(f"--{kind}" for kind in kinds)])
        write_section("-".join(kinds) or "load", command, line)
    return 0 if holds else 1


def load_summary(log: LoadLog, seconds: float, closed: bool, workers: int) -> tuple[str, bool]:
    """The log in one line, and whether the limits hold."""
    if not log.seconds:
        return f"no turn ended within {seconds:g} s; {len(log.wrong)} wrong", False
    ordered = sorted(log.seconds)
    p95 = ordered[int(len(ordered) * 0.95)]
    warm = log.memory[int(len(log.memory) * WARM_SHARE) :] or [0.0]
    half = max(1, len(warm) // 2)
    growth = statistics.median(warm[half:] or warm) / max(1.0, statistics.median(warm[:half]))
    line = (
        f"{CLIENTS} clients, {'no' if closed else f'{PAUSE_SECONDS:g} s'} pause, {seconds:g} s, {workers} workers: "
        f"{len(ordered)} turns ({len(ordered) / seconds:.1f} a second), "
        f"p50 {statistics.median(ordered) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, most {ordered[-1] * 1000:.0f} ms, "
        f"first words p50 {statistics.median(log.first) * 1000:.0f} ms; memory {warm[0]:.0f} -> {warm[-1]:.0f} MB "
        f"(x{growth:.2f}); {len(log.wrong)} wrong"
    )
    within = closed or (p95 <= LIMIT_SECONDS and growth <= GROWTH_LIMIT)
    return line, within and not log.wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
