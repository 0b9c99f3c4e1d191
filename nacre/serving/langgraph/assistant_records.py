"""Assistants: graph name <-> assistant. Each graph that the caller may read is one assistant."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

# the assistant of `langgraph dev`: the graph comes from the input, the context or the thread
ANY_GRAPH = "nacre"
MAX_NAMED = 8
# assistants are not created, they exist with their graphs
EPOCH = "1970-01-01T00:00:00+00:00"


def assistant_id(graph: str) -> str:
    """The id of a graph's assistant, the same on every server.

    >>> assistant_id("bmw") == assistant_id("bmw") != assistant_id("kitchen")
    True
    """
    return str(uuid5(NAMESPACE_URL, f"nacre:assistants:{graph}"))


def assistant_record(graph: str) -> dict[str, Any]:
    """The assistant of a graph as JSON."""
    return {
        "assistant_id": assistant_id(graph),
        "graph_id": graph,
        "name": graph,
        "description": f"Answers questions about the graph {graph}, with citations.",
        "config": {},
        "context": {"graph": graph},
        "metadata": {"created_by": "system"},
        "version": 1,
        "created_at": EPOCH,
        "updated_at": EPOCH,
    }


def graph_of_assistant(id: str, service: TurnService, caller: Caller) -> str | None:
    """The graph of an assistant, given by its id or the name of its graph; None for ANY_GRAPH. Raises NotFound."""
    names = service.graph_names(caller)
    found = next((name for name in names if id in (name, assistant_id(name))), None)
    if found is None and id != ANY_GRAPH:
        listed = ", ".join(names[:MAX_NAMED]) or "none"
        raise NotFound(f"There is no assistant {id[:100]!r}. An assistant is a graph; there are: {listed}.")
    return found
