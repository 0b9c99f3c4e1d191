"""Middleware around every request: ASGI app -> ASGI app.

The length of the path, the request id, access log and metrics; then the body: who sent it is known before it is read,
and its size and its JSON are checked. Logs are one line per event on stderr, as text or JSON, each with its request's
id.
"""

import asyncio
import json
import logging
import re
import time
import uuid
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.errors import NacreError
from nacre.language.sanitize import escape_controls
from nacre.records.threads import run_in_thread
from nacre.serving.capacity import FairSlots
from nacre.serving.http.auth import authenticate, bearer_token
from nacre.serving.http.connection import route_path
from nacre.serving.http.dependencies import CLIENT_LEFT
from nacre.serving.http.errors import error_response, nacre_error_response
from nacre.serving.telemetry import Metrics

log = logging.getLogger("nacre.access")

OWN_PATHS = re.compile(
    r"/(?:api|ask|share|static|v1|mcp|langgraph|agui|a2a|\.well-known|healthz|readyz|metrics|login|callback|logout)"
    r"(?:/|$)|/?$"
)

SHARE_PREFIX = "/share/"

REQUEST_ID = re.compile(r"[\w.:-]{1,100}")

MAX_PATH = 1000

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

MAX_LOGGED_PATH = 300  # characters of a path that are logged

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
        if scope["type"] != "http" or not OWN_PATHS.match(path := route_path(scope)):
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
                if getattr(scope.get("state", {}).get("caller"), "name", ""):
                    # a cookie tells no cache between that the reply is for one person
                    reply_headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            if len(path) <= MAX_PATH and "\0" not in path:
                await self._app(scope, receive, send_with_headers)
            else:
                await error_response(path, 404, "Not Found")(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            # the pattern of the route, not the path, which has unlimited values
            route = getattr(scope.get("route"), "path", None) or "other"
            # every new label is kept for ever, so that labels come from a fixed set
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
            fields = {"method": method, "path": loggable(path), "status": status, "seconds": round(seconds, 4)}
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


# paths that need no key; their routes read no body
PUBLIC_PATHS = re.compile(r"/(?:static|healthz|readyz|metrics|\.well-known|api/docs|api/openapi\.json)(?:/|$)|/$")

# parts of files: their route authenticates, then reads and bounds the body itself
STREAMED_PATHS = re.compile(r"/api/uploads/[0-9a-f]{32}/files$")

MAX_DEPTH = 100  # levels of lists and objects in a body; requests of all interfaces have fewer than 20 (given)

# values in a body: as many as in a conversation of 16,000 messages; parsing them takes up to 25 ms (measured)
MAX_VALUES = 50_000

MAX_BYTES_ON_LOOP = 16_384  # larger bodies are parsed in a thread: so many bytes take less than 1 ms (measured)

# large bodies that are parsed at the same time, of which a caller has one: the interpreter runs one thread at a time
BODY_SLOTS = 2

# requests that start in one round of the event loop: of several hundred that arrive together, each takes 2 ms to start,
# and /healthz must not wait for all of them (given)
STARTS_AT_ONCE = 4


class BodyRejected(Exception):
    """The body is refused; with its status and the reason."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class BodyMiddleware:
    """Authenticates requests that have a body and checks the body. A body for a public path is not read."""

    def __init__(self, app: ASGIApp, max_body: int) -> None:
        self._app = app
        self._max_body = max_body
        self._slots = FairSlots(BODY_SLOTS)
        self._starts = 0
        self._round = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = route_path(scope) if scope["type"] == "http" else ""
        if scope["type"] != "http" or not OWN_PATHS.match(path) or PUBLIC_PATHS.match(path):
            await self._app(scope, receive, send)
            return
        await self._wait_to_start()
        if STREAMED_PATHS.match(path):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        first = await receive()
        messages: Sequence[Message] = [first]
        if first["type"] == "http.request" and (first.get("body") or first.get("more_body")):
            try:
                caller = await authenticate(request, await bearer_token(request))
                messages = await self._read_body(request, first, receive, caller.owner)
            except BodyRejected as error:
                await error_response(path, error.status, str(error))(scope, receive, send)
                return
            except NacreError as error:
                await (await nacre_error_response(request, error))(scope, receive, send)
                return
        await self._app(scope, _replay(messages, receive), send)

    async def _wait_to_start(self) -> None:
        while self._starts >= STARTS_AT_ONCE:
            await self._round.wait()
        if not self._starts:
            asyncio.get_running_loop().call_soon(self._begin_round)
        self._starts += 1

    def _begin_round(self) -> None:
        self._starts = 0
        self._round.set()
        self._round.clear()

    async def _read_body(self, request: Request, first: Message, receive: Receive, owner: str) -> Sequence[Message]:
        """The messages that give the whole body, after it was checked. Raises BodyRejected."""
        too_large = BodyRejected(413, f"A request has at most {self._max_body} bytes. Send less.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > self._max_body:
            raise too_large
        read, message = bytearray(first.get("body", b"")), first
        while len(read) <= self._max_body and message.get("more_body", False):
            message = await receive()
            if message["type"] != "http.request":
                # an app that meets the end of a body too early logs a traceback, as the SDK of MCP does; there is
                # nothing wrong, and nobody to answer
                raise BodyRejected(CLIENT_LEFT, "The client has disconnected.")
            read += message.get("body", b"")
        if len(read) > self._max_body:
            raise too_large
        if len(read) <= MAX_BYTES_ON_LOOP:
            check_json(bytes(read))
        else:
            async with self._slots.hold(owner):
                await run_in_thread(check_json, bytes(read))
        return [{"type": "http.request", "body": bytes(read), "more_body": False}]


def check_json(body: bytes) -> None:
    """Raise BodyRejected unless a body is JSON of limited size and depth.

    >>> check_json(b'{"question": "What is [1], [2], [3]?"}')
    """
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if _count_values(text) > MAX_VALUES:
            raise BodyRejected(400, f"The body can't be read as JSON: it has more than {MAX_VALUES:,} values.")
        value = json.loads(text)
        if _is_deeper(value, MAX_DEPTH):
            raise RecursionError
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise BodyRejected(400, f"The body can't be read as JSON: {why}.") from None


def _count_values(text: str) -> int:
    """The commas and opening brackets of a JSON text, counted without parsing it: at least its lists, objects and
    further values. Those in strings count too, as long as there are few.

    >>> _count_values('[1, {"a": [2]}]')
    4
    """
    count = _count_openers(text)
    if count > MAX_VALUES:
        # only strings contain backslashes; without them each quotation mark begins or ends a string
        outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
        count = _count_openers(outside)
    return count


def _count_openers(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


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


MAX_LINE = 2000  # characters of a line (given); tracebacks are not shortened


def configure(form: str, level: int) -> None:
    """Send all logs to stderr in one format; libraries log warnings and errors only."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for package in ("nacre", "graph", "agents", "tools"):
        logging.getLogger(package).setLevel(level)


class TextFormatter(logging.Formatter):
    """Plain text for a terminal."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the id of its request."""
        record.request = request_id.get() or "-"
        # text from a client must neither start a line of its own nor be obeyed by a terminal
        text = escape_controls(super().format(record), keep="\n" if record.exc_info else "")
        return text if record.exc_info else _shorten(text)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time (UTC), level, logger, request, message; the fields of an access; a traceback if there is one."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname,
            "logger": record.name,
            "request": request_id.get(),
            "message": _shorten(escape_controls(record.getMessage())),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}..."
