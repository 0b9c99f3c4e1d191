"""`langgraph dev` as Studio and every other client of its API see it."""

import json
import subprocess
import sys
import uuid
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client

from tests.e2e.conftest import environment, in_studio
from tests.support.model_servers import Reply, openai_server
from tests.support.scripted_model import step

NODES = {
    "rewriter",
    "understand",
    "tool_selector",
    "sql",
    "vector",
    "lexical",
    "sparql",
    "places",
    "triples",
    "check",
    "fuser",
}


@pytest.fixture
def client(studio):
    with get_sync_client(url=studio) as client:
        yield client


@pytest.fixture
def assistant(client):
    return client.assistants.search(graph_id="nacre")[0]["assistant_id"]


def test_the_drawn_graph_has_the_nodes_of_the_house(client, assistant):
    drawn = client.assistants.get_graph(assistant)
    assert {node["id"] for node in drawn["nodes"]} - {"__start__", "__end__"} == NODES
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert ("rewriter", "understand") in edges
    assert {("tool_selector", branch) for branch in ("sql", "vector", "lexical")} <= edges
    assert {("check", "tool_selector"), ("check", "fuser")} <= edges


def test_context_and_input_have_schemas_for_forms(client, assistant):
    schemas = client.assistants.get_schemas(assistant)
    assert {"graph", "mind", "branches", "max_rounds", "top_k", "strategy"} == set(
        schemas["context_schema"]["properties"]
    )
    # the graphs are offered to choose from
    assert {"type": "string", "enum": ["reading-room"]} in schemas["context_schema"]["properties"]["graph"]["anyOf"]
    assert {"question", "messages"} <= set(schemas["input_schema"]["properties"])


def test_the_example_with_langgraphs_sdk_runs(studio, data, tmp_path):
    script = Path(__file__).parents[2] / "examples/clients/langgraph_client.py"
    asked = [sys.executable, script, studio, "reading-room", "How many pages does Granite have?"]
    ran = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, env=environment(data), timeout=120)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "[540] answered" in ran.stdout


