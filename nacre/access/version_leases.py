"""Keep the version of a graph open that a turn reads, from its first node to its last."""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple
from uuid import uuid4

from nacre.stores.catalog import Graph

LONGEST_TURN = 900.0
# within so many seconds an opened version is used without a look at its files
RECENT_SECONDS = 1.0


class _Lease(NamedTuple):
    """The lease of one turn. `run` is the id of its run, `since` its begin by the monotonic clock."""

    graph: Graph
    timer: asyncio.TimerHandle
    run: str
    since: float


class VersionLeases:
    """The open versions that turns read. A lease that a broken turn never releases ends after `LONGEST_TURN`
    seconds."""

    def __init__(self) -> None:
        self._leases: dict[str, _Lease] = {}

    def acquire(self, graph: Graph, run: str = "") -> str:
        """Keep an open graph from being closed; returns the name of the lease. On the event loop only."""
        name = uuid4().hex
        timer = asyncio.get_running_loop().call_later(LONGEST_TURN, self.release, name)
        self._leases[name] = _Lease(graph, timer, run, time.monotonic())
        return name

    def recent(self, name: str) -> AbstractContextManager[Graph] | None:
        """The graph of a turn that began just now; None if it should be opened again, with a look at its files."""
        lease = self._leases.get(name)
        is_recent = lease is not None and time.monotonic() - lease.since < RECENT_SECONDS
        return nullcontext(lease.graph) if lease is not None and is_recent else None

    def release(self, name: str) -> None:
        """End a lease and close its graph; a lease that ended already is no error."""
        lease = self._leases.pop(name, None)
        if lease is not None:
            lease.timer.cancel()
            lease.graph.close()

    def release_run(self, run: str) -> None:
        """End the leases of a run that was cancelled."""
        for name in [name for name, lease in self._leases.items() if lease.run == run]:
            self.release(name)
