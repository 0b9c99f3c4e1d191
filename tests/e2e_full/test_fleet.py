"""Two servers with data folders of their own, one PostgreSQL, one S3-compatible store: any of them answers anything."""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.e2e.conftest import environment, serving
from tests.e2e.forked import Forked
from tests.support.databases import missing_server, postgres

LIGHTS = "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n{}"
LIGHT = ':{0} a :Lighthouse ; rdfs:label "{0}" ; :height {1} .\n'
QUESTION = "How many lighthouses are there?"
CLIENTS, ASKED, READING_SECONDS = 64, 4, 4.0
MOST_SECONDS = 60


class Fleet(NamedTuple):
    """Two servers: their addresses and processes, a key for both, and the commands of each."""

    one: str
    two: str
    processes: tuple[Forked, Forked]
    key: dict[str, str]
    nacre: tuple[Callable[..., str], Callable[..., str]]
    folder: Path


def commands(data: Path, settings: dict[str, str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "nacre", *words]
        given = {**environment(data), **settings}
        done = subprocess.run(command, capture_output=True, text=True, env=given, cwd=data.parent, timeout=300)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    return run


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    if reason := missing_server("postgres"):
        pytest.skip(reason)
    from moto.server import ThreadedMotoServer

    tmp_path = tmp_path_factory.mktemp("fleet")

    with ExitStack() as stack:
        url, _ = stack.enter_context(postgres())
        store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        store.start()
        stack.callback(store.stop)
        # it takes connections and never answers, so that a run of the model lasts
        model = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        settings = {
            "NACRE_DATABASE_URL": url.render_as_string(hide_password=False).replace("+psycopg", ""),
            "NACRE_GRAPHS": "s3://fleet/nacre",
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{store.get_host_and_port()[1]}",
            "NACRE_EMBEDDER": "none",
            "NACRE_MODEL": "openai:endless",
            "NACRE_LEAD": "model",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model.getsockname()[1]}/v1",
            "OPENAI_API_KEY": "none",
        }
        make = "import s3fs; s3fs.S3FileSystem().mkdir('fleet')"
        subprocess.run([sys.executable, "-c", make], check=True, env={**environment(tmp_path), **settings})
        folders = [tmp_path / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir()
        nacre = [commands(folder, settings) for folder in folders]
        ingest(nacre[0], tmp_path, "Eddystone", "Fastnet")
        key = nacre[0]("keys", "add", "ann", "--may", "write").strip()
        served = [stack.enter_context(serving(folder, tmp_path, **settings)) for folder in folders]
        header = {"Authorization": f"Bearer {key}"}
        addresses = [address for address, _ in served]
        until(lambda: graphs(addresses[1], header) == ["lights"])
        processes = served[0][1], served[1][1]
        yield Fleet(addresses[0], addresses[1], processes, header, (nacre[0], nacre[1]), tmp_path)


def ingest(nacre: Callable[..., str], folder: Path, *names: str) -> None:
    source = folder / "lights.ttl"
    source.write_text(LIGHTS.format("".join(LIGHT.format(name, 40 + n) for n, name in enumerate(names))))
    nacre("ingest", str(source), "--graph", "lights", "--no-vectors")


def until(holds: Callable[[], bool], seconds: float = MOST_SECONDS) -> float:
    """Wait until something holds; how long that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds
        time.sleep(0.05)
    return time.monotonic() - began


def graphs(address: str, key: dict[str, str]) -> list[str]:
    found = httpx.get(f"{address}/api/graphs", headers=key, timeout=30)
    return [each["name"] for each in found.json()] if found.status_code == 200 else []


def ask(address: str, key: dict[str, str], question: str = QUESTION, **more: Any) -> dict[str, Any]:
    body = {"question": question, "mind": "rules", **more}
    reply = httpx.post(f"{address}/api/ask", json=body, headers={**key, "Accept": "application/json"}, timeout=60)
    assert reply.status_code == 200, reply.text
    record: dict[str, Any] = reply.json()
    return record


def thread(fleet: Fleet, address: str, name: str) -> list[int]:
    found = httpx.get(f"{address}/api/threads/{name}", headers=fleet.key, timeout=30).json()
    return [turn["record"]["turn"] for turn in found["turns"]]


def begin_endless(fleet: Fleet, address: str, name: str) -> str:
    """The id of a run in the background whose model does not answer."""
    created = httpx.post(
        f"{address}/langgraph/threads",
        json={"thread_id": name, "if_exists": "do_nothing"},
        headers=fleet.key,
        timeout=30,
    )
    assert created.status_code == 200, created.text
    body = {
        "assistant_id": "lights",
        "input": {"question": "Which lighthouse is the highest?"},
        "context": {"mind": "model"},
    }
    made = httpx.post(f"{address}/langgraph/threads/{name}/runs", json=body, headers=fleet.key, timeout=30)
    assert made.status_code == 200, made.text
    run: str = made.json()["run_id"]
    return run


def test_a_conversation_alternates(fleet: Fleet) -> None:
    for number in range(1, 7):
        address = (fleet.one, fleet.two)[number % 2]
        record = ask(address, fleet.key, thread="alternating")
        assert (record["turn"], record["values"], record["caveats"]) == (number, [2], [])
    # a follow-up refers to what the other server answered
    first = ask(fleet.one, fleet.key, "Which lighthouses are there?", thread="follow")
    second = ask(fleet.two, fleet.key, "Which of them is the highest?", thread="follow")
    assert (sorted(first["values"]), second["values"]) == (["Eddystone", "Fastnet"], ["Fastnet"])
    assert thread(fleet, fleet.one, "alternating") == [1, 2, 3, 4, 5, 6]
    # of runs that ended too, both know
    stored = httpx.get(f"{fleet.one}/api/runs/{second['id']}", headers=fleet.key, timeout=30)
    assert "event: answer" in stored.text


def test_a_revoked_key_is_refused_on_both_within_a_second(fleet: Fleet) -> None:
    other = {"Authorization": f"Bearer {fleet.nacre[1]('keys', 'add', 'bo').strip()}"}
    for address in (fleet.one, fleet.two):
        until(lambda address=address: bool(graphs(address, other)), 5)  # type: ignore[misc]
    fleet.nacre[0]("keys", "revoke", "bo")
    # the command ends after the key is revoked
    time.sleep(1)
    refused = [httpx.get(f"{address}/api/graphs", headers=other, timeout=30) for address in (fleet.one, fleet.two)]
    assert [each.status_code for each in refused] == [401, 401]


def test_what_is_ingested_on_one_is_asked_on_the_other(fleet: Fleet, record_property: Any) -> None:
    ingest(fleet.nacre[0], fleet.folder, "Eddystone", "Fastnet", "Skerryvore")
    seconds = until(lambda: ask(fleet.two, fleet.key)["values"] == [3])
    record_property("seconds", seconds)
    print(f"asked on the other server {seconds:.1f} s after the ingest")
    # servers look every second
    assert seconds < 20
    fleet.nacre[1]("remove", "--graph", "lights")
    until(lambda: graphs(fleet.one, fleet.key) == [])
    ingest(fleet.nacre[1], fleet.folder, "Eddystone", "Fastnet")
    until(lambda: graphs(fleet.one, fleet.key) == ["lights"])


def test_a_run_is_cancelled_through_the_other_server(fleet: Fleet) -> None:
    run = begin_endless(fleet, fleet.one, "cancelled")
    place = f"{fleet.two}/langgraph/threads/cancelled/runs/{run}"
    until(lambda: httpx.get(place, headers=fleet.key, timeout=30).json().get("status") == "running")
    found = httpx.post(f"{fleet.two}/langgraph/threads/search", json={"status": "busy"}, headers=fleet.key, timeout=30)
    assert [each["thread_id"] for each in found.json()] == ["cancelled"]
    assert httpx.post(f"{place}/cancel?wait=true", headers=fleet.key, timeout=60).status_code == 204
    there = httpx.get(place.replace(fleet.two, fleet.one), headers=fleet.key, timeout=30).json()
    assert there["status"] == "interrupted"
    assert thread(fleet, fleet.one, "cancelled") == []


def test_many_clients_through_both(fleet: Fleet, record_property: Any) -> None:
    seconds: list[float] = []

    def client(number: int) -> list[int]:
        turns = []
        # people do not ask at the same instant
        time.sleep(number * READING_SECONDS / CLIENTS)
        for turn in range(ASKED):
            began = time.monotonic()
            record = ask((fleet.one, fleet.two)[(number + turn) % 2], fleet.key, thread=f"client-{number}")
            seconds.append(time.monotonic() - began)
            assert record["values"] == [2]
            assert record["caveats"] == []
            turns.append(record["turn"])
            # people read an answer before they ask again
            time.sleep(READING_SECONDS)
        return turns

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(client, range(CLIENTS)))
    assert found == [[1, 2, 3, 4]] * CLIENTS
    p95 = statistics.quantiles(seconds, n=20)[-1]
    record_property("p95", p95)
    print(json.dumps({"turns": len(seconds), "p50": statistics.median(seconds), "p95": p95}))


def test_a_server_that_is_killed_loses_nothing_that_was_acknowledged(fleet: Fleet) -> None:
    for _ in range(3):
        ask(fleet.one, fleet.key, thread="killed")
    run = begin_endless(fleet, fleet.one, "killed")
    place = f"{fleet.two}/langgraph/threads/killed/runs/{run}"
    until(lambda: httpx.get(place, headers=fleet.key, timeout=30).json().get("status") == "running")
    seen: list[str] = []

    def follow() -> None:
        with httpx.stream("GET", f"{fleet.two}/api/runs/{run}", headers=fleet.key, timeout=60) as stream:
            seen.extend(line for line in stream.iter_lines() if line.startswith(("event:", "data:")))

    following = threading.Thread(target=follow)
    following.start()
    time.sleep(0.5)
    os.kill(fleet.processes[0].pid, signal.SIGKILL)
    following.join(MOST_SECONDS)
    assert [line for line in seen if line.startswith("event:")][-2:] == ["event: error", "event: done"]
    assert "has stopped" in seen[-3]
    assert thread(fleet, fleet.two, "killed") == [1, 2, 3]
    # the thread goes on there
    record = ask(fleet.two, fleet.key, thread="killed")
    assert (record["turn"], record["values"]) == (4, [2])
