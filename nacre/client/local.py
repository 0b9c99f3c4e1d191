"""The graphs of a data folder, asked within this process: settings -> Source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.client.source import TurnRequest

if TYPE_CHECKING:
    from nacre.serving.turn_service import TurnService


class LocalSource:
    """A data folder. It is opened with the first question; with `keep`, named threads outlive the process."""

    def __init__(self, data: Path, *, keep: bool) -> None:
        self._data = data
        self._keep = keep
        self._stack = AsyncExitStack()
        self._asking: TurnService | None = None
        self._opening = asyncio.Lock()

    async def names(self) -> list[str]:
        """The names of the graphs."""
        from agents.run_in_thread import run_in_thread

        asking = await self._opened()
        return await run_in_thread(asking.names)

    async def events(self, asked: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn."""
        asking = await self._opened()
        from graph.context import Context

        events = asking.events(asked.question, asked.graph, asked.thread, Context(mind=asked.mind))
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]

    async def forget(self, thread: str) -> None:
        """Let go of a thread, unless threads are kept."""
        if self._asking is not None and not self._keep:
            await self._asking.forget(thread)

    async def close(self) -> None:
        """Close the stores."""
        # what comes next may come in another event loop
        stack, self._stack = self._stack, AsyncExitStack()
        self._asking, self._opening = None, asyncio.Lock()
        await stack.aclose()

    async def _opened(self) -> TurnService:
        async with self._opening:
            if self._asking is None:
                from nacre.serving.terminal.package_collisions import check_packages

                check_packages()
                from graph.app import load_settings
                from nacre.serving.turn_service import open_turn_service

                settings = load_settings().model_copy(update={"data": self._data})
                self._asking = await self._stack.enter_async_context(open_turn_service(settings, lasting=self._keep))
            return self._asking
