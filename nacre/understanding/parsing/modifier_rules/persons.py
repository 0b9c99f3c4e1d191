"""Classes of persons that "who" and "nobody" may mean: ParseState + ParseContext -> references."""

from nacre.language.base import language
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Ref

# how many classes of persons are tried
MAX_PERSON_CLASSES = 3


def nearest_person_refs(state: ParseState, context: ParseContext) -> list[Ref]:
    """Return the classes of persons nearest to the things that the reading speaks of."""
    root = state.owner or next(iter(state.nodes), None)
    return [] if root is None else persons_near(root, context)


def persons_near(root: Ref, context: ParseContext) -> list[Ref]:
    """Return the widest classes of persons by their distance from a node, without the node itself."""
    graph = context.graph
    base_classes = {i: graph.widest_node(i) for i in sorted(graph.persons) if not graph.nodes[i].any_of}
    widest = [
        graph.nodes[index]
        for index, base in base_classes.items()
        if index != root.node and (base == index or base not in base_classes)
    ]
    nearest = sorted(widest, key=lambda node: graph.distance(root.node, node.index))
    return [Ref(node.index) for node in nearest[:MAX_PERSON_CLASSES]]


def frequent_person_refs(context: ParseContext) -> list[Ref]:
    """Return the largest classes of named persons if the question begins with "who"."""
    if not any(token.norm in language().words["who"] for token in context.question.tokens[:1]):
        return []
    persons = context.graph.persons - context.graph.unions.members.keys()
    classes = [node for node in context.graph.nodes if node.named and node.index in persons]
    largest = sorted(classes, key=lambda node: -node.count)
    return [Ref(node.index) for node in largest[:MAX_PERSON_CLASSES]]
