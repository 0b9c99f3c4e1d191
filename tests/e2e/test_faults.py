"""What breaks under a running server: a kill in a turn, stores gone or damaged, a locked file, a new version."""

import json
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many pages does Granite have?"
FOLLOW = "And The Salt Road?"
JSON = {"Accept": "application/json"}


@pytest.fixture
def room(fresh, tmp_path):
    """A data folder of one's own with the graph `reading-room`."""
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    return tmp_path / "data"


def version(data):
    return data / "reading-room/versions" / json.loads((data / "reading-room/current").read_text())["version"]


def asked(address, question, thread=None):
    body = {"question": question, "thread": thread}
    return httpx.post(f"{address}/api/ask", json=body, headers=JSON, timeout=60).raise_for_status().json()


def test_a_kill_in_a_turn_loses_no_finished_turn(room, serve):
    finished = []
    with serve(room) as (address, process):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        begun = threading.Event()

        def ask_on():
            try:
                while True:
                    finished.append(asked(address, QUESTION, thread))
                    begun.set()
            except httpx.TransportError:
                return

        asking = threading.Thread(target=ask_on)
        asking.start()
        assert begun.wait(60)
        time.sleep(0.7)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        asking.join(60)
    with serve(room) as (address, _):
        kept = httpx.get(f"{address}/api/threads/{thread}").json()["turns"]
        numbers = [turn["record"]["turn"] for turn in kept]
        assert numbers == list(range(1, len(numbers) + 1))
        # the last one may be kept without that its client heard of it
        assert [turn["record"] for turn in kept][: len(finished)] == finished
        assert len(kept) - len(finished) in (0, 1)
        record = asked(address, FOLLOW, thread)
        assert (record["turn"], record["values"]) == (len(kept) + 1, [312])


def test_a_stop_ends_turns_and_streams_cleanly(room, serve):
    with serve(room) as (address, process):
        for _ in range(2):
            asked(address, QUESTION)
        with httpx.stream("POST", f"{address}/api/ask", json={"question": QUESTION}, timeout=60) as stream:
            lines = stream.iter_lines()
            next(lines)
            process.send_signal(signal.SIGTERM)
            told = list(lines)
        assert "event: done" in told
        assert process.wait(30) in (0, -signal.SIGTERM)


def test_without_vectors_and_words_the_rest_answers_and_says_so(room, serve):
    with serve(room) as (address, _):
        assert httpx.get(f"{address}/readyz").json()["status"] == "ok"
        shutil.rmtree(version(room) / "vectors")
        told = httpx.get(f"{address}/readyz").json()
        assert told["status"] == "degraded"
        assert set(told["graphs"]["reading-room"]["unavailable"]) == {"vector"}
        assert asked(address, QUESTION)["values"] == [540]
    for file in (version(room) / "lexical").iterdir():
        file.write_bytes(b"damaged")
    with serve(room) as (address, _):
        ready = httpx.get(f"{address}/readyz")
        assert ready.status_code == 200
        assert set(ready.json()["graphs"]["reading-room"]["unavailable"]) == {"vector", "lexical"}
        record = asked(address, QUESTION)
        assert record["values"] == [540]
        assert set(record["unavailable"]) == {"vector", "lexical"}
        assert record["visited"] == ["sql"]


def test_corrupted_vectors_leave_the_other_branches(room, serve):
    for file in (version(room) / "vectors").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\x00" * 64)
    with serve(room) as (address, _):
        record = asked(address, QUESTION)
        assert record["values"] == [540]
        assert "vector" in record["unavailable"]
        assert httpx.get(f"{address}/readyz").json()["status"] == "degraded"


def test_tables_that_are_gone_leave_no_graph_and_no_crash(room, serve):
    (version(room) / "graph.sqlite").write_bytes(b"not a database")
    with serve(room) as (address, _):
        ready = httpx.get(f"{address}/readyz")
        assert ready.status_code == 503
        assert "reading-room" in ready.json()["graphs"]
        reply = httpx.post(f"{address}/api/ask", json={"question": QUESTION}, headers=JSON, timeout=60)
        assert reply.status_code == 422
        assert "ngest" in reply.json()["detail"]
        assert "database" in httpx.get(f"{address}/api/graphs").json()[0]["problem"]


def test_conversations_that_are_locked_still_get_their_answer(room, serve):
    with serve(room) as (address, _):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        assert asked(address, QUESTION, thread)["caveats"] == []
        held = sqlite3.connect(room / "threads.sqlite", isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        record = asked(address, FOLLOW, thread)
        assert record["values"] == [312]
        assert "could not be kept" in record["caveats"][-1]
        ready = httpx.get(f"{address}/readyz", timeout=30).json()
        assert ready["status"] == "degraded"
        assert "conversations" in ready["problems"][0]
        renamed = httpx.patch(f"{address}/api/threads/{thread}", json={"title": "x"}, timeout=30)
        assert renamed.status_code == 503
        held.execute("ROLLBACK")
        held.close()
        again = asked(address, FOLLOW, thread)
        assert (again["turn"], again["values"], again["caveats"]) == (2, [312], [])


def test_a_new_version_in_mid_conversation(room, serve, fresh, tmp_path):
    source = tmp_path / "room.ttl"
    source.write_text((GRAPHS / "reading_room.ttl").read_text().replace(":pages 312", ":pages 313"))
    with serve(room) as (address, _):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        first = asked(address, QUESTION, thread)
        assert fresh("ingest", source, "--graph", "reading-room").returncode == 0
        second = asked(address, FOLLOW, thread)
        assert (second["turn"], second["values"]) == (2, [313])
        assert second["version"] != first["version"]
        assert fresh("remove", "--graph", "reading-room").returncode == 0
        gone = httpx.post(f"{address}/api/ask", json={"question": FOLLOW, "thread": thread}, headers=JSON, timeout=60)
        assert gone.status_code == 422
        assert httpx.get(f"{address}/readyz").status_code == 503


def test_several_workers_share_threads_and_counters(room, serve):
    with serve(room, "--workers", "2", NACRE_LOG="json") as (address, process):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        turns = []
        threads = [
            threading.Thread(target=lambda: turns.append(asked(address, QUESTION, thread)["turn"])) for _ in range(10)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert sorted(turns) == list(range(1, 11))
        counted = {httpx.get(f"{address}/metrics").text.split('nacre_turns_total{status="answered"} ')[1].split()[0]}
        assert counted == {"10.0"}
        listening = process.pid
        children = subprocess.run(["ps", "--ppid", str(listening)], capture_output=True, text=True, check=True).stdout
        assert children.count("\n") >= 3


def test_logs_are_json_with_the_requests_name(room, tmp_path, serve):
    with serve(room, NACRE_LOG="json") as (address, _):
        httpx.get(f"{address}/healthz", headers={"X-Request-ID": "mine-7"})
        httpx.get(f"{address}/api/graphs/none%0Aforged")
    lines = [line for log in tmp_path.glob("*.log") for line in log.read_text().splitlines() if line.startswith("{")]
    told = [json.loads(line) for line in lines]
    assert [each["path"] for each in told if each["request"] == "mine-7"] == ["/healthz"]
    assert any(each.get("path") == "/api/graphs/none\nforged" for each in told)
