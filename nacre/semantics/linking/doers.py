"""What persons are called by what they do: the persons of a "visit" are its "visitors"."""

import simplemma

from nacre.semantics.english import is_person
from nacre.semantics.linking.graph import SchemaGraph


def doers_of(graph: SchemaGraph) -> list[tuple[int, str]]:
    """What the persons of an event may be called by it: those of a "visit" are its "visitors"; (node, word)."""
    found = {
        (step.target, ending(node.words[-1]))
        for node in graph.nodes
        if node.words
        for step in graph.steps[node.index]
        if step.forward and is_person(graph.nodes[step.target].label)
        for ending in ("{}er".format, "{}or".format, "{}r".format)
    }
    return sorted(each for each in found if simplemma.is_known(each[1], lang="en"))
