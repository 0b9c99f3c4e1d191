"""Hostile answers of SPARQL endpoints: each is read by a process of its own, which ends in the right error."""

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from benchmarks.abuse.case import AttackResult, busy_factor
from benchmarks.abuse.measured import run_measured
from benchmarks.inputs.hostile_answers import SELECT, HostileAnswer, hostile_answers
from benchmarks.server import environment
from tests.support import sparql_server

QUERY_SECONDS = 1.0
DRIP_SECONDS = 0.1


def attack_with_answers(folder: Path, only: str = "") -> Iterator[AttackResult]:
    """Read each answer."""
    for name, answer in hostile_answers().items():
        if only in name:
            yield _read(name, _sent_whole(answer), answer.query, answer.kind, folder)
    for name, start in (("headers", b"HTTP/1.1 200 OK\r\nX-Slow: "), ("a body", b"HTTP/1.1 200 OK\r\n\r\n")):
        if only in name:
            yield _read(f"{name} a byte at a time", _dripping(start), SELECT, "timeout", folder)


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
