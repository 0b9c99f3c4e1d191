"""Hostile requests to a server with two keys: each ends soon, with the right status."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from benchmarks.abuse.case import GRAPH, REQUEST_SECONDS, AttackResult, RequestCase, polled_health
from benchmarks.abuse.protocols import ASKED, JSON, LONG, PROTOCOL_CASES, QUESTION
from benchmarks.inputs.hostile_answers import inflating
from benchmarks.inputs.hostile_sparql import bypasses

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
QUERY_PATH = f"/api/graphs/{GRAPH}/query"
VERIFIED_PATH = f"/api/graphs/{GRAPH}/verified"
LAYER_PATH = f"/api/graphs/{GRAPH}/layer"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
FIRST_QUERIES = 4

# a query of a client ends after so many seconds (docs/trust.md)
QUERY_SECONDS = 5.0


@dataclass(frozen=True)
class Target:
    """A server with a graph of triples, and a client for each of its two keys. No request may reach `trap`."""

    address: str
    ann: httpx.Client
    bo: httpx.Client
    trap: str


def _nested(number: int) -> bytes:
    return b'{"question": ' + b"[" * number + b"]" * number + b"}"


CASES = (
    *PROTOCOL_CASES,
    *(
        RequestCase(f"{number:,} nested brackets to {path}", path, None, (400,), content=_nested(number), headers=JSON)
        for path in ("/api/ask", "/ask/invoke", "/v1/chat/completions", "/mcp", "/agui", "/a2a", "/langgraph/runs/wait")
        for number in (960, 100_000)
    ),
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
    *(
        RequestCase(f"an overview of {what}", f"/api/graphs/{GRAPH}/overview?{query}", None, statuses, "GET")
        for what, query, statuses in (
            ("10^20 classes", f"classes={10**20}", (422,)),
            ("-1 classes", "classes=-1", (422,)),
            ("all classes that are given", "classes=400", (200,)),
            ("a language that is a path", "language=../../keys", (422,)),
            ("a language of 60 KB", f"language={LONG}", (422, 414, 400)),
        )
    ),
    *(
        RequestCase(
            f"a thing with {what}", f"/api/graphs/{GRAPH}/thing?iri=urn:x&whole={whole}", None, (404, 422), "GET"
        )
        for what, whole in {
            "a piece of SQL as its property": "%27%20OR%201=1--",
            "a property of 3,000 letters": LONG[:3000],
        }.items()
    ),
    *(
        RequestCase(f"a name changed: {what}", LAYER_PATH, body, statuses)
        for what, body, statuses in (
            ("by a key that may not write", {"iri": "urn:x", "also": ["x"]}, (403,)),
            ("to 10,000 names", {"iri": "urn:x", "also": ["x"] * 10_000}, (403, 422)),
            ("to one of 60 KB", {"iri": "urn:x", "also": [LONG]}, (403, 422)),
            ("to YAML of its own", {"iri": "urn:x", "also": ["a\nclasses: {x: &x [*x]}"]}, (403, 422)),
            ("of an IRI of 60 KB", {"iri": LONG, "also": []}, (403, 422)),
        )
    ),
    RequestCase("a turn shared for -1 days", "/api/threads/none/turns/1/share", {"days": -1}),
    RequestCase("a turn of 10^30 shared", f"/api/threads/none/turns/{10**30}/share", {}),
    RequestCase("a shared answer withdrawn by a piece of SQL", "/api/shares/%27%20OR%201=1--", None, method="DELETE"),
    RequestCase("a confirmation of nothing", VERIFIED_PATH, {}),
    RequestCase("a confirmation of a turn of nobody", VERIFIED_PATH, {"thread": "none", "turn": 1}, (404,)),
    *(
        RequestCase(f"a confirmed query: {what}", VERIFIED_PATH, {"question": QUESTION, "query": query})
        for what, query in (
            ("DROP TABLE", {"tool": "sql", "text": "DROP TABLE car"}),
            ("another tool", {"tool": "shell", "text": "true"}),
            ("SERVICE", {"tool": "sparql", "text": "SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"}),
        )
    ),
    RequestCase(
        "a confirmed query: endless",
        VERIFIED_PATH,
        {"question": QUESTION, "query": {"tool": "sql", "text": ENDLESS}},
        # it runs to the end of its time
        limit=REQUEST_SECONDS + QUERY_SECONDS,
    ),
    RequestCase("the approval of nothing", f"{VERIFIED_PATH}/none/approve", {}, (403, 404)),
    RequestCase("the removal of nothing", f"{VERIFIED_PATH}/none", None, (404,), "DELETE"),
    RequestCase("a word by a key that may not write", f"{LAYER_PATH}/words", {"word": "x", "meaning": "y"}, (403, 422)),
    RequestCase("the meanings of a long word", f"{LAYER_PATH}/words?word={'x' * 5000}", None, (422,), "GET"),
    RequestCase("501 lines to confirm", f"{VERIFIED_PATH}/import", {"lines": [{}] * 501}),
    RequestCase("an upload by a key that may not write", "/api/uploads", None, (403,)),
    RequestCase("a turn of nobody shared", "/api/threads/none/turns/1/share", {}, (404,)),
    RequestCase("an answer shared for 10^30 days", "/api/threads/none/turns/1/share", {"days": 10**30}),
    RequestCase("a shared answer of nobody withdrawn", f"/api/shares/{'0' * 16}", None, (404,), "DELETE"),
    *(
        RequestCase(f"a shared answer: {what}", f"/share/{token}", None, (404,), "GET")
        for what, token in {
            "a guess": "A" * 43,
            "a piece of SQL": "%27%20OR%201=1--".ljust(60, "-"),
            "a path": "..%2f..%2fkeys.json",
            "60 KB": LONG,
        }.items()
    ),
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
        if only in "a shared answer with markup":
            yield _share(target)
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
    return AttackResult(case.what, seconds, case.limit, problem=problem)


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


def _share(target: Target) -> AttackResult:
    """A key shares an answer to a question with markup: it stays text, no other key withdraws it, it ends with its
    thread."""
    asked = {**ASKED, "question": "Which car <script>alert(1)</script> has the highest price?", "thread": "shared"}
    start = time.perf_counter()
    target.ann.post("/api/ask", json=asked, headers={"Accept": "application/json"})
    made = target.ann.post("/api/threads/shared/turns/1/share", json={}).json()
    withdrawn = target.bo.delete(f"/api/shares/{made['link']['id']}").status_code
    page = httpx.get(target.address + made["path"], timeout=60)
    target.ann.delete("/api/threads/shared")
    statuses = [withdrawn, page.status_code, httpx.get(target.address + made["path"], timeout=60).status_code]
    seconds = time.perf_counter() - start
    problem = "" if statuses == [404, 200, 404] else f"statuses {statuses}"
    if "<script" in page.text or "alert(1)" not in page.text:
        problem = problem or "markup of the question is not text"
    return AttackResult("a shared answer with markup, read without a key", seconds, problem=problem)


def _metrics(target: Target) -> AttackResult:
    reply = target.ann.get("/metrics")
    problem = "they contain what was sent" if "AAAA" in reply.text else ""
    problem = problem if len(reply.content) < 200_000 else f"they have {len(reply.content):,} bytes"
    return AttackResult("/metrics afterwards", reply.elapsed.total_seconds(), problem=problem)
