"""Hold the version a turn reads, from its first node to its last: opened stores, given back at the end of the turn."""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple
from uuid import uuid4

from langgraph.config import get_config

from nacre.stores.catalog import Graph

LONGEST_TURN = 900.0
# a version that was opened so lately is taken to be whole
FRESH_SECONDS = 1.0


class _Hold(NamedTuple):
    """One turn's. `run` is its `ask_id`, `since` when it began, by the monotonic clock."""

    graph: Graph
    timer: asyncio.TimerHandle
    run: str
    since: float


class VersionLeases:
    """Versions that turns are reading. What a broken turn never gives back goes after `LONGEST_TURN` seconds."""

    def __init__(self) -> None:
        self._held: dict[str, _Hold] = {}

    def take(self, graph: Graph) -> str:
        """Keep an opened graph from being closed; returns the name of the hold. On the event loop only."""
        name = uuid4().hex
        timer = asyncio.get_running_loop().call_later(LONGEST_TURN, self.release, name)
        run = str(get_config().get("configurable", {}).get("ask_id") or "")
        self._held[name] = _Hold(graph, timer, run, time.monotonic())
        return name

    def fresh(self, name: str) -> AbstractContextManager[Graph] | None:
        """The graph of a turn that began just now, given back with the hold; None where it should be opened, and its
        files looked at, anew."""
        held = self._held.get(name)
        lately = held is not None and time.monotonic() - held.since < FRESH_SECONDS
        return nullcontext(held.graph) if held is not None and lately else None

    def release(self, name: str) -> None:
        """Give it back; a hold that is gone is no error."""
        held = self._held.pop(name, None)
        if held is not None:
            held.timer.cancel()
            held.graph.close()

    def release_run(self, run: str) -> None:
        """Give back what a run that was cancelled still holds; `run` is its `ask_id`."""
        for name in [name for name, held in self._held.items() if held.run == run]:
            self.release(name)
