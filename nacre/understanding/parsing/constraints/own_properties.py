"""Readings of a named thing's own properties before those of other things: Candidates -> those left.

A link between things belongs to a question if a word of the question names it, or what it leads to. A link that merely
exists does not: what Dallas has no number of is not answered by the number of its state.
"""

from collections.abc import Callable

from nacre.records.plan import Attribute, Edge, Itself, Select, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.completion.question_words import QUESTION_WORD_RULES
from nacre.understanding.parsing.constraints.mentioned_paths import named_edges
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Derivation, Question

# share of the things of a class that have a property of the class, at least (given)
MIN_HELD_SHARE = 0.1


def prefer_own_properties(
    candidates: list[Candidate], context: ParseContext, whole: Callable[[Candidate], bool]
) -> list[Candidate]:
    """Drop the readings that reach over links without a word, if another reading that is `whole` explains the same
    words by what a named thing has itself."""
    question, graph = context.question, context.graph
    own = [each.derivation for each in candidates if looks_up_own(each, question, graph) and whole(each)]
    return [
        each
        for each in candidates
        if not any(_reads_same_words(each.derivation, other) for other in own)
        or not unnamed_edges(each, question, graph)
    ]


def _reads_same_words(derivation: Derivation, own: Derivation) -> bool:
    """Whether a reading uses no word that the other does not use, and takes the same words for a property."""
    named, others = (
        {(link.start, link.end) for link in each.links if link.kind == "property"} for each in (derivation, own)
    )
    return derivation.covered & ~own.covered == 0 and bool(named & others)


def looks_up_own(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a reading gives a property of one named thing, or what a link of it leads to that a word names."""
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by or body.order or body.filters:
        return False
    named = {variable.name for variable in body.variables if variable.keys}
    if len(named) != 1 or len(body.edges) > 1 or len(body.variables) != 1 + len(body.edges):
        return False
    answers = [aggregated_value(answer) for answer in body.answers]
    if not body.edges:
        return all(isinstance(answer, Attribute) and _is_typical(answer, body, graph) for answer in answers)
    is_far = all(isinstance(answer, Itself) and answer.variable not in named for answer in answers)
    return is_far and len(named_edges(body, candidate.derivation.links, question, graph)) == 1


def _is_typical(answer: Attribute, body: Select, graph: SchemaGraph) -> bool:
    """Whether a property belongs to a class: the lengths of car models are those of their variants, although one model
    has a length itself."""
    variable = next(each for each in body.variables if each.name == answer.variable)
    node = graph.node_of_classes.get((variable.classes, variable.without))
    if node is None:
        return True
    return graph.value_counts.get((node, answer.predicate), 0) >= MIN_HELD_SHARE * graph.nodes[node].count


def unnamed_edges(candidate: Candidate, question: Question, graph: SchemaGraph) -> list[Edge]:
    """The links of a plan that no word of the question names, unless both ends are named.

    A link that is named once is followed once. "Who" and "where" name the end that they ask for.
    """
    body = candidate.body
    if not isinstance(body, Select):
        return []
    derivation = candidate.derivation
    mentioned = {link.refs[0].node for link in derivation.links if link.kind == "class"}
    if QUESTION_WORD_RULES & set(derivation.trace):
        mentioned |= {target.ref.node for target in derivation.targets}
    ends = {
        variable.name
        for variable in body.variables
        if variable.keys or graph.node_of_classes.get((variable.classes, variable.without)) in mentioned
    }
    named = named_edges(body, derivation.links, question, graph)
    return [edge for edge in body.edges if edge not in named and not {edge.subject, edge.object} <= ends]
