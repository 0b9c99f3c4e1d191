"""Several processes on one graph at once: none excludes another, and a turn answers from one version."""

import json
import shutil
import threading
from pathlib import Path

import httpx
from langgraph_sdk import get_sync_client

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many pages does Granite have?"


def test_four_ways_in_read_one_graph_at_once(server, studio, nacre, begin, data, tmp_path):
    questions = tmp_path / "q.jsonl"
    questions.write_text("".join(json.dumps({"id": str(i), "question": QUESTION}) + "\n" for i in range(30)))
    evaluating = begin(data, "eval", questions, "--out", tmp_path / "p.jsonl")
    asking = [begin(data, "ask", QUESTION, "--json") for _ in range(2)]
    answers: list[object] = []

    def served() -> None:
        for _ in range(10):
            reply = httpx.post(f"{server}/ask/invoke", json={"input": {"question": QUESTION}}, timeout=60)
            answers.append(reply.json()["output"]["values"])

    def studied() -> None:
        with get_sync_client(url=studio) as client:
            for _ in range(10):
                answers.append(client.runs.wait(None, "nacre", input={"question": QUESTION})["answer"]["values"])  # type: ignore[call-overload]

    threads = [threading.Thread(target=work) for work in (served, studied)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for process in asking:
        stdout, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
        record = json.loads(stdout)
        answers.append(record["values"])
        assert record["unavailable"] == {}
    _, stderr = evaluating.communicate(timeout=120)
    assert evaluating.returncode == 0, stderr
    records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [record["id"] for record in records] == [str(i) for i in range(30)]
    assert all(record["unavailable"] == {} for record in records)
    answers += [record["values"] for record in records]
    assert answers == [[540]] * (10 + 10 + 2 + 30)


def test_an_ingest_while_others_read_gives_the_old_graph_or_the_new(fresh, begin, tmp_path):
    source = tmp_path / "room.ttl"
    shutil.copy(GRAPHS / "reading_room.ttl", source)
    assert fresh("ingest", source, "--graph", "room").returncode == 0
    questions = tmp_path / "q.jsonl"
    questions.write_text("".join(json.dumps({"id": str(i), "question": QUESTION}) + "\n" for i in range(500)))
    evaluating = begin(tmp_path / "data", "eval", questions, "--out", tmp_path / "p.jsonl")
    for line in evaluating.stderr:
        if line.startswith("1/"):
            break
    drained = threading.Thread(target=evaluating.stderr.read)
    drained.start()
    source.write_text(source.read_text().replace(":pages 540", ":pages 541"))
    done = fresh("ingest", source, "--graph", "room")
    assert done.returncode == 0, done.stderr
    assert evaluating.wait(300) == 0
    drained.join(10)
    records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    seen = {(record["version"], tuple(record["values"])) for record in records}
    assert len(records) == 500
    assert {values for _, values in seen} <= {(540,), (541,)}
    assert len(seen) == len({version for version, _ in seen})
    assert json.loads(fresh("ask", QUESTION, "--json").stdout)["values"] == [541]


def test_a_thread_goes_on_in_another_process_and_belongs_to_its_graph(fresh):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "room").returncode == 0
    assert fresh("ingest", GRAPHS / "kitchen.ttl", "--graph", "kitchen").returncode == 0
    first = fresh("ask", QUESTION, "--graph", "room", "--thread", "t", "--json")
    assert json.loads(first.stdout)["turn"] == 1
    second = json.loads(fresh("ask", "And The Salt Road?", "--graph", "room", "--thread", "t", "--json").stdout)
    assert (second["turn"], second["values"]) == (2, [312])
    refused = fresh("ask", QUESTION, "--graph", "kitchen", "--thread", "t")
    assert refused.returncode == 2
    assert "'room'" in refused.stderr


def test_an_answer_is_printed_as_a_file(nacre):
    question = "Which books have more than 300 pages?"
    table = nacre("ask", question, "--graph", "reading-room", "--format", "csv")
    assert (table.returncode, table.stdout.split()[:2]) == (0, ["answer", "Granite"])
    triples = nacre("ask", question, "--graph", "reading-room", "--format", "ttl").stdout
    assert '"540"' in triples
    refused = nacre("ask", question, "--format", "exe")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
