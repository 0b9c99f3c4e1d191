"""The branch `triples`: single triples of the graph and of its texts, for a waterfall and on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.turn_view import Result, TurnView
from graph.branches import Branch, BranchResources, is_unvisited
from nacre.access.open_graph import lexical_problem
from nacre.errors import ToolError
from nacre.records.evidence import BranchResult
from nacre.records.threads import run_in_thread

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.vectors import Embedder


async def _triples(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    graph = resources.graph
    embedder = graph.lexicon.embedder
    if embedder is None or graph.stored is None:
        raise ToolError("unavailable", _problem(graph))
    return Result(await run_in_thread(_search, view, graph, embedder))


def _search(view: TurnView, graph: Graph, embedder: Embedder) -> BranchResult:
    # numpy is slow to import, and most turns do without it
    from nacre.extensions.pyramid import search_triples

    stores = search_triples.TripleStores(graph.lexicon, embedder, graph.passages, graph.extracted)
    return search_triples.search(view.understanding, stores, round=view.round)


def _problem(graph: Graph) -> str:
    """Why the branch `triples` can't be asked, or ""."""
    if graph.stored is None:
        return "an attached graph has none here"
    if graph.passages is None:
        return lexical_problem(graph)
    return "" if graph.lexicon.embedder else "no embedder. Install the bundled one: pip install 'nacre[bundled]'"


TRIPLES = Branch(_triples, _problem, is_unvisited, by_default=False)
