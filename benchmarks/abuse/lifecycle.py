"""Servers that are killed, also within uploads, attachments and deletions, signalled, restarted with another clock, or
whose keys or disk are lost."""

import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import httpx

from benchmarks.abuse.case import REQUEST_SECONDS, AttackResult
from benchmarks.abuse.measured import is_running, process_tree
from benchmarks.server import ROOT, StartedServer, run_nacre, started_server

END_SECONDS, STOP_SECONDS = 10.0, 20.0
HOUR = "3600"
# after a request to delete a graph
DELETE_SECONDS = (0.0, 0.003, 0.02)
SOURCE = ROOT / "examples/bmw/kg.ttl"
QUESTION = "Which car has the highest price?"


def attack_lifecycle(data: Path, graph: str, only: str = "") -> Iterator[AttackResult]:
    """All of them; the data folder has no keys before and none after."""
    if only in "kill -9":
        yield _kill_parent(data)
    if only in "SIGHUP":
        yield _hang_up(data)
    if only in "the clock":
        yield _set_clock_back(data, graph)
    if only in "kill -9 within an upload or an attachment":
        yield from _interrupt_ingests(data)
    if only in "kill -9 within a deletion":
        yield from _interrupt_deletions(data, graph)
    if only in "a full disk":
        yield _fill_disk(data)
    if only in "the key file":
        yield from _lose_keys(data)


def _kill_parent(data: Path) -> AttackResult:
    with started_server(data, "--workers", "2") as server:
        tree = list(process_tree(server.process.pid))
        server.process.kill()
        server.process.wait()
        seconds = _seconds_until(partial(_have_ended, tree), END_SECONDS)
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
    _seconds_until(partial(_have_ended, tree), END_SECONDS)
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


def _interrupt_ingests(data: Path) -> Iterator[AttackResult]:
    """Kill a server that reads an upload or an endpoint that never replies; what was interrupted has failed."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        for what in ("upload", "attachment"):
            with started_server(data, NACRE_ATTACH_HOSTS=host) as server:
                if what == "upload":
                    route = _begin_upload(server)
                    reply = httpx.post(f"{server.address}{route}", json={"graph": "interrupted"}, timeout=60)
                else:
                    body = {"address": f"http://{host}/sparql", "graph": "interrupted"}
                    reply = httpx.post(f"{server.address}/api/attachments", json=body, timeout=60)
                route = f"/api/uploads/{reply.json()['upload']}"
                tree = list(process_tree(server.process.pid))
                server.process.kill()
                server.process.wait()
                seconds = _seconds_until(partial(_have_ended, tree), END_SECONDS)
            left = [pid for pid in tree if is_running(pid)]
            with started_server(data) as server, httpx.Client(base_url=server.address, timeout=60) as http:
                state = http.get(route).json()
                statuses = http.delete(route).status_code, http.get(route).status_code
                http.delete("/api/graphs/interrupted?confirm=interrupted")
            right = state["phase"] == "failed" and state["reason"] and statuses == (204, 404)
            problem = f"{len(left)} still run" if left else "" if right else f"{state}, then {statuses}"
            name = f"kill -9 within an {what}: it ends, has failed and can be deleted"
            yield AttackResult(name, seconds, END_SECONDS, problem=problem)


def _interrupt_deletions(data: Path, graph: str) -> Iterator[AttackResult]:
    """Kill a server that deletes a graph: all of it is there or nothing, and a second request removes what is left."""
    for seconds in DELETE_SECONDS:
        shutil.copytree(data / graph, data / "deleted", dirs_exist_ok=True)
        with started_server(data) as server:
            address = httpx.URL(server.address)
            with socket.create_connection((address.host, address.port)) as request:
                request.sendall(
                    f"DELETE /api/graphs/deleted?confirm=deleted HTTP/1.1\r\nHost: {address.host}\r\n\r\n".encode()
                )
                time.sleep(seconds)
                server.process.kill()
                server.process.wait()
        with started_server(data) as server, httpx.Client(base_url=server.address, timeout=60) as http:
            reply = http.post("/api/ask", json={"question": QUESTION, "graph": "deleted"},
                              headers={"Accept": "application/json"})  # fmt: skip
            is_there = (data / "deleted/current").exists()
            again = http.delete("/api/graphs/deleted?confirm=deleted").status_code
        right = reply.status_code == (200 if is_there else 422) and again in (204, 404)
        problem = "" if right and not (data / "deleted").exists() else f"{reply.status_code}, then {again}"
        yield AttackResult(f"kill -9 {seconds:g} s after a deletion began: all or nothing is left",
                           reply.elapsed.total_seconds(), problem=problem)  # fmt: skip


def _fill_disk(data: Path) -> AttackResult:
    """What an upload stores meets a full disk when its ingest starts; then there is space again."""
    with started_server(data) as server, httpx.Client(base_url=server.address, timeout=60) as http:
        route = _begin_upload(server)
        full = data / "_uploads" / route.rpartition("/")[2] / "state.json.new"
        full.symlink_to("/dev/full")
        refused = http.post(route, json={"graph": "filled"})
        full.unlink()
        accepted = http.post(route, json={"graph": "filled"})
        http.delete(route)
        _seconds_until(lambda: http.get(route).json()["phase"] != "running", STOP_SECONDS)
        http.delete(route)
        http.delete("/api/graphs/filled?confirm=filled")
    statuses = refused.status_code, accepted.status_code
    problem = "" if statuses == (503, 202) and "No space left" in refused.text else f"statuses {statuses}"
    return AttackResult("a full disk when an upload starts: a 503, and no upload is stuck",
                        refused.elapsed.total_seconds(), problem=problem)  # fmt: skip


def _begin_upload(server: StartedServer) -> str:
    """Send a file, the route of its upload."""
    with httpx.Client(base_url=server.address, timeout=60) as http:
        route = f"/api/uploads/{http.post('/api/uploads').json()['upload']}"
        http.put(f"{route}/files", params={"name": SOURCE.name}, content=SOURCE.read_bytes()).raise_for_status()
    return route


def _have_ended(processes: Sequence[int]) -> bool:
    return not any(map(is_running, processes))


def _seconds_until(true: Callable[[], bool], limit: float) -> float:
    start = time.perf_counter()
    while not true() and time.perf_counter() - start < limit:
        time.sleep(0.05)
    return time.perf_counter() - start
