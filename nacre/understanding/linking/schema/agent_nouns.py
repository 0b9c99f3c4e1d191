"""What persons are called by what they do: the persons of a "visit" are its "visitors"."""

import simplemma

from nacre.language.base import language
from nacre.language.thesaurus import is_person
from nacre.language.tokens import split_name
from nacre.understanding.linking.graph.schema_graph import SchemaGraph


def agent_nouns(graph: SchemaGraph) -> list[tuple[int, str]]:
    """What the persons of an event may be called by it: those of a "visit" are its "visitors"; and by what is known of
    them: who has a "member since" is a member; (node, word)."""
    found = {
        (step.target, ending(node.words[-1]))
        for node in graph.nodes
        if node.words
        for step in graph.steps[node.index]
        if step.forward and is_person(graph.nodes[step.target].label)
        for ending in ("{}er".format, "{}or".format, "{}r".format)
    }
    found |= {
        (node.index, split_name(graph.about(predicate).label).lower().split()[0])
        for node in graph.nodes
        if is_person(node.label)
        for predicate in graph.literals[node.index]
        if _says_since(graph.about(predicate).label)
    }
    return sorted(each for each in found if simplemma.is_known(each[1], lang="en"))


def _says_since(label: str) -> bool:
    """Whether a property says since when somebody is what it begins with: "member since", "volunteer from"."""
    first, *rest = split_name(label).lower().split() or [""]
    return bool(rest) and is_person(first) and rest[0] in language().words["bound_since"] | language().words["from"]
