"""JSON-LD and servers of contexts that are made to take all memory or time: each is refused, or read as usual."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmarks.inputs.hostile_contexts import (
    copied_terms,
    deep_files,
    doubling_context,
    named_contexts,
    own_contexts,
    scoped_terms,
)
from ingestion.read.facts import Facts
from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from nacre.errors import IngestionError
from nacre.extensions.json_ld.contexts import (
    MAX_FETCHED,
    ContextDownloads,
    ContextLoader,
    has_several_contexts,
    inline_contexts,
)

FETCH = ReadOptions(fetch=True)


def read(folder: Path, content: object, reading: ReadOptions = ReadOptions()) -> Facts:  # noqa: B008
    """The facts of a file; reading or refusing it takes less than 12 s."""
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "a.jsonld").write_text(text)
    start = time.monotonic()
    try:
        return read_sources(find_sources([str(folder / "a.jsonld")], reading))
    finally:
        assert time.monotonic() - start < 12


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server on the loopback, which calls `answer` for each request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.server_close()


def send(handler: BaseHTTPRequestHandler, document: object, status: int = 200, **headers: str) -> None:
    body = json.dumps(document).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@pytest.mark.parametrize("content", deep_files().values(), ids=deep_files())
def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(IngestionError, match=r"a\.jsonld: the JSON in it is nested deeper than 256 levels"):
        read(tmp_path, content)


@pytest.mark.parametrize("size", [1, 3, 7, 1 << 20])
@pytest.mark.parametrize(("depth", "refused"), [(256, False), (257, True)])
def test_the_depth_is_counted_outside_texts_and_across_blocks(size: int, depth: int, refused: bool) -> None:
    text = (r'["\\", "\"[[[", "]]{", ' * depth + "1" + "]" * depth).encode()
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    if refused:
        with pytest.raises(IngestionError):
            has_several_contexts(blocks)
    else:
        assert not has_several_contexts(blocks)


def test_contexts_that_copy_many_terms_again_and_again_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestionError, match=r"a\.jsonld: its JSON-LD contexts are nested .*--max-expansion"):
        read(tmp_path, copied_terms(5000, 10_000))


@pytest.mark.parametrize("use", ["type", "key"])
def test_contexts_of_types_and_keys_that_copy_many_terms_are_refused(tmp_path: Path, use: str) -> None:
    many: dict[str, Any] = {f"t{i}": f"http://e/t{i}" for i in range(5000)}
    many["T"] = {"@id": "http://e/T", "@context": {"u": "http://e/u"}}
    uses: dict[str, dict[str, Any]] = {"type": {"@type": "T", "u": "x"}, "key": {"T": {"u": "x"}}}
    of_use = uses[use]
    nodes = [{"@id": f"http://e/{i}", **of_use} for i in range(10_000)]
    with pytest.raises(IngestionError, match="--max-expansion"):
        read(tmp_path, {"@context": many, "@graph": nodes})


def test_thirty_thousand_contexts_are_read(tmp_path: Path) -> None:
    assert len(read(tmp_path, own_contexts(30_000)).subject) == 30_000
    assert len(read(tmp_path, named_contexts(30_000)).subject) == 30_000


def test_contexts_that_add_too_many_terms_are_refused(tmp_path: Path) -> None:
    inside = [
        {"@id": "http://e/a", "http://e/p": {"@context": "https://schema.org", "@id": f"http://e/{i}", "name": "x"}}
        for i in range(20_000)
    ]
    with pytest.raises(IngestionError, match=r"more than 2,000,000 terms together; --max-expansion"):
        read(tmp_path, inside)


def test_contexts_that_name_the_next_twice_are_refused(tmp_path: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        send(handler, doubling_context(handler.path, 40))

    with (
        server(answer) as address,
        pytest.raises(IngestionError, match=r"a\.jsonld: its JSON-LD contexts have more than 2,000,000 terms"),
    ):
        read(tmp_path, {"@context": f"{address}/0", "@id": "http://e/1", "t": "x"}, FETCH)


def test_a_chain_of_contexts_without_end_is_refused(tmp_path: Path) -> None:
    with (
        server(lambda handler: send(handler, {"@context": f"/{int(handler.path[1:]) + 1}"})) as address,
        pytest.raises(IngestionError, match="name each other in turn"),
    ):
        read(tmp_path, {"@context": f"{address}/0", "@id": "http://e/1", "http://e/t": "x"}, FETCH)


def test_more_contexts_than_may_be_fetched_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = MAX_FETCHED // 10
    monkeypatch.setattr(f"{ContextDownloads.__module__}.MAX_FETCHED", most)
    with server(lambda handler: send(handler, {"@context": {"t": "http://e/t"}})) as address:
        named = [f"{address}/{i}" for i in range(most + 1)]
        assert len(read(tmp_path, {"@context": named[1:], "@id": "http://e/1", "t": "x"}, FETCH).subject) == 1
        with pytest.raises(IngestionError, match=f"more than {most} JSON-LD contexts"):
            read(tmp_path, {"@context": named, "@id": "http://e/1", "t": "x"}, FETCH)


@pytest.mark.parametrize("part", ["headers", "body"])
def test_a_server_that_sends_a_byte_now_and_then_is_left_at_the_deadline(part: str) -> None:
    stopped = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        start = b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 1000\r\n\r\n" if part == "body" else b"X-Slow: ")
        try:
            handler.wfile.write(start)
            while not stopped.wait(0.1):
                handler.wfile.write(b"x")
        except OSError:
            stopped.set()

    downloads = ContextDownloads(1.0)
    with server(drip) as address:
        start = time.monotonic()
        for _ in range(2):  # the deadline holds for both together
            with pytest.raises(IngestionError, match="within 1 seconds"):
                downloads.fetch(f"{address}/context")
        assert time.monotonic() - start < 3
        stopped.set()


@pytest.mark.parametrize("way", ["redirect", "context"])
def test_a_server_may_not_lead_to_another_private_address(tmp_path: Path, way: str) -> None:
    asked: list[str] = []

    def secret(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        send(handler, {"@context": {"t": "http://e/t"}})

    with server(secret) as private:

        def lead(handler: BaseHTTPRequestHandler) -> None:
            if way == "redirect":
                send(handler, {}, 302, Location=f"{private}/secret")
            else:
                send(handler, {"@context": f"{private}/secret"})

        with server(lead) as public, pytest.raises(IngestionError, match="a private address, which is not followed"):
            read(tmp_path, {"@context": f"{public}/c", "@id": "http://e/1", "t": "x"}, FETCH)
    assert asked == []


def test_a_server_may_redirect_to_itself(tmp_path: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/old":
            send(handler, {}, 302, Location="/new")
        else:
            send(handler, {"@context": {"t": "http://e/t"}})

    with server(answer) as address:
        assert len(read(tmp_path, {"@context": f"{address}/old", "@id": "http://e/1", "t": "x"}, FETCH).subject) == 1


def test_nodes_that_share_contexts_are_read_as_if_each_named_it() -> None:
    nodes = [
        {"@context": f"{scheme}://schema.org", "@id": f"http://e/{i}", "name": f"x{i}"}
        for i in range(3)
        for scheme in ("http", "https")
    ]
    loader = ContextLoader({}, False)
    each = json.loads(inline_contexts(json.dumps(nodes).encode(), "http://b/", loader))
    loader.max_inlined = 300
    grouped = json.loads(inline_contexts(json.dumps(nodes).encode(), "http://b/", loader))
    assert (len(each), len(grouped)) == (6, 2)
    assert sorted(node["name"] for group in grouped for node in group["@graph"]) == sorted(n["name"] for n in each)
    assert all(group["@context"] == each[0]["@context"] for group in grouped)


def test_contexts_of_properties_and_types_have_a_limit_of_terms_that_are_defined(tmp_path: Path) -> None:
    assert read(tmp_path, scoped_terms(100, 300)).triples >= 300
    with pytest.raises(IngestionError, match="would have to be copied"):
        read(tmp_path, scoped_terms(2000, 3000))
    terms = {f"z{n}": "http://e/" for n in range(2000)}
    of_type = {"@context": {"@vocab": "http://e/", "T": {"@id": "T", "@context": terms}}}
    with pytest.raises(IngestionError, match="would have to be copied"):
        read(tmp_path, of_type | {"@graph": [{"@id": f"http://e/{n}", "@type": "T", "z1": "v"} for n in range(3000)]})
