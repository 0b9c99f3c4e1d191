"""Middleware around every request: size limits, a valid JSON body, the request id, access log and metrics.

ASGI app -> ASGI app.
"""

import json
import logging
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.run_in_thread import run_in_thread
from nacre.language.sanitize import escape_controls
from nacre.serving.http.error_formats import error_response
from nacre.serving.http.metrics import Metrics

log = logging.getLogger("nacre.access")

OWN_PATHS = re.compile(r"/(?:api|ask|static|v1|mcp|healthz|readyz|metrics)(?:/|$)|/$")
REQUEST_ID = re.compile(r"[\w.:-]{1,100}")
MAX_PATH = 1000
# levels of lists and objects in a body; requests of all interfaces have fewer than 20 (given)
MAX_DEPTH = 100
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# characters of a path that are logged
MAX_LOGGED_PATH = 300
# headers of every reply that does not set them itself
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
request_id: ContextVar[str] = ContextVar("request_id", default="")


class RequestRejected(Exception):
    """The request is refused; with its status and the reason."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class RequestMiddleware:
    """Limits and measures requests to our own routes; requests to a surrounding platform's routes pass untouched."""

    def __init__(self, app: ASGIApp, max_body: int, metrics: Metrics) -> None:
        self._app = app
        self._max_body = max_body
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not OWN_PATHS.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        sent_id = headers.get(b"x-request-id", "")
        id = sent_id if REQUEST_ID.fullmatch(sent_id) else uuid.uuid4().hex
        request_id.set(id)
        started, status = time.perf_counter(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                reply_headers = MutableHeaders(scope=message)
                reply_headers["X-Request-ID"] = id
                for header, value in SECURITY_HEADERS.items():
                    reply_headers.setdefault(header, value)
            await send(message)

        try:
            try:
                _check_path(scope["path"])
                body = await self._read_body(headers, receive)
            except RequestRejected as error:
                await error_response(scope["path"], error.status, str(error))(scope, receive, send_with_headers)
            else:
                await self._app(scope, body, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            # the pattern of the route, not the path, which has unlimited values
            route = getattr(scope.get("route"), "path", None) or "other"
            # every new label is kept for ever, so that labels come from a fixed set
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
            path = loggable(scope["path"])
            fields = {"method": method, "path": path, "status": status, "seconds": round(seconds, 4)}
            log.info("%(method)s %(path)s %(status)d in %(seconds).4f s", fields, extra={"fields": fields})

    async def _read_body(self, headers: Mapping[bytes, str], receive: Receive) -> Receive:
        """Read the whole body and check that it is JSON; the function that gives it again. Raises RequestRejected."""
        too_large = RequestRejected(413, f"A request has at most {self._max_body} bytes. Send less.")
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > self._max_body:
            raise too_large
        read, is_complete = bytearray(), False
        while not is_complete:
            message = await receive()
            if message["type"] != "http.request":
                # the client has disconnected
                return _replay([message], receive)
            read += message.get("body", b"")
            is_complete = not message.get("more_body", False)
            if len(read) > self._max_body:
                raise too_large
        if read:
            # in a thread: a million brackets take too long for the event loop
            await run_in_thread(_check_json, bytes(read))
        return _replay([{"type": "http.request", "body": bytes(read), "more_body": False}], receive)


def loggable(path: str) -> str:
    """The beginning of a path, with characters that a terminal would obey escaped.

    >>> loggable("/api/\\x1b[2J"), len(loggable("/" * 60_000))
    ('/api/\\\\x1b[2J', 303)
    """
    return escape_controls(path[:MAX_LOGGED_PATH]) + ("..." if len(path) > MAX_LOGGED_PATH else "")


def _check_path(path: str) -> None:
    if len(path) > MAX_PATH or "\0" in path:
        raise RequestRejected(404, "Not Found")


def _check_json(body: bytes) -> None:
    try:
        value = json.loads(body)
        if _is_deeper(value, MAX_DEPTH):
            raise RecursionError
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise RequestRejected(400, f"The body can't be read as JSON: {why}.") from None


def _is_deeper(value: Any, depth: int) -> bool:
    """Whether lists and objects are nested deeper than this; what reads them afterwards calls itself for each level."""
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for each in level
            if isinstance(each, list | dict)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return any(isinstance(each, list | dict) for each in level)


def _replay(messages: Sequence[Message], receive: Receive) -> Receive:
    """A `receive` that gives these messages first."""
    stored = iter(messages)

    async def receive_next() -> Message:
        return next(stored, None) or await receive()

    return receive_next
