"""Features of how the data bear a reading out: what its properties are known of, and what its joins leave out."""

from nacre.records.plan import Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question, Ref


def data_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How much of what is asked of is known, and how much of what is joined lies in the kinds that nobody said."""
    d = candidate.derivation
    refs = {*(t.ref for t in d.targets), *(c.ref for c in d.conditions), *d.group}
    refs |= {d.order.ref} if d.order is not None else set()
    filled = [_filled(ref, graph) for ref in refs if ref.predicate]
    body = candidate.body.left if isinstance(candidate.body, Combine) else candidate.body
    said = {x.refs[0].node for x in d.links if x.kind == "class"}
    found = {"unfilled most": 1 - min(filled, default=1.0)}
    if isinstance(body, Select):
        lost = _left_out(body, said, graph)
        found |= {"joins leave out": sum(lost), "joins leave out most": max(lost, default=0.0)}
    return found | _dated(candidate, question, graph)


def _filled(ref: Ref, graph: SchemaGraph) -> float:
    """The share of a kind's things that have a property."""
    return min(1.0, graph.value_counts.get((ref.node, ref.predicate), 0) / max(1, graph.nodes[ref.node].count))


def _left_out(body: Select, said: set[int], graph: SchemaGraph) -> list[float]:
    """Of each link the share that leads to other kinds than the one at its end, or comes from others, where neither
    the question nor a name says that this one is meant."""
    node = {v.name: graph.node_of_classes.get((v.classes, v.without)) for v in body.variables if v.classes}
    named = {v.name for v in body.variables if v.keys}
    lost = []
    for edge in body.edges:
        here, there = node.get(edge.subject), node.get(edge.object)
        if here is None or there is None:
            continue
        for end, variable, shares in (
            (there, edge.object, graph.forward_share),
            (here, edge.subject, graph.backward_share),
        ):
            if end not in said and variable not in named:
                lost.append(1 - shares.get((edge.predicate, here, there), 1.0))
    return lost


def _dated(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether a date that no word names is the one that is called after nothing but the thing: the "date" of an order
    and not its "delivery date"."""
    d = candidate.derivation
    named = {r.predicate for x in d.links if x.kind == "property" for r in x.refs}
    apart = 0
    for condition in d.conditions:
        ref = condition.ref
        if not ref.predicate or ref.predicate in named or not graph.is_date(ref.predicate):
            continue
        own = [p for p in graph.literals[ref.node] if graph.is_date(p)]
        words = set(graph.nodes[ref.node].words)
        further = {p: len(set(graph.words[p]) - words) for p in own}
        apart += further.get(ref.predicate, 0) > min(further.values(), default=0)
    return {"date called otherwise": float(apart)}
