"""Choose the columns that show what is asked for: Derivation -> Derivations (names, identifiers, measures)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nacre.language.data import WORDS
from nacre.language.thesaurus import is_person
from nacre.plans.selects import variable_of
from nacre.records.plan import Attribute, Select
from nacre.understanding.linking.adjectives import amount_property, amounts, measured_numbers
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import UNSETTLED_COST, Candidate, ParseContext
from nacre.understanding.question.records import INEQUALITIES, Condition, Derivation, Ref, Target, token_mask

# the rule by which the measure of a superlative or bound is shown as well, and what a reading gains by it
MEASURE_RULE, MEASURE_GAIN = "measure of first", 0.5

STANDS_FOR_RULE = "stood for"  # the rule by which the persons are shown whom rows without names stand for
MAX_IDENTIFIERS = 2  # how many properties are tried as the identifier of a thing
MAX_COLUMNS = 4  # how many columns show a row without a name


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
            named = (c.ref for c in derivation.conditions if c.op == "is" and len(c.keys) == 1 and not c.negated)
            if target.ref not in named:
                yield from _by_identifier(derivation, i, graph)
            return


def _by_identifier(derivation: Derivation, i: int, graph: SchemaGraph) -> Iterator[Derivation]:
    """A thing by its identifier or a text, mostly where it has no name."""
    ref, before, after = derivation.targets[i].ref, derivation.targets[:i], derivation.targets[i + 1 :]
    is_named = graph.nodes[ref.node].named
    for predicate in identifying_properties(graph, ref.node)[:MAX_IDENTIFIERS]:
        kind = "code" if graph.about(predicate).role == "identifier" else "text"
        targets = (*before, Target(Ref(ref.node, predicate, ref.slot)), *after)
        rule, gain = (f"{kind} of named", -0.4) if is_named else (f"{kind} of nameless", 0.1)
        yield derivation.apply_rule(rule, gain, targets=targets)


def show_rows(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return rows of a sheet without names by what tells them apart, in place of a text that many of them share."""
    body, graph, d = candidate.body, context.graph, candidate.derivation
    target = d.targets[0]
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) > 1 or target.function:
        return candidate
    node, stands = target.ref.node, {"text of nameless", "code of nameless"} & set(d.trace)
    shown = identifying_properties(graph, node) if graph.is_sheet(node) and not graph.nodes[node].named else []
    naming = WORDS["naming"]
    is_shared = all(not graph.about(each).pairs_off and naming.isdisjoint(graph.words[each]) for each in shown)
    columns = _telling_columns(d, node, graph) if shown and is_shared and (stands or not target.ref.predicate) else []
    answers = tuple(Attribute(variable_of(body.answers[0]), each) for each in columns)
    return candidate._replace(body=replace(body, answers=answers)) if len(columns) > 1 else candidate


def _telling_columns(derivation: Derivation, node: int, graph: SchemaGraph) -> list[str]:
    """The date of a row, what numbers it, its two most different texts, and its amount or what it is ranked by, without
    what all rows that are asked for have in common."""
    fixed = {each.ref.predicate for each in derivation.conditions if each.op == "=" and not each.negated}
    own = [graph.about(each) for each in graph.literals[node] if each not in graph.boolean_predicates | fixed]
    full = [each for each in own if each.functional and 2 * each.subjects > graph.nodes[node].count]
    texts = [each for each in full if each.datatype == "text" and each.role in ("fact", "name")]
    ranked = derivation.order.ref.predicate if derivation.order is not None else ""
    numbers = (amounts(graph, node) or measured_numbers(graph, node))[:1]
    found = [
        *[each.iri for each in full if graph.is_date(each.iri)][:1],
        *[each.iri for each in full if each.role == "identifier"][:1],
        *[each.iri for each in sorted(texts, key=lambda each: (-each.objects, each.iri))[:2]],
        *([ranked] if ranked in graph.literals[node] else numbers),
    ]
    return list(dict.fromkeys(found))[:MAX_COLUMNS]


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
                targets=(*derivation.targets[:i], Target(Ref(node)), *derivation.targets[i + 1 :]),
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
    graph, tokens, name_words = context.graph, context.question.tokens, WORDS["telling"]
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
    own = [p for p in graph.literals[node] if graph.about(p).role != "name" and p not in graph.boolean_predicates]
    identifiers = [predicate for predicate in own if graph.about(predicate).role == "identifier"]
    if graph.nodes[node].named:
        return identifiers[:1]
    class_words, naming = set(graph.nodes[node].words), WORDS["naming"]
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


def nest_conditions(derivation: Derivation, root: Ref) -> Iterator[Derivation]:
    """Yield the readings with later conditions on what is missing or compared with, then the reading itself."""
    yield from _of_missing(derivation, root)
    yield from _of_compared(derivation)
    yield derivation


