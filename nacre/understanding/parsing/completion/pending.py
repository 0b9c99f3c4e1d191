"""Settle a superlative or a number that still waits: Derivation + ParseState -> Derivations."""

from collections.abc import Iterator

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties, unnamed_measures
from nacre.understanding.parsing.modifier_rules.number_conditions import COUNT_UNITS, upper_bound
from nacre.understanding.parsing.modifier_rules.superlatives import GUESS_COST, GUESSED_MEASURE_RULE
from nacre.understanding.parsing.state import ParseContext, ParseState, PendingSuperlative
from nacre.understanding.question.types import Condition, Derivation, Ordering, Ref

# how many things and links are tried
MAX_THINGS, MAX_LINKED = 3, 2


def settle_pending(derivation: Derivation, state: ParseState, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings with a pending superlative or number on what was said before, then the reading itself."""
    if state.rank is not None:
        limit = state.limit or 1
        if state.rank.concepts:
            yield from _ranked_by_measure(derivation, state.rank, limit, root, context.graph)
        else:
            yield from _ranked_by_column(derivation, state.rank, limit, context.graph)
            yield from _ranked_by_links(derivation, state.rank, limit, root, context.graph)
    elif state.comparison is not None and state.comparison[1] is not None and state.unit in COUNT_UNITS:
        operator, value = state.comparison
        assert value is not None
        for ref in reversed([node for node in derivation.nodes if node != root][-2:]):
            lower = Condition(ref, operator, (value,), function="count")
            conditions = (*derivation.conditions, lower, *upper_bound(lower, state.until))
            yield derivation.apply_rule("count settled", 0.5, conditions=conditions)
    yield derivation


def _ranked_by_measure(
    derivation: Derivation, rank: PendingSuperlative, limit: int, root: Ref, graph: SchemaGraph
) -> Iterator[Derivation]:
    """ "The longest": by the measure of what the reading is about; if nothing measures it, by any number of it."""
    nodes = list(dict.fromkeys((root, *derivation.nodes)))[:MAX_THINGS]
    found = [each for n in nodes for each in measured_properties(graph, n.node, rank.concepts)[:2]]
    for ref, reverse, cost in found:
        order = Ordering(ref, rank.descending != reverse, "", limit)
        yield derivation.apply_rule("rank settled", 0.5 - cost, order=order)
    for ref in unnamed_measures(graph, root.node) if not found else ():
        order = Ordering(ref, rank.descending, "", limit)
        yield derivation.apply_rule(GUESSED_MEASURE_RULE, -GUESS_COST, order=order)


def _ranked_by_column(
    derivation: Derivation, rank: PendingSuperlative, limit: int, graph: SchemaGraph
) -> Iterator[Derivation]:
    """ "The most": by how often a value of the last column occurs, or by its values."""
    columns = [target.ref for target in derivation.targets if target.ref.predicate and not target.function]
    if not columns:
        return
    last = columns[-1]
    frequency = Ordering(Ref(last.node), rank.descending, "count", limit)
    yield derivation.apply_rule("most frequent at end", 0.5, order=frequency, group=(last,))
    if not graph.is_numeric(last.predicate):
        return
    order = Ordering(last, rank.descending, "", limit)
    yield derivation.apply_rule("ranked at end", 0.4, order=order)
    others = tuple(target for target in derivation.targets if target.ref != last)
    if others and max(derivation.links, key=lambda link: link.start).refs[0] == last:
        # "which film earned the most"
        yield derivation.apply_rule("others ranked at end", 0.4, order=order, targets=others)


def _ranked_by_links(
    derivation: Derivation, rank: PendingSuperlative, limit: int, root: Ref, graph: SchemaGraph
) -> Iterator[Derivation]:
    """ "The most interactions": by how many things are linked."""
    linked = [Ref(node.node) for node in derivation.nodes if node != root]
    if not linked:
        steps = graph.steps[root.node]
        named = [step for step in steps if step.predicate in derivation.hints]
        backward = sorted(
            (step for step in steps if not step.forward), key=lambda step: -graph.nodes[step.target].count
        )
        linked = [Ref(step.target, "", int(step.target == root.node)) for step in (named or backward)[:MAX_LINKED]]
    for ref in linked:
        order = Ordering(ref, rank.descending, "count", limit)
        yield derivation.apply_rule("most linked at end", 0.4, order=order, group=(root,))
