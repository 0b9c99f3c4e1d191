"""Who stands behind a nameless thing that a question for persons gives: the actor of a role, the member of a
membership: Candidate -> Candidate."""

from dataclasses import replace

from nacre.language.base import language
from nacre.language.thesaurus import is_person
from nacre.records.plan import Edge, Itself, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question, Ref, Target

# the rule that asks for whoever is behind a thing
ROLE_HOLDER_RULE = "who is behind"


def resolve_role_holder(candidate: Candidate, question: Question, graph: SchemaGraph) -> Candidate:
    """The reading with the person that a nameless thing leads to by one link alone, where it gives such things and no
    word names their kind."""
    d, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) != 1 or len(d.targets) != 1:
        return candidate
    answer, ref = body.answers[0], d.targets[0].ref
    kind = graph.nodes[ref.node]
    said = any(x.kind == "class" and x.refs[0].node == ref.node for x in d.links)
    if not isinstance(answer, Itself) or ref.predicate or kind.named or said or not _asks_person(candidate, question):
        return candidate
    steps = (step for step in graph.steps[kind.index] if step.forward and _is_person(graph, step.target))
    ways = {step.predicate: step.target for step in sorted(steps, key=lambda step: graph.nodes[step.target].count)}
    if len(ways) != 1:
        return candidate
    ((predicate, target),) = ways.items()
    node, who = graph.nodes[target], Ref(target)
    d = d._replace(targets=(Target(who),), nodes=(*d.nodes, who), trace=(*d.trace, ROLE_HOLDER_RULE))
    known = [e.object for e in body.edges if e.subject == answer.variable and e.predicate == predicate]
    if known:
        return candidate._replace(derivation=d, body=replace(body, answers=(Itself(known[0]),)))
    taken = {v.name for v in body.variables}
    name = next(n for i in range(len(taken) + 1) if (n := f"{node.variable}_{i}" if i else node.variable) not in taken)
    select = replace(
        body,
        answers=(Itself(name),),
        variables=(*body.variables, Variable(name, node.classes, node.without)),
        edges=(*body.edges, Edge(answer.variable, predicate, name)),
    )
    return candidate._replace(derivation=d, body=select, join_cost=candidate.join_cost + 1)


def _asks_person(candidate: Candidate, question: Question) -> bool:
    """Whether a question asks "who", or for what a word for persons names."""
    words = question.tokens
    if words and words[0].norm in language().words["who"]:
        return True
    return any(is_person(words[x.end - 1].lemma) for x in candidate.derivation.links if x.start < len(words))


def _is_person(graph: SchemaGraph, node: int) -> bool:
    return graph.nodes[node].named and node in graph.persons
