"""A small server that speaks as Qdrant does over HTTP, as much of it as Nacre uses; it can stop answering."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

Vector = list[float]


class QdrantServer(ThreadingHTTPServer):
    """`collections` are vectors by id by name. While `silent` is set, requests are accepted and never answered."""

    daemon_threads = True

    def __init__(self, port: int = 0, collections: dict[str, dict[int, Vector]] | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.collections = collections or {}
        self.silent = threading.Event()
        self.over = threading.Event()
        self.asked: list[str] = []
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"


@contextmanager
def qdrant_server(port: int = 0, collections: dict[str, dict[int, Vector]] | None = None) -> Iterator[QdrantServer]:
    """Answers until the block ends; then its address refuses connections."""
    server = QdrantServer(port, collections)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        server = cast(QdrantServer, self.server)
        sent = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or "{}")
        asked = f"{self.command} {self.path.partition('?')[0]}"
        server.asked.append(asked)
        if server.silent.is_set():
            server.over.wait()
            return
        found = re.fullmatch(r"(GET|PUT|POST|DELETE) /collections(?:/([^/]+))?(/exists|/points(?:/query)?)?", asked)
        assert found, asked
        method, name, rest = found.groups()
        self._reply(self._result(server.collections, method, name, rest or "", sent))

    do_GET = do_PUT = do_POST = do_DELETE = _answer

    def _result(
        self, collections: dict[str, dict[int, Vector]], method: str, name: str | None, rest: str, sent: dict[str, Any]
    ) -> Any:
        if name is None:
            return {"collections": [{"name": each} for each in collections]}
        if rest == "/exists":
            return {"exists": name in collections}
        if rest == "/points" and method == "PUT":
            collections[name].update({point["id"]: point["vector"] for point in sent["points"]})
            return {"operation_id": 1, "status": "completed"}
        if rest == "/points":
            known = collections[name]
            return [{"id": each, "vector": known[each]} for each in sent["ids"] if each in known]
        if rest == "/points/query":
            wanted = sent["query"]["nearest"]
            scores = {
                each: sum(a * b for a, b in zip(vector, wanted, strict=True))
                for each, vector in collections[name].items()
            }
            best = sorted(scores, key=lambda each: -scores[each])[: sent["limit"]]
            return {"points": [{"id": each, "version": 1, "score": scores[each]} for each in best]}
        if method == "PUT":
            collections[name] = {}
        else:
            collections.pop(name, None)
        return True

    def _reply(self, result: Any) -> None:
        body = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written to the tests' output."""
