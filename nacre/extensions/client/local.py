"""The graphs of a data folder, queried in this process: settings -> events of turns, and its verified questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.extension import service
from nacre.extensions.client.facade import Reply, TurnRequest
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion

if TYPE_CHECKING:
    from nacre.serving.keys import Caller
    from nacre.serving.turn_service import TurnService


class LocalSource:
    """A data folder. The first question opens it. With `keep`, named threads are stored in the folder."""

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

    @property
    def verified(self) -> LocalVerified:
        """The verified questions of its graphs."""
        return LocalVerified(self._open_service)

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

    async def _open_service(self) -> TurnService:
        async with self._opening:
            if self._service is None:
                from nacre.serving.cli.open_library import check_packages

                check_packages()
                from graph.app import load_settings
                from nacre.serving.turn_service import open_turn_service

                settings = load_settings().model_copy(update={"data": self._data})
                self._service = await self._stack.enter_async_context(open_turn_service(settings, lasting=self._keep))
            return self._service


class LocalVerified:
    """Its caller has all rights, as on the command line."""

    def __init__(self, open_service: Callable[[], Awaitable[TurnService]]) -> None:
        self._open_service = open_service

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """Those that the caller may see, the latest first."""
        service, caller = await self._service()
        found: list[VerifiedQuestion] = []
        while True:
            page = await service.listed(caller, graph, search=search, waiting=waiting, skip=len(found))
            found += page.questions
            if not page.more:
                return found

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        service, caller = await self._service()
        entry: VerifiedQuestion = await service.confirm_answer(caller, reply.record)
        return entry

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        service, caller = await self._service()
        entry: VerifiedQuestion = (await service.confirm_query(caller, graph, question, query))[0]
        return entry

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        numbered = ((str(number), line) for number, line in enumerate(lines, start=1))
        imported = service("verified", "import")(numbered, await self._open_service(), graph, trusts_plans=True)
        return [each.problem async for each in imported]

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve an entry."""
        service, caller = await self._service()
        entry: VerifiedQuestion = await service.approve(caller, graph, id, by)
        return entry

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove an entry."""
        service, caller = await self._service()
        await service.remove(caller, graph, id, by)

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run them again; those that are not used."""
        service, caller = await self._service()
        return list((await service.check(caller, graph)).aside)

    async def _service(self) -> tuple[Any, Caller]:
        from nacre.serving.keys import LOCAL_CALLER

        return service("verified", "entries")(await self._open_service()), LOCAL_CALLER
