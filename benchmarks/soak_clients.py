"""Clients of all interfaces for a long time: python -m benchmarks.soak_clients [SECONDS] [--workers N].

There are clients of OpenAI, MCP (two versions), AG-UI, A2A, LangGraph's API, LangServe, Python, the API, and the API
as the page uses it. Others disconnect in the
middle of an answer, or send invalid requests. Every reply must be right, the memory and the open files of the server
must not grow, and no turn may remain unfinished. Exit 1 if one of these limits is broken.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import openai
from langserve import RemoteRunnable
from mcp import Client

from benchmarks.load import GRAPH, GROWTH_LIMIT, WARM_SHARE, server
from benchmarks.server import memory
from benchmarks.soak_agents import (
    ClientTask,
    agui_run,
    call_a2a,
    call_agui,
    call_langgraph,
    call_page,
    check_record,
)
from nacre import Nacre

PAUSE_SECONDS = 0.5
# clients of each kind
CLIENTS = 2
MAX_MORE_FILES = 20
# seconds until an abandoned turn is cancelled, at most
MAX_CANCEL_SECONDS = 30
# times whose memory and open files are shown
POINTS = 7
MCP_2025 = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
INVALID_REQUESTS: tuple[tuple[str, bytes], ...] = (
    ("/v1/chat/completions", b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}'),
    ("/v1/chat/completions", b'{"model": "x", "messages": []}'),
    ("/v1/chat/completions", b'{"model": "x", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}'),
    ("/v1/chat/completions", b'{"model":'),
    ("/v1/embeddings", b"{}"),
    ("/mcp", b'{"jsonrpc": "2.0", "id": 1}'),
    ("/mcp", b"[1, 2"),
    ("/agui", b'{"threadId": "t", "runId": "r", "messages": []}'),
    ("/a2a", b"[1, 2"),
    ("/langgraph/threads/none/runs/wait", b'{"assistant_id": 3}'),
    ("/langgraph/runs/stream", b'{"assistant_id": "x", "input": {"question": "x"}, "stream_mode": "events"}'),
    ("/ask/invoke", b'{"input": 3}'),
    ("/api/ask", b'{"question": ""}'),
)


@dataclass
class SoakLog:
    """Requests by kind of client, problems, and the memory in MB and the open files of the server over time."""

    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)


ClientKind = Callable[[ClientTask, random.Random], Awaitable[None]]


async def call_openai(task: ClientTask, chance: random.Random) -> None:
    """A response or a completion, streamed or not, with or without earlier messages."""
    question, values = task.pick(chance)
    earlier = [{"role": "user", "content": task.pick(chance)[0]}, {"role": "assistant", "content": "So it is."}]
    messages: Any = [*(earlier if chance.random() < 0.5 else []), {"role": "user", "content": question}]
    async with openai.AsyncOpenAI(base_url=f"{task.address}/v1", api_key="none", max_retries=0) as client:
        if chance.random() < 0.3:
            response: Any = await client.responses.create(model=task.graph, input=messages)
            check_record(question, response.nacre, values)
            return
        if chance.random() < 0.5:
            reply: Any = await client.chat.completions.create(model=task.graph, messages=messages)
            check_record(question, reply.nacre, values)
            return
        text, record = "", None
        async for chunk in await client.chat.completions.create(model=task.graph, messages=messages, stream=True):
            text += chunk.choices[0].delta.content or ""
            record = getattr(chunk, "nacre", record)
        if record is None or not text.startswith(record["answer"]):
            raise ValueError(f"the stream is not the answer: {text!r}")
        check_record(question, record, values)


async def call_mcp(task: ClientTask, chance: random.Random) -> None:
    """A connection in the newest or an older version of the protocol, and a few calls."""
    async with Client(f"{task.address}/mcp", mode=chance.choice(["auto", "legacy"])) as client:
        question, values = task.pick(chance)
        record = (await client.call_tool("ask", {"question": question, "graph": task.graph})).structured_content or {}
        check_record(question, record, values)
        for name, arguments in (
            ("query_sql", {"sql": "SELECT count(*) FROM entity"}),
            ("search", {"text": question, "limit": 3}),
            ("describe_graph", {}),
        ):
            result: Any = await client.call_tool(name, arguments)
            if result.is_error:
                raise ValueError(f"{name} failed: {result.content[0].text}")
        if not (await client.call_tool("query_sql", {"sql": "DELETE FROM entity"})).is_error:
            raise ValueError("a statement that writes was accepted")


async def call_langserve(task: ClientTask, chance: random.Random) -> None:
    """A stream of tokens, or a record."""
    question, values = task.pick(chance)
    ask: Any = RemoteRunnable(f"{task.address}/ask")
    if chance.random() < 0.5:
        check_record(question, await ask.ainvoke({"question": question, "graph": task.graph}), values)
    elif not [token async for token in ask.astream({"question": question, "graph": task.graph})]:
        raise ValueError("no tokens came")


async def call_python(task: ClientTask, chance: random.Random) -> None:
    """A conversation of two turns, the second streamed."""
    async with Nacre(task.address) as nacre:
        chat = nacre.graph(task.graph).chat()
        question, values = task.pick(chance)
        check_record(question, (await chat.aask(question)).record, values)
        async with chat.astream(question) as tokens:
            text = "".join([token async for token in tokens])
        if text != tokens.reply.text:
            raise ValueError(f"the stream is not the answer: {text!r}")


async def call_events(task: ClientTask, chance: random.Random) -> None:
    """The record of a turn from the API."""
    question, values = task.pick(chance)
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as client:
        reply = await client.post(
            "/api/ask", json={"question": question, "graph": task.graph}, headers={"Accept": "application/json"}
        )
        check_record(question, reply.json(), values)


async def disconnect_early(task: ClientTask, chance: random.Random) -> None:
    """A request whose client disconnects at the first bytes, or before."""
    question = task.pick(chance)[0]
    chat = {"model": task.graph, "messages": [{"role": "user", "content": question}], "stream": chance.random() < 0.5}
    call = {"name": "ask", "arguments": {"question": question, "graph": task.graph}}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    path, body, headers = chance.choice(
        [
            ("/v1/chat/completions", chat, {}),
            ("/mcp", rpc, MCP_2025),
            ("/api/ask", {"question": question, "graph": task.graph}, {}),
            ("/agui", agui_run(task, question), {}),
            (
                "/langgraph/runs/stream",
                {"assistant_id": task.graph, "input": {"question": question}, "on_disconnect": "cancel"},
                {},
            ),
        ]
    )
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as client:
        try:
            async with asyncio.timeout(chance.choice([0.005, 0.02, 0.1])):
                async with client.stream("POST", path, json=body, headers=headers) as reply:
                    await anext(reply.aiter_raw())
        except TimeoutError:
            return


async def send_invalid(task: ClientTask, chance: random.Random) -> None:
    """An invalid request, which must get an error with a message."""
    path, body = chance.choice(INVALID_REQUESTS)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=task.address, timeout=60) as client:
        reply = await client.post(path, content=body, headers=headers)
    if not 400 <= reply.status_code < 500 or not (reply.json().keys() & {"detail", "error"}):
        raise ValueError(f"{path} answered {body!r} with {reply.status_code}")


KINDS: tuple[ClientKind, ...] = (
    call_openai,
    call_mcp,
    call_agui,
    call_a2a,
    call_langgraph,
    call_page,
    call_langserve,
    call_python,
    call_events,
    disconnect_early,
    send_invalid,
)


async def client(kind: ClientKind, task: ClientTask, number: int, until: float, log: SoakLog) -> None:
    """One client of a kind, which makes requests until the time is over."""
    chance = random.Random(f"{kind.__name__} {number}")
    while time.monotonic() < until:
        try:
            await kind(task, chance)
            log.done[kind.__name__] += 1
        except Exception as error:  # every error of a client is a finding
            cause = _first(error)
            log.wrong.append(f"{kind.__name__}: {type(cause).__name__}: {str(cause)[:300]}")
        await asyncio.sleep(chance.uniform(0, 2 * PAUSE_SECONDS))


def _first(error: BaseException) -> BaseException:
    """The first error inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def run(address: str, pid: int, seconds: float, graph: str = GRAPH) -> SoakLog:
    """Run all clients for the options seconds, then wait until no turn is unfinished."""
    log = SoakLog()
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        questions = (await http.get(f"/api/graphs/{graph}/examples")).json()
        expected = {}
        for question in questions:
            reply = await http.post(
                "/api/ask", json={"question": question, "graph": graph}, headers={"Accept": "application/json"}
            )
            expected[question] = reply.json()["values"]
        task, until = ClientTask(address, graph, expected), time.monotonic() + seconds
        clients = [asyncio.create_task(client(kind, task, n, until, log)) for kind in KINDS for n in range(CLIENTS)]
        while time.monotonic() < until:
            await asyncio.sleep(1.0)
            log.memory.append(memory(pid))
            log.files.append(open_files(pid))
        await asyncio.gather(*clients)
        # turns of disconnected clients are cancelled after NACRE_RESUME_SECONDS
        for _ in range(MAX_CANCEL_SECONDS):
            counters = (await http.get("/metrics")).text
            unfinished = float(counters.split("\nnacre_turns_under_way ")[1].split()[0])
            if not unfinished:
                return log
            await asyncio.sleep(1.0)
    log.wrong.append(f"{unfinished:g} turns are still unfinished")
    return log


