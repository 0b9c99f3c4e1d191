"""Asking an endpoint over HTTP: what a good one gives, and what is said of a bad one."""

import json
import threading
import time
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from nacre.errors import ConfigError, ToolError
from nacre.extensions.endpoints.endpoint import EndpointSource, check_endpoint_url
from nacre.stores.addresses import EndpointLimits
from nacre.stores.sparql_source import SparqlTerm
from tests.support import sparql_server as servers

BAKERY = Path(__file__).parents[1] / "fixtures" / "graphs" / "bakery.ttl"
ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"


def test_rows_truth_and_triples() -> None:
    with servers.endpoint(BAKERY) as url:
        source = EndpointSource(url)
        found = source.select(ALL, limit=3, seconds=5)
        assert found.variables == ("s", "p", "o")
        assert len(found.rows) == 3
        assert found.truncated
        assert source.ask("ASK { ?s ?p ?o }", seconds=5)
        assert not source.ask("ASK { ?s <http://nowhere.org/p> ?o }", seconds=5)
        triples = source.construct("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", limit=2, seconds=5)
        assert len(triples) == 2
        assert all(isinstance(term, SparqlTerm) for triple in triples for term in triple)
        source.close()


def test_a_long_query_is_sent_in_the_body() -> None:
    values = " ".join(f'"{i}"' for i in range(3000))
    with servers.endpoint(BAKERY) as url:
        source = EndpointSource(url)
        rows = source.select(f"SELECT ?v WHERE {{ VALUES ?v {{ {values} }} }}", limit=5000, seconds=5).rows
        assert len(rows) == 3000
        source.close()


def test_what_a_server_cuts_off_is_asked_for_in_pages() -> None:
    with servers.endpoint(BAKERY) as url, servers.endpoint(BAKERY, most=10) as small:
        whole, paged = EndpointSource(url), EndpointSource(small)
        assert paged.select(ALL, limit=1000, seconds=5).rows == whole.select(ALL, limit=1000, seconds=5).rows
        assert paged.asked > 1
        limited = paged.select(f"{ALL} LIMIT 12", limit=100, seconds=5)
        assert (len(limited.rows), limited.truncated) == (12, False)
        # one that begins in the middle is left as it is, and what is missing is told
        assert paged.select(f"{ALL} LIMIT 12 OFFSET 3", limit=12, seconds=5).truncated
        whole.close()
        paged.close()


@pytest.mark.parametrize(
    ("respond", "kind", "said"),
    [
        (servers.error_page, "unavailable", r"status 502\.$"),
        (servers.friendly_page, "unavailable", r"no results\. An endpoint"),
        (servers.cut_off, "unavailable", "truncated"),
        (servers.slow, "timeout", "in time"),
        (servers.elsewhere, "refused", "another host, 127.0.0.2:9"),
    ],
)
def test_a_bad_endpoint_is_told_in_one_line(respond: servers.Respond, kind: str, said: str) -> None:
    with servers.serving(respond) as url:
        source = EndpointSource(url)
        begun = time.monotonic()
        with pytest.raises(ToolError, match=said) as error:
            source.select(ALL, limit=10, seconds=0.6)
        assert error.value.kind == kind
        assert time.monotonic() - begun < 3
        assert "<" not in str(error.value).replace(url, "")
        source.close()


@pytest.mark.parametrize(
    ("location", "is_followed"),
    [
        ("https://store.example/x", True),
        ("https://store.example:8443/x", False),
        ("http://store.example:81/x", False),
        ("https://other.example/x", False),
    ],
)
def test_a_redirect_keeps_to_the_port_of_the_endpoint(location: str, is_followed: bool) -> None:
    source = EndpointSource("http://store.example/sparql")
    with nullcontext() if is_followed else pytest.raises(ToolError, match="another host"):
        assert source._same_host(source.url, location) == location
    source.close()


def test_a_forgotten_limit_is_kept_here() -> None:
    with servers.serving(servers.unlimited) as url:
        source = EndpointSource(url)
        found = source.select("SELECT ?s WHERE { ?s ?p ?o } LIMIT 10", limit=10, seconds=5)
        assert (len(found.rows), found.truncated) == (10, True)
        source.close()


def test_what_a_server_had_found_when_its_time_was_over_is_no_answer() -> None:
    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        rows = {"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "typed-literal", "value": "7"}}]}}
        servers.reply(handler, json.dumps(rows).encode(), servers.RESULTS, headers={"X-SQL-State": "S1TAT"})

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        with pytest.raises(ToolError) as error:
            source.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", limit=10, seconds=5)
        assert error.value.kind == "timeout"
        source.close()


@pytest.mark.parametrize(
    ("rows", "truth"), [([], False), ([{"__ASK_RETVAL": {"type": "literal", "value": "1"}}], True)]
)
def test_truth_as_rows(rows: list[dict[str, dict[str, str]]], truth: bool) -> None:
    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        data = {"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": rows}}
        servers.reply(handler, json.dumps(data).encode(), servers.RESULTS)

    with servers.serving(respond) as url:
        source = EndpointSource(url)
        assert source.ask("ASK { ?s ?p ?o }", seconds=5) is truth
        source.close()


def test_too_many_bytes_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.extensions.endpoints.endpoint.MAX_BYTES", 10_000)
    with servers.serving(servers.unlimited) as url:
        source = EndpointSource(url)
        with pytest.raises(ToolError) as error:
            source.select(ALL, limit=10, seconds=5)
        assert error.value.kind == "too_large"
        source.close()


def test_a_syntax_error_is_the_queries_own() -> None:
    with servers.endpoint(BAKERY) as url:
        source = EndpointSource(url)
        with pytest.raises(ToolError) as error:
            source.select("SELECT nonsense", limit=1, seconds=5)
        assert error.value.kind == "syntax"
        source.close()


def test_a_server_that_is_not_there() -> None:
    source = EndpointSource("http://127.0.0.1:9/sparql")
    with pytest.raises(ToolError) as error:
        source.select(ALL, limit=1, seconds=1)
    assert error.value.kind == "unavailable"
    source.close()


@pytest.mark.parametrize(
    ("key", "sent"), [("", None), ("kim:secret", "Basic a2ltOnNlY3JldA=="), ("Bearer abc", "Bearer abc")]
)
def test_the_key_is_sent_as_the_endpoint_wants_it(key: str, sent: str | None) -> None:
    seen: list[str | None] = []

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        seen.append(handler.headers.get("Authorization"))
        servers.reply(handler, json.dumps({"head": {}, "boolean": True}).encode(), servers.RESULTS)

    with servers.serving(respond) as url:
        source = EndpointSource(url, limits=EndpointLimits(key=key))
        assert source.ask("ASK { }", seconds=5)
        source.close()
    assert seen == [sent]


def test_no_more_queries_at_once_than_allowed() -> None:
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        time.sleep(0.05)
        with lock:
            running.pop()
        servers.reply(handler, json.dumps({"head": {}, "boolean": True}).encode(), servers.RESULTS)

    with servers.serving(respond) as url:
        source = EndpointSource(url, limits=EndpointLimits(at_once=2, a_second=1000))
        threads = [threading.Thread(target=source.ask, args=("ASK { }",), kwargs={"seconds": 5}) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        source.close()
    assert len(most) == 8
    assert max(most) <= 2


@pytest.mark.parametrize(
    "url", ["ftp://x.org/sparql", "example.org/sparql", "http://kim:secret@x.org/sparql", "file:///etc"]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError):
        check_endpoint_url(url)
