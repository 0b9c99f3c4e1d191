"""Bound what a model's server sends: a chat model -> the same, whose HTTP clients limit bytes and items of each reply.
Redirects to other hosts are refused. Items are counted before the client of a provider parses a reply on the event
loop, where no timeout can end it, and everybody waits."""

import logging
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import Any

log = logging.getLogger(__name__)

# how deep in a chat model its HTTP clients are searched: model, provider's client, HTTP client (given)
CLIENT_DEPTH = 3
# redirects within a host (given, as for endpoints)
MAX_REDIRECTS = 3

# chat models whose clients read a stream line by line; others read server-sent events
READS_LINES = ("chat-ollama",)


class RedirectRefused(Exception):
    """The model's server sent a request on to another host."""


def bound_clients(chat: Any) -> None:
    """Bound a chat model's HTTP clients by hooks: a client of one's own would lose its proxy and timeouts."""
    is_bounded = False
    by_line = getattr(chat, "_llm_type", "") in READS_LINES
    for client in _http_clients(chat):
        hooks = client.event_hooks
        bound = bound_reply if hasattr(client, "aclose") else bound_sync_reply
        if not any(getattr(each, "func", None) is bound for each in hooks.get("response", [])):
            hook = partial(bound, by_line=by_line)
            client.event_hooks = {**hooks, "response": [*hooks.get("response", []), hook]}
            client.headers["accept-encoding"] = ", ".join(ENCODINGS)
            client.max_redirects = MAX_REDIRECTS
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


async def bound_reply(response: Any, by_line: bool = False) -> None:
    """Hook: a response gets its limits before its body is read. Its classes are those of httpx or of a renamed copy."""
    bound_sync_reply(response, by_line)


def bound_sync_reply(response: Any, by_line: bool = False) -> None:
    """The same hook for a client without an event loop. Raises RedirectRefused, ReplyTooLarge."""
    if response.has_redirect_location:
        _check_redirect(response)
    bound_body(response, *reply_bounds(response.request, by_line=by_line))


def _check_redirect(response: Any) -> None:
    here = response.request.url
    there = here.join(response.headers["location"])
    is_same = (there.scheme, there.netloc) == (here.scheme, here.netloc)
    if not is_same and (here.scheme, there.scheme, there.host) != ("http", "https", here.host):
        log.warning("the model's server redirects to another host, %r; that is not followed", there.host[:100])
        raise RedirectRefused("the model's server redirects to another host")


# bytes of a streamed reply; one of 10,000 tokens with 400 bytes for each has 4 MB (given)
MAX_REPLY_BYTES = 16_000_000
# bytes of a reply that is sent as a whole; one of 100,000 tokens has 1 MB (given). Measured: 4 MB are read in 50 ms
MAX_WHOLE_BYTES = 4_000_000
# Items of a whole reply, and of an event of a streamed one: what a bracket, comma or quote begins. Real replies have up
# to 300 (given). Measured: the client of OpenAI takes 160 microseconds for an unknown object, which is two items
MAX_ITEMS = 2000
# bytes of a reply between which others have their turn (measured: an event of 10 bytes takes up to 0.6 ms)
BYTES_AT_ONCE = 1024

# zlib's window: 32 more means that a header of gzip or zlib says which
_WINDOW = zlib.MAX_WBITS + 32

ENCODINGS = ("gzip", "deflate")

# what follows inside a string, up to its end, a backslash that the next part continues, or the end of the part
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)

_ITEM = re.compile(rb'[{\[,"]')

_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class ReplyTooLarge(Exception):
    """A reply has more bytes or items than any answer of a model, or an encoding that was not asked for."""


# counts the next part of a reply; raises ReplyTooLarge
Count = Callable[[bytes], object]


class WholeReply:
    """Counts the items of a JSON text outside its strings, part by part."""

    def __init__(self) -> None:
        self._items = 0
        self._in_string = self._is_escaping = False

    def count(self, part: bytes) -> None:
        """Raises ReplyTooLarge."""
        place = 0
        while place < len(part):
            if self._in_string:
                place = self._end_of_string(part, place)
            elif (item := _ITEM.search(part, place)) is None:
                return
            else:
                place, self._in_string = item.end(), item.group() == b'"'
                self._items += 1
                _check_items(self._items)

    def _end_of_string(self, part: bytes, place: int) -> int:
        found = _STRING.match(part, place + self._is_escaping)
        end = found.end() if found else len(part)
        self._is_escaping = part[end : end + 1] == b"\\"
        self._in_string = part[end : end + 1] != b'"'
        return end + 1


