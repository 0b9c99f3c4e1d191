"""The protocol that a data folder and a server implement: TurnRequest -> events of a turn."""

from collections.abc import AsyncIterator
from typing import Any, Literal, NamedTuple, Protocol

from nacre.client.verified import VerifiedSource

ReasonerName = Literal["rules", "model"]


class TurnRequest(NamedTuple):
    """One question, with its graph, its thread and who answers it."""

    question: str
    graph: str | None = None
    thread: str | None = None
    mind: ReasonerName | None = None


class GraphSource(Protocol):
    """A set of graphs to query. Its methods raise NacreError for what a user can correct."""

    async def names(self) -> list[str]:
        """The names of the graphs."""
        ...

    def events(self, request: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn, the record last; see `graph.stream.stream_turn`."""
        ...

    @property
    def verified(self) -> VerifiedSource:
        """The verified questions of its graphs."""
        ...

    async def forget(self, thread: str) -> None:
        """Forget a thread that is held only in the memory of this process."""
        ...

    async def close(self) -> None:
        """Release files and connections."""
        ...
