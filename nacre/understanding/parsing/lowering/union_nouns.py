"""Readings about unions as the question means them: Candidate + Question -> Candidate ("works", and not "items")."""

from dataclasses import replace

from nacre.language.base import phrase_list
from nacre.plans.inspect_select import asked_select
from nacre.records.plan import Aggregate, Ask, Attribute, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.state import ParseContext


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
