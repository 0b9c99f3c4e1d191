"""The graphs of a server, queried over HTTP: address + key -> GraphSource."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError

from nacre.client.source import TurnRequest
from nacre.client.verified_remote import RemoteVerified
from nacre.errors import NacreError

# a working server sends a ping at least every 15 s
TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class ServerError(NacreError):
    """A server refused a request or its reply broke off. `status` is the HTTP status, 0 if it was not reached."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RemoteSource:
    """A running `nacre serve`. It stores the conversations that have a name."""

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._open_client: httpx.AsyncClient | None = None

    async def names(self) -> list[str]:
        """The names of the graphs that the key may read."""
        async with self._translated_errors():
            reply = await self._client.get("/api/graphs")
            _raise_for_status(reply, await reply.aread())
            return [each["name"] for each in reply.json()]

    async def events(self, request: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn."""
        body = {name: value for name, value in request._asdict().items() if value is not None}
        accepted = {"Accept": "text/event-stream"}
        ended = False
        async with (
            self._translated_errors(),
            self._client.stream("POST", "/api/ask", json=body, headers=accepted) as reply,
        ):
            if reply.status_code != httpx.codes.OK:
                _raise_for_status(reply, await reply.aread())
            async for event in EventSource(reply).aiter_sse():
                payload = json.loads(event.data)
                if event.event == "error":
                    raise ServerError(payload["message"], payload["status"])
                ended = ended or event.event == "answer"
                if event.event != "done":
                    yield event.event, payload
        if not ended:
            raise ServerError(f"{self._public_address} closed the connection during an answer. Ask again.", 0)

    @property
    def verified(self) -> RemoteVerified:
        """The verified questions of its graphs."""
        return RemoteVerified(self._send, self._graph_name)

    async def forget(self, thread: str) -> None:
        """Do nothing: this process stores no threads of a server."""

    async def close(self) -> None:
        """Close the connections."""
        client, self._open_client = self._open_client, None
        if client is not None:
            await client.aclose()

    async def _send(self, method: str, path: str, body: Any, wanted: dict[str, Any]) -> Any:
        """The JSON of a reply, None without one."""
        async with self._translated_errors():
            reply = await self._client.request(method, path, json=body, params=wanted)
            content = await reply.aread()
            if not reply.is_success:
                _raise_for_status(reply, content)
            return json.loads(content) if content else None

    async def _graph_name(self, name: str | None) -> str:
        """The name of the only graph, if none is given."""
        if name is not None:
            return name
        names = await self.names()
        if len(names) != 1:
            raise ServerError(f"Which graph? There are {', '.join(names)}." if names else "There is no graph.", 404)
        return names[0]

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._open_client is None:
            self._open_client = httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=TIMEOUT)
        return self._open_client

    @asynccontextmanager
    async def _translated_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except (httpx.HTTPError, SSEError, json.JSONDecodeError) as error:
            why = str(error) or type(error).__name__
            raise ServerError(
                f"{self._public_address} can't be reached ({why}). Is `nacre serve` running there?", 0
            ) from error

    @property
    def _public_address(self) -> str:
        # an address may contain a password
        url = httpx.URL(self._url)
        return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _raise_for_status(reply: httpx.Response, body: bytes) -> None:
    """Raises ServerError with the server's explanation if it refused the request."""
    if reply.status_code == httpx.codes.OK:
        return
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"{reply.url.host} answered {reply.status_code} {reply.reason_phrase}."
    words = detail if isinstance(detail, str) else "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in detail)
    raise ServerError(words, reply.status_code)
