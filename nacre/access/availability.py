"""Why a branch can't search a graph: Graph -> the reason and the next step, or "" if it can."""

from nacre.stores.catalog import Graph


def vector_problem(graph: Graph) -> str:
    """Why the branch `vector` can't be asked, or ""."""
    if graph.vectors is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("vector") or f"not built. Run: nacre index --graph {graph.name}"


def lexical_problem(graph: Graph) -> str:
    """Why the branch `lexical` can't be asked, or ""."""
    if graph.lexical is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"


def sparql_problem(graph: Graph) -> str:
    """Why the branch `sparql` can't be asked, or ""."""
    if graph.triples is not None or graph.remote is not None:
        return ""
    again = f"not built. Run: nacre ingest FILE.ttl --graph {graph.name} --sparql"
    return graph.unavailable.get("sparql") or again


def triples_problem(graph: Graph) -> str:
    """Why the branch `triples` can't be asked, or ""."""
    if graph.stored is None:
        return "an attached graph has none here"
    if graph.passages is None:
        return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"
    return "" if graph.lexicon.embedder else "no embedder. Install the bundled one: pip install 'nacre[bundled]'"
