"""agent-chat-ui over `langgraph dev`: the calls that it makes, and in a browser the build that NACRE_CHAT_UI names."""

import http.server
import json
import os
import shutil
import threading
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from playwright.sync_api import expect, sync_playwright

from tests.e2e.conftest import GRAPHS, command, in_studio
from tests.e2e.test_page import CHROMIUM, QUIET

BUILD = Path(os.environ.get("NACRE_CHAT_UI", "/nowhere"))
# what its `useStream` asks for: values for the state, messages as they grow, custom events for components
MODES = ["values", "messages-tuple", "custom"]


@pytest.fixture(scope="module")
def two_graphs(tmp_path_factory):
    """`langgraph dev` over two graphs."""
    folder = tmp_path_factory.mktemp("two")
    nacre = command(folder / "data", folder)
    for name in ("reading_room", "kitchen"):
        made = nacre("ingest", GRAPHS / f"{name}.ttl", "--graph", name.replace("_", "-"), "--no-vectors")
        assert made.returncode == 0, made.stderr
    (folder / "studio").mkdir()
    with in_studio(folder / "data", folder / "studio") as address:
        yield address


@pytest.fixture
def client(two_graphs):
    with get_sync_client(url=two_graphs) as client:
        yield client


def say(client, thread, text, assistant="nacre", **more):
    """Send a message as the page does: the text of its reply as it streams, and the messages of the thread."""
    sent = {"messages": [{"id": str(uuid.uuid4()), "type": "human", "content": text}]} if text else None
    pieces: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for part in client.runs.stream(thread, assistant, input=sent, stream_mode=MODES, on_disconnect="cancel", **more):
        assert part.event != "error", part.data
        if part.event == "messages":
            message, about = part.data
            if message["type"] == "AIMessageChunk":
                assert about["langgraph_node"] == "fuser"
                pieces.setdefault(message["id"], []).append(message["content"])
        elif part.event == "values":
            values = part.data
    return pieces, values["messages"]


def test_a_chat_is_asked_which_graph_it_means(client):
    thread = client.threads.create()["thread_id"]
    _, asked = say(client, thread, "How many pages does Granite have?")
    assert "kitchen and reading-room" in asked[-1]["content"]
    _, again = say(client, thread, "the second one")
    assert "Which graph" in again[-1]["content"]
    _, lost = say(client, thread, "How many pages does Granite have?")
    assert "Which graph" in lost[-1]["content"]
    pieces, told = say(client, thread, "Reading-room")
    reply = told[-1]
    assert "540" in reply["content"]
    assert "".join(pieces[reply["id"]]) == reply["content"]
    assert len(pieces[reply["id"]]) > 3
    assert reply["additional_kwargs"]["citations"][0]["n"] == 1
    _, followed = say(client, thread, "And The Salt Road?")
    assert "312" in followed[-1]["content"]


def test_an_assistant_of_ones_own_is_about_one_graph(client):
    mine = client.assistants.create("nacre", name="reading-room", context={"graph": "reading-room"})
    thread = client.threads.create()["thread_id"]
    _, told = say(client, thread, "How many pages does Granite have?", mine["assistant_id"])
    assert "540" in told[-1]["content"]


def test_another_answer_and_an_edited_question_fork_the_thread(client):
    thread = client.threads.create()["thread_id"]
    say(client, thread, "How many pages does Granite have?")
    _, first = say(client, thread, "reading-room")
    history = client.threads.get_history(thread, limit=1000)
    # as the page does it: from the parent of the state in which a message is first seen
    seen = [state for state in history if first[-1]["id"] in {m["id"] for m in state["values"].get("messages", [])}]
    _, again = say(client, thread, None, checkpoint=seen[-1]["parent_checkpoint"])
    assert again[-1]["content"] == first[-1]["content"]
    assert len(again) == len(first)
    seen = [state for state in history if first[-2]["id"] in {m["id"] for m in state["values"].get("messages", [])}]
    _, edited = say(client, thread, "kitchen", checkpoint=seen[-1]["parent_checkpoint"])
    assert edited[-2]["content"] == "kitchen"
    assert "540" not in edited[-1]["content"]


def test_states_of_a_thread_stay_small(client):
    thread = client.threads.create()["thread_id"]
    say(client, thread, "How many pages does Granite have?")
    say(client, thread, "reading-room")
    say(client, thread, "And The Salt Road?")
    states = client.threads.get_history(thread, limit=1000)
    assert max(len(json.dumps(state["values"])) for state in states) < 10_000
    assert max(len(state["values"]) for state in states) <= 12


@pytest.mark.skipif(not (BUILD / "index.html").is_file(), reason="NACRE_CHAT_UI names no build of agent-chat-ui")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_page_chats(two_graphs):
    files = partial(http.server.SimpleHTTPRequestHandler, directory=str(BUILD))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), files) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/?apiUrl={two_graphs}&assistantId=nacre")
        for said, told in (
            ("How many pages does Granite have?", "Which graph"),
            ("reading-room", "540"),
            ("And The Salt Road?", "312"),
        ):
            page.get_by_placeholder("Type your message...").fill(said)
            page.get_by_role("button", name="Send").click()
            expect(page.get_by_text(told).last).to_be_visible(timeout=30_000)
            expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=30_000)
        page.screenshot(path=str(BUILD / "shown.png"))
        browser.close()
        server.shutdown()
