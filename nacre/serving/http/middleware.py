"""Middleware around every request: ASGI app -> ASGI app. Length of the path, request id, access log (a line per event,
text or JSON, on stderr), metrics; who sent a body is known before it is read, and its size and JSON are checked. Error
-> reply in the format of the path's protocol. uvicorn's connection with a time limit, and the proxies in front of it.
With uvloop, if installed, a turn takes an eighth less time."""

import asyncio
import json
import logging
import re
import time
import uuid
from collections.abc import Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal

import h11
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from nacre.errors import NacreError
from nacre.language.sanitize import escape_controls
from nacre.records.evidence import shorten
from nacre.records.threads import FairSlots, run_in_thread
from nacre.serving.errors import ModelNotFound, StorageUnavailable, TooManyRequests, Unauthenticated, error_status
from nacre.serving.http.auth import authenticate, bearer_token
from nacre.serving.http.dependencies import CLIENT_LEFT, MAX_PROBLEMS
from nacre.serving.keys import LOCAL_CALLER, NOBODY, Caller, report_deed
from nacre.serving.telemetry import Metrics

log = logging.getLogger("nacre.access")

OWN_PATHS = re.compile(
    r"/(?:api|ask|share|embed|static|v1|mcp|langgraph|agui|a2a|\.well-known|healthz|readyz|metrics|login|callback|logout)"
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
        # a request whose caller is known was passed on by one of our routes, and is measured there
        is_passed = "caller" in scope.get("state", {})
        if scope["type"] != "http" or is_passed or not OWN_PATHS.match(path := route_path(scope)):
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
                if scope.get("state", {}).get("caller") not in (None, LOCAL_CALLER):
                    # neither a cookie nor X-Api-Key tells caches between that the reply is for one caller
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
            caller: Caller | None = scope.get("state", {}).get("caller")
            who = {"who": caller.owner if caller else "-", "client": (scope.get("client") or ("-",))[0]}
            fields = {"method": method, "path": loggable(path), "status": status, "seconds": round(seconds, 4), **who}
            text = "%(method)s %(path)s %(status)d in %(seconds).4f s by %(who)s at %(client)s"
            log.info(text, fields, extra={"fields": fields})


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


# paths that need no key; their routes read no body, or pass the request on
PUBLIC_PATHS = re.compile(r"/(?:static|embed|healthz|readyz|metrics|\.well-known|api/docs|api/openapi\.json)(?:/|$)|/$")

# parts of files: their route authenticates, then reads and bounds the body itself
STREAMED_PATHS = re.compile(r"/api/uploads/[0-9a-f]{32}/files$")

MAX_DEPTH = 100  # levels of lists and objects in a body; requests of all interfaces have fewer than 20 (given)

# values in a body: as many as in a conversation of 16,000 messages; parsing them takes up to 25 ms (measured)
MAX_VALUES = 50_000

# of a call of MCP or A2A: their libraries parse it again, ten times as slowly and on the event loop
MAX_CALL_VALUES = 2_000

MAX_BYTES_ON_LOOP = 16_384  # larger bodies are parsed in a thread: so many bytes take less than 1 ms (measured)

# large bodies that are parsed at the same time, of which a caller has one: the interpreter runs one thread at a time
BODY_SLOTS = 2

# requests started in one round of the event loop, 2 ms each: /healthz must not wait for several hundred (given)
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
                # an app that meets the end of a body too early logs a traceback (SDK of MCP); nothing is wrong
                raise BodyRejected(CLIENT_LEFT, "The client has disconnected.")
            read += message.get("body", b"")
        if len(read) > self._max_body:
            raise too_large
        most = MAX_CALL_VALUES if error_format(route_path(request.scope)) == "json-rpc" else MAX_VALUES
        if len(read) <= MAX_BYTES_ON_LOOP:
            check_json(bytes(read), most)
        else:
            async with self._slots.hold(owner):
                await run_in_thread(check_json, bytes(read), most)
        return [{"type": "http.request", "body": bytes(read), "more_body": False}]


def check_json(body: bytes, most: int = MAX_VALUES) -> None:
    """Raise BodyRejected unless a body is JSON with at most so many values, and of limited depth.

    >>> check_json(b'{"question": "What is [1], [2], [3]?"}')
    """
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if _count_values(text, most) > most:
            raise BodyRejected(400, f"The body can't be read as JSON: it has more than {most:,} values.")
        value = json.loads(text)
        if _is_deeper(value, MAX_DEPTH):
            raise RecursionError
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise BodyRejected(400, f"The body can't be read as JSON: {why}.") from None


def _count_values(text: str, most: int) -> int:
    """The commas and opening brackets of a JSON text, counted without parsing it: at least its lists, objects and
    further values. Those in strings count too, as long as there are few.

    >>> _count_values('[1, {"a": [2]}]', 9), _count_values('["a, b, c"]', 2)
    (4, 1)
    """
    if (count := sum(map(text.count, ",[{"))) > most:
        # only strings contain backslashes; without them each quotation mark begins or ends a string
        outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
        count = sum(map(outside.count, ",[{"))
    return count


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
        return text if record.exc_info else shorten(text, MAX_LINE)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time (UTC), level, logger, request, message; the fields of an access; a traceback if there is one."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname,
            "logger": record.name,
            "request": request_id.get(),
            "message": shorten(escape_controls(record.getMessage()), MAX_LINE),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


async def validation_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that does not match its route's parameters, without the values that were sent."""
    assert isinstance(error, RequestValidationError)
    # LangServe raises errors that are plain strings
    problems = [
        {key: each[key] for key in ("loc", "msg", "type")} if isinstance(each, dict) else {"msg": str(each)}
        for each in error.errors()[:MAX_PROBLEMS]
    ]
    # replies can't contain lone surrogates, which a client may put into a name
    problems = json.loads(json.dumps(problems).encode("ascii", "replace"))
    path = [part for part in problems[0].get("loc", ()) if part != "body"] if problems else []
    return error_response(route_path(request.scope), 422, problems, param=str(path[0]) if path else None)


async def routing_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request for an unknown route or method."""
    assert isinstance(error, HTTPException)
    return error_response(route_path(request.scope), error.status_code, error.detail, error.headers)


async def storage_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that failed on the conversation store."""
    return await nacre_error_response(
        request, StorageUnavailable(f"The conversations can't be read or written now ({error}). Try again.")
    )


async def nacre_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that raised a NacreError."""
    assert isinstance(error, NacreError)
    headers = {}
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, Unauthenticated):
        headers |= request.app.state.authenticator.challenge(request)
    if error_status(error) in (401, 403):
        caller, client = getattr(request.state, "caller", NOBODY), request.client
        address = client.host if client and caller is NOBODY else None
        report_deed(caller, "was refused", path=loggable(route_path(request.scope)), address=address)
    code = "model_not_found" if isinstance(error, ModelNotFound) else None
    return error_response(route_path(request.scope), error_status(error), str(error), headers, code=code)


ErrorFormat = Literal["openai", "json-rpc", "langgraph", "own"]

OPENAI, MCP, A2A, LANGGRAPH = "/v1", "/mcp", "/a2a", "/langgraph"

FORMATS: dict[str, ErrorFormat] = {OPENAI: "openai", MCP: "json-rpc", A2A: "json-rpc", LANGGRAPH: "langgraph"}

# OpenAI's error types by status; others are `invalid_request_error` or, from 500 on, `server_error`
OPENAI_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

OPENAI_ERROR_CODES = {401: "invalid_api_key", 413: "context_length_exceeded", 429: "rate_limit_exceeded"}

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603  # JSON-RPC 2.0, section 5.1


def error_format(path: str) -> ErrorFormat:
    """The error format of a path's protocol.

    >>> error_format("/v1/models"), error_format("/mcp"), error_format("/api/ask")
    ('openai', 'json-rpc', 'own')
    """
    return FORMATS.get(f"/{path[1:].partition('/')[0]}", "own")


def error_response(
    path: str,
    status: int,
    detail: Any,
    headers: Mapping[str, str] | None = None,
    *,
    code: str | None = None,
    param: str | None = None,
) -> JSONResponse:
    """The reply. `detail` is one line, or a list of problems with fields. `code` and `param` are OpenAI's."""
    format = error_format(path)
    message = detail if isinstance(detail, str) else "; ".join(_problem_message(each) for each in detail)
    if format == "openai":
        # OpenAI's API has no status 422
        status = 400 if status == 422 else status
        body: dict[str, Any] = openai_error(status, message, code, param)
    elif format == "json-rpc":
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": json_rpc_code(status), "message": message}}
    else:
        # LangGraph's clients show a text alone
        body = {"detail": message if format == "langgraph" else detail}
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def openai_error(status: int, message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error in the format of OpenAI's API.

    >>> openai_error(400, "No messages.", param="messages")["error"]["type"]
    'invalid_request_error'
    """
    kind = OPENAI_ERROR_TYPES.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code or OPENAI_ERROR_CODES.get(status)}}


def json_rpc_code(status: int) -> int:
    """JSON-RPC's code for a request that was refused before its message was read.

    >>> json_rpc_code(400), json_rpc_code(401), json_rpc_code(500)
    (-32700, -32600, -32603)
    """
    return PARSE_ERROR if status == 400 else INTERNAL_ERROR if status >= 500 else INVALID_REQUEST


def _problem_message(problem: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


MAX_HEAD_BYTES = 65_536  # limit for the head of a request; uvicorn's other parser (httptools) has none


class BoundedConnection(H11Protocol):
    """Closes a connection without a whole request in `seconds` (set in each process: uvicorn makes connections)."""

    seconds = 30.0
    _unfinished: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # the address that the connection comes from, whatever its headers say: `request.state.peer`
        self.app_state = {**self.app_state, "peer": self.client[0] if self.client else ""}
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _update_timer(self) -> None:
        # IDLE: incomplete head; SEND_BODY: incomplete body. Between requests uvicorn's own limit applies
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel_timer()
        elif self._unfinished is None:
            self._unfinished = self.loop.call_later(self.seconds, self._abort)

    def _abort(self) -> None:
        self._unfinished = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _cancel_timer(self) -> None:
        if self._unfinished is not None:
            self._unfinished.cancel()
            self._unfinished = None


# a path of at most five parts, none of which leads upwards, and a host with its port
ROOT_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[\w.~-]{1,60}){1,5}", re.ASCII)
FORWARDED_HOST = re.compile(r"(?:[\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?", re.ASCII)


class ProxyMiddleware(ProxyHeadersMiddleware):
    """Gives a request the address that its client used: `root_path`, scheme, host and client. The root path is the
    server's, removed by a proxy or not, or X-Forwarded-Prefix. Headers count only if a trusted proxy sent them."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["headers"] = without_quoted_cookies(scope["headers"])
            root = scope["root_path"]
            path, prefix = scope["path"].removeprefix(root), ""
            if (scope["client"] or ("",))[0] in self.trusted_hosts:
                headers = Headers(scope=scope)
                prefix = _last(headers, "x-forwarded-prefix").rstrip("/")
                host = _last(headers, "x-forwarded-host")
                changed = {b"host": host} if FORWARDED_HOST.fullmatch(host) else {}
                if self.trusted_hosts.always_trust and (client := _last(headers, "x-forwarded-for")):
                    # uvicorn would take the first one, which a client can write
                    changed[b"x-forwarded-for"] = client
                others = [each for each in scope["headers"] if each[0] not in changed]
                scope["headers"] = [*others, *((name, value.encode()) for name, value in changed.items())]
            if ROOT_PATH.fullmatch(prefix):
                # whoever states the path has removed it, and checked what was left
                root = prefix
            elif root and f"{path}/".startswith(f"{root}/"):
                path = path[len(root) :]
            scope["root_path"], scope["path"] = root, root + path
        await super().__call__(scope, receive, send)


def without_quoted_cookies(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Without quoted cookies: this server sets none, and old versions of Python read many of them for seconds."""
    return [
        (name, b";".join(each for each in value.split(b";") if b'"' not in each) if name == b"cookie" else value)
        for name, value in headers
    ]


def _last(headers: Headers, name: str) -> str:
    """The value that the nearest proxy wrote; those before it may be the client's."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()


def route_path(scope: MutableMapping[str, Any]) -> str:
    """The path of a request without the root path of the server."""
    root: str = scope.get("app_root_path", scope.get("root_path", ""))
    return str(scope["path"]).removeprefix(root)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A new event loop; Python's own without uvloop, as on Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
