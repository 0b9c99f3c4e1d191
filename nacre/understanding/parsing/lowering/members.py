"""Plans as the question means them: Candidate -> Candidate, with aggregates over what is linked to one thing ("the
average price" of a model's variants), and unions called by their nouns ("works", and not "items")."""

from dataclasses import replace

from nacre.language.base import phrase_list
from nacre.plans.inspect_select import asked_select
from nacre.records.plan import Aggregate, Ask, Attribute, Body, Compute, Edge, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.state import Candidate, ParseContext

# aggregates that say nothing about a single value
AGGREGATES_OF_MANY = frozenset(("avg", "min", "max", "sum"))


def aggregate_members(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading with each aggregate over a single thing as one over the things that are linked to it.

    A comparison of two things changes on both sides or not at all.
    """
    body, graph = candidate.body, context.graph
    changed: Body | None = None
    if isinstance(body, Compute):
        left, right = _over_members(body.left, graph), _over_members(body.right, graph)
        changed = None if left is None or right is None else replace(body, left=left, right=right)
    if isinstance(body, Select):
        changed = _over_members(body, graph)
    return candidate if changed is None else candidate._replace(body=changed)


def _over_members(select: Select, graph: SchemaGraph) -> Select | None:
    """The select over the members of its one thing; None if it aggregates something else."""
    if select.group or select.by or select.order or not select.answers:
        return None
    aggregates = [each for each in select.answers if isinstance(each, Aggregate)]
    values = [each.of for each in aggregates if each.function in AGGREGATES_OF_MANY and isinstance(each.of, Attribute)]
    if len(values) < len(select.answers):
        return None
    owner = next(variable for variable in select.variables if variable.name == values[0].variable)
    is_single = len(owner.keys) == 1 and all(value.variable == owner.name for value in values)
    if not is_single or not all(graph.about(value.predicate).functional for value in values):
        return None
    node = next((n.index for n in graph.nodes if (n.classes, n.without) == (owner.classes, owner.without)), None)
    step = member_link(graph, node, tuple(value.predicate for value in values)) if node is not None else None
    if step is None:
        return None
    members = graph.nodes[step.target]
    member = Variable("member", members.classes, members.without)
    return replace(
        select,
        answers=tuple(replace(each, of=replace(each.of, variable=member.name)) for each in aggregates),
        variables=(*select.variables, member),
        edges=(*select.edges, Edge(member.name, step.predicate, owner.name)),
    )


def member_link(graph: SchemaGraph, node: int, predicates: tuple[str, ...] = ()) -> PathStep | None:
    """Return the link by which several things with these properties belong to one thing of a node, if there is one."""
    steps = [
        step
        for step in graph.steps[node]
        if not step.forward
        and step.target != node
        and graph.about(step.predicate).functional
        and not graph.about(step.predicate).pairs_off
        and all(predicate in graph.literals[step.target] for predicate in predicates)
        and not graph.nodes[node].relations & graph.nodes[step.target].relations
    ]
    return min(steps, key=lambda step: (graph.nodes[step.target].count, step.predicate), default=None)


def read_unions(candidate: Candidate, context: ParseContext) -> Candidate:
    """The candidate with the nouns of the question for its unions, and with the sum of an amount "of everything"."""
    body, question, graph = candidate.body, context.question, context.graph
    select = asked_select(body)
    if select is None or not any(v.any_of for v in select.variables):
        return candidate
    links = [x for x in candidate.derivation.links if x.kind == "class"]
    words = {graph.nodes[x.refs[0].node].any_of: question.tokens[x.end - 1].lemma for x in links}
    unlike = phrase_list("parsing", "nouns_of_no_thing")
    nouns = {
        v.name: words[v.any_of] for v in select.variables if v.noun and words.get(v.any_of, "") not in ("", *unlike)
    }
    named = tuple(replace(v, noun=nouns.get(v.name, v.noun)) for v in select.variables)
    select = replace(select, variables=named)
    whole = {x.refs[0].node for x in links if question.tokens[x.end - 1].norm in phrase_list("parsing", "whole_nouns")}
    if isinstance(body, Select) and any(_is_amount(select, node, graph) for node in whole):
        total = Aggregate("sum", select.answers[0])  # type: ignore[arg-type]
        return candidate._replace(body=replace(select, answers=(total,)))
    return candidate._replace(body=Ask(select) if isinstance(body, Ask) else select)


def _is_amount(select: Select, union: int, graph: SchemaGraph) -> bool:
    """Whether a select only gives an amount of money of the things of a union."""
    answer = select.answers[0]
    if len(select.answers) > 1 or not isinstance(answer, Attribute) or select.group or select.by or select.order:
        return False
    own = next((v for v in select.variables if v.name == answer.variable), None)
    if own is None or own.any_of != graph.nodes[union].any_of or not graph.is_numeric(answer.predicate):
        return False
    measures = measured_properties(graph, union, phrase_list("parsing", "money_concepts"))
    return any(ref.node == union and ref.predicate == answer.predicate for ref, _, _ in measures)
