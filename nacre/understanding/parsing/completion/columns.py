"""Choose the columns that show what is asked for: Derivation -> Derivations (names, identifiers, measures)."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Derivation, Ref, Target

# how many properties are tried as the identifier of a thing
MAX_IDENTIFIERS = 2


def settle_columns(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings in which a thing is shown by its name or by an identifier."""
    graph = context.graph
    if not _has_known_identifier(derivation, graph):
        yield derivation
    for i, target in enumerate(derivation.targets):
        if target.function:
            continue
        if not target.ref.predicate:
            # a thing that is named is not asked for by its name
            if not _is_named_thing(derivation, target.ref):
                yield from _by_identifier(derivation, i, graph)
            return


def _replace_target(derivation: Derivation, i: int, *columns: Target) -> tuple[Target, ...]:
    """The targets with other columns in the place of one."""
    return (*derivation.targets[:i], *columns, *derivation.targets[i + 1 :])


def _is_named_thing(derivation: Derivation, ref: Ref) -> bool:
    """Whether a condition names the one thing that is asked for."""
    return any(
        each.op == "is" and each.ref == ref and len(each.keys) == 1 and not each.negated
        for each in derivation.conditions
    )


def _by_identifier(derivation: Derivation, i: int, graph: SchemaGraph) -> Iterator[Derivation]:
    """A thing by its identifier or a text, mostly where it has no name."""
    ref = derivation.targets[i].ref
    is_named = graph.nodes[ref.node].named
    for predicate in identifying_properties(graph, ref.node)[:MAX_IDENTIFIERS]:
        kind = "code" if graph.about(predicate).role == "identifier" else "text"
        targets = _replace_target(derivation, i, Target(Ref(ref.node, predicate, ref.slot)))
        rule, gain = (f"{kind} of named", -0.4) if is_named else (f"{kind} of nameless", 0.1)
        yield derivation.apply_rule(rule, gain, targets=targets)


def _has_known_identifier(derivation: Derivation, graph: SchemaGraph) -> bool:
    """Whether the first things have no name, and one identifier each by which people know them: "A2"."""
    first = next((target.ref for target in derivation.targets if not target.function), None)
    if first is None or first.predicate or graph.nodes[first.node].named or derivation.group:
        return False
    if any(condition.op == "is" and condition.ref == first for condition in derivation.conditions):
        return False
    properties = [graph.about(predicate) for predicate in identifying_properties(graph, first.node)]
    return any(
        each.role == "identifier" and each.datatype == "text" and each.functional and each.subjects == each.objects
        for each in properties
    )


def identifying_properties(graph: SchemaGraph, node: int) -> list[str]:
    """Return the properties that show a thing without a name: its number if it is only that, a text, its identifier."""
    if amount := amount_property(node, graph):
        return [amount]
    own = [
        predicate
        for predicate in graph.literals[node]
        if graph.about(predicate).role != "name" and predicate not in graph.boolean_predicates
    ]
    identifiers = [predicate for predicate in own if graph.about(predicate).role == "identifier"]
    if graph.nodes[node].named:
        return identifiers[:1]
    class_words, naming = set(graph.nodes[node].words), language().words["naming"]
    texts = sorted(
        (each for each in own if each not in identifiers and graph.about(each).datatype == "text"),
        key=lambda each: (not set(graph.words[each]) & naming, not set(graph.words[each]) <= class_words, each),
    )
    if identifiers:
        # beside an identifier, a text that many things share shows none of them
        texts = [
            each
            for each in texts
            if set(graph.words[each]) & naming or (graph.about(each).functional and graph.about(each).pairs_off)
        ]
    return texts[:1] + identifiers[:1]
