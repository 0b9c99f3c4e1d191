"""Replace an unnamed role by the person who has it: Candidate -> Candidate (the actor of a role)."""

from dataclasses import replace

from nacre.language.base import language
from nacre.language.thesaurus import is_person
from nacre.records.plan import Edge, Itself, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Question, Ref, Target

# the rule that asks for the person behind an unnamed thing
ROLE_HOLDER_RULE = "who is behind"


def resolve_role_holder(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading with the one person to whom an unnamed thing links.

    It applies if a question for persons is answered by such things, and no word names their class.
    """
    derivation, body, graph = candidate.derivation, candidate.body, context.graph
    if not isinstance(body, Select) or not _gives_unnamed_role(candidate, context.question, graph):
        return candidate
    role = body.answers[0]
    person = _one_person(graph, derivation.targets[0].ref.node)
    if person is None or not isinstance(role, Itself):
        return candidate
    predicate, target = person
    ref = Ref(target)
    derivation = derivation.apply_rule(ROLE_HOLDER_RULE, targets=(Target(ref),), nodes=(*derivation.nodes, ref))
    known = [edge.object for edge in body.edges if edge.subject == role.variable and edge.predicate == predicate]
    if known:
        return candidate._replace(derivation=derivation, body=replace(body, answers=(Itself(known[0]),)))
    node, name = graph.nodes[target], _free_name(body, graph.nodes[target].variable)
    select = replace(
        body,
        answers=(Itself(name),),
        variables=(*body.variables, Variable(name, node.classes, node.without)),
        edges=(*body.edges, Edge(role.variable, predicate, name)),
    )
    return candidate._replace(derivation=derivation, body=select, join_cost=candidate.join_cost + 1)


def _gives_unnamed_role(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a question for persons is answered by things without names whose class it does not mention."""
    body, targets = candidate.body, candidate.derivation.targets
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) != 1 or len(targets) != 1:
        return False
    ref = targets[0].ref
    is_mentioned = any(link.kind == "class" and link.refs[0].node == ref.node for link in candidate.derivation.links)
    is_unnamed = isinstance(body.answers[0], Itself) and not ref.predicate and not graph.nodes[ref.node].named
    return is_unnamed and not is_mentioned and _asks_for_person(candidate, question)


def _asks_for_person(candidate: Candidate, question: Question) -> bool:
    """Whether a question asks "who", or for what a noun for persons names."""
    words = question.tokens
    if words and words[0].norm in language().words["who"]:
        return True
    links = candidate.derivation.links
    return any(is_person(words[link.end - 1].lemma) for link in links if link.start < len(words))


def _one_person(graph: SchemaGraph, node: int) -> tuple[str, int] | None:
    """The one link from things of a node to named persons."""
    steps = [
        step
        for step in graph.steps[node]
        if step.forward and graph.nodes[step.target].named and step.target in graph.persons
    ]
    by_predicate = {
        step.predicate: step.target for step in sorted(steps, key=lambda step: graph.nodes[step.target].count)
    }
    return next(iter(by_predicate.items())) if len(by_predicate) == 1 else None


def _free_name(select: Select, base: str) -> str:
    """A name that no variable of a select has."""
    taken = {variable.name for variable in select.variables}
    names = (f"{base}_{i}" if i else base for i in range(len(taken) + 1))
    return next(name for name in names if name not in taken)
