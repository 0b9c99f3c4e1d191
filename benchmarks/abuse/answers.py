"""Hostile answers of SPARQL endpoints, each read by a process of its own, which ends in the right error; and values
that a model states in its queries, of which none becomes an answer."""

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx

from benchmarks.abuse.case import AttackResult, busy_factor
from benchmarks.abuse.measured import run_measured
from benchmarks.inputs.constant_queries import INVENTED_SQL, INVENTIONS, LAMPS
from benchmarks.inputs.hostile_answers import SELECT, HostileAnswer, hostile_answers
from benchmarks.server import environment, run_nacre, started_server
from tests.support import sparql_server
from tests.support.model_servers import Reply, openai_server

QUERY_SECONDS = 1.0
# a turn in which a model writes the same query until it gives up
TURN_SECONDS = 10.0
DRIP_SECONDS = 0.1
# more calls than a turn makes
MAX_EXCHANGES = 20


def attack_with_answers(folder: Path, only: str = "") -> Iterator[AttackResult]:
    """Read each answer."""
    for name, answer in hostile_answers().items():
        if only in name:
            yield _read(name, _sent_whole(answer), answer.query, answer.kind, folder)
    yield from _ask_for_constants(folder / "lamps", only)
    for name, start in (("headers", b"HTTP/1.1 200 OK\r\nX-Slow: "), ("a body", b"HTTP/1.1 200 OK\r\n\r\n")):
        if only in name:
            yield _read(f"{name} a byte at a time", _dripping(start), SELECT, "timeout", folder)


def _ask_for_constants(folder: Path, only: str) -> Iterator[AttackResult]:
    """Ask a server whose model answers by constants."""
    queries = [query for query in INVENTED_SQL if only in f"a model's query: {query}"]
    if not queries:
        return
    folder.mkdir(parents=True)
    (folder / "lamps.ttl").write_text(LAMPS, encoding="utf-8")
    run_nacre(folder / "data", "ingest", str(folder / "lamps.ttl"), "--graph", "lamps", "--no-vectors")
    with (
        openai_server() as model,
        started_server(
            folder / "data", NACRE_MODEL="openai:coder-70b", OPENAI_BASE_URL=model.url, OPENAI_API_KEY="none"
        ) as server,
    ):
        for query in queries:
            written = {"wants": "text", "look_ups": [], "queries": [query], "meaning": "", "missing": ""}
            model.replies[:] = [Reply(json.dumps(written)) for _ in range(MAX_EXCHANGES)]
            model.asked.clear()
            reply = httpx.post(
                f"{server.address}/api/ask",
                json={"question": "What is the weight of Alpha?", "graph": "lamps"},
                headers={"Accept": "application/json"},
                timeout=120,
            )
            answer = reply.json()
            shown = f"{answer.get('answer')} {answer.get('values')} {answer.get('citations')}"
            problem = "" if model.asked else "the model was never asked"
            if answer.get("status") in (None, "answered") or any(each in shown for each in INVENTIONS):
                problem = f"it is {answer.get('status')!r}: {str(answer.get('answer'))[:80]!r}"
            yield AttackResult(f"a model's query: {query}", reply.elapsed.total_seconds(), TURN_SECONDS, 0.0, problem)


def _sent_whole(answer: HostileAnswer) -> sparql_server.Respond:
    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        sparql_server.reply(handler, answer.content, answer.media, answer.status, dict(answer.headers))

    return respond


def _dripping(start: bytes) -> Callable[[BaseHTTPRequestHandler, str], None]:
    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        try:
            handler.wfile.write(start)
            for _number in range(200):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(DRIP_SECONDS)
        except OSError:
            return  # the reader has left, as it should

    return respond


def _read(name: str, respond: sparql_server.Respond, query: str, kind: str, folder: Path) -> AttackResult:
    with sparql_server.serving(respond) as address:
        # on a busy machine, an answer that is refused for its size must be read before its time is over
        arguments = ["benchmarks.abuse.read_answer", address, query, f"{QUERY_SECONDS * busy_factor():g}"]
        ended = run_measured(arguments, environment(folder / "none"), folder)
    what = f"an endpoint's answer: {name}"
    if ended.code:
        return AttackResult(what, ended.seconds, megabytes=ended.megabytes, problem=ended.output[-200:])
    read = json.loads(ended.output.splitlines()[-1])
    problem = "" if read["kind"] == kind else f"ended as {read['kind']!r}, not {kind!r}"
    if not read["message"].isprintable():
        problem = "its error has characters that terminals obey"
    return AttackResult(what, read["seconds"], megabytes=ended.megabytes, problem=problem)
