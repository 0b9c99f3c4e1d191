"""Open the citations of an answer: evidence by index -> the same evidence with the triples it rests on."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from agents.answering.selection.rows import plan_of
from nacre.records.evidence import Evidence, Rows
from nacre.records.extracted import EXTRACTED_NAMESPACE
from nacre.records.plan import Plan
from nacre.records.turn import Understanding
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.extracted_triples import ExtractedLayer
from nacre.stores.sqlite.triples import TripleReader
from tools.provenance.trace_remote_sources import trace_model_sparql, trace_remote_sources
from tools.provenance.trace_sources import trace_sources
from tools.sparql import BRANCH, endpoint_vocabulary

log = logging.getLogger(__name__)

# sentences of texts that a citation names
SENTENCES = 3


def open_citations(
    cited: Sequence[int], evidence: Sequence[Evidence], understanding: Understanding, graph: Graph
) -> list[Evidence]:
    """The cited evidence, in this order. If tracing fails it stays as it is, since the answer was streamed already.
    Blocking."""
    evidence_by_number = [evidence[index] for index in cited]
    plans = [plan_of(understanding, each) for each in evidence_by_number]
    try:
        if graph.remote is not None and graph.endpoint is not None:
            words, names = endpoint_vocabulary(graph.endpoint, graph.schema), graph.endpoint.names
            pairs = zip(evidence_by_number, plans, strict=True)
            return [trace_remote_sources(each, plan, graph.remote, words, names) for each, plan in pairs]
        return _trace_all(evidence_by_number, plans, graph)
    except Exception:
        log.exception("citations could not be traced")
        return evidence_by_number


def _trace_all(found: Sequence[Evidence], plans: Sequence[Plan | None], graph: Graph) -> list[Evidence]:
    traced = [_trace(each, plan, graph) for each, plan in zip(found, plans, strict=True)]
    return [_with_text_basis(each, graph.extracted) for each in traced] if graph.extracted else traced


def _trace(evidence: Evidence, plan: Plan | None, graph: Graph) -> Evidence:
    """Evidence of an ingested graph with its triples; SPARQL of a model is traced in the store that it asked."""
    written = isinstance(evidence, Rows) and evidence.branch == BRANCH and plan is None and evidence.query is not None
    if not written or graph.triples is None or not isinstance(evidence, Rows):
        return trace_sources(evidence, plan, graph.tables)
    names = [predicate.iri for predicate in graph.schema.predicates if predicate.role == "name"]
    traced = trace_model_sparql(evidence, graph.triples, names)
    # the store has inferred triples as well
    stated = TripleReader(graph.tables)
    return replace(traced, triples=tuple(triple for triple in traced.triples if stated.contains(triple)))


def _with_text_basis(evidence: Evidence, layer: ExtractedLayer) -> Evidence:
    """Evidence with the sentences of texts that its extracted triples come from."""
    if evidence.document is not None or not evidence.triples:
        return evidence
    ends = {end for subject, _, value in evidence.triples for end in (subject, value)}
    rests = {(subject, value): predicate for subject, predicate, value in evidence.triples}
    quotes = []
    for each in layer.about(ends, ()):
        predicate = rests.get((each.subject_key, each.object_key or each.object), "")
        if predicate and (predicate.startswith(EXTRACTED_NAMESPACE) or predicate == each.relation_key):
            quotes.append(f"“{each.claim.text}” ({each.claim.document} {each.claim.start}-{each.claim.end})")
    if not quotes:
        return evidence
    more = f" and {len(quotes) - SENTENCES} more" if len(quotes) > SENTENCES else ""
    return replace(evidence, basis=f"{evidence.basis}; of texts: {'; '.join(quotes[:SENTENCES])}{more}")
