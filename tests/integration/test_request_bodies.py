"""Bodies of requests: nothing of a stranger's body is read, and a body is parsed only if that is quick."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from nacre.config.settings import Settings
from nacre.serving.app import create_app
from nacre.serving.http.middleware import (
    MAX_CALL_VALUES,
    MAX_DEPTH,
    MAX_VALUES,
    STARTS_AT_ONCE,
    BodyMiddleware,
    BodyRejected,
    check_json,
)
from nacre.serving.keys import KeyStore

CHUNKS = 40


def sent(data: Path, path: str, key: str | None = None, leaves_after: int = CHUNKS) -> tuple[int, int]:
    """The status of a request with a body in many chunks, and how many of them were read; the client disconnects after
    some of them."""
    app = create_app(Settings(data=data))
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    headers += [(b"authorization", f"Bearer {key}".encode())] if key else []
    read, status = 0, 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        if read == leaves_after:
            return {"type": "http.disconnect"}
        read += 1
        return {"type": "http.request", "body": b"[1," * 100, "more_body": read < CHUNKS}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    asyncio.run(app(scope, receive, send))
    return status, read


PATHS = (
    "/api/ask",
    "/ask/invoke",
    "/v1/chat/completions",
    "/mcp",
    "/agui",
    "/a2a",
    "/langgraph/runs/wait",
    "/api/no/such",
)


@pytest.mark.parametrize("path", PATHS)
def test_the_body_of_a_stranger_is_not_read(tmp_path: Path, path: str) -> None:
    key = KeyStore(tmp_path).add("ann", None)
    status, read = sent(tmp_path, path)
    assert (status, read) == (401, 1)
    status, read = sent(tmp_path, path, key)
    assert (status, read) == (400, CHUNKS)


@pytest.mark.parametrize("path", PATHS)
def test_a_client_that_leaves_within_its_body_is_no_error_of_the_server(tmp_path: Path, path: str, caplog) -> None:
    assert sent(tmp_path, path, leaves_after=2) == (499, 2)
    assert [each for each in caplog.records if each.exc_info] == []


@pytest.mark.parametrize("path", ["/static/x", "/healthz", "/", "/metrics", "/api/openapi.json", "/api/docs/"])
def test_a_body_for_a_public_path_is_not_read(tmp_path: Path, path: str) -> None:
    KeyStore(tmp_path).add("ann", None)
    status, read = sent(tmp_path, path)
    assert (status, read) == (405, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-be"])
def test_values_are_counted_before_they_are_parsed(encoding: str) -> None:
    inner = ",".join(['"a"', "[]", "{}"] * (MAX_VALUES // 3))
    # characters whose bytes contain those of a quotation mark
    with pytest.raises(BodyRejected, match="more than 50,000 values"):
        check_json(f'["\u2200\u2201", {inner}, 1, 2, 3]'.encode(encoding))
    check_json(f"[{inner[: len(inner) // 4].rpartition(',')[0]}]".encode(encoding))


def test_what_strings_contain_is_no_value() -> None:
    check_json(json.dumps({"question": '[{",' * 2 * MAX_VALUES}).encode())
    check_json(json.dumps({"question": '\\",[{' * 2 * MAX_VALUES}).encode())


def test_a_body_may_be_nested_as_deep_as_documented() -> None:
    check_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(BodyRejected, match="nested too deep"):
        check_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


async def test_a_look_at_the_health_does_not_wait_for_all_requests_that_came_before_it() -> None:
    started: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.append(scope["path"])

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    middleware = BodyMiddleware(app, 1000)
    paths = [*["/api/graphs"] * 500, "/healthz"]
    scopes = [{"type": "http", "method": "GET", "path": path, "headers": []} for path in paths]
    await asyncio.gather(*(middleware(scope, receive, send) for scope in scopes))
    assert started.index("/healthz") <= STARTS_AT_ONCE
    assert len(started) == len(paths)


MANY = MAX_VALUES - 100
BAD_BODIES: list[tuple[str, Any]] = [
    ("/api/ask", {"question": "x", "branches": [1] * MANY}),
    ("/api/ask", {"question": 1, **dict.fromkeys(map(str, range(MANY)), 1)}),
    ("/v1/chat/completions", {"model": "x", "messages": [{"role": "user", "content": [1] * MANY}]}),
    ("/v1/responses", {"model": "x", "input": [{"content": [{}]}] * (MANY // 4)}),
    (
        "/agui",
        {"threadId": "t", "runId": "r", "messages": [{"role": "user"}] * (MANY // 2), "tools": [], "context": []},
    ),
    ("/langgraph/runs/wait", {"assistant_id": "x", "input": {"messages": [1] * MANY}}),
    ("/langgraph/threads/t/runs/stream", {"assistant_id": "x", "stream_mode": [1] * MANY}),
    ("/langgraph/runs/batch", [1] * MANY),
    ("/langgraph/threads/search", {"ids": [1] * MANY}),
    ("/ask/stream_events", {"input": {"question": "x"}, "include_names": [1] * MANY}),
    ("/api/graphs/x/verified/import", {"lines": [1] * MANY}),
    ("/api/graphs/x/labels", {"iris": [1] * MANY}),
]


def test_a_body_with_thousands_of_problems_gets_a_short_reply(tmp_path: Path) -> None:
    with TestClient(
        create_app(Settings(data=tmp_path)), base_url="http://127.0.0.1", client=("127.0.0.1", 1)
    ) as client:
        for path, body in BAD_BODIES:
            reply = client.post(path, json=body)
            assert reply.status_code in (400, 404, 422), path
            # describing each of them would stop all other requests for half a second
            assert len(reply.content) < 3000, path
        few = client.post("/api/ask", json={"question": 1, "branches": [1]}).json()["detail"]
        assert [problem["loc"] for problem in few] == [["body", "branches", 0], ["body", "question"]]


def test_who_reads_the_metrics_again_and_again_is_refused(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path))
    for address, number in (("10.0.0.1", 100), ("10.0.0.2", 1)):
        with TestClient(app, base_url="http://127.0.0.1", client=(address, 1)) as client:
            statuses = [client.get("/metrics").status_code for _ in range(number)]
            assert (statuses[0], statuses[-1]) == (200, 200 if number == 1 else 429)
            assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/a2a", "/mcp"])
def test_calls_that_a_library_parses_on_the_event_loop_have_fewer_values(tmp_path: Path, path: str) -> None:
    key = {"Authorization": f"Bearer {KeyStore(tmp_path).add('ann', None)}"}
    parts = [{"text": "a, b, [c], {d}"}]
    with TestClient(create_app(Settings(data=tmp_path, _env_file=None)), headers=key) as client:
        for number, is_refused in ((MAX_CALL_VALUES // 8, False), (MAX_CALL_VALUES, True)):
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"parts": parts * number}}
            reply = client.post(path, json=call)
            assert (f"more than {MAX_CALL_VALUES:,} values" in reply.text) is is_refused, reply.text[:200]


def test_the_page_answers_whoever_asks_only_for_its_head(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(data=tmp_path, _env_file=None))) as client:
        reply = client.head("/")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
