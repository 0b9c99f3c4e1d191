"""The native API: graphs, turns as events, threads that are listed, forked, edited, judged, taken away and deleted."""

import csv
import io
import json
import re
import shutil
import threading
import time

import httpx
import pytest

QUESTION = "How many pages does Granite have?"
FOLLOW = "And The Salt Road?"
JSON = {"Accept": "application/json"}


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture
def thread(client):
    return client.post("/api/threads", json={"graph": "reading-room"}).raise_for_status().json()["thread"]


def asked(client, question, thread=None, **more):
    body = {"question": question, "thread": thread, **more}
    return client.post("/api/ask", json=body, headers=JSON).raise_for_status().json()


def events(response):
    """(id, event, payload) of a stream of server-sent events."""
    told = []
    for block in response.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            told.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return told


def test_a_graph_tells_what_it_is_about(client):
    (listed,) = client.get("/api/graphs").json()
    assert (listed["name"], listed["triples"], listed["unavailable"]) == ("reading-room", 59, {})
    about = client.get("/api/graphs/reading-room").json()
    assert {each["label"] for each in about["classes"]} == {"book", "author"}
    report = client.get("/api/graphs/reading-room/report").json()
    assert report["shown"] + report["left_out"] == report["triples"] == 59
    examples = client.get("/api/graphs/reading-room/examples").json()
    assert examples
    assert all(asked(client, question)["values"] for question in examples)


