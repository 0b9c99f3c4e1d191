"""Small servers that speak as model servers do: OpenAI's over server-sent events, Ollama's over lines of JSON."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 8,
    "total_tokens": 128,
    "prompt_tokens_details": {"cached_tokens": 100},
}


Ways = tuple[str, ...]


@dataclass
class Reply:
    """What one request gets. A stream breaks off after `cut` pieces; `headers` go with it."""

    text: str = ""
    status: int = 200
    cut: int | None = None
    refusal: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """`replies` are used up from the front; `asked` are the bodies of the requests, `paths` where they went."""

    url: str
    replies: list[Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def openai_server(*replies: Reply, takes: Ways = ("json_schema", "tools"), ignores: Ways = ()) -> Iterator[Server]:
    """`/v1/chat/completions`, streamed or whole. Ways to ask for a record that it does not take it refuses, or ignores,
    as servers do; asked for a tool call, it gives its reply as the tool's arguments."""
    with _served(_OpenAI, list(replies), takes=takes, ignores=ignores) as server:
        server.url += "/v1"
        yield server


@contextmanager
def ollama_server(*replies: Reply, model: str = "small") -> Iterator[Server]:
    """`/api/chat` as Ollama answers it; any other model than `model` is not found."""
    with _served(_Ollama, list(replies), model) as server:
        yield server


@contextmanager
def endless_server(*, in_headers: bool = False) -> Iterator[Server]:
    """A server whose reply does not end: its body is spaces, or its headers come a character at a time."""
    with _served(_Dribbling if in_headers else _Endless, []) as server:
        yield server


@contextmanager
def raw_server(body: bytes, media: str, status: int = 200, headers: dict[str, str] | None = None) -> Iterator[Server]:
    """A server that gives each request this body."""
    reply = Reply(status=status, headers={**(headers or {}), "content-length": str(len(body))})

    class Raw(_Handler):
        def answer(self, asked: dict[str, Any], _: Reply) -> None:
            with suppress(ConnectionError):
                self.begin(reply.status, media, reply)
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.server.state.paths.append(self.path)  # type: ignore[attr-defined]
            self.answer({}, reply)

    with _served(Raw, []) as server:
        yield server


@contextmanager
def _served(
    handler: type[BaseHTTPRequestHandler],
    replies: list[Reply],
    model: str = "",
    takes: Ways = (),
    ignores: Ways = (),
) -> Iterator[Server]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        server = Server(f"http://127.0.0.1:{http.server_address[1]}", replies)
        http.state, http.model, http.takes, http.ignores = server, model, takes, ignores  # type: ignore[attr-defined]
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        state: Server = self.server.state  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        state.asked.append(body)
        state.paths.append(self.path)
        refusal = self.refusal(body)
        if refusal:
            self.answer(body, Reply(refusal, status=400))
            return
        self.answer(body, state.replies.pop(0) if state.replies else Reply(status=500))

    def refusal(self, body: dict[str, Any]) -> str:
        """Why this server can't do what it is asked for, or ""."""
        return ""

    def answer(self, body: dict[str, Any], reply: Reply) -> None:
        raise NotImplementedError

    def begin(self, status: int, kind: str, reply: Reply) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


class _Endless(_Handler):
    """300 MB, which ends a test that reads it all."""

    def answer(self, body: dict[str, Any], reply: Reply) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        with suppress(ConnectionError):
            self.begin(200, "application/json", Reply())
            for _ in range(300):
                self.wfile.write(b" " * 1_000_000)


class _Dribbling(_Handler):
    """20 seconds of headers, which ends a test that waits for them all."""

    def do_GET(self) -> None:
        with suppress(ConnectionError):
            for character in b"HTTP/1.1 200 OK\r\nX: " + b"a" * 160:
                self.wfile.write(bytes([character]))
                self.wfile.flush()
                time.sleep(0.1)


class _OpenAI(_Handler):
    def way(self, body: dict[str, Any]) -> str:
        """How a record is asked for."""
        if body.get("tools"):
            return "tools"
        return "json_schema" if body.get("response_format") else "text"

    def refusal(self, body: dict[str, Any]) -> str:
        known: Ways = ("text", *self.server.takes, *self.server.ignores)  # type: ignore[attr-defined]
        return "" if self.way(body) in known else f"{self.way(body)} is not supported"

    def answer(self, body: dict[str, Any], reply: Reply) -> None:
        if reply.status != 200:
            self.begin(reply.status, "application/json", reply)
            self.wfile.write(json.dumps({"error": {"message": reply.text or "not now", "type": "server"}}).encode())
            return
        base = {"id": "c1", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            said: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal}
            if self.way(body) == "tools" and "tools" in self.server.takes:  # type: ignore[attr-defined]
                name = body["tools"][0]["function"]["name"]
                call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": reply.text}}
                said = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            self.begin(200, "application/json", reply)
            whole = {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE}
            self.wfile.write(json.dumps(whole).encode())
            return
        self.begin(200, "text/event-stream", reply)
        for n, piece in enumerate(reply.text.split(" ")):
            if n == reply.cut:
                # neither a last chunk nor [DONE]: half a line, and the connection is gone
                self.wfile.write(b'data: {"id": "c1", "choi')
                return
            delta = {"index": 0, "delta": {"role": "assistant", "content": f"{' ' if n else ''}{piece}"}}
            self.event({**base, "object": "chat.completion.chunk", "choices": [{**delta, "finish_reason": None}]})
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        self.event({**base, "object": "chat.completion.chunk", "choices": [end]})
        if (body.get("stream_options") or {}).get("include_usage"):
            self.event({**base, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, data: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())


class _Ollama(_Handler):
    def answer(self, body: dict[str, Any], reply: Reply) -> None:
        known: str = self.server.model  # type: ignore[attr-defined]
        if body["model"] != known or reply.status != 200:
            missing = body["model"] != known
            self.begin(404 if missing else reply.status, "application/json", reply)
            why = f"model '{body['model']}' not found" if missing else reply.text or "server busy"
            self.wfile.write(json.dumps({"error": why}).encode())
            return
        self.begin(200, "application/x-ndjson", reply)
        base = {"model": known, "created_at": "2026-01-01T00:00:00Z"}
        for n, piece in enumerate(reply.text.split(" ")):
            if n == reply.cut:
                return
            message = {"role": "assistant", "content": f"{' ' if n else ''}{piece}"}
            self.line({**base, "message": message, "done": False})
        counts = {"prompt_eval_count": 50, "eval_count": 7, "total_duration": 1, "load_duration": 1}
        last = {**base, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", **counts}
        self.line(last)

    def line(self, data: dict[str, Any]) -> None:
        self.wfile.write(f"{json.dumps(data)}\n".encode())
