"""Attach conditions to one of several things of a class: Derivation -> Derivations ("states that border Colorado")."""

from collections.abc import Iterator

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Derivation


def attach_conditions(derivation: Derivation, graph: SchemaGraph) -> Iterator[Derivation]:
    """Yield the readings in which what follows another thing of a class belongs to the last or nearest."""
    nodes, hints = derivation.nodes, derivation.hints
    others = [
        node
        for node in nodes
        if node.slot and any((node.node, node.node) in graph.ends.get(hint, ()) for hint in hints)
    ]
    has_more_after = bool(others) and nodes.index(others[0]) < len(nodes) - 1
    named = [condition for condition in derivation.conditions if condition.ref in others and condition.op == "is"]
    if has_more_after or (named and len(nodes) > 2):
        yield derivation.apply_rule("of the last", 0.1, attachment="last")
    yield derivation
