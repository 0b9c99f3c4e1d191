"""What "how much" and "the total" are of if nothing is named: ParseState -> Targets, the only amount of the things."""

from nacre.language.base import phrase_list
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Ref, Target

# cues of questions that count, rank or compare, and so ask for no total
OTHER_CUES = frozenset(("count", "superlative", "most", "comparative", "compared"))


def sum_targets(state: ParseState, root: Ref, context: ParseContext) -> tuple[Target, ...]:
    """Return the pending aggregates over the one amount of the things, none if it is not one.

    "What do these invoices add up to", "how much is unpaid".
    """
    if any(cue.kind in OTHER_CUES for cue in context.question.cues):
        # "the three most expensive overall"
        return ()
    has_target = any(target.ref.predicate or target.function for target in state.targets)
    if has_target or set(state.pending_aggregates) - {"sum", "avg"}:
        return ()
    named = [each for each in state.conditions if each.op == "is" and len(each.keys) == 1 and not each.negated]
    predicate = _amount(context.graph, root.node) if all(each.ref != root for each in named) else ""
    if not predicate:
        return ()
    return tuple(Target(Ref(root.node, predicate, root.slot), function) for function in state.pending_aggregates)


def _amount(graph: SchemaGraph, node: int) -> str:
    """The one amount of money that things of a class have; "" if there is none, or several."""
    numbers = _numbers(graph, node)
    measures = measured_properties(graph, node, phrase_list("parsing", "amount_concepts"))
    amounts = [ref.predicate for ref, _, _ in measures if ref.node == node and ref.predicate in numbers]
    return amounts[0] if len(amounts) == 1 else ""


def _numbers(graph: SchemaGraph, node: int) -> list[str]:
    """The numbers of things of a class that may be added up."""
    return [
        predicate
        for predicate in graph.literals[node]
        if graph.is_numeric(predicate)
        and not graph.is_date(predicate)
        and graph.about(predicate).role != "identifier"
        and predicate not in graph.boolean_predicates
    ]
