"""An answer as it streams: events of a turn from the background loop -> tokens, then the Reply."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from nacre.client.reply import Reply

# a token, the reply, or the error of a turn; None marks the end
StreamItem = str | Reply | BaseException | None
StartStream = Callable[[Callable[[StreamItem], object]], "Future[None]"]


class Stream:
    """An iterator over the tokens of an answer; joined they equal `reply.text`. Closing it stops the turn."""

    def __init__(self, begin: StartStream) -> None:
        self._items: SimpleQueue[StreamItem] = SimpleQueue()
        self._running = begin(self._items.put)
        self._reply: Reply | None = None
        self._is_over = False

    @property
    def reply(self) -> Reply:
        """The whole answer, once all tokens were read; raises RuntimeError before that."""
        return _require_reply(self._reply)

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> str:
        while not self._is_over:
            item = self._items.get()
            if isinstance(item, str):
                return item
            self._is_over, self._reply = _next_state(item, self._reply)
        raise StopIteration

    def close(self) -> None:
        """Stop the turn, where it is not over."""
        self._is_over = True
        self._running.cancel()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream:
    """Like `Stream`, for `async for`."""

    def __init__(self, begin: StartStream) -> None:
        loop, self._items = asyncio.get_running_loop(), asyncio.Queue[StreamItem]()

        def put(item: StreamItem) -> None:
            # a closed loop accepts no callbacks
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._items.put_nowait, item)

        self._running = begin(put)
        self._reply: Reply | None = None
        self._is_over = False

    @property
    def reply(self) -> Reply:
        """The whole answer, once all tokens were read; raises RuntimeError before that."""
        return _require_reply(self._reply)

    def __aiter__(self) -> "AsyncStream":
        return self

    async def __anext__(self) -> str:
        while not self._is_over:
            item = await self._items.get()
            if isinstance(item, str):
                return item
            self._is_over, self._reply = _next_state(item, self._reply)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop the turn, where it is not over."""
        self._is_over = True
        self._running.cancel()

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


async def forward_events(events: AsyncIterator[tuple[str, Any]], put: Callable[[StreamItem], object]) -> None:
    """Put the tokens and the reply of a turn, or its error, then None."""
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


def _next_state(item: Reply | BaseException | None, reply: Reply | None) -> tuple[bool, Reply | None]:
    if isinstance(item, BaseException):
        raise item
    return item is None, item or reply


def _require_reply(reply: Reply | None) -> Reply:
    if reply is None:
        raise RuntimeError("The answer is not complete yet. Read all tokens first.")
    return reply
