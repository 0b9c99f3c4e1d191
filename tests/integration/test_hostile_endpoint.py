"""What a hostile endpoint may send: each answer ends as an error of that query, soon and in little memory."""

import gzip
import resource
import time
import zlib
from http.server import BaseHTTPRequestHandler

import pytest

from benchmarks.inputs.hostile_answers import (
    CONSTRUCT,
    ENTITIES,
    JSON_RESULTS,
    NO_NUMBERS,
    SELECT,
    header_text,
    inflating,
    malformed_results,
    results,
)
from nacre.errors import ToolError
from nacre.stores.sparql.endpoint import EndpointSource
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
def test_headers_that_are_no_numbers_are_not_heeded(value: str) -> None:
    def respond(handler: BaseHTTPRequestHandler, _: str) -> None:
        servers.reply(handler, results("x"), JSON_RESULTS, 200, {"X-SPARQL-MaxRows": header_text(value)})

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        assert len(source.select(SELECT, limit=5, seconds=5).rows) == 1
        source.close()
    busy = failure(b"later", "text/plain", status=503, Retry_After=header_text(value))
    assert busy.kind == "unavailable"


def test_terms_that_a_prefix_makes_long_are_bounded() -> None:
    content = f"@prefix a: <http://e.org/{'x' * MEGABYTE}> .\n".encode() + b"a:s a:p a:o ; a:q a:r .\n" * 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nacre.stores.sparql.endpoint_answers.MAX_TERM_CHARACTERS", 5 * MEGABYTE)
        assert failure(content, "text/turtle", CONSTRUCT).kind == "too_large"


def test_an_error_page_sends_nothing_that_a_terminal_obeys() -> None:
    told = str(failure(b"\x1b[2J\x1b]0;owned\x07 broken \x9b31m", "text/plain", status=500))
    assert "broken" in told
    assert told.isprintable()
