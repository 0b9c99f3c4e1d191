"""Hostile servers of chat models: a question is answered nevertheless, and no key is repeated."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from benchmarks.abuse.case import AttackResult, polled_health
from benchmarks.inputs.hostile_replies import HOSTILE_REPLIES, JSON
from benchmarks.server import started_server
from tests.support.model_servers import Reply, Server, endless_server, openai_server, raw_server

KEY = "sk-proj-a1b2c3d4e5f6g7h8"
QUESTION = "Which of the cars would suit a family that likes long journeys?"
# a turn makes several calls; each of them ends on its own
TURN_SECONDS = 10.0
MODEL_SECONDS = "2"
# replies that are sent to a whole server; the tests send all of them to a client
REPLIES = ("choices", "an event of choices")


@dataclass(frozen=True)
class ModelCase:
    """A server of a model."""

    what: str
    model: Callable[[], AbstractContextManager[Server]]


CASES = (
    *(
        ModelCase(f"a model's reply: {name}", partial(raw_server, case.body, case.media, 200, dict(case.headers)))
        for name, case in ((name, HOSTILE_REPLIES[name]()) for name in REPLIES)
    ),
    ModelCase(
        "a model's redirect to another host",
        partial(raw_server, b"", JSON, 307, {"location": "http://127.0.0.1:9/v1/chat/completions"}),
    ),
    ModelCase("a model's reply without end", endless_server),
    ModelCase(
        "a model's error that repeats the key",
        partial(openai_server, *[Reply(f"Incorrect API key provided: {KEY}. Bearer {KEY}", status=401)] * 50),
    ),
)


def attack_with_models(data: Path, graph: str, only: str = "") -> Iterator[AttackResult]:
    """Ask a server with each model."""
    for case in CASES:
        if only in case.what:
            yield from _ask(case, data, graph)


def _ask(case: ModelCase, data: Path, graph: str) -> Iterator[AttackResult]:
    with case.model() as model:
        url = model.url if model.url.endswith("/v1") else f"{model.url}/v1"
        with started_server(
            data,
            NACRE_MODEL="openai:coder-70b",
            NACRE_MODEL_SECONDS=MODEL_SECONDS,
            OPENAI_BASE_URL=url,
            OPENAI_API_KEY=KEY,
        ) as server:
            with polled_health(server.address) as health:
                reply = httpx.post(
                    f"{server.address}/api/ask",
                    json={"question": QUESTION, "graph": graph},
                    headers={"Accept": "application/json"},
                    timeout=120,
                )
                calls = httpx.get(f"{server.address}/api/runs/{reply.json().get('id')}/calls", timeout=30)
            problem = "" if reply.status_code == 200 else f"status {reply.status_code}"
            if any(KEY in text for text in (reply.text, calls.text, server.log.read_text())):
                problem = "the key was repeated"
            elif not model.asked:
                problem = "the model was never asked"
            yield AttackResult(case.what, reply.elapsed.total_seconds(), TURN_SECONDS, 0.0, problem)
            yield health.result(case.what)
