"""Which columns show the things that are asked for: Derivation -> Derivations."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import is_person
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.parsing.state import UNSETTLED_COST, ParseContext
from nacre.understanding.question.types import INEQUALITIES, Derivation, Ref, Target

# the rule by which the measure of what comes first is shown as well, and what a reading gains by it
MEASURE_RULE, WITH_OWN = "measure of first", 0.5
# the rule by which persons are shown for rows that say what they are
STANDS_FOR_RULE = "stood for"


def settle_columns(d: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """Which columns show a thing: its name, or its code where it has none; a person's two names for "name"."""
    if context.question.wants_measure and (measured := _with_measure(d)) is not None:
        yield measured
        return
    graph = context.graph
    d = _stood_for(d, graph)
    if not _has_code(d, graph):
        yield d
    words = language().words
    yield from _name_itself(d, context)
    for i, target in enumerate(d.targets):
        if target.function:
            continue
        node = target.ref.node
        pair = [
            next(
                (p for p in graph.literals[node] if set(graph.words[p]) & words[which] and "name" in graph.words[p]), ""
            )
            for which in ("given", "family")
        ]
        partial = any(
            x.match == "partial" and x.kind == "property" and x.refs[0] == target.ref and x.end - x.start == 1
            for x in d.links
        )
        if all(pair) and (not target.ref.predicate or partial):
            both = tuple(Target(Ref(node, p, target.ref.slot)) for p in pair)
            targets = (*d.targets[:i], *both, *d.targets[i + 1 :])
            yield d.apply_rule("two names", 0.0, targets=tuple(dict.fromkeys(targets)))
        if not target.ref.predicate:
            if any(c.op == "is" and c.ref == target.ref and len(c.keys) == 1 and not c.negated for c in d.conditions):
                # a thing that is named is not asked for by its name
                return
            for predicate in identifying_properties(graph, node)[:2]:
                shown = Target(Ref(node, predicate, target.ref.slot))
                gain = -0.4 if graph.nodes[node].named else 0.1
                named = "named" if graph.nodes[node].named else "nameless"
                kind = "code" if graph.about(predicate).role == "identifier" else "text"
                targets = (*d.targets[:i], shown, *d.targets[i + 1 :])
                yield d.apply_rule(f"{kind} of {named}", gain, targets=targets)
            return


def _has_code(d: Derivation, graph: SchemaGraph) -> bool:
    """Whether the first things that are asked for have no name, and a code each that people know them by: "A2"."""
    first = next((t for t in d.targets if not t.function), None)
    if first is None or first.ref.predicate or graph.nodes[first.ref.node].named or d.group:
        return False
    if any(c.op == "is" and c.ref == first.ref for c in d.conditions):
        return False
    about = [graph.about(p) for p in identifying_properties(graph, first.ref.node)]
    return any(
        p.role == "identifier" and p.datatype == "text" and p.functional and p.subjects == p.objects for p in about
    )


def _stood_for(d: Derivation, graph: SchemaGraph) -> Derivation:
    """With persons by their names, where rows without names stand for what they are: the people who are players."""
    for i, target in enumerate(d.targets):
        one = _person_of(graph, target.ref.node) if not (target.ref.predicate or target.function) else None
        named = any(c.op == "is" and c.ref == target.ref for c in d.conditions)
        if one is not None and not named and target.ref not in d.group and not target.ref.slot:
            predicate, other = one
            targets = (*d.targets[:i], Target(Ref(other)), *d.targets[i + 1 :])
            hints, nodes = d.hints | {predicate}, tuple(dict.fromkeys((*d.nodes, target.ref, Ref(other))))
            return d.apply_rule(STANDS_FOR_RULE, targets=targets, nodes=nodes, hints=hints)
    return d


def _person_of(graph: SchemaGraph, node: int) -> tuple[str, int] | None:
    """The link from each person of a kind without names to the person with a name that it is; None where there is
    none, or there are several."""
    if graph.nodes[node].named or not is_person(" ".join(graph.nodes[node].words)):
        return None
    found = {
        (s.predicate, s.target)
        for s in graph.steps[node]
        if s.forward and graph.nodes[s.target].named and is_person(" ".join(graph.nodes[s.target].words))
        if graph.about(s.predicate).functional and graph.about(s.predicate).pairs_off
    }
    return next(iter(found)) if len(found) == 1 else None


def _with_measure(d: Derivation) -> Derivation | None:
    """ "The longest river, and how long is it": the first things with what they are ordered by, or those that meet a
    bound with what is bounded; None where nothing is ordered or bounded, or no things are asked for."""
    things = [t for t in d.targets if not t.ref.predicate and not t.function]
    ordered = d.order is not None and d.order.limit
    bounds = [c for c in d.conditions if c.op in INEQUALITIES and not c.negated and (c.function or c.ref.predicate)]
    if not (ordered or bounds) or not things:
        return None
    by = d.order if ordered and d.order is not None else bounds[-1]
    own = Target(by.ref, by.function)
    if own in d.targets:
        return d.apply_rule(MEASURE_RULE)
    group = tuple(t.ref for t in things) if own.function and not d.group else d.group
    return d.apply_rule(MEASURE_RULE, WITH_OWN, targets=(*things, own), group=group)


def _name_itself(d: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """ "the name and height of the towers", where the name is no property: the things themselves are asked for too."""
    first = d.targets[0]
    node = first.ref.thing
    graph, tokens, words = context.graph, context.question.tokens, language().words["telling"]
    if not graph.nodes[node.node].named or any(t.function or t.ref == node for t in d.targets):
        return
    if any(set(graph.words[p]) & words for p in graph.literals[node.node]):
        return
    said = next((i for i, t in enumerate(tokens) if t.norm in words and not d.covered >> i & 1), None)
    if said is not None:
        covered = d.covered | 1 << said
        yield d.apply_rule("name itself", UNSETTLED_COST, targets=(Target(node), *d.targets), covered=covered)


def identifying_properties(graph: SchemaGraph, node: int) -> list[str]:
    """The properties that show a thing without a name: its number where it is no more, else its name-like text, then
    its code."""
    if held := amount_property(node, graph):
        return [held]
    own = [p for p in graph.literals[node] if graph.about(p).role != "name" and p not in graph.boolean_predicates]
    coded = [p for p in own if graph.about(p).role == "identifier"]
    words = set(graph.nodes[node].words)
    naming = language().words["naming"]
    texts = sorted(
        (p for p in own if p not in coded and graph.about(p).datatype == "text"),
        key=lambda p: (not set(graph.words[p]) & naming, not set(graph.words[p]) <= words, p),
    )
    if coded:
        # where a code tells things apart, a text that many share shows none of them
        texts = [
            p for p in texts if set(graph.words[p]) & naming or (graph.about(p).functional and graph.about(p).pairs_off)
        ]
    return (texts[:1] + coded[:1]) if not graph.nodes[node].named else coded[:1]
