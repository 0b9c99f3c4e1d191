"""Servers that are killed, signalled, restarted with another clock, or whose keys are lost."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from benchmarks.abuse.case import REQUEST_SECONDS, AttackResult
from benchmarks.abuse.measured import is_running, process_tree
from benchmarks.server import run_nacre, started_server

END_SECONDS, STOP_SECONDS = 10.0, 20.0
HOUR = "3600"
QUESTION = "Which car has the highest price?"


def attack_lifecycle(data: Path, graph: str, only: str = "") -> Iterator[AttackResult]:
    """All of them; the data folder has no keys before and none after."""
    if only in "kill -9":
        yield _kill_parent(data)
    if only in "SIGHUP":
        yield _hang_up(data)
    if only in "the clock":
        yield _set_clock_back(data, graph)
    if only in "the key file":
        yield from _lose_keys(data)


def _kill_parent(data: Path) -> AttackResult:
    with started_server(data, "--workers", "2") as server:
        tree = list(process_tree(server.process.pid))
        server.process.kill()
        server.process.wait()
        seconds = _seconds_until(lambda: not any(map(is_running, tree)), END_SECONDS)
    left = [pid for pid in tree if is_running(pid)]
    problem = f"{len(left)} still run" if left else "" if len(tree) > 2 else "there were no workers"
    return AttackResult(
        f"kill -9 of a server of 2 workers: its {len(tree) - 1} children end", seconds, END_SECONDS, 0, problem
    )


def _hang_up(data: Path) -> AttackResult:
    with started_server(data) as server:
        tree = list(process_tree(server.process.pid))
        server.process.send_signal(signal.SIGHUP)
        seconds = _seconds_until(lambda: server.process.poll() is not None, STOP_SECONDS)
        code = server.process.poll()
    # the last children end once they notice that their parent has
    _seconds_until(lambda: not any(map(is_running, tree)), END_SECONDS)
    left = [pid for pid in tree if is_running(pid)]
    problem = f"{len(left)} still run" if left else "" if code in (0, -signal.SIGTERM) else f"exit code {code}"
    return AttackResult("SIGHUP: the server and its children end", seconds, STOP_SECONDS, 0, problem)


def _set_clock_back(data: Path, graph: str) -> AttackResult:
    """Three turns with the clock an hour ahead, a restart at the true time, two more turns."""
    turns, slowest = [], 0.0
    for shift, number in ((HOUR, 3), ("0", 2)):
        with started_server(data, module=("benchmarks.abuse.shifted_clock", shift)) as server:
            for _ in range(number):
                reply = httpx.post(
                    f"{server.address}/api/ask",
                    json={"question": QUESTION, "graph": graph, "thread": "clock"},
                    headers={"Accept": "application/json"},
                    timeout=60,
                )
                slowest = max(slowest, reply.elapsed.total_seconds())
                turns.append(reply.json().get("turn"))
    problem = "" if turns == [1, 2, 3, 4, 5] else f"the turns are numbered {turns}"
    return AttackResult("the clock is set back an hour at a restart: turns go on", slowest, problem=problem)


def _lose_keys(data: Path) -> Iterator[AttackResult]:
    token = run_nacre(data, "keys", "add", "ann").strip()
    keys = data / "keys.json"
    content = keys.read_bytes()
    with started_server(data) as server, httpx.Client(base_url=server.address, timeout=60) as http:
        for what, change, wanted in (
            ("damaged", lambda: keys.write_bytes(content[: len(content) // 2]), {503}),
            ("deleted", keys.unlink, {401, 503}),
            ("empty", lambda: keys.write_bytes(b""), {401, 503}),
            ("restored", lambda: keys.write_bytes(content), {200}),
        ):
            change()
            replies = [
                http.get("/api/graphs", headers=headers)
                for headers in ({"Authorization": f"Bearer {token}"}, {"Authorization": "Bearer wrong"}, {})
            ]
            statuses = [reply.status_code for reply in replies]
            right = statuses[0] in wanted and all(status in (401, 503) for status in statuses[1:])
            slowest = max(reply.elapsed.total_seconds() for reply in replies)
            problem = "" if right else f"statuses {statuses}"
            yield AttackResult(f"the key file is {what} while the server runs", slowest, REQUEST_SECONDS, 0, problem)
    keys.unlink()


def _seconds_until(true: Callable[[], bool], limit: float) -> float:
    start = time.perf_counter()
    while not true() and time.perf_counter() - start < limit:
        time.sleep(0.05)
    return time.perf_counter() - start
