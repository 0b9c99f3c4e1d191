"""Why a branch cannot search a graph: Graph -> the reason and the next step, or "" if it can."""

from nacre.stores.catalog import Graph


def lacks_vectors(graph: Graph) -> str:
    """Why `vector` can't be asked, or ""."""
    if graph.vectors is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("vector") or f"not built. Run: nacre index --graph {graph.name}"


def lacks_lexical(graph: Graph) -> str:
    """Why `lexical` can't be asked, or ""."""
    if graph.lexical is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"


def lacks_triples(graph: Graph) -> str:
    """Why `sparql` can't be asked, or ""."""
    if graph.triples is not None or graph.remote is not None:
        return ""
    again = f"not built. Run: nacre ingest FILE.ttl --graph {graph.name} --sparql"
    return graph.unavailable.get("sparql") or again


def lacks_single_triples(graph: Graph) -> str:
    """Why `triples` can't be asked, or ""."""
    if graph.stored is None:
        return "an attached graph has none here"
    if graph.passages is None:
        return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"
    return "" if graph.lexicon.embedder else "no embedder. Install the bundled one: pip install 'nacre[bundled]'"
