"""Hostile requests to a server with two keys: each ends soon, with the right status."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.abuse.case import AttackResult, polled_health
from benchmarks.inputs.hostile_answers import inflating
from benchmarks.inputs.hostile_sparql import bypasses

GRAPH = "load"
QUESTION = "Which car has the highest price?"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
QUERY_PATH = f"/api/graphs/{GRAPH}/query"
VERIFIED_PATH = f"/api/graphs/{GRAPH}/verified"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
FIRST_QUERIES = 4
LONG = "A" * 60_000


@dataclass(frozen=True)
class Target:
    """A server with a graph of triples, and a client for each of its two keys. No request may reach `trap`."""

    address: str
    ann: httpx.Client
    bo: httpx.Client
    trap: str


@dataclass(frozen=True)
class RequestCase:
    """A request and the statuses that are right; `content` and `headers` are sent as they are."""

    what: str
    path: str
    body: Any = None
    statuses: tuple[int, ...] = (422,)
    method: str = "POST"
    content: bytes | None = None
    headers: Mapping[str, str] | None = None


def _nested(number: int) -> bytes:
    return b'{"question": ' + b"[" * number + b"]" * number + b"}"


JSON = {"Content-Type": "application/json"}
ASKED = {"question": QUESTION, "graph": GRAPH}


def _agui(*, messages: int = 1, **fields: Any) -> dict[str, Any]:
    """The input of a run whose last message is the question."""
    said = [{"id": str(number), "role": "user", "content": QUESTION} for number in range(messages)]
    return {"threadId": "abuse", "runId": "abuse", "messages": said, "forwardedProps": {"graph": GRAPH}, **fields}


def _a2a(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _a2a_message(parts: int = 1, **fields: Any) -> dict[str, Any]:
    text = [{"text": QUESTION} for _ in range(parts)]
    message = {"messageId": "abuse", "role": "ROLE_USER", "parts": text, "metadata": {"graph": GRAPH}}
    return {"message": message, **fields}


A2A_VERSION = {"A2A-Version": "1.0"}
INTERRUPT = {"interruptId": "abuse", "status": "resolved", "payload": {"option": 1}}
# the address that gives a machine of a cloud its credentials
PUSH: dict[str, Any] = {"configuration": {"taskPushNotificationConfig": {"url": "http://169.254.169.254/"}}}
# agents of other vendors; JSON-RPC reports errors with HTTP status 200
AGENT_CASES = (
    RequestCase("AG-UI: 5,000 messages", "/agui", _agui(messages=5000)),
    RequestCase("AG-UI: a state of 40,000 values", "/agui", _agui(state={"a": [0] * 40_000}), (200,)),
    RequestCase("AG-UI: a tool whose description is 500 KB", "/agui",
                _agui(tools=[{"name": "t", "description": "Obey. " * 83_000}]), (200,)),
    RequestCase("AG-UI: an interrupt that nobody raised", "/agui", _agui(resume=[INTERRUPT]), (404,)),
    RequestCase("AG-UI: 9,000 resumed interrupts", "/agui", _agui(resume=[INTERRUPT] * 9000)),
    RequestCase("A2A: 9,000 parts", "/a2a", _a2a("SendMessage", _a2a_message(9000)), (200,), headers=A2A_VERSION),
    RequestCase("A2A: a message that asks to call an address", "/a2a",
                _a2a("SendMessage", _a2a_message(**PUSH)), (200,), headers=A2A_VERSION),
    RequestCase("A2A: a page token of 5,000 digits", "/a2a",
                _a2a("ListTasks", {"pageToken": "9" * 5000}), (200,), headers=A2A_VERSION),
    RequestCase("A2A: the card with a host of 3,000 letters", "/.well-known/agent-card.json", None, (200, 400), "GET",
                headers={"Host": "h" * 3000}),
)  # fmt: skip
RUN = {"assistant_id": GRAPH, "input": {"question": QUESTION}}
LANGGRAPH_CASES = (
    RequestCase("LangGraph: a webhook", "/langgraph/runs/wait", {**RUN, "webhook": "http://127.0.0.1:1/"}),
    RequestCase("LangGraph: a delay of a year", "/langgraph/runs", {**RUN, "after_seconds": 3e7}),
    RequestCase("LangGraph: 33 runs in a batch", "/langgraph/runs/batch", [RUN] * 33),
    RequestCase("LangGraph: an image", "/langgraph/runs/wait", {**RUN, "input": {"messages": [["user", [{}]]]}}),
    RequestCase("LangGraph: the thread of another key", "/langgraph/threads/ann:t/runs/wait", RUN, (404,)),
    RequestCase("LangGraph: values of a state", "/langgraph/threads/t/state", {"values": {"turn": 9}}, (404, 422)),
    RequestCase("LangGraph: metadata of 60 KB", "/langgraph/threads", {"metadata": {"a": LONG}}),
    RequestCase(
        "LangGraph: 5,000 filters", "/langgraph/threads/search", {"metadata": {str(n): n for n in range(5000)}}
    ),
    RequestCase("LangGraph: a history of a billion", "/langgraph/threads/t/history", {"limit": 10**9}),
)
CASES = (
    *AGENT_CASES,
    *LANGGRAPH_CASES,
    *(
        RequestCase(f"{number:,} nested brackets to {path}", path, None, (400,), content=_nested(number), headers=JSON)
        for path in ("/api/ask", "/ask/invoke", "/v1/chat/completions", "/mcp", "/agui", "/a2a", "/langgraph/runs/wait")
        for number in (960, 100_000)
    ),
    RequestCase("config null", "/ask/invoke", {"input": ASKED, "config": None}),
    RequestCase("a list of null as config", "/ask/batch", {"inputs": [ASKED], "config": [None]}),
    *(
        RequestCase(f"a thread with the name {name!r}", "/api/ask", {**ASKED, "thread": name})
        for name in ("a/b", "a\0b", "../../x")
    ),
    RequestCase("a name of a thread of 3,000 letters", "/api/ask", {**ASKED, "thread": "t" * 3000}),
    RequestCase(
        "a Last-Event-ID of 5,000 digits",
        "/api/runs/none",
        None,
        (404,),
        "GET",
        headers={"Last-Event-ID": "none." + "9" * 5000},
    ),
    *(
        RequestCase(what, f"/api/graphs/{GRAPH}/class/table?iri=urn:x{rest}", None, (404, 422), "GET")
        for what, rest in {
            "a table sorted by a piece of SQL": "&sort=%22%3BDROP%20TABLE%20entity--",
            "a filter that is a piece of SQL": "&filter=urn:y%20=%20%27%20OR%201=1--",
            "a table of 2,000 filters": "&filter=urn:y%20=%201" * 2000,
            "a page of a table beyond all rows": "&skip=99999999999999999999",
        }.items()
    ),
    RequestCase("a confirmation of nothing", VERIFIED_PATH, {}),
    RequestCase("a confirmation of a turn of nobody", VERIFIED_PATH, {"thread": "none", "turn": 1}, (404,)),
    *(
        RequestCase(f"a confirmed query: {what}", VERIFIED_PATH, {"question": QUESTION, "query": query})
        for what, query in (
            ("DROP TABLE", {"tool": "sql", "text": "DROP TABLE car"}),
            ("another tool", {"tool": "shell", "text": "true"}),
            ("endless", {"tool": "sql", "text": ENDLESS}),
            ("SERVICE", {"tool": "sparql", "text": "SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"}),
        )
    ),
    RequestCase("the approval of nothing", f"{VERIFIED_PATH}/none/approve", {}, (403, 404)),
    RequestCase("the removal of nothing", f"{VERIFIED_PATH}/none", None, (404,), "DELETE"),
    RequestCase("501 lines to confirm", f"{VERIFIED_PATH}/import", {"lines": [{}] * 501}),
    RequestCase("an upload by a key that may not write", "/api/uploads", None, (403,)),
    *(
        RequestCase(f"to attach {what}", "/api/attachments", {"address": address, "graph": "far"}, (403, 422))
        for what, address in {
            "the credentials of a cloud": "http://169.254.169.254/latest/meta-data",
            "a file": "file:///etc/passwd",
            "a database file": "sqlite:////etc/passwd",
            "a socket": "postgresql:///shop?host=/var/run/postgresql",
            "60 KB": "https://" + LONG,
        }.items()
    ),
    RequestCase(
        "20 MB for an upload of nobody",
        f"/api/uploads/{'0' * 32}/files?name=a.ttl",
        None,
        (403, 404),
        "PUT",
        content=b"a" * 20_000_000,
    ),
    RequestCase(
        "a graph deleted by a key that may not write", f"/api/graphs/{GRAPH}?confirm={GRAPH}", None, (403,), "DELETE"
    ),
    RequestCase("a path of 60 KB", f"/api/graphs/{LONG}", None, (404, 414, 400), "GET"),
    RequestCase("a parameter of 60 KB", f"/api/graphs?x={LONG}", None, (200, 400, 414), "GET"),
    RequestCase(
        "Content-Encoding: gzip, gzip, gzip",
        "/api/ask",
        None,
        (400, 415, 422),
        content=inflating(10, 3),
        headers={**JSON, "Content-Encoding": "gzip, gzip, gzip"},
    ),
    RequestCase("a query of 20 KB", QUERY_PATH, {"language": "sparql", "text": "ASK { ?s ?p (" + "1 " * 9990 + ") }"}),
    RequestCase("a number of 900,000 digits", "/api/ask", None, (400,), content=b"9" * 900_000, headers=JSON),
)
RAW_REQUESTS = {
    "a method of 60 KB": f"{LONG} /api/graphs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode(),
    "a path of 60 KB, as it is": f"GET /{LONG} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode(),
    "a header of 2 MB": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"a" * 2_000_000 + b"\r\n\r\n",
    "a length below 0": b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
}


def attack_with_requests(target: Target, only: str = "") -> Iterator[AttackResult]:
    """All requests, one after the other; the first queries of the server are sent at once."""
    with polled_health(target.address) as health:
        if only in "first queries":
            yield _first_queries(target)
        for name, bypass in bypasses(LABEL, target.trap).items():
            if only in name:
                case = RequestCase(f"SPARQL: {name}", QUERY_PATH, {"language": "sparql", "text": bypass.text})
                yield _send(case, target)
        for case in CASES:
            if only in case.what:
                yield _send(case, target)
        for name, sent in RAW_REQUESTS.items():
            if only in name:
                yield _send_raw(name, sent, target)
        yield _metrics(target)
    yield health.result("hostile requests")


@contextmanager
def trap() -> Iterator[tuple[str, list[bytes]]]:
    """An address that no query may reach, and what reached it."""
    reached: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    line, _ = listening.accept()
                    reached.append(line.recv(1000))
                    line.close()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", reached
        # ends the thread, which waits for a connection
        listening.shutdown(socket.SHUT_RDWR)


def _first_queries(target: Target) -> AttackResult:
    """Several at once of each key: they share the processes that the first one starts."""
    body = {"language": "sparql", "text": f"SELECT ?s {{ ?s {LABEL} ?l }} LIMIT 1"}
    start = time.perf_counter()
    with ThreadPoolExecutor(2 * FIRST_QUERIES) as pool:
        sent = [pool.submit(each.post, QUERY_PATH, json=body) for each in (target.ann, target.bo) * FIRST_QUERIES]
        statuses = [each.result().status_code for each in sent]
    seconds = time.perf_counter() - start
    problem = "" if set(statuses) == {200} else f"statuses {statuses}"
    return AttackResult(f"the first {len(statuses)} SPARQL queries at once, all of them", seconds, problem=problem)


def _send(case: RequestCase, target: Target) -> AttackResult:
    start = time.perf_counter()
    reply = target.ann.request(
        case.method,
        case.path,
        content=case.content,
        json=case.body if case.content is None and case.body is not None else None,
        headers=dict(case.headers or {}),
    )
    seconds = time.perf_counter() - start
    problem = "" if reply.status_code in case.statuses else f"status {reply.status_code}: {reply.text[:100]}"
    return AttackResult(case.what, seconds, problem=problem)


def _send_raw(name: str, sent: bytes, target: Target) -> AttackResult:
    parts = urlsplit(target.address)
    start, received = time.perf_counter(), b""
    # the server may close the line before all is sent
    with suppress(OSError), socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        while piece := line.recv(65536):
            received += piece
    seconds = time.perf_counter() - start
    problem = "" if not received or received.split()[1].startswith(b"4") else f"replied {received[:60]!r}"
    return AttackResult(name, seconds, problem=problem)


def _metrics(target: Target) -> AttackResult:
    reply = target.ann.get("/metrics")
    problem = "they contain what was sent" if "AAAA" in reply.text else ""
    problem = problem if len(reply.content) < 200_000 else f"they have {len(reply.content):,} bytes"
    return AttackResult("/metrics afterwards", reply.elapsed.total_seconds(), problem=problem)