def _of_missing(derivation: Derivation, root: Ref) -> Iterator[Derivation]:
    """ "Students without a supervisor who is retired": conditions after "without X" are conditions on X."""
    conditions = derivation.conditions
    at = next((i for i, each in enumerate(conditions) if each.negated and each.op == "exists"), None)
    if at is None:
        return
    own = [each for each in conditions[at + 1 :] if each.ref.node != root.node and not each.function]
    if own:
        missing = conditions[at]._replace(inner=tuple(each._replace(negated=False) for each in own))
        others = (each for each in conditions[at + 1 :] if each not in own)
        yield derivation.apply_rule("condition of missing", 0.3, conditions=(*conditions[:at], missing, *others))


def _of_compared(derivation: Derivation) -> Iterator[Derivation]:
    """ "Above the average of the films since 2000": conditions on what an aggregate is over."""
    conditions = derivation.conditions
    at = next((i for i, each in enumerate(conditions) if each.against is not None and each.against.function), None)
    if at is None or len(conditions) < 2:
        return
    compared = conditions[at]
    inner = tuple(each for each in conditions[at + 1 :] if not each.function and each.against is None)
    if inner:
        outer = tuple(each for each in conditions if each not in inner and each != compared)
        nested = (*outer, compared._replace(inner=inner))
        # the things of a reading without those that only its inner conditions use
        used = {each.ref.thing for each in nested} | {target.ref.thing for target in derivation.targets}
        only_inner = {each.ref.thing for each in inner} - used
        nodes = tuple(node for node in derivation.nodes if node not in only_inner)
        yield derivation.apply_rule("condition of aggregate", 0.2, conditions=nested, nodes=nodes)


def nest_having(derivation: Derivation) -> Iterator[Derivation]:
    """Yield the readings in which conditions on counts choose the things that end up in one number.

    "How many clubs have more than 3 players" counts the clubs that have. Conditions on what is counted, as in "young
    players", are nested as well.
    """
    conditions = derivation.conditions
    on_groups = [each for each in conditions if each.function]
    counted = {each.ref.thing for each in on_groups}
    asked = list(dict.fromkeys(target.ref.thing for target in derivation.targets))
    if derivation.group or derivation.order is not None or len(asked) > 1:
        return
    if counted & set(asked):
        # "how many members speak more than one language"
        if all(each.ref.predicate and each.ref.thing in asked for each in on_groups):
            having = Condition(asked[0], "having", inner=tuple(on_groups))
            others = (each for each in conditions if not each.function)
            yield derivation.apply_rule("having inside", 0.1, conditions=(*others, having))
        return
    inner = tuple(each for each in conditions if each.ref.thing in counted)
    outer = tuple(each for each in conditions if each not in inner)
    owners = [node for node in derivation.nodes if node not in counted]
    for place, owner in enumerate(dict.fromkeys((*asked, *owners))):
        nested = (*outer, Condition(owner, "having", inner=inner))
        used = {each.ref.thing for each in nested} | set(asked)
        nodes = tuple(node for node in derivation.nodes if node in used or node not in counted)
        yield derivation.apply_rule("having inside", 0.1 - 0.3 * place, conditions=nested, nodes=nodes)


def combine_conditions(derivation: Derivation) -> Iterator[Derivation]:
    """Yield the readings with any of several values, with both, or with either condition."""
    if derivation.combine:
        yield derivation
        return
    conditions = derivation.conditions
    merged = _merge_values(conditions)
    has_merged = len(merged) < len(conditions)
    if has_merged:
        yield derivation.apply_rule("any of values", 0.1, conditions=merged)
    plain = [condition for condition in conditions if not condition.function]
    if len(plain) >= 2 and "both" in derivation.trace:
        yield derivation.apply_rule("both", 0.3, combine="intersection")
    elif has_merged:
        named = [each.ref for each in conditions if each.op == "is" and not each.negated]
        if not any(named.count(target.ref.thing) > 1 for target in derivation.targets):
            # no target would have to be several named things at once
            yield derivation.apply_rule("both of values", 0.0, combine="intersection")
    if any(condition.join == "or" for condition in conditions) and not has_merged and len(plain) >= 2:
        yield derivation.apply_rule("either", 0.3, combine="union")
    if not has_merged:
        yield derivation


def _merge_values(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions with equal ones on one property or thing merged into one that allows any of their values."""
    merged: list[Condition] = []
    for condition in conditions:
        plain = [(i, each) for i, each in enumerate(merged) if not each.function and not each.against]
        own = condition.ref, condition.op, condition.negated
        alike = (i for i, each in plain if (each.ref, each.op, each.negated) == own)
        place = next(alike, None) if condition.op in ("=", "is") else None
        if place is None:
            merged.append(condition)
        else:
            other = merged[place]
            merged[place] = other._replace(
                values=(*other.values, *condition.values),
                keys=(*other.keys, *condition.keys),
                label=" or ".join(dict.fromkeys(filter(None, (other.label, condition.label)))),
            )
    return tuple(merged)
