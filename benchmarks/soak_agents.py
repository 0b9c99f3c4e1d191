"""Clients that keep a conversation for `soak_clients`: questions -> one conversation, checked.

They speak AG-UI, A2A, LangGraph's API, and the API as the page does.
"""

import asyncio
import json
import random
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import MessageToDict
from langgraph_sdk import get_client

# several workers: another one may know the run that a page resumes
RESUME_TRIES = 8
RESUME_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class ClientTask:
    """The address, the graph, and the questions with their expected values."""

    address: str
    graph: str
    expected: dict[str, list[Any]]

    def pick(self, chance: random.Random) -> tuple[str, list[Any]]:
        """One of the questions with its expected values."""
        return chance.choice(sorted(self.expected.items()))


def check_record(question: str, record: Any, expected: list[Any]) -> None:
    """Raise ValueError if a confident answer has other values; a busy machine may give less confident answers."""
    if record["status"] == "answered" and record["values"] != expected:
        raise ValueError(f"{question!r} was answered by {record['values']!r}, not {expected!r}")


def agui_run(task: ClientTask, question: str) -> dict[str, Any]:
    """The input of a run in a conversation of its own."""
    messages = [{"id": "m", "role": "user", "content": question}]
    return {"threadId": uuid.uuid4().hex, "runId": "r", "messages": messages, "forwardedProps": {"graph": task.graph}}


async def call_agui(task: ClientTask, chance: random.Random) -> None:
    """A run with its events, whose conversation is deleted afterwards."""
    question, values = task.pick(chance)
    body = agui_run(task, question)
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as client:
        async with client.stream("POST", "/agui", json=body) as reply:
            lines = [line.removeprefix("data: ") async for line in reply.aiter_lines() if line.startswith("data: ")]
        events = [json.loads(line) for line in lines]
        if events[-1]["type"] != "RUN_FINISHED":
            raise ValueError(f"the run ended with {events[-1]}")
        changes = [change for event in events if event["type"] == "STATE_DELTA" for change in event["delta"]]
        check_record(question, {change["path"].removeprefix("/nacre/"): change["value"] for change in changes}, values)
        await client.delete(f"/api/threads/{body['threadId']}")


async def call_a2a(task: ClientTask, chance: random.Random) -> None:
    """A card and a message, streamed or not, whose conversation is deleted afterwards."""
    question, values = task.pick(chance)
    message = Message(message_id=uuid.uuid4().hex, role=Role.ROLE_USER, parts=[Part(text=question)])
    message.context_id = uuid.uuid4().hex
    message.metadata.update({"graph": task.graph})
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as http:
        card = await A2ACardResolver(http, task.address).get_agent_card()
        config = ClientConfig(httpx_client=http, streaming=chance.random() < 0.5)
        client = ClientFactory(config).create(card)
        events = [event async for event in client.send_message(SendMessageRequest(message=message))]
        artifacts = [
            artifact for event in events for artifact in (*event.task.artifacts, event.artifact_update.artifact)
        ]
        data = [MessageToDict(part.data) for each in artifacts for part in each.parts if part.HasField("data")]
        check_record(question, data[-1], values)
        await http.delete(f"/api/threads/{message.context_id}")


async def call_langgraph(task: ClientTask, chance: random.Random) -> None:
    """A thread with two turns, streamed, waited for or joined, and its history; then it is deleted."""
    async with get_client(url=f"{task.address}/langgraph", api_key=None) as client:
        thread = (await client.threads.create())["thread_id"]
        for number in (1, 2):
            question, values = task.pick(chance)
            told = await _langgraph_turn(client, thread, task.graph, question, chance)
            check_record(question, told["answer"], values)
            state: Any = await client.threads.get_state(thread)
            if len(state["values"]["messages"]) != 2 * number:
                raise ValueError(f"{len(state['values']['messages'])} messages after turn {number}")
        if chance.random() < 0.5:
            # the last question again, from the state before its answer
            before = (await client.threads.get_history(thread))[1]["checkpoint"]
            again: Any = await client.runs.wait(thread, task.graph, checkpoint=before)
            check_record(question, again["answer"], values)
        await client.threads.delete(thread)


async def _langgraph_turn(client: Any, thread: str, graph: str, question: str, chance: random.Random) -> Any:
    """The state after a run; the streamed text must be that of its message."""
    asked = {"messages": [{"role": "user", "content": question}]}
    way = chance.choice(["stream", "wait", "join"])
    if way == "wait":
        return await client.runs.wait(thread, graph, input=asked)
    if way == "join":
        run = await client.runs.create(thread, graph, input=asked)
        return await client.runs.join(thread, run["run_id"])
    text, state, last = "", {}, ""
    modes = ["messages-tuple", "values", "updates", "custom"]
    async for part in client.runs.stream(thread, graph, input=asked, stream_mode=modes):
        last = part.event
        if last == "messages":
            text += part.data[0]["content"]
        elif last == "values":
            state = part.data
    if last != "end" or text != state["messages"][-1]["content"]:
        raise ValueError(f"the stream ended with {last!r} and is not the answer: {text!r}")
    return state


async def call_page(task: ClientTask, chance: random.Random) -> None:
    """A conversation as the page has it: an answer that streams, sometimes over a broken connection; then the
    conversation is read again and deleted."""
    question, values = task.pick(chance)
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as http:
        thread = (await http.post("/api/threads", json={"graph": task.graph})).json()["thread"]
        text, record = "", None
        async for kind, payload in _page_events(http, {"question": question, "thread": thread}, chance):
            if kind == "token":
                text += payload
            elif kind == "answer":
                record = payload
        if record is None or record["answer"] != text:
            raise ValueError(f"the stream is not the answer: {text!r}")
        check_record(question, record, values)
        stored = (await http.get(f"/api/threads/{thread}")).json()["turns"]
        if [turn["record"]["answer"] for turn in stored] != [text]:
            raise ValueError(f"{len(stored)} turns are stored")
        await http.delete(f"/api/threads/{thread}")


async def _page_events(
    http: httpx.AsyncClient, body: dict[str, Any], chance: random.Random
) -> AsyncIterator[tuple[str, Any]]:
    """The events of a turn. A connection that breaks after the first ones is resumed after the last one."""
    left = chance.randint(1, 5) if chance.random() < 0.3 else -1
    kind, last, tries = "", "", 0
    while kind != "done":
        sent = (
            http.stream("GET", f"/api/runs/{last.partition('.')[0]}", headers={"Last-Event-ID": last})
            if last
            else http.stream("POST", "/api/ask", json=body, headers={"Accept": "text/event-stream"})
        )
        async with sent as reply:
            if reply.status_code == 404 and (tries := tries + 1) < RESUME_TRIES:
                await asyncio.sleep(RESUME_PAUSE_SECONDS)
                continue
            reply.raise_for_status()
            async for line in reply.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "id":
                    last = value
                elif name == "data" and kind == "error":
                    raise ValueError(f"the turn failed: {value}")
                elif name == "data":
                    yield kind, json.loads(value)
                    left -= 1
                    if left == 0:
                        break
