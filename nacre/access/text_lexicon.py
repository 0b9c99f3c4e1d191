"""The names that a text may use: open graph + text -> Lexicon."""

import logging
from functools import lru_cache

from agents.run_in_thread import run_in_thread
from nacre.errors import ToolError
from nacre.records.endpoint import Endpoint
from nacre.stores.catalog import Graph
from nacre.stores.sparql.endpoint import EndpointSource
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.names.endpoint_names import EndpointNames

log = logging.getLogger(__name__)


def lexicon_for(graph: Graph, *texts: str) -> Lexicon:
    """The lexicon of an ingested graph; that of an attached graph with the things that the texts may name."""
    names = endpoint_names(graph)
    return names.about("\n".join(texts)) if names is not None else graph.lexicon


async def load_lexicon(graph: Graph, *texts: str) -> Lexicon:
    """The same for the event loop; names of an attached graph are looked up at its endpoint, in a thread."""
    return graph.lexicon if graph.endpoint is None else await run_in_thread(lexicon_for, graph, *texts)


async def available_lexicon(graph: Graph, *texts: str) -> Lexicon:
    """The same; the names of the schema alone if the endpoint fails to look up others."""
    try:
        return await load_lexicon(graph, *texts)
    except ToolError as error:
        log.warning("names of %s were not looked up (%s): %s", graph.name, error.kind, error)
        return graph.lexicon


def endpoint_names(graph: Graph) -> EndpointNames | None:
    """The look-up of names at an endpoint; None for an ingested graph, whose lexicon has all names."""
    if graph.endpoint is None or graph.remote is None:
        return None
    return _endpoint_names(graph.lexicon, graph.endpoint, graph.remote)


@lru_cache(maxsize=8)
def _endpoint_names(lexicon: Lexicon, endpoint: Endpoint, source: EndpointSource) -> EndpointNames:
    return EndpointNames(lexicon, endpoint, source, source.things)
