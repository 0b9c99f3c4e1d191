"""Hold the version a turn reads, from its first node to its last: opened stores, given back at the end of the turn."""

import asyncio
from uuid import uuid4

from langgraph.config import get_config

from nacre.stores.catalog import Graph

LONGEST_TURN = 900.0


class Holds:
    """Versions that turns are reading. What a broken turn never gives back goes after `LONGEST_TURN` seconds."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Graph, asyncio.TimerHandle, str]] = {}

    def take(self, graph: Graph) -> str:
        """Keep an opened graph from being closed; returns the name of the hold. On the event loop only."""
        name = uuid4().hex
        timer = asyncio.get_running_loop().call_later(LONGEST_TURN, self.release, name)
        run = str(get_config().get("configurable", {}).get("ask_id") or "")
        self._held[name] = graph, timer, run
        return name

    def release(self, name: str) -> None:
        """Give it back; a hold that is gone is no error."""
        held = self._held.pop(name, None)
        if held is not None:
            graph, timer, _ = held
            timer.cancel()
            graph.close()

    def release_run(self, run: str) -> None:
        """Give back what a run that was cancelled still holds; `run` is its `ask_id`."""
        for name in [name for name, (_, _, taker) in self._held.items() if taker == run]:
            self.release(name)
