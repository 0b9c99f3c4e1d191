"""SPARQL endpoints for tests, on loopback: triples -> one that answers; a way to be bad -> one that does not."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox

RESULTS = "application/sparql-results+json"
ERROR_PAGE = b"<html><head><style>h1 {}</style></head><body><h1>Bad gateway</h1><p>Try later.</p></body></html>"
Respond = Callable[[BaseHTTPRequestHandler, str], None]


@contextmanager
def serving(respond: Respond) -> Iterator[str]:
    """The address of a server that answers each query with `respond`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(self, parse_qs(urlsplit(self.path).query).get("query", [""])[0])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            respond(self, parse_qs(body).get("query", [""])[0])

        def log_message(self, *_: object) -> None:
            """Tests say what went wrong."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/sparql"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def endpoint(*files: Path, most: int = 0, store: ox.Store | None = None) -> Iterator[str]:
    """The address of an endpoint over these files and what is in the store; `most` rows at once, where it is not 0, as
    Virtuoso does it."""
    store = ox.Store() if store is None else store
    for file in files:
        store.load(path=str(file))
    store_lock = threading.Lock()

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        try:
            with store_lock:
                found = store.query(query)
                if isinstance(found, ox.QueryTriples):
                    content, media = found.serialize(format=ox.RdfFormat.N_TRIPLES), "application/n-triples"
                else:
                    content, media = found.serialize(format=ox.QueryResultsFormat.JSON), RESULTS
        except (SyntaxError, ValueError, OSError) as error:
            reply(handler, str(error).encode(), "text/plain", 400)
            return
        headers = {}
        if most and media == RESULTS and b'"bindings"' in content:  # type: ignore[operator]
            data = json.loads(content)  # type: ignore[arg-type]
            data["results"]["bindings"] = data["results"]["bindings"][:most]
            content, headers = json.dumps(data).encode(), {"X-SPARQL-MaxRows": str(most)}
        reply(handler, content, media, 200, headers)  # type: ignore[arg-type]

    with serving(respond) as address:
        yield address


def reply(
    handler: BaseHTTPRequestHandler,
    content: bytes,
    media: str,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> None:
    """One whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", media)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


def error_page(handler: BaseHTTPRequestHandler, query: str) -> None:
    """An error of a proxy, as a page for people."""
    reply(handler, ERROR_PAGE, "text/html", 502)


def friendly_page(handler: BaseHTTPRequestHandler, query: str) -> None:
    """A page with status 200 instead of results."""
    reply(handler, b"<html><body>Welcome to our portal</body></html>", "text/html")


def cut_off(handler: BaseHTTPRequestHandler, query: str) -> None:
    """Results that end in the middle."""
    reply(handler, b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","val', RESULTS)


def slow(handler: BaseHTTPRequestHandler, query: str) -> None:
    """A byte now and then, so that no single read takes long."""
    handler.send_response(200)
    handler.send_header("Content-Type", RESULTS)
    handler.end_headers()
    try:
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        return


def unlimited(handler: BaseHTTPRequestHandler, query: str) -> None:
    """More rows than were asked for: LIMIT is forgotten."""
    rows = [{"s": {"type": "uri", "value": f"http://x.org/{i}"}} for i in range(5000)]
    reply(handler, json.dumps({"head": {"vars": ["s"]}, "results": {"bindings": rows}}).encode(), RESULTS)


def elsewhere(handler: BaseHTTPRequestHandler, query: str) -> None:
    """A redirect to another host."""
    reply(handler, b"", "text/plain", 302, {"Location": "http://127.0.0.2:9/secret"})
