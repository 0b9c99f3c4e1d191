"""Open what an answer cites: evidence by index -> the same evidence with the triples it rests on."""

import logging
from collections.abc import Sequence

from agents.answering.trust import plan_of
from agents.off_loop import off_loop
from nacre.records.evidence import Evidence
from nacre.records.turn import Understanding
from nacre.stores.catalog import Graph
from tools.sources import sources

log = logging.getLogger(__name__)


async def opened(
    cited: Sequence[int], evidence: Sequence[Evidence], understanding: Understanding, graph: Graph
) -> list[Evidence]:
    """The cited evidence, in this order; as it was found where tracing it fails, since the answer is out already."""
    found = [evidence[index] for index in cited]
    if graph.stored is None:
        # the rows of an attached graph are cited with their query and keys
        return found
    plans = [plan_of(understanding, each) for each in found]
    try:
        return [await off_loop(sources, each, plan, graph.tables) for each, plan in zip(found, plans, strict=True)]
    except Exception:
        log.exception("citations could not be traced")
        return found
