"""Whoever leaves ends the turn, on every interface: the call of the model that the turn waits for is closed."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import httpx
import openai
import pytest
from playwright.sync_api import expect

from nacre import Nacre
from tests.e2e import test_page
from tests.e2e.conftest import serving

# fixtures and marks of the tests of the page
browser, pytestmark = test_page.browser, test_page.pytestmark

QUESTION = "Which of the books would a railway worker enjoy, and why?"
HEADERS = {"Accept": "application/json, text/event-stream"}
CALL = {"name": "ask", "arguments": {"question": QUESTION}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
# far less than a model may take
SECONDS = 20


class Silent:
    """A model server that takes what it is asked and never answers: how many asked, and how many have gone."""

    def __init__(self):
        self.came = self.gone = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.came += 1
            threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection):
        with connection:
            try:
                while connection.recv(65536):
                    pass
            except OSError:
                pass
        self.gone += 1

    def close(self):
        self._listening.close()


def waited(reached):
    for _ in range(SECONDS * 10):
        if reached():
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def silent():
    server = Silent()
    yield server
    server.close()


@pytest.fixture(scope="module")
def slow(data, silent, tmp_path_factory):
    """A server whose model never answers."""
    settings = {
        "NACRE_MODEL": "openai:silent",
        "OPENAI_BASE_URL": silent.url,
        "OPENAI_API_KEY": "none",
        "NACRE_MODEL_SIZE": "large",
        "NACRE_RESUME_SECONDS": "0",
    }
    with serving(data, tmp_path_factory.mktemp("slow"), **settings) as (address, _):
        # the model is first asked to read the schema ahead, which is no turn
        assert waited(lambda: silent.came)
        yield address


@contextmanager
def openai_streamed(address):
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    messages = [{"role": "user", "content": QUESTION}]
    with client, client.chat.completions.create(model="reading-room", messages=messages, stream=True):  # type: ignore[arg-type, union-attr]
        yield


@contextmanager
def in_the_middle(address, path, body, **headers):
    """A request that is sent and whose reply is not waited for."""
    host, port = address.removeprefix("http://").split(":")
    sent = json.dumps(body).encode()
    head = {"Host": f"{host}:{port}", "Content-Type": "application/json", "Content-Length": len(sent), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall("\r\n".join(lines).encode() + sent)
        yield


def openai_whole(address):
    body = {"model": "reading-room", "messages": [{"role": "user", "content": QUESTION}]}
    return in_the_middle(address, "/v1/chat/completions", body)


def mcp_of_2025(address):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    return in_the_middle(address, "/mcp", body, **HEADERS, **{"MCP-Protocol-Version": "2025-11-25"})


def mcp_of_2026(address):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CALL, "_meta": ENVELOPE}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
    return in_the_middle(address, "/mcp", body, **HEADERS, **headers)


def agui(address):
    body = {"threadId": "leaving", "runId": "r", "messages": [{"id": "m", "role": "user", "content": QUESTION}]}
    return in_the_middle(address, "/agui", body)


def a2a_streamed(address):
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": QUESTION}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
    return in_the_middle(address, "/a2a", body, **{"A2A-Version": "1.0"})


@contextmanager
def a2a_cancelled(address):
    """A task that is cancelled while it runs."""

    def call(method, params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx.post(f"{address}/a2a", json=body, headers={"A2A-Version": "1.0"}, timeout=60).json()["result"]

    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": QUESTION}]}
    task = call("SendMessage", {"message": message, "configuration": {"returnImmediately": True}})["task"]
    assert task["status"]["state"] == "TASK_STATE_WORKING"
    yield
    assert call("CancelTask", {"id": task["id"]})["status"]["state"] == "TASK_STATE_CANCELED"
    assert call("GetTask", {"id": task["id"]})["status"]["state"] == "TASK_STATE_CANCELED"


@contextmanager
def python_streamed(address):
    with Nacre(address) as nacre, nacre.graph("reading-room").stream(QUESTION):
        yield


@pytest.mark.parametrize(
    "asking",
    [openai_streamed, openai_whole, mcp_of_2025, mcp_of_2026, agui, a2a_streamed, a2a_cancelled, python_streamed],
)
def test_a_client_that_leaves_ends_its_turn(slow, silent, asking):
    came, gone = silent.came, silent.gone
    with asking(slow):
        assert waited(lambda: silent.came > came), "the model was not asked"
        assert silent.gone == gone
    assert waited(lambda: silent.gone > gone), "the model's call goes on"
    assert waited(lambda: "\nnacre_turns_under_way 0.0" in httpx.get(f"{slow}/metrics").text)


def page_stopped(address):
    """The button "Stop" of the page: the run of the conversation is deleted."""

    @contextmanager
    def asking(thread):
        body = {"question": QUESTION, "thread": thread}
        with httpx.stream("POST", f"{address}/api/ask", json=body, headers={"Accept": "text/event-stream"}) as reply:
            # an iterator that is dropped would close the connection
            lines = reply.iter_lines()
            place = next(filter(lambda line: line.startswith("id: "), lines))
            run = place.removeprefix("id: ").partition(".")[0]
            yield
            assert httpx.delete(f"{address}/api/runs/{run}").status_code == 204

    return asking


def leaving_client(path, body, **headers):
    """A client that disconnects; `body` is made for a thread."""

    def at(address):
        return lambda thread: in_the_middle(address, path, body(thread), **{k: v(thread) for k, v in headers.items()})

    return at


def mcp_body(thread):
    arguments = {"question": QUESTION, "thread": thread}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}


def agui_body(thread):
    return {"threadId": thread, "runId": "r", "messages": [{"id": "m", "role": "user", "content": QUESTION}]}


def a2a_body(thread):
    message = {"messageId": "m", "contextId": thread, "role": "ROLE_USER", "parts": [{"text": QUESTION}]}
    return {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}


def openai_body(thread):
    return {"model": "reading-room", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}


def langgraph_body(thread):
    return {"assistant_id": "reading-room", "input": {"question": QUESTION}, "if_not_exists": "create"}


STOPPED = {
    "page": page_stopped,
    "api": leaving_client("/api/ask", lambda thread: {"question": QUESTION, "thread": thread}),
    "langserve": leaving_client("/ask/stream", lambda thread: {"input": {"question": QUESTION, "thread": thread}}),
    "openai": leaving_client("/v1/chat/completions", openai_body, **{"X-Nacre-Thread": str}),
    "mcp": leaving_client("/mcp", mcp_body, **{name: lambda _, value=value: value for name, value in HEADERS.items()}),
    "agui": leaving_client("/agui", agui_body),
    "a2a": leaving_client("/a2a", a2a_body, **{"A2A-Version": lambda _: "1.0"}),
    "langgraph": lambda address: (
        lambda thread: leaving_client(
            f"/langgraph/threads/{thread}/runs/wait", lambda _: {**langgraph_body(thread), "on_disconnect": "cancel"}
        )(address)(thread)
    ),
}


@pytest.mark.parametrize("protocol", STOPPED)
def test_the_question_of_a_stopped_turn_stays_in_its_conversation(slow, silent, protocol):
    thread, came = f"stopped-{protocol}", silent.came
    with STOPPED[protocol](slow)(thread):
        assert waited(lambda: silent.came > came), "the model was not asked"

    def read():
        return httpx.get(f"{slow}/api/threads/{thread}").json()

    assert waited(lambda: read().get("unanswered") == QUESTION)
    assert (read()["turns"], read()["thread"]["title"]) == ([], QUESTION)
    state = httpx.get(f"{slow}/langgraph/threads/{thread}/state").json()
    assert ([each["content"] for each in state["values"]["messages"]], state["next"]) == ([QUESTION], ["rewriter"])
    # asked again, it is answered, and it is there once
    asked = {"question": QUESTION, "thread": thread, "mind": "rules"}
    assert httpx.post(f"{slow}/api/ask", json=asked, headers={"Accept": "application/json"}).json()["turn"] == 1
    assert (len(read()["turns"]), read()["unanswered"]) == (1, None)
    state = httpx.get(f"{slow}/langgraph/threads/{thread}/state").json()
    assert [each["type"] for each in state["values"]["messages"]] == ["human", "ai"]


def test_the_page_shows_the_question_of_a_stopped_turn(slow, silent, browser):
    thread, came = "stopped-shown", silent.came
    with STOPPED["api"](slow)(thread):
        assert waited(lambda: silent.came > came), "the model was not asked"
    assert waited(lambda: httpx.get(f"{slow}/api/threads/{thread}").json().get("unanswered") == QUESTION)
    page = browser.new_page()
    page.goto(f"{slow}/?thread={thread}")
    turn = page.locator("#turns article")
    expect(turn).to_contain_text(QUESTION)
    expect(turn).to_contain_text("Stopped.")
    came = silent.came
    turn.get_by_text("Ask again").click()
    assert waited(lambda: silent.came > came), "the model was not asked again"
    expect(page.locator("#turns article")).to_have_count(1)
    page.close()
