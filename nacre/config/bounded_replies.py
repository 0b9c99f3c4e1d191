"""Bound what a model's server sends: a chat model -> the same, whose HTTP clients limit each reply.

Bytes and items of a reply have limits, and a redirect to another host is refused, so that a server can't make this
machine send a prompt elsewhere.
"""

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from nacre.config.reply_body import ENCODINGS, bound_body, reply_counter

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
    """Bound the replies of all HTTP clients of a chat model, whoever its provider is.

    The clients of providers take hooks only together with a whole HTTP client, without its proxy and its timeouts.
    """
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
    """Hook of a client: each response gets its limits before its body is read.

    Clients of providers use httpx or a copy of it under another name, so the classes come from the response.
    """
    bound_sync_reply(response, by_line)


def bound_sync_reply(response: Any, by_line: bool = False) -> None:
    """The same hook for a client without an event loop. Raises RedirectRefused, ReplyTooLarge."""
    if response.has_redirect_location:
        _check_redirect(response)
    bound_body(response, reply_counter(response.request, by_line=by_line))


def _check_redirect(response: Any) -> None:
    here = response.request.url
    there = here.join(response.headers["location"])
    is_same = (there.scheme, there.netloc) == (here.scheme, here.netloc)
    if not is_same and (here.scheme, there.scheme, there.host) != ("http", "https", here.host):
        log.warning("the model's server redirects to another host, %r; that is not followed", there.host[:100])
        raise RedirectRefused("the model's server redirects to another host")
