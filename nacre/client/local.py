"""The graphs of a data folder, queried in this process: settings -> GraphSource."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.client.source import TurnRequest
from nacre.client.verified_local import LocalVerified

if TYPE_CHECKING:
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
        from agents.run_in_thread import run_in_thread

        service = await self._open_service()
        return await run_in_thread(service.graph_names)

    async def events(self, request: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn."""
        service = await self._open_service()
        from graph.context import Context

        events = service.events(request.question, request.graph, request.thread, Context(mind=request.mind))
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]

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
                from nacre.serving.terminal.package_collisions import check_packages

                check_packages()
                from graph.app import load_settings
                from nacre.serving.turn_service import open_turn_service

                settings = load_settings().model_copy(update={"data": self._data})
                self._service = await self._stack.enter_async_context(open_turn_service(settings, lasting=self._keep))
            return self._service
