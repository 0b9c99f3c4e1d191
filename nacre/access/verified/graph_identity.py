"""Whether a new version of a graph is still the graph whose questions people confirmed: Graph -> its terms and bases.

A name can be given to another graph. Its confirmed questions are then not used until somebody looks at them.
"""

import logging
from urllib.parse import urlsplit

from nacre.stores.graph import Graph
from nacre.stores.verified.store import VerifiedQuestionStore

# the share of its classes and properties that the same graph keeps from one version to the next (given)
KEPT_TERMS = 0.5
# things whose IRIs are looked at; their order in the table is that of their hashes
SAMPLED_THINGS = 200
log = logging.getLogger(__name__)


def note_version(graph: Graph, store: VerifiedQuestionStore) -> None:
    """Compare an open version with the one that was last noted, once for each version. Raises sqlite3.Error."""
    known = store.known_version(graph.name)
    if known is not None and known >= graph.version:
        return
    terms, bases = _terms(graph), _bases(graph)
    before = store.known_graph(graph.name)
    if before is not None and not _is_same(before[0], before[1], terms, bases):
        aside = store.set_aside(graph.name, "replaced", "the graph of this name was replaced by another one")
        log.warning("graph %s was replaced by another one: %d verified questions are not used", graph.name, aside)
    store.note_graph(graph.name, graph.version, terms, bases)


def _is_same(
    terms: frozenset[str], bases: frozenset[str], new_terms: frozenset[str], new_bases: frozenset[str]
) -> bool:
    if terms and len(terms & new_terms) < KEPT_TERMS * len(terms):
        return False
    return not (bases and new_bases) or bool(bases & new_bases)


def _terms(graph: Graph) -> frozenset[str]:
    return frozenset((*(each.iri for each in graph.schema.classes), *(each.iri for each in graph.schema.predicates)))


def _bases(graph: Graph) -> frozenset[str]:
    """The schemes and hosts of a sample of its things; none for an attached graph."""
    if graph.stored is None:
        return frozenset()
    rows = graph.stored.run("SELECT iri FROM entity ORDER BY id LIMIT ?", (SAMPLED_THINGS,)).rows
    return frozenset(base for (iri,) in rows if (base := _base(str(iri))))


def _base(iri: str) -> str:
    """The scheme and host of an IRI; "" for a blank node.

    >>> _base("https://mills.example/id/7"), _base("urn:isbn:3"), _base("_:b1")
    ('https://mills.example', 'urn:isbn', '')
    """
    try:
        parts = urlsplit(iri)
    except ValueError:
        return ""
    if parts.netloc:
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:{parts.path.partition(':')[0]}" if parts.scheme else ""
