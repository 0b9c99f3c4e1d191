"""What "how much" and "the total" are of where nothing is named: ParseState -> the only amount of what is spoken of."""

from nacre.language.base import language, phrase_list
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Ref, Target


def sum_targets(state: ParseState, root: Ref, context: ParseContext) -> tuple[Target, ...]:
    """The aggregates that were asked for of nothing, each of the one amount of the things at hand: "what do these
    invoices add up to", "how much is unpaid"; none where it is not one."""
    # nor where things are ranked or compared: "the three most expensive overall"
    otherwise = any(
        c.kind in ("count", "superlative", "most", "comparative", "compared") for c in context.question.cues
    )
    if (
        otherwise
        or any(t.ref.predicate or t.function for t in state.targets)
        or set(state.pending_aggregates) - {"sum", "avg"}
    ):
        return ()
    if any(c.ref == root and c.op == "is" and len(c.keys) == 1 and not c.negated for c in state.conditions):
        return ()
    predicate = _amount(context.graph, root.node)
    return tuple(Target(Ref(root.node, predicate, root.slot), a) for a in state.pending_aggregates) if predicate else ()


def amount_between(state: ParseState, context: ParseContext) -> Target | None:
    """ "How much salt is in the bread": the one measure of what links the two things that are named."""
    words, known = [t.norm for t in context.question.tokens[:2]], language().words
    how_much = len(words) == 2 and words[0] in known["degree"] and words[1] in known["how_much"]
    named = dict.fromkeys(c.ref.node for c in state.conditions if c.op == "is" and not c.negated)
    if not how_much or len(named) != 2 or any(t.ref.predicate for t in state.targets):
        return None
    graph = context.graph
    ends = [{s.target for s in graph.steps[node] if not s.forward} for node in named]
    found = [(n, own[0]) for n in sorted(ends[0] & ends[1]) if len(own := _numbers(graph, n)) == 1]
    return Target(Ref(*found[0])) if len(found) == 1 else None


def _amount(graph: SchemaGraph, node: int) -> str:
    """The one amount of money that things of a kind have; "" where there is none, or several."""
    numbers = _numbers(graph, node)
    found = [
        ref.predicate
        for ref, _, _ in measured_properties(graph, node, phrase_list("parsing", "amount_concepts"))
        if ref.node == node
    ]
    amounts = [p for p in found if p in numbers]
    return amounts[0] if len(amounts) == 1 else ""


def _numbers(graph: SchemaGraph, node: int) -> list[str]:
    """The numbers of things of a kind that may be added up."""
    return [
        p
        for p in graph.literals[node]
        if graph.is_numeric(p)
        and not graph.is_date(p)
        and graph.about(p).role != "identifier"
        and p not in graph.boolean_predicates
    ]