def test_the_api_documents_itself_without_an_outside_host(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    assert {"/api/ask", "/api/threads", "/api/graphs", "/ask/invoke"} <= set(paths)
    page = client.get("/api/docs/")
    assert re.findall(r"""(?:src|href|action)=["']?(?![#"']|\.\./openapi|data:)""", page.text) == []
    assert "<script" not in page.text
    assert "script-src 'none'" in page.headers["content-security-policy"]
    anchors = set(re.findall(r' id="([^"]+)"', page.text))
    assert set(re.findall(r' href="#([^"]+)"', page.text)) <= anchors
    assert {"post-api-ask", "get-api-graphs", "post-ask-invoke"} <= anchors
    assert all(f"<code>{path}</code>" in page.text for path in paths)


def test_every_stream_ends_and_can_be_taken_up_again(client):
    told = events(client.post("/api/ask", json={"question": QUESTION}))
    kinds = [kind for _, kind, _ in told]
    assert kinds[-2:] == ["answer", "done"]
    assert len({id for id, _, _ in told}) == len(told)
    for place in (0, 3, len(told) - 1):
        last = {"Last-Event-ID": told[place][0]}
        run = told[place][0].split(".")[0]
        assert events(client.get(f"/api/runs/{run}", headers=last)) == told[place + 1 :]
        assert events(client.post("/api/ask", json={"question": QUESTION}, headers=last)) == told[place + 1 :]


def test_a_run_that_is_forgotten_gives_its_record(client, thread, data, serve):
    record = asked(client, QUESTION, thread)
    # another process knows nothing of the run but what was kept
    with serve(data) as (address, _):
        told = events(httpx.get(f"{address}/api/runs/{record['id']}", timeout=60))
    assert told[0][1:] == ("answer", record)
    assert told[-1][1] == "done"
    assert client.get("/api/runs/none").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": ""}, 422),
        ({"question": "  "}, 422),
        ({"question": "why " * 5000}, 422),
        ({"question": QUESTION, "graph": "reading-rom"}, 422),
        ({"question": QUESTION, "mind": "model"}, 422),
        ({"question": QUESTION, "branches": ["telepathy"]}, 422),
        ({"question": QUESTION, "colour": "red"}, 422),
        ({"question": QUESTION, "thread": "x" * 300}, 422),
        ({"question": QUESTION, "thread": "nowhere", "instead_of": 1}, 404),
        ({"question": "\ud800"}, 422),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_streams(client, body, status):
    reply = client.post("/api/ask", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert reply.status_code == status
    assert reply.json()["detail"]


def test_a_turn_takes_choices(client):
    record = asked(client, QUESTION, branches=["sql"], max_rounds=1)
    assert record["enabled"] == record["visited"] == ["sql"]


def test_threads_are_listed_searched_renamed_read_and_deleted(client, thread):
    asked(client, QUESTION, thread)
    second = asked(client, FOLLOW, thread)
    assert (second["turn"], second["values"]) == (2, [312])
    whole = client.get(f"/api/threads/{thread}").json()
    assert whole["thread"]["title"] == QUESTION
    assert [turn["record"]["turn"] for turn in whole["turns"]] == [1, 2]
    assert whole["turns"][1]["record"] == second
    assert client.get("/api/threads").json()[0]["thread"] == thread
    client.patch(f"/api/threads/{thread}", json={"title": "100 % stone_work"}).raise_for_status()
    for search, found in (("0 % STONE_", True), ("granite", True), ("0 % stone work", False), ("%%%%", False)):
        listed = client.get("/api/threads", params={"search": search}).json()
        assert (thread in [each["thread"] for each in listed]) == found, search
    assert client.delete(f"/api/threads/{thread}").status_code == 204
    assert client.get(f"/api/threads/{thread}").status_code == 404
    assert asked(client, "How many pages does it have?", thread)["turn"] == 1


def test_a_fork_goes_its_own_way(client, thread):
    asked(client, QUESTION, thread)
    asked(client, FOLLOW, thread)
    fork = client.post(f"/api/threads/{thread}/fork", json={"turn": 1}).json()
    assert (fork["turns"], fork["graph"]) == (1, "reading-room")
    forked = asked(client, FOLLOW, fork["thread"])
    assert (forked["turn"], forked["values"]) == (2, [312])
    assert client.get(f"/api/threads/{thread}").json()["thread"]["turns"] == 2
    assert client.post(f"/api/threads/{thread}/fork", json={"turn": 9}).status_code == 404
    kept = client.get(f"/api/threads/{fork['thread']}").json()["turns"]
    assert [turn["record"]["thread"] for turn in kept] == [fork["thread"]] * 2


def test_a_question_is_edited_and_all_after_it_forgotten(client, thread):
    for question in (QUESTION, FOLLOW, "How many authors are there?"):
        asked(client, question, thread)
    edited = asked(client, "And Signal Box?", thread, instead_of=2)
    assert (edited["turn"], edited["values"]) == (2, [420])
    assert asked(client, FOLLOW, thread)["turn"] == 3
    first = asked(client, "How many pages does Lamp Over Water have?", thread, instead_of=1)
    assert (first["turn"], first["values"]) == (1, [198])
    assert asked(client, FOLLOW, thread)["values"] == [312]
    turns = client.get(f"/api/threads/{thread}").json()["turns"]
    assert [turn["record"]["turn"] for turn in turns] == [1, 2]
    assert client.post("/api/ask", json={"question": QUESTION, "thread": thread, "instead_of": 7}).text.count("error")


def test_an_answer_is_judged_and_taken_away(client, thread):
    asked(client, "Which novels have more than 300 pages?", thread)
    turn = f"/api/threads/{thread}/turns/1"
    assert client.put(f"{turn}/feedback", json={"thumb": -1, "comment": "=no"}).status_code == 204
    kept = client.get(f"/api/threads/{thread}").json()["turns"][0]
    assert (kept["thumb"], kept["comment"]) == (-1, "=no")
    assert client.put(f"{turn}/feedback", json={"thumb": 2}).status_code == 422
    assert client.put(f"/api/threads/{thread}/turns/2/feedback", json={"thumb": 1}).status_code == 404
    rows = client.get(f"{turn}/rows.csv")
    assert rows.headers["content-type"].startswith("text/csv")
    table = list(csv.reader(io.StringIO(rows.text)))
    assert {row[0] for row in table[1:]} >= set(kept["record"]["values"])
    assert client.get(f"{turn}/rows.csv", params={"citation": 99}).status_code == 404
    markdown = client.get(f"/api/threads/{thread}/export").text
    assert "Which novels have more than 300 pages?" in markdown
    assert client.get(f"/api/threads/{thread}/export", params={"format": "json"}).json()["turns"] == [kept]


def test_turns_of_one_thread_wait_for_each_other(client, thread):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(asked(client, QUESTION, thread)["turn"])) for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(answers) == list(range(1, 9))
    turns = client.get(f"/api/threads/{thread}").json()["turns"]
    assert [turn["record"]["turn"] for turn in turns] == list(range(1, 9))


def test_a_client_that_leaves_cancels_its_turn(data, serve):
    with serve(data, NACRE_RESUME_SECONDS="0") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        thread = client.post("/api/threads", json={}).json()["thread"]
        asked(client, QUESTION, thread)
        left = 0
        for _ in range(5):
            with client.stream("POST", "/api/ask", json={"question": QUESTION, "thread": thread}) as stream:
                next(stream.iter_lines())
        for _ in range(100):
            under_way = client.get("/metrics").text.split("\nnacre_turns_under_way ")[1].split()[0]
            if float(under_way) == 0:
                break
            time.sleep(0.1)
        assert float(under_way) == 0
        left = client.get(f"/api/threads/{thread}").json()["thread"]["turns"]
        # what was cancelled left nothing behind, and the thread goes on where it was
        record = asked(client, FOLLOW, thread)
        assert (record["turn"], record["values"]) == (left + 1, [312])


def test_a_turn_is_stopped(client):
    with client.stream("POST", "/api/ask", json={"question": "Tell me about Signal Box."}) as stream:
        run = stream.headers["x-run-id"]
        assert client.delete(f"/api/runs/{run}").status_code == 204
        text = "".join(stream.iter_text())
    assert text.rstrip().splitlines()[-2] == "event: done"


def test_old_threads_go(data, serve, tmp_path):
    # other servers of the shared folder observe its time, each hour
    own = shutil.copytree(data, tmp_path / "own", ignore=shutil.ignore_patterns("threads.sqlite*"))
    with serve(own, NACRE_KEEP_DAYS="0.00001") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        thread = client.post("/api/threads", json={"title": "to go"}).json()["thread"]
    with serve(own, NACRE_KEEP_DAYS="0.00001") as (address, _):
        for _ in range(50):
            gone = httpx.get(f"{address}/api/threads/{thread}").status_code == 404
            if gone:
                break
            time.sleep(0.1)
        assert gone


def test_requests_have_names_and_are_counted(client):
    named = client.get("/api/graphs", headers={"X-Request-ID": "mine-1"})
    assert named.headers["x-request-id"] == "mine-1"
    forged = client.get("/api/graphs", headers={"X-Request-ID": "a b"})
    assert len(forged.headers["x-request-id"]) == 32
    asked(client, QUESTION)
    text = client.get("/metrics").text
    assert 'nacre_requests_total{method="GET",route="/api/graphs",status="200"}' in text
    assert 'nacre_turns_total{status="answered"}' in text
    assert "reading-room" not in text
