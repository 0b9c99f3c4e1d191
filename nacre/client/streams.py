"""An answer as it is written: events of a turn from the loop beside -> tokens, and at the end the reply."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from nacre.client.reply import Reply

# what is told of a turn: a token, its reply, or what went wrong; None at the end
StreamItem = str | Reply | BaseException | None
StartStream = Callable[[Callable[[StreamItem], object]], "Future[None]"]


class Stream:
    """The tokens of an answer, to iterate over; joined they are `reply.text`. Closing it stops the turn."""

    def __init__(self, begin: StartStream) -> None:
        self._told: SimpleQueue[StreamItem] = SimpleQueue()
        self._running = begin(self._told.put)
        self._reply: Reply | None = None
        self._over = False

    @property
    def reply(self) -> Reply:
        """The whole answer, once all tokens were read; raises RuntimeError before that."""
        return _whole(self._reply)

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> str:
        while not self._over:
            told = self._told.get()
            if isinstance(told, str):
                return told
            self._over, self._reply = _ended(told, self._reply)
        raise StopIteration

    def close(self) -> None:
        """Stop the turn, where it is not over."""
        self._over = True
        self._running.cancel()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream:
    """As `Stream`, for `async for`."""

    def __init__(self, begin: StartStream) -> None:
        loop, self._told = asyncio.get_running_loop(), asyncio.Queue[StreamItem]()

        def put(told: StreamItem) -> None:
            # a loop that is closed hears nothing any more
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._told.put_nowait, told)

        self._running = begin(put)
        self._reply: Reply | None = None
        self._over = False

    @property
    def reply(self) -> Reply:
        """The whole answer, once all tokens were read; raises RuntimeError before that."""
        return _whole(self._reply)

    def __aiter__(self) -> "AsyncStream":
        return self

    async def __anext__(self) -> str:
        while not self._over:
            told = await self._told.get()
            if isinstance(told, str):
                return told
            self._over, self._reply = _ended(told, self._reply)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop the turn, where it is not over."""
        self._over = True
        self._running.cancel()

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


async def forward_events(events: AsyncIterator[tuple[str, Any]], put: Callable[[StreamItem], object]) -> None:
    """Hand on the tokens and the reply of a turn, or what went wrong, then None."""
    try:
        async for kind, payload in events:
            if kind == "token":
                put(payload)
            elif kind == "answer":
                put(Reply(payload))
    except Exception as error:
        put(error)
    finally:
        await events.aclose()  # type: ignore[attr-defined]
        put(None)


def _ended(told: Reply | BaseException | None, known: Reply | None) -> tuple[bool, Reply | None]:
    if isinstance(told, BaseException):
        raise told
    return told is None, told or known


def _whole(reply: Reply | None) -> Reply:
    if reply is None:
        raise RuntimeError("The answer is not whole yet. Read all tokens first.")
    return reply
