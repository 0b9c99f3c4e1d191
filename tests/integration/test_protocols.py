"""What every protocol of the server keeps: callers and graphs never mix, replies have content, errors are seen."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi import FastAPI

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.serving.app import create_app
from nacre.serving.keys import KeyStore
from nacre.serving.turn_service import TurnInput, TurnService

# LangServe reads a model's fields as pydantic no longer wants it
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince211")

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
STREAM = (("Accept", "text/event-stream"),)
RPC = (("Accept", "application/json, text/event-stream"), ("MCP-Protocol-Version", "2025-11-25"))
A2A = (("A2A-Version", "1.0"),)
Body = Callable[[str, str], dict[str, Any]]


class Protocol(NamedTuple):
    """A way to ask: a path, the body for a question about a graph, and headers."""

    name: str
    path: str
    body: Body
    headers: tuple[tuple[str, str], ...] = ()


def asked(question: str, graph: str) -> dict[str, Any]:
    return {"question": question, "graph": graph}


def chat(question: str, graph: str) -> dict[str, Any]:
    return {"model": graph, "messages": [{"role": "user", "content": question}]}


def run(question: str, graph: str) -> dict[str, Any]:
    return {"assistant_id": graph, "input": {"question": question}, "stream_mode": ["messages-tuple", "updates"]}


def agui(question: str, graph: str) -> dict[str, Any]:
    messages = [{"id": "m", "role": "user", "content": question}]
    return {"threadId": f"agui-{graph}", "runId": "r", "messages": messages, "forwardedProps": {"graph": graph}}


def rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def a2a(question: str, graph: str) -> dict[str, Any]:
    return {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": question}],
                        "metadata": {"graph": graph}}}  # fmt: skip


def call(question: str, graph: str) -> dict[str, Any]:
    return rpc("tools/call", {"name": "ask", "arguments": asked(question, graph)})


STREAMED = (
    Protocol("api", "/api/ask", asked, STREAM),
    Protocol("completions", "/v1/chat/completions", lambda q, g: {**chat(q, g), "stream": True}),
    Protocol("responses", "/v1/responses", lambda q, g: {"model": g, "input": q, "stream": True}),
    Protocol("langserve", "/ask/stream", lambda q, g: {"input": asked(q, g)}),
    Protocol("langgraph", "/langgraph/runs/stream", run),
    Protocol("agui", "/agui", agui),
    Protocol("a2a", "/a2a", lambda q, g: rpc("SendStreamingMessage", a2a(q, g)), A2A),
)
WHOLE = (
    Protocol("api", "/api/ask", asked, (("Accept", "application/json"),)),
    Protocol("completions", "/v1/chat/completions", chat),
    Protocol("responses", "/v1/responses", lambda q, g: {"model": g, "input": q}),
    Protocol("langserve", "/ask/invoke", lambda q, g: {"input": asked(q, g)}),
    Protocol("langgraph", "/langgraph/runs/wait", run),
    Protocol("a2a", "/a2a", lambda q, g: rpc("SendMessage", a2a(q, g)), A2A),
    Protocol("mcp", "/mcp", call, RPC),
)
# each key reads one graph; the answers have nothing in common, and no identifier can hold these words
OWNERS = {"ann": ("room", "Who is the writer of Granite?", "Tomas"),
          "bo": ("kitchen", "Which dishes contain rice?", "pilaf")}  # fmt: skip
BROKEN = {
    "an error of the house": (ToolError("endpoint", "The endpoint answered 503."), "The endpoint answered 503."),
    "any other error": (ZeroDivisionError("the secret of the cellar"), ""),
}


class BrokenService(TurnService):
    """A service whose turns fail after the first token."""

    error: Exception

    async def events(self, turn: TurnInput) -> AsyncGenerator[tuple[str, Any], None]:
        events = super().events(turn)
        try:
            async for kind, payload in events:
                yield kind, payload
                if kind == "token":
                    raise self.error
        finally:
            await events.aclose()


class House(NamedTuple):
    """A data folder with two graphs, and the key of each owner."""

    data: Path
    keys: dict[str, str]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    folder = tmp_path_factory.mktemp("protocols")
    for name, file in (("room", "reading_room"), ("kitchen", "kitchen")):
        ingest([str(GRAPHS / f"{file}.ttl")], name, data=folder, no_vectors=True)
    keys = {name: KeyStore(folder).add(name, [graph]) for name, (graph, _, _) in OWNERS.items()}
    return House(folder, keys)


@asynccontextmanager
async def serving(house: House) -> AsyncIterator[tuple[FastAPI, dict[str, httpx.AsyncClient]]]:
    """The app, started in this process, and a client for each owner of a key."""
    app = create_app(Settings(data=house.data, embedder="none", _env_file=None))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app):
        clients = {
            name: httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {key}"}
            )
            for name, key in house.keys.items()
        }
        yield app, clients


async def ask(client: httpx.AsyncClient, protocol: Protocol, question: str, graph: str) -> httpx.Response:
    body = protocol.body(question, graph)
    return await client.post(protocol.path, json=body, headers=dict(protocol.headers), timeout=60)


async def test_two_keys_and_two_graphs_at_once_never_mix_and_every_reply_has_content(house: House) -> None:
    async with serving(house) as (_, clients):
        turns = [(name, protocol) for protocol in (*STREAMED, *WHOLE) for name in OWNERS] * 2
        replies = await asyncio.gather(
            *(ask(clients[name], protocol, OWNERS[name][1], OWNERS[name][0]) for name, protocol in turns)
        )
        for (name, protocol), reply in zip(turns, replies, strict=True):
            other = next(each for each in OWNERS if each != name)
            assert reply.status_code == 200, (protocol, reply.text)
            assert OWNERS[name][2] in reply.text, (protocol, name)
            assert OWNERS[other][2] not in reply.text, (protocol, name)
            assert OWNERS[other][0] not in reply.text, (protocol, name)
        # the graph of the other key is unknown to each of them
        for protocol in (*STREAMED, *WHOLE):
            refused = await ask(clients["ann"], protocol, *reversed(OWNERS["bo"][:2]))
            assert "pilaf" not in refused.text, protocol
            assert refused.status_code in (404, 422) or '"error"' in refused.text or '"isError":true' in refused.text


@pytest.mark.parametrize("broken", list(BROKEN))
async def test_an_error_after_the_first_token_is_an_event_in_every_stream(broken: str, house: House) -> None:
    error, told = BROKEN[broken]
    async with serving(house) as (app, clients):
        service: TurnService = app.state.turn_service
        app.state.turn_service = BrokenService(service.composition, service.app, service.threads)
        app.state.turn_service.error = error
        graph, question, _ = OWNERS["ann"]
        for protocol in STREAMED:
            reply = await ask(clients["ann"], protocol, question, graph)
            assert reply.status_code == 200
            events = read_events(reply.text)
            problems = [event for event in events if is_error(event)]
            assert problems, (protocol, reply.text)
            # LangServe hides the reason of an error in a stream
            assert protocol.name == "langserve" or told in json.dumps(problems), (protocol, problems)
            # nothing after it claims that the turn ended well
            assert not [each for each in events if is_success(each)], (protocol, reply.text)
            assert "secret" not in reply.text, protocol
        for protocol in WHOLE:
            reply = await ask(clients["ann"], protocol, question, graph)
            assert reply.status_code >= 400 or any(
                word in reply.text for word in ("__error__", "TASK_STATE_FAILED", '"isError":true')
            ), (protocol, reply.text)
            assert told in reply.text, (protocol, reply.text)
            assert "secret" not in reply.text, protocol
        # nothing of it is stored
        assert (await clients["ann"].get(f"/api/threads/agui-{graph}")).json().get("turns", []) == []


def read_events(text: str) -> list[tuple[str, Any]]:
    """The name and the data of each server-sent event."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if data := fields.get("data", "").strip():
            found.append((fields.get("event", ""), json.loads(data) if data != "[DONE]" else data))
    return found


def is_error(event: tuple[str, Any]) -> bool:
    """Whether the event says in its protocol that the turn failed."""
    name, data = event
    kind = data.get("type") if isinstance(data, dict) else None
    return name == "error" or kind in ("RUN_ERROR", "error") or (isinstance(data, dict) and "error" in data) or (
        "TASK_STATE_FAILED" in json.dumps(data)
    )  # fmt: skip


def is_success(event: tuple[str, Any]) -> bool:
    """Whether the event says in its protocol that the turn ended well."""
    text = json.dumps(event[1])
    return any(
        mark in text
        for mark in ("RUN_FINISHED", "response.completed", '"finish_reason": "stop"', "TASK_STATE_COMPLETED")
    )
