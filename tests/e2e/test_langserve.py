"""`nacre serve` as its clients see it: LangServe's RemoteRunnable, plain HTTP, server-sent events."""

import json
import uuid

import httpx
import pytest
from langserve import RemoteRunnable

QUESTION = "How many pages does Granite have?"


@pytest.fixture
def remote(server):
    return RemoteRunnable(f"{server}/ask")


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


def events(response):
    """(event, payload) of a stream of server-sent events."""
    told = []
    for block in response.text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            told.append((fields["event"], json.loads(fields.get("data", "null"))))
    return told


def test_streamed_tokens_join_to_the_answer_of_the_record(remote):
    asked = {"question": QUESTION, "graph": "reading-room", "thread": None}
    tokens = list(remote.stream(asked))
    record = remote.invoke(asked)
    assert len(tokens) > 1
    assert all(isinstance(token, str) for token in tokens)
    assert "".join(tokens) == record["answer"]
    assert record["values"] == [540]
    assert record["citations"]


def test_a_thread_remembers(remote):
    thread = uuid.uuid4().hex
    remote.invoke({"question": QUESTION, "graph": "reading-room", "thread": thread})
    record = remote.invoke({"question": "And The Salt Road?", "graph": "reading-room", "thread": thread})
    assert record["turn"] == 2
    assert record["thread"] == thread
    assert record["values"] == [312]


def test_a_batch_gives_a_record_each(remote):
    asked = [{"question": QUESTION}, {"question": "How many authors are there?"}]
    assert [record["values"] for record in remote.batch(asked)] == [[540], [3]]


def test_what_is_wrong_in_a_batch_fails_alone(remote):
    asked = [
        {"question": QUESTION},
        {"question": ""},
        {"question": QUESTION, "graph": "reading-rom"},
        {"question": 7},
        {"question": QUESTION, "thread": {}},
        {},
        {"question": "How many authors are there?"},
    ]
    records = remote.batch(asked)
    assert [record["values"] for record in records] == [[540], [], [], [], [], [], [3]]
    assert [record["status"] for record in records] == ["answered", *["failed"] * 5, "answered"]
    told = ["empty", "Did you mean 'reading-room'?", "'question' is int", "'thread' is dict", "empty"]
    assert all(words in record["reason"] for words, record in zip(told, records[1:], strict=False))
    assert all(set(record) == set(records[0]) for record in records)


async def test_the_events_of_a_stream_carry_the_citations(remote):
    events = [event async for event in remote.astream_events({"question": QUESTION}, version="v2")]
    [record] = [each["data"] for each in events if each["event"] == "on_custom_event" and each["name"] == "answer"]
    assert (record["values"], record["citations"][0]["n"]) == ([540], 1)
    tokens = [each["data"]["chunk"] for each in events if each["event"] == "on_chain_stream"]
    tokens = [token for token in tokens if isinstance(token, str)]
    assert "".join(tokens) == record["answer"]


def test_a_clients_config_opens_no_other_thread(client):
    thread = uuid.uuid4().hex
    client.post("/ask/invoke", json={"input": {"question": QUESTION, "thread": thread}}).raise_for_status()
    for key in (f"local:{thread}", thread):
        config = {"configurable": {"thread_id": key}}
        body = {"input": {"question": "How many pages does it have?"}, "config": config}
        record = client.post("/ask/invoke", json=body).raise_for_status().json()["output"]
        assert record["turn"] == 1
        assert record["thread"] is None


@pytest.mark.parametrize("endpoint", ["invoke", "stream", "stream_log", "stream_events"])
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"question": ""}, "empty"),
        ({"question": "why " * 5000}, "characters"),
        ({"question": QUESTION, "graph": "reading-rom"}, "Did you mean 'reading-room'?"),
        ({"question": 7}, "question"),
        ({}, "question"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_reason(client, endpoint, asked, told):
    refused = client.post(f"/ask/{endpoint}", json={"input": asked})
    assert refused.status_code == 422
    assert told in refused.text


@pytest.mark.parametrize("path", ["/ask/invoke", "/ask/stream", "/api/ask"])
def test_half_a_character_breaks_nothing(client, path):
    asked = '{"question": "\\ud800 how many books"}'
    body = asked if path == "/api/ask" else f'{{"input": {asked}}}'
    reply = client.post(path, content=body, headers={"content-type": "application/json"})
    assert reply.status_code in (200, 422)
    assert "event: error" not in reply.text


def test_a_body_that_is_no_json_is_refused(client):
    refused = client.post("/ask/invoke", content=b"{", headers={"content-type": "application/json"})
    assert refused.status_code == 400


def test_the_playground_and_the_schemas_are_served(client):
    assert "<html" in client.get("/ask/playground/").raise_for_status().text
    schema = client.get("/ask/input_schema").raise_for_status().json()
    assert set(schema["properties"]) == {"question", "graph", "thread"}
    assert client.get("/api/openapi.json").raise_for_status().json()["paths"]


def test_a_turn_as_server_sent_events(client):
    told = events(client.post("/api/ask", json={"question": QUESTION}))
    kinds = [kind for kind, _ in told]
    assert kinds[:2] == ["rewriter", "understand"]
    assert kinds[-2:] == ["answer", "done"]
    assert {"query", "evidence", "token"} <= set(kinds)
    record = told[-2][1]
    assert "".join(payload for kind, payload in told if kind == "token") == record["answer"]
    assert record["values"] == [540]


def test_the_api_refuses_what_cannot_be_asked(client):
    assert "nacre ingest" in client.post("/api/ask", json={"question": QUESTION, "graph": "zzz"}).json()["detail"]
    assert client.post("/api/ask", json={"question": ""}).status_code == 422


def test_graphs_and_health(client):
    assert [graph["name"] for graph in client.get("/api/graphs").json()] == ["reading-room"]
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz").json()
    assert ready["status"] == "ok"
    assert list(ready["graphs"]) == ["reading-room"]
