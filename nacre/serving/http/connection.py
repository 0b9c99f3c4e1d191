"""What lies between clients and the app: uvicorn's connection with a time limit, and the proxies in front of it.

A client that starts a request and does not finish it is disconnected. The event loop of the server is uvloop if it is
installed, on which a turn takes an eighth less time.
"""

import asyncio
import re
from collections.abc import MutableMapping
from typing import Any

import h11
from starlette.datastructures import Headers
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_HEAD_BYTES = 65_536  # limit for the head of a request; uvicorn's other parser (httptools) has none


class BoundedConnection(H11Protocol):
    """Closes the connection if a request is not complete, body included, within `seconds` of its first byte.

    uvicorn creates connections itself and passes the class to its workers by name, so each process sets `seconds`.
    """

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
    """Gives a request the address that its client used: `root_path`, scheme, host and client.

    The root path is that of the server (uvicorn's `root_path`), which a proxy may have removed from the path of a
    request or not, or X-Forwarded-Prefix, which it has. Headers count only if a trusted proxy sent them.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            root = scope["root_path"]
            path = scope["path"].removeprefix(root)
            if root and (path == root or path.startswith(f"{root}/")):
                path = path[len(root) :]
            if (scope["client"] or ("",))[0] in self.trusted_hosts:
                headers = Headers(scope=scope)
                prefix = _last(headers, "x-forwarded-prefix").rstrip("/")
                if ROOT_PATH.fullmatch(prefix):
                    root = prefix
                host = _last(headers, "x-forwarded-host")
                changed = {b"host": host} if FORWARDED_HOST.fullmatch(host) else {}
                if self.trusted_hosts.always_trust and (client := _last(headers, "x-forwarded-for")):
                    # uvicorn would take the first one, which a client can write
                    changed[b"x-forwarded-for"] = client
                others = [each for each in scope["headers"] if each[0] not in changed]
                scope["headers"] = [*others, *((name, value.encode()) for name, value in changed.items())]
            scope["root_path"], scope["path"] = root, root + path
        await super().__call__(scope, receive, send)


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
