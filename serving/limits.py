"""Around every request: how large it may be, its name in the log, how long it took. ASGI app -> ASGI app."""

import logging
import re
import time
import uuid
from contextlib import suppress
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.metrics import Metrics

log = logging.getLogger("nacre.access")

OURS = re.compile(r"/(?:api|ask|v1|mcp|healthz|readyz|metrics)(?:/|$)|/$")
NAMED = re.compile(r"[\w.:-]{1,100}")
request_id: ContextVar[str] = ContextVar("request_id", default="")


class TooLarge(Exception):
    """The body has more bytes than allowed."""


class Watched:
    """Names, measures and bounds the requests to our own routes; those of a platform around us pass untouched."""

    def __init__(self, app: ASGIApp, max_body: int, metrics: Metrics) -> None:
        self._app = app
        self._max_body = max_body
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not OURS.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(b"x-request-id", "")
        name = given if NAMED.fullmatch(given) else uuid.uuid4().hex
        request_id.set(name)
        begun, status, size, large = time.perf_counter(), 500, 0, False

        async def bounded() -> Message:
            nonlocal size, large
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._max_body:
                large = True
                raise TooLarge
            return message

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = name
            await send(message)

        async def unless_large(message: Message) -> None:
            # what reads the body may take the exception for a body that can't be read, and say so
            if not large:
                await named(message)

        try:
            length = headers.get(b"content-length", "0")
            large = not length.isdigit() or int(length) > self._max_body
            if not large:
                with suppress(TooLarge):
                    await self._app(scope, bounded, unless_large)
            if large:
                detail = f"A request has at most {self._max_body} bytes here. Send less."
                await JSONResponse({"detail": detail}, status_code=413)(scope, receive, named)
        finally:
            seconds = time.perf_counter() - begun
            # the pattern of the route, not the path: paths hold ids without end
            route = getattr(scope.get("route"), "path", None) or "other"
            self._metrics.requests.labels(scope["method"], route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
            told = {"method": scope["method"], "path": scope["path"], "status": status, "seconds": round(seconds, 4)}
            log.info("%(method)s %(path)s %(status)d in %(seconds).4f s", told, extra={"fields": told})
