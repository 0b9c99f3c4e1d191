"""Open what an answer cites: evidence by index -> the same evidence with the triples it rests on."""

import logging
from collections.abc import Sequence

from agents.answering.trust import plan_of
from agents.off_loop import off_loop
from nacre.records.evidence import Evidence
from nacre.records.turn import Understanding
from nacre.stores.catalog import Graph
from tools.sources import sources
from tools.sources_away import sources_away
from tools.sparql import vocabulary_at

log = logging.getLogger(__name__)


async def opened(
    cited: Sequence[int], evidence: Sequence[Evidence], understanding: Understanding, graph: Graph
) -> list[Evidence]:
    """The cited evidence, in this order; as it was found where tracing it fails, since the answer is out already."""
    found = [evidence[index] for index in cited]
    plans = [plan_of(understanding, each) for each in found]
    try:
        if graph.remote is not None and graph.endpoint is not None:
            words, names = vocabulary_at(graph.endpoint, graph.schema), graph.endpoint.names
            return [
                await off_loop(sources_away, each, plan, graph.remote, words, names)
                for each, plan in zip(found, plans, strict=True)
            ]
        return [await off_loop(sources, each, plan, graph.tables) for each, plan in zip(found, plans, strict=True)]
    except Exception:
        log.exception("citations could not be traced")
        return found
