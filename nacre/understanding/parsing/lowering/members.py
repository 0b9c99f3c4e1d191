"""An aggregate of one thing is one of the things that hang on it: "the average price of the X5" -> of its variants."""

from dataclasses import replace

from nacre.records.plan import Aggregate, Attribute, Body, Compute, Edge, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep

GATHERING = frozenset(("avg", "min", "max", "sum"))


def aggregate_members(body: Body, graph: SchemaGraph) -> Body:
    """The plan with each aggregate over a single thing turned into one over the things that hang on it.

    A comparison of two things changes on both sides or not at all.
    """
    if isinstance(body, Compute):
        sides = [_members(side, graph) for side in (body.left, body.right)]
        if sides[0] is None or sides[1] is None:
            return body
        return replace(body, left=sides[0], right=sides[1])
    if isinstance(body, Select):
        return _members(body, graph) or body
    return body


def _members(select: Select, graph: SchemaGraph) -> Select | None:
    """None where no aggregate is over a single thing with one value."""
    if select.group or select.by or select.order or not select.answers:
        return None
    taken: list[Attribute] = []
    for answer in select.answers:
        if (
            not isinstance(answer, Aggregate)
            or answer.function not in GATHERING
            or not isinstance(answer.of, Attribute)
        ):
            return None
        taken.append(answer.of)
    owner = next(v for v in select.variables if v.name == taken[0].variable)
    single = len(owner.keys) == 1 and all(t.variable == owner.name for t in taken)
    if not single or not all(graph.about(t.predicate).functional for t in taken):
        return None
    node = next((n.index for n in graph.nodes if (n.classes, n.without) == (owner.classes, owner.without)), None)
    step = member_link(graph, node, tuple(t.predicate for t in taken)) if node is not None else None
    if step is None:
        return None
    there = graph.nodes[step.target]
    member = Variable("member", there.classes, there.without)
    answers = tuple(
        replace(a, of=replace(a.of, variable=member.name)) for a in select.answers if isinstance(a, Aggregate)
    )
    edge = Edge(member.name, step.predicate, owner.name)
    return replace(select, answers=answers, variables=(*select.variables, member), edges=(*select.edges, edge))


def member_link(graph: SchemaGraph, node: int, predicates: tuple[str, ...] = ()) -> PathStep | None:
    """The link by which things with these properties hang on those of a node, several on one; None where none do."""
    found = [
        step
        for step in graph.steps[node]
        if not step.forward
        and step.target != node
        and graph.about(step.predicate).functional
        and not graph.about(step.predicate).pairs_off
        and all(p in graph.literals[step.target] for p in predicates)
        and not graph.nodes[node].relations & graph.nodes[step.target].relations
    ]
    return min(found, key=lambda s: (graph.nodes[s.target].count, s.predicate), default=None)
