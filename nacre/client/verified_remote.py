"""The verified questions of a server, over HTTP: Send -> VerifiedSource."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import quote

from nacre.client.reply import Reply
from nacre.errors import ConfigError
from nacre.records.json_form import from_json
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion

PAGE = 200
# method, path, body, parameters -> the JSON of the reply, None without one
Send = Callable[[str, str, Any, dict[str, Any]], Awaitable[Any]]


class RemoteVerified:
    """What the key of the client may see and do. `graph_name` gives the only graph if none is named."""

    def __init__(self, send: Send, graph_name: Callable[[str | None], Awaitable[str]]) -> None:
        self._send = send
        self._graph_name = graph_name

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """Those that the key may see, the latest first."""
        found: list[VerifiedQuestion] = []
        while True:
            wanted = {"search": search, "waiting": waiting, "limit": PAGE, "skip": len(found)}
            page = await self._call("GET", graph, "", None, wanted)
            found += [from_json(VerifiedQuestion, each) for each in page["questions"]]
            if not page["more"]:
                return found

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        """Confirm an answer."""
        record = reply.record
        if not record["thread"]:
            raise ConfigError("This server stored no such answer. Ask in a thread: graph.chat().ask(...).")
        body = {"thread": record["thread"], "turn": record["turn"]}
        return from_json(VerifiedQuestion, await self._call("POST", record["graph"], "", body))

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        """Confirm a query for a question."""
        return from_json(VerifiedQuestion, await self._call("POST", graph, "", {"question": question, "query": query}))

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        imported = await self._call("POST", graph, "/import", {"lines": list(lines)})
        return [str(each["problem"]) for each in imported]

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve an entry."""
        approved = await self._call("POST", graph, f"/{quote(id, safe='')}/approve", {"by": by})
        return from_json(VerifiedQuestion, approved)

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove an entry."""
        await self._call("DELETE", graph, f"/{quote(id, safe='')}", None, {} if by is None else {"by": by})

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run them again; those that are not used."""
        return [from_json(VerifiedQuestion, each) for each in (await self._call("POST", graph, "/check"))["aside"]]

    async def _call(
        self, method: str, graph: str | None, path: str, body: Any = None, wanted: dict[str, Any] | None = None
    ) -> Any:
        name = quote(await self._graph_name(graph), safe="")
        return await self._send(method, f"/api/graphs/{name}/verified{path}", body, wanted or {})
