"""Around every request: how large it may be and whether it can be read, its name in the log, how long it took.

ASGI app -> ASGI app.
"""

import json
import logging
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.run_in_thread import run_in_thread
from nacre.serving.http import error_formats as forms
from nacre.serving.http.metrics import Metrics

log = logging.getLogger("nacre.access")

OWN_PATHS = re.compile(r"/(?:api|ask|static|v1|mcp|healthz|readyz|metrics)(?:/|$)|/$")
REQUEST_ID = re.compile(r"[\w.:-]{1,100}")
MAX_PATH = 1000
# each holds in a page of ours; a page's own policy stands
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
request_id: ContextVar[str] = ContextVar("request_id", default="")


class RequestRejected(Exception):
    """The request can't be taken: its status, and why."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class RequestMiddleware:
    """Names, measures and bounds the requests to our own routes; those of a platform around us pass untouched."""

    def __init__(self, app: ASGIApp, max_body: int, metrics: Metrics) -> None:
        self._app = app
        self._max_body = max_body
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not OWN_PATHS.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(b"x-request-id", "")
        name = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        request_id.set(name)
        begun, status = time.perf_counter(), 500

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = MutableHeaders(scope=message)
                own["X-Request-ID"] = name
                for header, value in SECURITY_HEADERS.items():
                    own.setdefault(header, value)
            await send(message)

        try:
            try:
                _pathed(scope["path"])
                body = await self._body(headers, receive)
            except RequestRejected as refused:
                await forms.error_response(scope["path"], refused.status, str(refused))(scope, receive, named)
            else:
                await self._app(scope, body, named)
        finally:
            seconds = time.perf_counter() - begun
            # the pattern of the route, not the path: paths hold ids without end
            route = getattr(scope.get("route"), "path", None) or "other"
            self._metrics.requests.labels(scope["method"], route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
            told = {"method": scope["method"], "path": scope["path"], "status": status, "seconds": round(seconds, 4)}
            log.info("%(method)s %(path)s %(status)d in %(seconds).4f s", told, extra={"fields": told})

    async def _body(self, headers: Mapping[bytes, str], receive: Receive) -> Receive:
        """What gives the body, read whole: it can be read as JSON where there is any. Raises Refused."""
        large = RequestRejected(413, f"A request has at most {self._max_body} bytes here. Send less.")
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > self._max_body:
            raise large
        read, whole = bytearray(), False
        while not whole:
            message = await receive()
            if message["type"] != "http.request":
                # the client has left
                return _then([message], receive)
            read += message.get("body", b"")
            whole = not message.get("more_body", False)
            if len(read) > self._max_body:
                raise large
        if read:
            # on a thread: a million brackets take longer than others should wait
            await run_in_thread(_readable, bytes(read))
        return _then([{"type": "http.request", "body": bytes(read), "more_body": False}], receive)


def _pathed(path: str) -> None:
    if len(path) > MAX_PATH or "\0" in path:
        raise RequestRejected(404, "Not Found")


def _readable(body: bytes) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError) as error:
        told = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise RequestRejected(400, f"The body can't be read as JSON: {told}.") from None


def _then(messages: Sequence[Message], receive: Receive) -> Receive:
    """These messages first, then what else comes."""
    waiting = iter(messages)

    async def following() -> Message:
        return next(waiting, None) or await receive()

    return following
