"""Nacre: questions about one's own knowledge graph, with cited answers. `from nacre import Nacre` is where to begin."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nacre.client.facade import Chat, Graph, Nacre
    from nacre.client.reply import Reply
    from nacre.client.streams import AsyncStream, Stream
    from nacre.errors import NacreError

__all__ = ["AsyncStream", "Chat", "Graph", "Nacre", "NacreError", "Reply", "Stream"]

# where each name lies; nothing is imported before it is used
_PLACES = {
    "AsyncStream": "nacre.client.streams",
    "Chat": "nacre.client.facade",
    "Graph": "nacre.client.facade",
    "Nacre": "nacre.client.facade",
    "NacreError": "nacre.errors",
    "Reply": "nacre.client.reply",
    "Stream": "nacre.client.streams",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'nacre' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
