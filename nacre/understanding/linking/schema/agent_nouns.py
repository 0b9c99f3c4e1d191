"""Nouns for the persons of an event: SchemaGraph -> (node, noun): the persons of a "visit" are its "visitors"."""

import simplemma

from nacre.language.base import language, phrase_list
from nacre.language.thesaurus import is_person
from nacre.language.tokens import split_name
from nacre.understanding.linking.graph.schema_graph import SchemaGraph


def agent_nouns(graph: SchemaGraph) -> list[tuple[int, str]]:
    """Nodes of persons, with the dictionary words that an event or a property gives them.

    The persons linked from a "visit" are "visitors"; whoever has a "member since" is a "member".
    """
    endings = phrase_list("linking", "agent_endings")
    by_event = {
        (step.target, node.words[-1] + ending)
        for node in graph.nodes
        if node.words
        for step in graph.steps[node.index]
        if step.forward and is_person(graph.nodes[step.target].label)
        for ending in endings
    }
    by_property = {
        (node.index, split_name(graph.about(predicate).label).lower().split()[0])
        for node in graph.nodes
        if is_person(node.label)
        for predicate in graph.literals[node.index]
        if _gives_start(graph.about(predicate).label)
    }
    return sorted(noun for noun in by_event | by_property if simplemma.is_known(noun[1], lang="en"))


def _gives_start(label: str) -> bool:
    """Whether a property says since when someone has a role: "member since", "volunteer from"."""
    first, *rest = split_name(label).lower().split() or [""]
    return bool(rest) and is_person(first) and rest[0] in language().words["bound_since"] | language().words["from"]
