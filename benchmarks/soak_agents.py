"""Clients of AG-UI and A2A for `soak_clients`: a question with its expected values -> one conversation, checked."""

import json
import random
import uuid
from dataclasses import dataclass
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import MessageToDict


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