class StreamedReply:
    """Counts the items of each event, in strings too: events are short, up to a blank line or the line's end."""

    def __init__(self, *, is_line: bool) -> None:
        self._end = re.compile(rb"\n") if is_line else _EVENT_END
        self._items = 0
        self._line_end = b""

    def count(self, part: bytes) -> None:
        """Raises ReplyTooLarge."""
        first, *others = self._end.split(self._line_end + part)
        # a blank line may begin in this part and end in the next one
        self._line_end = b"" if others and not others[-1] else part[len(part.rstrip(b"\r\n")) :][-3:]
        self._items += len(_ITEM.findall(first))
        _check_items(self._items)
        for event in others:
            self._items = len(_ITEM.findall(event))
            _check_items(self._items)


# a request for a stream, in its body or its path
_STREAM_WANTED = re.compile(rb'"stream"\s*+:\s*+true')


def reply_bounds(request: Any, *, by_line: bool = False) -> tuple[int, Count]:
    """The most bytes of the reply to a request, and how its items are counted: what a client asks for decides how it
    reads the reply."""
    if "stream" in request.url.path or _STREAM_WANTED.search(request.content):
        return MAX_REPLY_BYTES, StreamedReply(is_line=by_line).count
    return MAX_WHOLE_BYTES, WholeReply().count


def _check_items(items: int) -> None:
    if items > MAX_ITEMS:
        raise ReplyTooLarge(f"the reply of the model's server has more than {MAX_ITEMS} items")


class BoundedBody:
    """The body of a reply, inflated, that ends with an error at its limits."""

    def __init__(self, body: Any, encoding: str, most_bytes: int, count: Count) -> None:
        self._body, self._left, self._count = body, most_bytes, count
        self._inflate = zlib.decompressobj(_WINDOW) if encoding else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for sent in self._body:
            for part in self._parts(sent):
                yield part

    def __iter__(self) -> Iterator[bytes]:
        for sent in self._body:
            yield from self._parts(sent)

    def _parts(self, sent: bytes) -> Iterator[bytes]:
        """What was sent, inflated, in short parts; raises ReplyTooLarge."""
        rest = sent
        while rest:
            part, rest = self._inflated(rest)
            self._left -= len(part)
            if self._left < 0:
                raise ReplyTooLarge("the reply has too many bytes")
            self._count(part)
            yield part

    def _inflated(self, rest: bytes) -> tuple[bytes, bytes]:
        if self._inflate is None:
            return rest[:BYTES_AT_ONCE], rest[BYTES_AT_ONCE:]
        try:
            return self._inflate.decompress(rest, BYTES_AT_ONCE), self._inflate.unconsumed_tail
        except zlib.error as error:
            raise ReplyTooLarge(f"the reply can't be inflated ({error})") from None

    async def aclose(self) -> None:
        await self._body.aclose()

    def close(self) -> None:
        self._body.close()


def bound_body(response: Any, most_bytes: int, count: Count = len) -> None:
    """Put the bounds around the body of a response of httpx, or of a copy of it under another name."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *ENCODINGS):
        raise ReplyTooLarge(f"the reply was sent as {encoding[:50]!r}")
    is_packed = encoding in ENCODINGS
    for name in ("content-encoding", "content-length") if is_packed else ():
        with suppress(KeyError):
            del response.headers[name]
    bounded = _stream_class(response.stream.__class__)
    response.stream = bounded(response.stream, encoding if is_packed else "", most_bytes, count)


@cache
def _stream_class(kind: Any) -> Callable[[Any, str, int, Count], BoundedBody]:
    bases = tuple(each for each in kind.__mro__ if each.__name__ in ("AsyncByteStream", "SyncByteStream"))
    return type("BoundedStream", (BoundedBody, *bases), {})
