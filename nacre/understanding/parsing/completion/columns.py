"""Choose the columns that show what is asked for: Derivation -> Derivations (names, identifiers, measures)."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import is_person
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.parsing.state import UNSETTLED_COST, ParseContext
from nacre.understanding.question.types import INEQUALITIES, Derivation, Ref, Target, token_mask

# the rule by which the measure of a superlative or bound is shown as well, and what a reading gains by it
MEASURE_RULE, MEASURE_GAIN = "measure of first", 0.5
# the rule by which the persons are shown whom rows without names stand for
STANDS_FOR_RULE = "stood for"
# how many properties are tried as the identifier of a thing
MAX_IDENTIFIERS = 2


def settle_columns(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings in which a thing is shown by its name or by an identifier."""
    if context.question.wants_measure and (measured := _with_measure(derivation)) is not None:
        yield measured
        return
    graph = context.graph
    derivation = _with_persons(derivation, graph)
    if not _has_known_identifier(derivation, graph):
        yield derivation
    yield from _with_things(derivation, context)
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


def _with_persons(derivation: Derivation, graph: SchemaGraph) -> Derivation:
    """The derivation with persons by name in the place of rows without names: the people who are players."""
    for i, target in enumerate(derivation.targets):
        ref = target.ref
        person = None if ref.predicate or target.function else _person_of(graph, ref.node)
        is_named = any(condition.op == "is" and condition.ref == ref for condition in derivation.conditions)
        if person is not None and not is_named and ref not in derivation.group and not ref.slot:
            predicate, node = person
            return derivation.apply_rule(
                STANDS_FOR_RULE,
                targets=_replace_target(derivation, i, Target(Ref(node))),
                nodes=tuple(dict.fromkeys((*derivation.nodes, ref, Ref(node)))),
                hints=derivation.hints | {predicate},
            )
    return derivation


def _person_of(graph: SchemaGraph, node: int) -> tuple[str, int] | None:
    """The one link from unnamed persons of a class to the named person that each of them is."""

    def is_person_class(index: int) -> bool:
        return is_person(" ".join(graph.nodes[index].words))

    if graph.nodes[node].named or not is_person_class(node):
        return None
    found = {
        (step.predicate, step.target)
        for step in graph.steps[node]
        if step.forward and graph.nodes[step.target].named and is_person_class(step.target)
        if graph.about(step.predicate).functional and graph.about(step.predicate).pairs_off
    }
    return next(iter(found)) if len(found) == 1 else None


def _with_measure(derivation: Derivation) -> Derivation | None:
    """ "The longest river, and how long is it": things with what they are ordered by, or with what is bounded."""
    things = [target for target in derivation.targets if not target.ref.predicate and not target.function]
    order = derivation.order if derivation.order is not None and derivation.order.limit else None
    bounds = [
        each
        for each in derivation.conditions
        if each.op in INEQUALITIES and not each.negated and (each.function or each.ref.predicate)
    ]
    if not things or (order is None and not bounds):
        return None
    measured = order or bounds[-1]
    measure = Target(measured.ref, measured.function)
    if measure in derivation.targets:
        return derivation.apply_rule(MEASURE_RULE)
    needs_group = measure.function and not derivation.group
    group = tuple(target.ref for target in things) if needs_group else derivation.group
    return derivation.apply_rule(MEASURE_RULE, MEASURE_GAIN, targets=(*things, measure), group=group)


def _with_things(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """ "The name and height of the towers": the things themselves as well, if "name" is no property."""
    graph, tokens, name_words = context.graph, context.question.tokens, language().words["telling"]
    thing = derivation.targets[0].ref.thing
    if not graph.nodes[thing.node].named:
        return
    if any(target.function or target.ref == thing for target in derivation.targets):
        return
    if any(set(graph.words[predicate]) & name_words for predicate in graph.literals[thing.node]):
        return
    unread = (i for i, each in enumerate(tokens) if each.norm in name_words and not derivation.covered >> i & 1)
    at = next(unread, None)
    if at is not None:
        targets, covered = (Target(thing), *derivation.targets), derivation.covered | token_mask(at, at + 1)
        yield derivation.apply_rule("name itself", UNSETTLED_COST, targets=targets, covered=covered)


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
