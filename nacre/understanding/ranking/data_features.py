"""Features of the data behind a reading: how complete its properties are, and what its joins leave out."""

from nacre.records.plan import Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Ref


def data_features(candidate: Candidate, graph: SchemaGraph) -> dict[str, float]:
    """How many of the requested values exist, and what share of the joined things lies in unmentioned classes."""
    d = candidate.derivation
    refs = {*(t.ref for t in d.targets), *(c.ref for c in d.conditions), *d.group}
    refs |= {d.order.ref} if d.order is not None else set()
    shares = [_share_with_value(ref, graph) for ref in refs if ref.predicate]
    found = {"unfilled most": 1 - min(shares, default=1.0)}
    body = candidate.body.left if isinstance(candidate.body, Combine) else candidate.body
    if isinstance(body, Select):
        mentioned = frozenset(x.refs[0].node for x in d.links if x.kind == "class")
        lost = _shares_left_out(body, mentioned, graph)
        found |= {"joins leave out": sum(lost), "joins leave out most": max(lost, default=0.0)}
    return {**found, "date called otherwise": float(_count_qualified_dates(candidate, graph))}


def _share_with_value(ref: Ref, graph: SchemaGraph) -> float:
    """The share of a node's things that have a property."""
    count = graph.value_counts.get((ref.node, ref.predicate), 0)
    return min(1.0, count / max(1, graph.nodes[ref.node].count))


def _shares_left_out(body: Select, mentioned: frozenset[int], graph: SchemaGraph) -> list[float]:
    """For each end of a join whose class neither the question nor a name mentions: the share of the links that belong
    to other classes."""
    node = {v.name: graph.node_of_classes.get((v.classes, v.without)) for v in body.variables if v.classes}
    named = {v.name for v in body.variables if v.keys}
    lost = []
    for edge in body.edges:
        source, target = node.get(edge.subject), node.get(edge.object)
        if source is None or target is None:
            continue
        for end, variable, shares in (
            (target, edge.object, graph.forward_share),
            (source, edge.subject, graph.backward_share),
        ):
            if end not in mentioned and variable not in named:
                lost.append(1 - shares.get((edge.predicate, source, target), 1.0))
    return lost


def _count_qualified_dates(candidate: Candidate, graph: SchemaGraph) -> int:
    """How many unmentioned dates in conditions have a longer name than another date: the "delivery date" of an order,
    and not its "date"."""
    d = candidate.derivation
    mentioned = {r.predicate for x in d.links if x.kind == "property" for r in x.refs}
    count = 0
    for condition in d.conditions:
        ref = condition.ref
        if not ref.predicate or ref.predicate in mentioned or not graph.is_date(ref.predicate):
            continue
        own = set(graph.nodes[ref.node].words)
        extra = {p: len(set(graph.words[p]) - own) for p in graph.literals[ref.node] if graph.is_date(p)}
        count += extra.get(ref.predicate, 0) > min(extra.values(), default=0)
    return count