def test_two_turns_stream_and_the_state_keeps_them(client, assistant):
    thread = client.threads.create()["thread_id"]
    first = _turn(client, thread, assistant, {"question": "How many pages does Granite have?", "graph": "reading-room"})
    second = _turn(client, thread, assistant, {"messages": [{"role": "user", "content": "And The Salt Road?"}]})
    assert first["tokens"] == first["answer"]["answer"]
    assert second["tokens"] == second["answer"]["answer"]
    assert first["answer"]["values"] == [540]
    assert second["answer"]["values"] == [312]
    # rows answer, so nothing is searched for by meaning
    assert set(first["nodes"]) == NODES - {"sparql", "places", "triples", "vector"}
    state = client.threads.get_state(thread)["values"]
    assert [message["type"] for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert state["turn"] == 2
    assert len(client.threads.get_history(thread)) > 2


def test_the_context_chooses_branches(client, assistant):
    thread = client.threads.create()["thread_id"]
    asked = {"question": "How many authors are there?"}
    answer = _turn(client, thread, assistant, asked, {"branches": ["sql"]})["answer"]
    assert answer["enabled"] == answer["visited"] == ["sql"]


def test_threads_do_not_mix(client, assistant):
    one, other = (client.threads.create()["thread_id"] for _ in range(2))
    _turn(client, one, assistant, {"question": "How many pages does Granite have?"})
    assert _turn(client, other, assistant, {"question": "How many authors are there?"})["answer"]["turn"] == 1


def test_page_and_api_are_on_the_same_port_and_the_platforms_routes_stay(studio, client):
    page = httpx.get(studio)
    assert "<title>Nacre</title>" in page.text
    asked = {"question": "How many authors are there?"}
    record = httpx.post(f"{studio}/api/ask", json=asked, headers={"Accept": "application/json"}, timeout=60).json()
    assert record["values"] == [3]
    thread = httpx.post(f"{studio}/api/threads", json={}).json()["thread"]
    kept = {**asked, "thread": thread}
    told = httpx.post(f"{studio}/api/ask", json=kept, timeout=60).text
    assert told.count("event: answer") == told.count("event: done") == 1
    assert "event: error" not in told
    assert httpx.get(f"{studio}/api/threads/{thread}").json()["thread"]["turns"] == 1
    assert httpx.get(f"{studio}/readyz").json()["status"] == "ok"
    assert httpx.post(f"{studio}/ask/invoke", json={"input": asked}, timeout=60).json()["output"]["values"] == [3]
    # another origin may use the platform's routes, as Studio must, and not ours
    assert httpx.get(f"{studio}/api/graphs", headers={"Origin": "https://evil.example"}).status_code == 403
    studios = httpx.post(f"{studio}/assistants/search", json={}, headers={"Origin": "https://smith.langchain.com"})
    assert studios.headers["access-control-allow-origin"] in ("*", "https://smith.langchain.com")
    assert studios.json()[0]["graph_id"] == "nacre"
    assert httpx.get(f"{studio}/ok").json()["ok"] is True
    assert httpx.get(f"{studio}/info").status_code == 200
    assert "langgraph" in httpx.get(f"{studio}/metrics").text or httpx.get(f"{studio}/metrics").status_code == 200
    assert client.threads.search(limit=100) is not None
    paths = httpx.get(f"{studio}/openapi.json").json()["paths"]
    assert "/threads" in paths or "/assistants/search" in paths


async def test_the_async_client_streams_too(studio):
    asked = {"question": "How many authors are there?"}
    async with get_client(url=studio) as client:
        thread = await client.threads.create(thread_id=str(uuid.uuid4()))
        parts = [p async for p in client.runs.stream(thread["thread_id"], "nacre", input=asked, stream_mode="custom")]
    tokens = [part.data["text"] for part in parts if part.event == "custom" and part.data.get("type") == "token"]
    assert "3" in "".join(tokens)


PAGES = (
    "SELECT e.label AS book, b.pages FROM book b JOIN entity e ON e.id = b.id"
    " WHERE e.label IN ('Granite', 'The Salt Road')"
)


@pytest.fixture(scope="module", params=[(), ("tools",), ("json_schema",)], ids=["text", "tools", "json_schema"])
def model_server(request):
    with openai_server(takes=request.param) as server:
        yield server


@pytest.fixture(scope="module")
def studio_with_model(model_server, data, tmp_path_factory):
    """`langgraph dev` with a model on this machine that leads, and a file that keeps its answers."""
    folder = tmp_path_factory.mktemp("studio-model")
    settings = {
        "NACRE_MODEL": "openai:coder-70b",
        "NACRE_OPENAI_BASE_URL": model_server.url,
        "NACRE_LEAD": "model",
        "NACRE_BUSY_RETRIES": "0",
        "NACRE_MODEL_CACHE": str(folder / "replies.sqlite"),
    }
    with in_studio(data, folder, **settings) as address:
        yield address


def test_turns_with_a_model_block_nothing(studio_with_model, model_server):
    with get_sync_client(url=studio_with_model) as client:
        thread = client.threads.create()["thread_id"]
        look = [
            {"kind": kind, "table": "book", "column": "", "text": "Granite"} for kind in ("rows", "values", "passages")
        ]
        count = step("SELECT count(*) FROM book", wants="number")
        model_server.replies += [Reply(json.dumps(said)) for said in (step(look_ups=look), count)]
        first = _turn(client, thread, "nacre", {"question": "How many of them stand on those shelves?"})["answer"]
        assert (first["values"], first["by"]["sql"]) == ([6], "model")
        model_server.replies += [
            Reply(json.dumps(step(PAGES, wants="prose"))),
            Reply("Granite has 540 pages [1]. The Salt Road has 312 pages [1]."),
        ]
        second = _turn(client, thread, "nacre", {"question": "Describe Granite and The Salt Road."})["answer"]
        assert second["answer"] == "Granite has 540 pages [1]. The Salt Road has 312 pages [1]."
        assert second["by"]["fuser"] == "model"
        model_server.replies.clear()
        third = _turn(client, thread, "nacre", {"question": "How many authors are there?"})["answer"]
        assert third["values"] == [3]
        assert third["by"]["sql"].startswith("rules after model: ")


def _turn(client, thread, assistant, asked, context=None):
    """Run one turn as Studio does: its nodes in order, its tokens joined, its record. The messages that stream are the
    answer alone, whoever writes it: neither what a model says to itself nor what has not passed the gate."""
    nodes, tokens, answer, streamed = [], "", None, []
    modes = ["updates", "custom", "messages-tuple"]
    for part in client.runs.stream(thread, assistant, input=asked, context=context or {}, stream_mode=modes):
        assert part.event != "error", part.data
        if part.event == "updates":
            nodes += list(part.data)
            answer = part.data.get("fuser", {}).get("answer", answer)
        elif part.event == "custom" and part.data.get("type") == "token":
            tokens += part.data["text"]
        elif part.event == "messages" and part.data[0]["type"] != "human":
            streamed.append(part.data[0])
    assert len(streamed) > 2
    assert "".join(chunk["content"] for chunk in streamed) == answer["answer"]  # type: ignore[index]
    assert len({chunk["id"] for chunk in streamed}) == 1
    cited = [each["n"] for each in streamed[-1]["additional_kwargs"]["citations"]]
    assert cited == [each["n"] for each in answer["citations"]]  # type: ignore[index]
    return {"nodes": nodes, "tokens": tokens, "answer": answer}
