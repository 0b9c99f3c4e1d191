"""Bound what a model's server sends: a response of an HTTP client -> the same with a limit on the bytes of its body."""

from collections.abc import AsyncIterator
from functools import cache
from typing import Any

# bytes of a reply; a reply of 10,000 tokens, streamed with 400 bytes for each, has 4 MB (given)
MAX_REPLY_BYTES = 16_000_000
# a compressed reply may grow to 1,000 times its size (given by deflate)
MAX_COMPRESSED_BYTES = 500_000


class ReplyTooLarge(Exception):
    """The body of a reply has more bytes than any answer of a model."""


async def bound_reply(response: Any) -> None:
    """Hook of a client: the body of each response gets its limit before it is read.

    Clients of providers use httpx or a copy of it under another name, so the classes come from the response.
    """
    is_compressed = response.headers.get("content-encoding", "identity") != "identity"
    limit = MAX_COMPRESSED_BYTES if is_compressed else MAX_REPLY_BYTES
    response.stream = _bounded_class(response.stream.__class__)(response.stream, limit)


class _Bounded:
    """A body that ends with an error after so many bytes."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._body = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._body:
            size += len(piece)
            if size > self._limit:
                raise ReplyTooLarge(f"the reply of the model's server has more than {self._limit} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


@cache
def _bounded_class(kind: Any) -> type[_Bounded]:
    base = next(each for each in kind.__mro__ if each.__name__ == "AsyncByteStream")
    return type("BoundedStream", (_Bounded, base), {})