def open_files(pid: int) -> int:
    """Open files of a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(len(os.listdir(f"/proc/{each}/fd")) for each in (pid, *children))


def _over_time(values: Sequence[float]) -> str:
    """The values at POINTS times, from the first to the last."""
    times = [round(n * (len(values) - 1) / (POINTS - 1)) for n in range(POINTS)]
    return " ".join(f"{values[n]:.0f}" for n in times) if values else "none"


def soak_summary(log: SoakLog, seconds: float) -> tuple[str, bool]:
    """The log in one line, and whether the limits hold."""
    warm = int(len(log.memory) * WARM_SHARE)
    used, opened = log.memory[warm:] or [0.0], log.files[warm:] or [0]
    half = max(1, len(used) // 2)
    growth = statistics.median(used[half:] or used) / max(1.0, statistics.median(used[:half]))
    more = statistics.median(opened[half:] or opened) - statistics.median(opened[:half])
    line = (
        f"{len(KINDS) * CLIENTS} clients, {seconds:g} s: {json.dumps(dict(sorted(log.done.items())))}; "
        f"memory {_over_time(log.memory)} MB (x{growth:.2f} from the first half to the second), "
        f"open files {_over_time(log.files)}; "
        f"{len(log.wrong)} wrong"
    )
    all_ran = all(log.done[kind.__name__] for kind in KINDS)
    return line, all_ran and not log.wrong and growth <= GROWTH_LIMIT and more <= MAX_MORE_FILES


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.soak_clients")
    parser.add_argument("seconds", nargs="?", type=float, default=1800.0)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(arguments)
    with server(options.workers) as (address, pid):
        log = asyncio.run(run(address, pid, options.seconds))
    line, holds = soak_summary(log, options.seconds)
    print(line)
    for problem, times in Counter(log.wrong).most_common(10):
        print(f"{times} x {problem}")
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
