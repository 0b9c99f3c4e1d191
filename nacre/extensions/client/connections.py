"""Where the client finds its graphs: a data folder, queried in this process, or a server, queried over HTTP.

Settings, or address + key -> the events of turns, and the verified questions of a graph."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
from httpx_sse import EventSource, SSEError

from nacre.errors import ConfigError, NacreError
from nacre.extension import service
from nacre.extensions.client.facade import Reply, TurnRequest
from nacre.records.json_form import from_json
from nacre.records.turn import VerifiedQuery, VerifiedQuestion

if TYPE_CHECKING:
    from nacre.serving.keys import Caller
    from nacre.serving.turn_service import TurnService


class LocalSource:
    """A data folder. The first question opens it. With `keep`, named threads are stored in the folder.

    Whoever opens it has all rights to verified questions, as on the command line.
    """

    def __init__(self, data: Path, *, keep: bool) -> None:
        self._data = data
        self._keep = keep
        self._stack = AsyncExitStack()
        self._service: TurnService | None = None
        self._opening = asyncio.Lock()

    async def names(self) -> list[str]:
        """The names of the graphs."""
        from nacre.records.threads import run_in_thread

        service = await self._open_service()
        return await run_in_thread(service.graph_names)

    async def events(self, request: TurnRequest) -> AsyncGenerator[tuple[str, Any]]:
        service = await self._open_service()
        from graph.context import Context
        from nacre.serving.turn_service import TurnInput

        turn = TurnInput(request.question, request.graph, request.thread, Context(mind=request.mind))
        async with aclosing(service.events(turn)) as events:
            async for event in events:
                yield event

    async def forget(self, thread: str) -> None:
        """Forget a thread, unless threads are stored in the folder."""
        if self._service is not None and not self._keep:
            await self._service.forget_thread(thread)

    async def close(self) -> None:
        """Close the stores."""
        # the next question may come from another event loop
        stack, self._stack = self._stack, AsyncExitStack()
        self._service, self._opening = None, asyncio.Lock()
        await stack.aclose()

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """The verified questions that the caller may see, the latest first."""
        verified, caller = await self._verified()
        found: list[VerifiedQuestion] = []
        while True:
            page = await verified.listed(caller, graph, search=search, waiting=waiting, skip=len(found))
            found += page.questions
            if not page.more:
                return found

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        verified, caller = await self._verified()
        entry: VerifiedQuestion = await verified.confirm_answer(caller, reply.record)
        return entry

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        verified, caller = await self._verified()
        entry: VerifiedQuestion = (await verified.confirm_query(caller, graph, question, query))[0]
        return entry

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        verified, caller = await self._verified()
        numbered = ((str(number), line) for number, line in enumerate(lines, start=1))
        imported = verified.import_lines(caller, graph, numbered, trusts_plans=True)
        return [each.problem async for each in imported]

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve a verified question."""
        verified, caller = await self._verified()
        entry: VerifiedQuestion = await verified.approve(caller, graph, id, by)
        return entry

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove a verified question."""
        verified, caller = await self._verified()
        await verified.remove(caller, graph, id, by)

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run the verified questions again; those that are not used."""
        verified, caller = await self._verified()
        return list((await verified.check(caller, graph)).aside)

    async def _verified(self) -> tuple[Any, Caller]:
        from nacre.serving.keys import LOCAL_CALLER

        return service("verified", "entries")(await self._open_service()), LOCAL_CALLER

    async def _open_service(self) -> TurnService:
        async with self._opening:
            if self._service is None:
                from nacre.serving.cli.options import check_packages

                check_packages()
                from graph.builder import load_settings
                from nacre.serving.turn_service import open_turn_service

                settings = load_settings().model_copy(update={"data": self._data})
                self._service = await self._stack.enter_async_context(open_turn_service(settings, lasting=self._keep))
            return self._service


TIMEOUT = httpx.Timeout(60.0, connect=10.0)  # a working server sends a ping at least every 15 s

# verified questions that are read at once
PAGE = 200


class ServerError(NacreError):
    """A server refused a request or its reply broke off. `status` is the HTTP status, 0 if it was not reached."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RemoteSource:
    """A running `nacre serve`. It stores the conversations that have a name, and knows what the key may see and do."""

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

    async def events(self, request: TurnRequest) -> AsyncGenerator[tuple[str, Any]]:
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

    async def forget(self, thread: str) -> None:
        """Do nothing: this process stores no threads of a server."""

    async def close(self) -> None:
        """Close the connections."""
        client, self._open_client = self._open_client, None
        if client is not None:
            await client.aclose()

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """The verified questions that the key may see, the latest first."""
        found: list[VerifiedQuestion] = []
        while True:
            wanted = {"search": search, "waiting": waiting, "limit": PAGE, "skip": len(found)}
            page = await self._call("GET", graph, "", None, wanted)
            found += [from_json(VerifiedQuestion, each) for each in page["questions"]]
            if not page["more"]:
                return found

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        record = reply.record
        if not record["thread"]:
            raise ConfigError("This server stored no such answer. Ask in a thread: graph.chat().ask(...).")
        body = {"thread": record["thread"], "turn": record["turn"]}
        return from_json(VerifiedQuestion, await self._call("POST", record["graph"], "", body))

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        return from_json(VerifiedQuestion, await self._call("POST", graph, "", {"question": question, "query": query}))

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        imported = await self._call("POST", graph, "/import", {"lines": list(lines)})
        return [str(each["problem"]) for each in imported]

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve a verified question."""
        approved = await self._call("POST", graph, f"/{quote(id, safe='')}/approve", {"by": by})
        return from_json(VerifiedQuestion, approved)

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove a verified question."""
        await self._call("DELETE", graph, f"/{quote(id, safe='')}", None, {} if by is None else {"by": by})

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run the verified questions again; those that are not used."""
        return [from_json(VerifiedQuestion, each) for each in (await self._call("POST", graph, "/check"))["aside"]]

    async def _call(
        self, method: str, graph: str | None, path: str, body: Any = None, wanted: dict[str, Any] | None = None
    ) -> Any:
        """The JSON of a reply about verified questions of a graph, None without one."""
        name = quote(await self._graph_name(graph), safe="")
        async with self._translated_errors():
            place = f"/api/graphs/{name}/verified{path}"
            reply = await self._client.request(method, place, json=body, params=wanted or {})
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
