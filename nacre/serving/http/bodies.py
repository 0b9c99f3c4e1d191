"""Middleware for bodies of requests: who sent it is known before it is read; then its size and its JSON are checked.

ASGI app -> ASGI app.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.run_in_thread import run_in_thread
from nacre.errors import NacreError
from nacre.serving.fair_slots import FairSlots
from nacre.serving.http.auth import authenticate, bearer_token
from nacre.serving.http.disconnect import CLIENT_LEFT
from nacre.serving.http.error_formats import error_response
from nacre.serving.http.error_handlers import nacre_error_response
from nacre.serving.http.limits import OWN_PATHS

# paths that need no key; their routes read no body
PUBLIC_PATHS = re.compile(r"/(?:static|healthz|readyz|metrics|\.well-known|api/docs|api/openapi\.json)(?:/|$)|/$")
# parts of files: their route authenticates, then reads and bounds the body itself
STREAMED_PATHS = re.compile(r"/api/uploads/[0-9a-f]{32}/files$")
# levels of lists and objects in a body; requests of all interfaces have fewer than 20 (given)
MAX_DEPTH = 100
# values in a body: as many as in a conversation of 16,000 messages; parsing them takes up to 25 ms (measured)
MAX_VALUES = 50_000
# larger bodies are parsed in a thread: so many bytes take less than 1 ms (measured)
MAX_BYTES_ON_LOOP = 16_384
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
        if scope["type"] != "http" or not OWN_PATHS.match(scope["path"]) or PUBLIC_PATHS.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        await self._wait_to_start()
        if STREAMED_PATHS.match(scope["path"]):
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
                await error_response(scope["path"], error.status, str(error))(scope, receive, send)
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
