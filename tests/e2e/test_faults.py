"""What breaks under a running server: a kill in a turn, stores gone or damaged, a locked file, a full disk, a vector
server that is gone, a new version."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from nacre.stores.state.conversations import Conversations, ConversationStoreError
from nacre.stores.state.database import open_file
from tests.e2e.conftest import environment, free_port
from tests.support.qdrant_server import qdrant_server

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many pages does Granite have?"
FOLLOW = "And The Salt Road?"
# rows do not answer it, so it is searched for by meaning
OPEN = "Tell me about Ilse Marten"
JSON = {"Accept": "application/json"}
STAGE = re.compile(r"[a-z]+: [\d.]+ s")


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


def ready(address, status):
    """What /readyz says when it says this at last: it looks at the stores once a second."""
    for _ in range(600):
        told = httpx.get(f"{address}/readyz", timeout=30).json()
        if told["status"] == status:
            return told
        time.sleep(0.1)
    raise AssertionError(f"the server does not notice that it is {status}: {told}")


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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_server_says_that_it_listens_when_it_does(room, tmp_path, workers):
    port = str(free_port())
    arguments = [sys.executable, "-m", "nacre", "serve", "--port", port, "--workers", workers]
    server = subprocess.Popen(arguments, env=environment(room), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        assert any("listens on" in line for line in server.stderr)
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 200
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def test_a_turn_that_a_kill_left_half_kept_is_asked_anew(room, serve, fresh):
    for question in (QUESTION, FOLLOW):
        assert fresh("ask", question, "--thread", "t").returncode == 0
    # the loop's memory is written first; so it is when a kill comes between the two
    for left in (1, 0):
        with sqlite3.connect(room / "threads.sqlite") as file:
            file.execute("DELETE FROM turn WHERE turn > ?", [left])
        file.close()
        with serve(room) as (address, _):
            record = asked(address, FOLLOW if left else QUESTION, "t")
            assert (record["turn"], record["values"]) == ((2, [312]) if left else (1, [540]))


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_stop_ends_turns_and_streams_cleanly(room, serve, sent, workers):
    if sent == signal.SIGHUP and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        pytest.skip("the tests run under nohup, which servers obey")
    with serve(room, "--workers", workers) as (address, process):
        for _ in range(2):
            asked(address, QUESTION)
        with httpx.stream("POST", f"{address}/api/ask", json={"question": QUESTION}, timeout=60) as stream:
            lines = stream.iter_lines()
            next(lines)
            process.send_signal(sent)
            told = list(lines)
        assert "event: done" in told
        assert process.wait(30) in (0, -signal.SIGTERM)


def test_without_vectors_and_words_the_rest_answers_and_says_so(room, serve):
    with serve(room) as (address, _):
        assert httpx.get(f"{address}/readyz").json()["status"] == "ok"
        shutil.rmtree(room / "reading-room" / "vectors")
        told = ready(address, "degraded")
        assert set(told["graphs"]["reading-room"]["unavailable"]) == {"vector"}
        assert asked(address, QUESTION)["values"] == [540]
    for file in (version(room) / "lexical").iterdir():
        file.write_bytes(b"damaged")
    with serve(room) as (address, _):
        shown = httpx.get(f"{address}/readyz")
        assert shown.status_code == 200
        assert set(shown.json()["graphs"]["reading-room"]["unavailable"]) == {"vector", "lexical"}
        record = asked(address, QUESTION)
        assert record["values"] == [540]
        assert set(record["unavailable"]) == {"vector", "lexical"}
        assert record["visited"] == ["sql"]


def test_corrupted_vectors_leave_the_other_branches(room, serve):
    for file in (room / "reading-room" / "vectors").rglob("*"):
        if file.is_file() and "shard" in file.parts:
            file.write_bytes(b"\x00" * 64)
    with serve(room) as (address, _):
        record = asked(address, QUESTION)
        assert record["values"] == [540]
        assert "vector" in record["unavailable"]
        assert httpx.get(f"{address}/readyz").json()["status"] == "degraded"


def test_tables_that_are_gone_leave_no_graph_and_no_crash(room, serve):
    (version(room) / "graph.sqlite").write_bytes(b"not a database")
    with serve(room) as (address, _):
        shown = httpx.get(f"{address}/readyz")
        assert shown.status_code == 503
        assert "reading-room" in shown.json()["graphs"]
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
        assert "conversations" in ready(address, "degraded")["problems"][0]
        renamed = httpx.patch(f"{address}/api/threads/{thread}", json={"title": "x"}, timeout=30)
        assert renamed.status_code == 503
        held.execute("ROLLBACK")
        held.close()
        again = asked(address, FOLLOW, thread)
        assert (again["turn"], again["values"], again["caveats"]) == (2, [312], [])


def test_a_turn_that_is_not_kept_is_not_remembered_either(room, serve):
    with serve(room) as (address, _):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        asked(address, QUESTION, thread)
        held = sqlite3.connect(room / "threads.sqlite", isolation_level=None)
        held.execute("CREATE TRIGGER refused BEFORE INSERT ON turn BEGIN SELECT RAISE(ABORT, 'no room'); END")
        record = asked(address, FOLLOW, thread)
        assert (record["values"], "no room" in record["caveats"][-1]) == ([312], True)
        assert "no room" in asked(address, QUESTION, "new")["caveats"][-1]
        held.execute("DROP TRIGGER refused")
        held.close()
        assert asked(address, FOLLOW, thread)["turn"] == 2
        assert asked(address, QUESTION, "new")["turn"] == 1
        kept = httpx.get(f"{address}/api/threads/{thread}").json()["turns"]
        assert [turn["record"]["turn"] for turn in kept] == [1, 2]


def test_a_full_disk_gets_answers_and_what_is_not_kept_is_said(disk, room, serve):
    with serve(room) as (address, _):
        thread = httpx.post(f"{address}/api/threads", json={}).json()["thread"]
        assert asked(address, QUESTION, thread)["caveats"] == []
        assert httpx.get(f"{address}/readyz").json() | {"graphs": {}} == {"status": "ok", "problems": [], "graphs": {}}
        disk.fill(files=True)
        for _ in range(2):
            record = asked(address, FOLLOW, thread)
            assert (record["turn"], record["values"]) == (2, [312])
            assert "could not be kept in its thread (database or disk is full)" in record["caveats"][-1]
        assert asked(address, QUESTION)["caveats"] == []
        body = {"question": QUESTION, "thread": "begun-on-a-full-disk"}
        told = httpx.post(f"{address}/api/ask", json=body, timeout=60).text
        assert [line for line in told.splitlines() if line.startswith("event: ")][-2:] == [
            "event: answer",
            "event: done",
        ]
        assert "could not be kept" in told
        assert "0 bytes left" in " ".join(ready(address, "degraded")["problems"])
        assert httpx.patch(f"{address}/api/threads/{thread}", json={"title": "x"}, timeout=30).status_code == 503
        disk.free()
        ready(address, "ok")
        again = asked(address, FOLLOW, thread)
        assert (again["turn"], again["values"], again["caveats"]) == (2, [312], [])
        assert asked(address, QUESTION, "begun-on-a-full-disk")["turn"] == 1
        kept = httpx.get(f"{address}/api/threads/{thread}").json()["turns"]
        assert [turn["record"]["turn"] for turn in kept] == [1, 2]


def test_a_graph_can_be_opened_on_a_full_disk(disk, room, serve):
    with serve(room) as (address, process):
        disk.fill()
        record = asked(address, QUESTION)
        assert (record["values"], record["unavailable"]) == ([540], {})
        assert process.poll() is None


def test_a_server_that_can_keep_no_conversations_says_so_and_does_not_start(disk, room, fresh):
    disk.fill(files=True)
    refused = fresh("serve", "--port", "0")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert re.match(r"Can't write .*threads.sqlite: No space left on device", refused.stderr)


def test_a_full_folder_for_temporary_files_costs_the_vectors_alone(disk, nacre):
    disk.fill(1_000_000)
    told = nacre("ask", QUESTION, "--json", TMPDIR=str(disk.place))
    record = json.loads(told.stdout)
    # what other branches answer needs no vectors
    assert (record["values"], record["unavailable"]) == ([540], {})
    told = nacre("ask", QUESTION, "--branches", "vector", "--json", TMPDIR=str(disk.place))
    record = json.loads(told.stdout)
    assert set(record["unavailable"]) == {"vector"}
    assert f"no space left in {disk.place}" in record["unavailable"]["vector"]


def test_an_ingest_onto_a_full_disk_leaves_the_old_graph_and_nothing_else(disk, room, fresh, tmp_path):
    source = tmp_path / "room.ttl"
    source.write_text((GRAPHS / "reading_room.ttl").read_text().replace(":pages 540", ":pages 541"))
    before = version(room)
    # it ends in the tables, the lexicon, the index of words
    for left in (0, 64_000, 220_000):
        disk.fill(left)
        ended = fresh("ingest", source, "--graph", "reading-room")
        assert ended.returncode == 2
        [line] = [line for line in ended.stderr.splitlines() if line and not STAGE.fullmatch(line)]
        assert re.match(r"Can't write to .*(no space left|disk is full).*NACRE_DATA", line)
        assert list(before.parent.iterdir()) == [before]
        assert json.loads(fresh("ask", QUESTION, "--json").stdout)["values"] == [540]
    # it ends in the vectors: the new graph answers without them
    disk.fill(1_000_000)
    ended = fresh("ingest", source, "--graph", "reading-room")
    assert ended.returncode == 2
    [line] = [line for line in ended.stderr.splitlines() if line and not STAGE.fullmatch(line)]
    assert re.match(
        r"Can't write to .*(no space left|disk is full).*NACRE_DATA.*answers without search by meaning", line
    )
    record = json.loads(fresh("ask", QUESTION, "--json").stdout)
    assert (record["values"], set(record["unavailable"])) == ([541], {"vector"})
    disk.free()
    assert fresh("index", "--graph", "reading-room").returncode == 0
    record = json.loads(fresh("ask", QUESTION, "--json").stdout)
    assert (record["values"], record["unavailable"]) == ([541], {})
    assert len(list(before.parent.iterdir())) == 1


def test_what_does_not_fit_is_refused_whole(disk):
    conversations = Conversations(open_file(disk.place / "threads.sqlite"))
    record = {"turn": 1, "question": QUESTION, "graph": "g", "id": "", "answer": "x" * 5_000_000}
    disk.fill(2_000_000)
    # more than SQLite holds in memory, so that it finds the disk full before the end
    with pytest.raises(ConversationStoreError, match="full"):
        conversations.keep("ann", "t", record)  # type: ignore[arg-type]
    assert conversations.find("ann", "t") is None
    disk.free()
    conversations.keep("ann", "t", record)  # type: ignore[arg-type]
    assert [turn.record["turn"] for turn in conversations.turns("ann", "t")] == [1]
    conversations.close()


def test_keys_on_a_full_disk_stay_as_they_are(disk, fresh):
    key = fresh("keys", "add", "ann").stdout
    disk.fill()
    refused = fresh("keys", "add", "bo")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "No space left" in refused.stderr
    assert key
    assert "ann" in fresh("keys", "list").stdout
    assert sorted(path.name for path in disk.place.iterdir()) == ["filler", "keys.json", "keys.lock"]


def test_a_vector_server_that_hangs_costs_its_branch_alone(serve, fresh, tmp_path):
    with qdrant_server() as qdrant:
        made = fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room", NACRE_QDRANT_URL=qdrant.url)
        assert made.returncode == 0
        assert not list((tmp_path / "data").rglob("shard"))
        with serve(tmp_path / "data", NACRE_QDRANT_URL=qdrant.url) as (address, _):
            whole = asked(address, OPEN)
            assert (whole["unavailable"], "vector" in whole["visited"]) == ({}, True)
            assert httpx.get(f"{address}/readyz").json()["status"] == "ok"
            qdrant.silent.set()
            # in the first turn the branch is lost on the way, the next knows before
            for visited in ({"sql", "vector", "lexical"}, {"sql", "lexical"}):
                record = asked(address, OPEN)
                assert set(record["visited"]) == visited
                assert set(record["unavailable"]) == {"vector"}
                assert f"{qdrant.url} does not serve: timed out" in record["unavailable"]["vector"]
            assert asked(address, QUESTION)["values"] == [540]
            told = ready(address, "degraded")
            assert qdrant.url in told["graphs"]["reading-room"]["unavailable"]["vector"]
            qdrant.silent.clear()
            ready(address, "ok")
            assert asked(address, QUESTION)["unavailable"] == {}


def test_a_vector_server_that_is_gone_costs_its_branch_alone_until_it_is_back(serve, fresh, tmp_path):
    with qdrant_server() as qdrant:
        made = fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room", NACRE_QDRANT_URL=qdrant.url)
        assert made.returncode == 0
    with serve(tmp_path / "data", NACRE_QDRANT_URL=qdrant.url) as (address, _):
        record = asked(address, QUESTION)
        assert (record["values"], set(record["visited"])) == ([540], {"sql", "lexical"})
        assert f"{qdrant.url} does not serve" in record["unavailable"]["vector"]
        assert set(ready(address, "degraded")["graphs"]["reading-room"]["unavailable"]) == {"vector"}
        with qdrant_server(qdrant.port, qdrant.collections):
            ready(address, "ok")
            assert "vector" in asked(address, OPEN)["visited"]
    source = tmp_path / "room.ttl"
    source.write_text((GRAPHS / "reading_room.ttl").read_text().replace(":pages 540", ":pages 541"))
    refused = fresh("ingest", source, "--graph", "reading-room", NACRE_QDRANT_URL=qdrant.url)
    assert refused.returncode == 2
    [line] = [line for line in refused.stderr.splitlines() if line and not STAGE.fullmatch(line)]
    assert f"{qdrant.url} does not serve" in line
    assert "answers without search by meaning" in line
    record = json.loads(fresh("ask", QUESTION, "--json", NACRE_QDRANT_URL=qdrant.url).stdout)
    assert (record["values"], set(record["unavailable"])) == ([541], {"vector"})
    with qdrant_server(qdrant.port, qdrant.collections):
        assert fresh("index", "--graph", "reading-room", NACRE_QDRANT_URL=qdrant.url).returncode == 0
        record = json.loads(fresh("ask", QUESTION, "--json", NACRE_QDRANT_URL=qdrant.url).stdout)
        assert (record["values"], record["unavailable"]) == ([541], {})
        assert len(qdrant.collections) == 1


def test_keys_that_can_not_be_read_let_nobody_in(room, serve, fresh):
    key = {"Authorization": f"Bearer {fresh('keys', 'add', 'ann').stdout.strip()}"}
    with serve(room) as (address, _):
        body = {"question": QUESTION}
        assert httpx.post(f"{address}/api/ask", json=body, headers=JSON | key, timeout=60).json()["values"] == [540]
        (room / "keys.json").write_text("[")
        for headers in (JSON, JSON | key):
            reply = httpx.post(f"{address}/api/ask", json=body, headers=headers)
            assert (reply.status_code, "keys can't be read" in reply.json()["detail"]) == (503, True)
        told = ready(address, "no keys")
        assert "graphs" not in told
        assert "the keys are damaged or gone" in told["problems"][0]


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


def test_workers_end_with_a_server_that_is_killed(room, serve):
    with serve(room, "--workers", "2") as (address, process):
        process.kill()
        process.wait()
        give_up = time.monotonic() + 20
        while _answers(address) and time.monotonic() < give_up:
            time.sleep(0.2)
        assert not _answers(address)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def test_logs_are_json_with_the_requests_name(room, tmp_path, serve):
    with serve(room, NACRE_LOG="json") as (address, _):
        httpx.get(f"{address}/healthz", headers={"X-Request-ID": "mine-7"})
        httpx.get(f"{address}/api/graphs/none%0Aforged")
    lines = [line for log in tmp_path.glob("*.log") for line in log.read_text().splitlines() if line.startswith("{")]
    told = [json.loads(line) for line in lines]
    assert [each["path"] for each in told if each["request"] == "mine-7"] == ["/healthz"]
    assert any(each.get("path") == "/api/graphs/none\\nforged" for each in told)
