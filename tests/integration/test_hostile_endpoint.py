"""What a hostile endpoint may send: each answer ends as an error of that query, soon and in little memory."""

import gzip
import json
import resource
import time
import zlib
from http.server import BaseHTTPRequestHandler
from random import Random
from typing import Any

import pytest

from benchmarks.inputs.hostile_answers import (
    CONSTRUCT,
    ENTITIES,
    JSON_RESULTS,
    NO_NUMBERS,
    SELECT,
    HostileAnswer,
    header_text,
    inflating,
    malformed_results,
    results,
    too_many_values,
)
from nacre.errors import ToolError
from nacre.extensions.endpoints.endpoint import EndpointSource, TooManyItems, load_json, read_rows
from nacre.records.threads import CancelToken, WorkCancelled, cancel_token, raise_if_cancelled
from tests.support import sparql_server as servers

MEGABYTE = 1_000_000


def failure(content: bytes, media: str, query: str = SELECT, status: int = 200, **headers: str) -> ToolError:
    """The error that an answer ends in."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}

    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        servers.reply(handler, content, media, status, told)

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        ask = source.construct if query == CONSTRUCT else source.select
        try:
            with pytest.raises(ToolError) as error:
                ask(query, limit=10, seconds=5)
        finally:
            source.close()
    return error.value


def test_triples_are_read_only_in_formats_without_entities() -> None:
    assert failure(ENTITIES, "application/rdf+xml", CONSTRUCT).kind == "unavailable"


def test_what_is_inflated_is_bounded_while_it_is_inflated() -> None:
    bomb = inflating(300)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert failure(bomb, JSON_RESULTS, Content_Encoding="gzip").kind == "too_large"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000


def test_an_answer_is_inflated_once() -> None:
    bomb = inflating(10, 3)
    assert failure(bomb, JSON_RESULTS, Content_Encoding="gzip, gzip, gzip").kind == "unavailable"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_good_answers_may_be_compressed(encoding: str) -> None:
    packed = gzip.compress(results("x")) if encoding == "gzip" else zlib.compress(results("x"))

    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        servers.reply(handler, packed, JSON_RESULTS, 200, {"Content-Encoding": encoding})

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        assert [row[0].value for row in source.select(SELECT, limit=5, seconds=5).rows if row[0]] == ["x"]
        source.close()


@pytest.mark.parametrize("headers", [True, False])
def test_a_server_that_drips_ends_at_the_deadline(headers: bool) -> None:
    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        try:
            if not headers:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n\r\n{")
            else:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in range(100):
                handler.wfile.write(f"X-{number}: a\r\n".encode())
                handler.wfile.flush()
                time.sleep(0.1)
        except OSError:
            return

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        for _ in range(6):
            begun = time.monotonic()
            with pytest.raises(ToolError) as error:
                source.select(SELECT, limit=10, seconds=0.5)
            assert error.value.kind == "timeout"
            assert time.monotonic() - begun < 5
        source.close()


@pytest.mark.parametrize("content", malformed_results().values(), ids=malformed_results())
def test_what_is_no_result_is_an_error_of_that_query(content: bytes) -> None:
    assert failure(content, JSON_RESULTS).kind == "unavailable"


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_headers_that_are_no_numbers_are_ignored(value: str) -> None:
    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        servers.reply(handler, results("x"), JSON_RESULTS, 200, {"X-SPARQL-MaxRows": header_text(value)})

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        assert len(source.select(SELECT, limit=5, seconds=5).rows) == 1
        source.close()
    busy = failure(b"later", "text/plain", status=503, Retry_After=header_text(value))
    assert busy.kind == "unavailable"


@pytest.mark.parametrize("case", too_many_values().values(), ids=too_many_values())
def test_values_that_nobody_asked_for_are_counted_before_they_are_parsed(case: HostileAnswer) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.monotonic()
    assert failure(case.content, case.media, case.query, case.status, **case.headers).kind == case.kind
    assert time.monotonic() - begun < 8
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "kilobytes"


def test_an_answer_is_not_read_on_when_nobody_waits_for_it() -> None:
    content = json.dumps({"head": {"vars": ["s"]}, "results": {"bindings": [{}] * 5000}}).encode()
    token = CancelToken()
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        token.over = looks == 100
        raise_if_cancelled()

    cancel_token.set(token)
    with pytest.raises(WorkCancelled):
        read_rows("http://e.org/", content, ["s"], 5000, check)
    assert looks == 100
    cancel_token.set(None)


def test_only_the_rows_and_columns_that_were_asked_for_are_read() -> None:
    row = {name: {"type": "literal", "value": name} for name in "stu"}
    content = json.dumps({"head": {"vars": ["u", "t", "s"]}, "results": {"bindings": [row] * 500}}).encode()
    asked = list[str]()

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        asked.append(query)
        servers.reply(handler, content, JSON_RESULTS)

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        found = source.select("SELECT ?s (COUNT(?o) AS ?t) { ?s ?p ?o } LIMIT 100000 OFFSET 5", limit=3, seconds=5)
        source.close()
    assert found.variables == ("s", "t")
    assert [[term and term.value for term in row] for row in found.rows] == [["s", "t"]] * 3
    assert found.truncated
    assert asked[0].endswith("LIMIT 4 OFFSET 5")


def test_columns_that_nobody_asked_for_are_an_error_of_that_query() -> None:
    content = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": [{}]}}).encode()
    assert failure(content, JSON_RESULTS).kind == "unavailable"


def value_of(depth: int, random: Random) -> Any:
    """Any JSON value with quotes, backslashes and brackets in its strings."""
    shape = random.choice(["text", "text", "object", "list"]) if depth < 5 else "text"
    if shape == "text":
        return "".join(random.choice('ab"\\,{[\u00e9\n') for _ in range(random.randrange(8)))
    if shape == "object":
        return {value_of(9, random): value_of(depth + 1, random) for _ in range(random.randrange(4))}
    return [value_of(depth + 1, random) for _ in range(random.randrange(4))]


def items_of(value: Any) -> int:
    """The objects and commas of a value as it is written."""
    if isinstance(value, dict):
        return 1 + sum(map(items_of, value.values())) + max(0, len(value) - 1)
    return sum(map(items_of, value)) + max(0, len(value) - 1) if isinstance(value, list) else 0


def test_items_are_counted_outside_strings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.extensions.endpoints.endpoint.UNCOUNTED_BYTES", 0)
    random = Random(5)
    for _ in range(2000):
        value = value_of(0, random)
        content = json.dumps(value, ensure_ascii=random.random() < 0.5).encode()
        assert load_json(content, items_of(value)) == value
        if items_of(value):
            with pytest.raises(TooManyItems):
                load_json(content, items_of(value) - 1)


def test_terms_that_a_prefix_makes_long_are_bounded() -> None:
    content = f"@prefix a: <http://e.org/{'x' * MEGABYTE}> .\n".encode() + b"a:s a:p a:o ; a:q a:r .\n" * 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nacre.extensions.endpoints.endpoint.MAX_TERM_CHARACTERS", 5 * MEGABYTE)
        assert failure(content, "text/turtle", CONSTRUCT).kind == "too_large"


def test_an_error_page_sends_nothing_that_a_terminal_obeys() -> None:
    page = b"\x1b[2J\x1b]0;owned\x07 broken \x9b31m"
    told = str(failure(page, "text/plain", status=400))
    assert "broken" in told
    assert told.isprintable()
    # only what is wrong with a query is said; other pages may hold hosts and secrets
    assert "broken" not in str(failure(page, "text/plain", status=500))
