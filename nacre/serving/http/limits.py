"""Middleware around every request: the length of its path, the request id, access log and metrics.

ASGI app -> ASGI app.
"""

import logging
import re
import time
import uuid
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.language.sanitize import escape_controls
from nacre.serving.http.error_formats import error_response
from nacre.serving.http.metrics import Metrics

log = logging.getLogger("nacre.access")

OWN_PATHS = re.compile(
    r"/(?:api|ask|share|static|v1|mcp|langgraph|agui|a2a|\.well-known|healthz|readyz|metrics)(?:/|$)|/$"
)
SHARE_PREFIX = "/share/"
REQUEST_ID = re.compile(r"[\w.:-]{1,100}")
MAX_PATH = 1000
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


class RequestMiddleware:
    """Limits and measures requests to our own routes; requests to a surrounding platform's routes pass untouched."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
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
            if _is_path_allowed(scope["path"]):
                await self._app(scope, receive, send_with_headers)
            else:
                await error_response(scope["path"], 404, "Not Found")(scope, receive, send_with_headers)
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


def loggable(path: str) -> str:
    """The beginning of a path, with characters that a terminal would obey escaped.

    >>> loggable("/api/\\x1b[2J"), len(loggable("/" * 60_000))
    ('/api/\\\\x1b[2J', 303)
    >>> loggable("/share/SECRET")
    '/share/...'
    """
    if path.startswith(SHARE_PREFIX):
        # whoever knows the rest may read the answer
        return f"{SHARE_PREFIX}..."
    return escape_controls(path[:MAX_LOGGED_PATH]) + ("..." if len(path) > MAX_LOGGED_PATH else "")


def _is_path_allowed(path: str) -> bool:
    return len(path) <= MAX_PATH and "\0" not in path
