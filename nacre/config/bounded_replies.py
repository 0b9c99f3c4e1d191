"""Bound what a model's server sends: a response of an HTTP client -> the same with a limit on the bytes of its body."""

import logging
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

log = logging.getLogger(__name__)

# bytes of a reply; a reply of 10,000 tokens, streamed with 400 bytes for each, has 4 MB (given)
MAX_REPLY_BYTES = 16_000_000
# a compressed reply may grow to 1,000 times its size (given by deflate)
MAX_COMPRESSED_BYTES = 500_000


# how deep in a chat model its HTTP clients are searched: model, provider's client, HTTP client (given)
CLIENT_DEPTH = 3


class ReplyTooLarge(Exception):
    """The body of a reply has more bytes than any answer of a model."""


def bound_clients(chat: Any) -> None:
    """Bound the replies of all HTTP clients of a chat model, whoever its provider is.

    The clients of providers take hooks only together with a whole HTTP client, without its proxy and its timeouts.
    """
    is_bounded = False
    for client in _http_clients(chat):
        hook = bound_reply if hasattr(client, "aclose") else bound_sync_reply
        hooks = client.event_hooks
        if hook not in hooks.get("response", []):
            client.event_hooks = {**hooks, "response": [*hooks.get("response", []), hook]}
        is_bounded = True
    if not is_bounded:
        log.warning("the size of replies of %s is not limited: its HTTP client is unknown", type(chat).__name__)


def _http_clients(chat: Any) -> Iterator[Any]:
    """The objects with hooks for responses among the attributes of a chat model, and of their clients."""
    level, seen = [chat], set()
    for _ in range(CLIENT_DEPTH):
        inner = []
        for each in level:
            private = getattr(each, "__pydantic_private__", None) or ()
            for name in (*vars(each), *private, *_cached_names(type(each))):
                value = getattr(each, name, None)
                if not hasattr(value, "__dict__") or isinstance(value, type) or id(value) in seen:
                    continue
                seen.add(id(value))
                if hasattr(type(value), "event_hooks"):
                    yield value
                elif "client" in name:
                    inner.append(value)
        level = inner


def _cached_names(kind: type) -> list[str]:
    """Clients that a model makes when they are first used."""
    return [
        name
        for each in kind.__mro__
        for name, value in vars(each).items()
        if "client" in name and type(value).__name__ == "cached_property"
    ]


async def bound_reply(response: Any) -> None:
    """Hook of a client: the body of each response gets its limit before it is read.

    Clients of providers use httpx or a copy of it under another name, so the classes come from the response.
    """
    response.stream = _bounded_class(response.stream.__class__)(response.stream, _limit(response))


def bound_sync_reply(response: Any) -> None:
    """The same hook for a client without an event loop."""
    response.stream = _bounded_class(response.stream.__class__)(response.stream, _limit(response))


def _limit(response: Any) -> int:
    is_compressed = response.headers.get("content-encoding", "identity") != "identity"
    return MAX_COMPRESSED_BYTES if is_compressed else MAX_REPLY_BYTES


class _Bounded:
    """A body that ends with an error after so many bytes."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._body = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._body:
            yield self._counted(piece)

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            yield self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._limit -= len(piece)
        if self._limit < 0:
            raise ReplyTooLarge("the reply of the model's server has too many bytes")
        return piece

    async def aclose(self) -> None:
        await self._body.aclose()

    def close(self) -> None:
        self._body.close()


@cache
def _bounded_class(kind: Any) -> type[_Bounded]:
    bases = tuple(each for each in kind.__mro__ if each.__name__ in ("AsyncByteStream", "SyncByteStream"))
    return type("BoundedStream", (_Bounded, *bases), {})
