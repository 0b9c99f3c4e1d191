"""The graphs of a server, asked over HTTP: address + key -> Source."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError

from nacre.client.source import TurnRequest
from nacre.errors import NacreError

# a server says something at least every 15 s while it works
TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class ServerError(NacreError):
    """A server refused or broke off; `status` is its HTTP status, 0 where it could not be reached."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RemoteSource:
    """A `nacre serve` somewhere else. Conversations that are named are kept there."""

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._kept: httpx.AsyncClient | None = None

    async def names(self) -> list[str]:
        """The names of the graphs that the key may read."""
        async with self._reached():
            reply = await self._client.get("/api/graphs")
            _check(reply, await reply.aread())
            return [each["name"] for each in reply.json()]

    async def events(self, asked: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn."""
        body = {name: value for name, value in asked._asdict().items() if value is not None}
        accepted = {"Accept": "text/event-stream"}
        ended = False
        async with self._reached(), self._client.stream("POST", "/api/ask", json=body, headers=accepted) as reply:
            if reply.status_code != httpx.codes.OK:
                _check(reply, await reply.aread())
            async for event in EventSource(reply).aiter_sse():
                payload = json.loads(event.data)
                if event.event == "error":
                    raise ServerError(payload["message"], payload["status"])
                ended = ended or event.event == "answer"
                if event.event != "done":
                    yield event.event, payload
        if not ended:
            raise ServerError(f"{self._shown} broke off in the middle of an answer. Ask again.", 0)

    async def forget(self, thread: str) -> None:
        """Nothing is remembered here."""

    async def close(self) -> None:
        """Close the connections."""
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.aclose()

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._kept is None:
            self._kept = httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=TIMEOUT)
        return self._kept

    @asynccontextmanager
    async def _reached(self) -> AsyncIterator[None]:
        try:
            yield
        except (httpx.HTTPError, SSEError, json.JSONDecodeError) as error:
            why = str(error) or type(error).__name__
            raise ServerError(f"{self._shown} can't be asked ({why}). Does `nacre serve` run there?", 0) from error

    @property
    def _shown(self) -> str:
        # an address may hold a password
        url = httpx.URL(self._url)
        return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _check(reply: httpx.Response, body: bytes) -> None:
    """Raises ServerError with what a server says of a request that it refused."""
    if reply.status_code == httpx.codes.OK:
        return
    try:
        told = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        told = f"{reply.url.host} answered {reply.status_code} {reply.reason_phrase}."
    words = told if isinstance(told, str) else "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in told)
    raise ServerError(words, reply.status_code)
