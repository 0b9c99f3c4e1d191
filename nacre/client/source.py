"""What a program asks: the protocol `GraphSource`, which a data folder and a server fulfil."""

from collections.abc import AsyncIterator
from typing import Any, Literal, NamedTuple, Protocol

ReasonerName = Literal["rules", "model"]


class TurnRequest(NamedTuple):
    """One question, and where it belongs."""

    question: str
    graph: str | None = None
    thread: str | None = None
    mind: ReasonerName | None = None


class GraphSource(Protocol):
    """Graphs that can be asked. Its methods raise NacreError for what a person can put right."""

    async def names(self) -> list[str]:
        """The names of the graphs."""
        ...

    def events(self, asked: TurnRequest) -> AsyncIterator[tuple[str, Any]]:
        """The events of a turn, the record last; see `graph.turn.stream_turn`."""
        ...

    async def forget(self, thread: str) -> None:
        """Let go of what is remembered of a thread in this process alone."""
        ...

    async def close(self) -> None:
        """Give back what it holds."""
        ...
