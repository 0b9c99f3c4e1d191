"""Features of the words and links behind a reading: the graph's own, or those of a layer.

A semantic layer gives properties words that people ask with, derives properties from paths, and hides what only
connects others. Readings that rest on these are right less often than readings in the graph's own terms.
"""

from nacre.plans.inspect_select import predicates_of
from nacre.records.plan import Ask, Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.constraints.own_properties import looks_up_own, unnamed_edges
from nacre.understanding.parsing.readers.keywords import is_keywords
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Link, Question

# Larger counts say no more.
MAX_COUNTED = 4


def vocabulary_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How the graph's own words and links bear a reading out."""
    used = [link for link in candidate.derivation.links if link.kind in ("class", "property")]
    body = candidate.body
    select = body.select if isinstance(body, Ask) else body.left if isinstance(body, Combine) else body
    predicates = predicates_of(select) if isinstance(select, Select) else frozenset[str]()
    about = [graph.about(predicate) for predicate in predicates if predicate in graph.schema.predicate_of]
    hidden = graph.hidden_nodes
    nodes = {node.node for node in candidate.derivation.nodes}
    layered = [link for link in used if _is_layer_word(link, question, graph)]
    return {
        "links unsaid": float(min(len(unnamed_edges(candidate, question, graph)), MAX_COUNTED)),
        "own property": float(looks_up_own(candidate, question, graph)),
        "layer share": graph.layer_share,
        "keywords": float(is_keywords(question)),
        "layer words": len(layered) / max(1, len(used)),
        "layer derived": float(min(sum(bool(each.patterns) for each in about), MAX_COUNTED)),
        "layer hidden": float(min(sum(each.hidden for each in about) + len(nodes & hidden), MAX_COUNTED)),
    }


def _is_layer_word(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a span has no word of what it names, but words that a layer gives it."""
    ref = link.refs[0]
    predicate = ref.via or ref.predicate
    if not predicate or not graph.phrases[predicate]:
        return False
    said = {question.tokens[i].lemma for i in range(link.start, link.end)}
    return not said & set(graph.words[predicate]) and any(said & set(phrase) for phrase in graph.phrases[predicate])
