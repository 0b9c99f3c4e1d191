"""A call of MCP that its client cancels ends the turn, once and with its cleanup."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from mcp import Client

from nacre.serving.keys import Caller
from nacre.serving.mcp.ask import ToolContext
from nacre.serving.mcp.server import create_mcp_server
from nacre.serving.turn_service import TurnInput, TurnService


class WaitingService(TurnService):
    """A service whose turn does not end by itself."""

    def __init__(self) -> None:
        self.began, self.cleaned = asyncio.Event(), asyncio.Event()

    def check_capacity(self, caller: Caller) -> None:
        return

    async def events(self, turn: TurnInput) -> AsyncGenerator[tuple[str, Any], None]:
        try:
            yield "route", {"round": 1, "branches": ["sql"]}
            self.began.set()
            await asyncio.Event().wait()
        finally:
            # cleanup that takes time is not interrupted
            await asyncio.sleep(0.05)
            self.cleaned.set()


async def test_a_cancelled_call_ends_its_turn() -> None:
    service = WaitingService()
    seen: list[str | None] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with Client(create_mcp_server(lambda _: ToolContext(service))) as client:
        call = asyncio.create_task(client.call_tool("ask", {"question": "Who?"}, progress_callback=report))
        await asyncio.wait_for(service.began.wait(), 20)
        assert not service.cleaned.is_set()
        call.cancel()
        await asyncio.wait_for(service.cleaned.wait(), 20)
    assert seen == ["Asking sql"]
