"""Turn a derivation into a plan: Derivation + SchemaGraph -> LoweredPlan, joined by the cheapest paths."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from nacre.language.data import WORDS, phrase_list
from nacre.language.thesaurus import nouns_of_kind
from nacre.plans.selects import asked_select
from nacre.records.plan import (
    AGGREGATES,
    Aggregate,
    Ask,
    Attribute,
    Body,
    Combine,
    Compute,
    Edge,
    Filter,
    Itself,
    Order,
    PlanTerm,
    Select,
    Variable,
    aggregated_value,
)
from nacre.understanding.linking.adjectives import amount_property, measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import PathStep
from nacre.understanding.parsing.columns import MEASURE_RULE
from nacre.understanding.parsing.cue_rules import GROUP_RULE, ONLY_RULE
from nacre.understanding.parsing.joins import (
    Joins,
    drop_redundant_variables,
    exclusion_filter,
    find_joins,
    incoming_predicates,
    lower_conditions,
    order_term,
    plan_term,
)
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.records import Condition, Derivation, Ref, Target

# rules by which things are shown beside what belongs to them
PAIRING_RULES = frozenset(("class target with own", "name itself", MEASURE_RULE))


class LoweredPlan(NamedTuple):
    """A plan with what joining its variables took; see `Joins`."""

    body: Body
    cost: float
    steps: int
    ambiguous: int


def lower_derivation(derivation: Derivation, graph: SchemaGraph, choice: int = 0) -> LoweredPlan | None:
    """Return the plan of a derivation, None if nothing joins its parts. `choice` counts equally cheap paths."""
    operation = derivation.combine
    if not operation or len(derivation.conditions) < 2:
        return _lower_select(derivation, graph, choice)
    left, right = (_lower_select(part, graph, choice) for part in _split_alternatives(derivation))
    if left is None or right is None or not isinstance(left.body, Select) or not isinstance(right.body, Select):
        return None
    if any(isinstance(answer, Aggregate) for answer in left.body.answers) or left.body.group or left.body.by:
        body: Body | None = _count_intersection(left.body, right.body, operation)
    else:
        body = Combine(operation, left.body, right.body)
    return None if body is None else LoweredPlan(body, left.cost + right.cost, left.steps, left.ambiguous)


def _count_intersection(left: Select, right: Select, operation: str) -> Select | None:
    counted = next((answer for answer in left.answers if isinstance(answer, Aggregate)), None)
    if counted is None or left.group or left.by or operation != "intersection":
        return None
    variable = counted.of.variable
    inner = Select((Itself(variable),), right.variables, right.edges, right.filters)
    return replace(left, filters=(*left.filters, Filter(Itself(variable), "in", inner)))


def _lower_select(derivation: Derivation, graph: SchemaGraph, choice: int) -> LoweredPlan | None:
    totals = {target.ref for target in derivation.targets if target.function and target.function != "count"}
    if totals & set(derivation.group):
        # "the total price for each price"
        return None
    root = next(ref.thing for ref in (*derivation.group, *(target.ref for target in derivation.targets)))
    exclusions = [c for c in derivation.conditions if c.negated and (c.op == "exists" or c.ref.thing != root)]
    direct = [condition for condition in derivation.conditions if condition not in exclusions]
    joins = find_joins(
        graph,
        _things_to_join(derivation, root, direct, exclusions),
        derivation.hints,
        choice,
        attachment=derivation.attachment,
        ends=incoming_predicates(derivation, direct),
    )
    if joins is None or _has_unbound_variable(joins):
        return None
    lowered = lower_conditions(direct, joins, graph, derivation.hints)
    if lowered is None:
        return None
    filters, joins = lowered
    # what is excluded is joined along the same paths as the thing itself
    along = tuple(node.thing for node in derivation.nodes if ONLY_RULE in derivation.trace and not node.slot)
    excluded = [exclusion_filter(each, root, joins, graph, derivation.hints, along) for each in exclusions]
    known_filters = [each for each in excluded if each is not None]
    if len(known_filters) < len(excluded):
        return None
    body = _shape(derivation, root, joins, (*filters, *known_filters), graph)
    if body is None:
        return None
    required = [joins.variables[condition.ref.thing].name for condition in direct if condition.op == "exists"]
    plan = drop_redundant_variables(body, graph, required)
    return LoweredPlan(plan, joins.cost, joins.steps, joins.ambiguous)


def _things_to_join(
    derivation: Derivation, root: Ref, direct: Sequence[Condition], exclusions: Sequence[Condition]
) -> list[Ref]:
    """The things of a plan in the order in which they are joined, without those that are only in an exclusion."""
    targets = [target.ref.thing for target in derivation.targets]
    ordered = [derivation.order.ref.thing] if derivation.order is not None else []
    conditioned = [condition.ref.thing for condition in direct]
    compared = [c.against.ref.thing for c in direct if c.against is not None and not c.against.function]
    excluded = {c.ref.thing for c in exclusions} | {inner.ref.thing for c in exclusions for inner in c.inner}
    excluded -= {*conditioned, *targets, *ordered}
    # of several things of one class the earlier one is joined first
    nodes = sorted((node for node in derivation.nodes if node not in excluded), key=lambda node: node.slot)
    groups = [ref.thing for ref in derivation.group]
    return [root, *targets, *groups, *nodes, *conditioned, *compared, *ordered]


def _has_unbound_variable(joins: Joins) -> bool:
    """Whether a variable of any class is joined to nothing, so that it may be anything."""
    bound = {name for edge in joins.edges for name in (edge.subject, edge.object)}
    return any(
        not (each.classes or each.any_of or each.keys or each.name in bound) for each in joins.variables.values()
    )


def _shape(
    derivation: Derivation, root: Ref, joins: Joins, filters: tuple[Filter, ...], graph: SchemaGraph
) -> Select | None:
    """The select with its answers, groups and order; None if it would count each thing as one of itself."""
    totals = {target.ref for target in derivation.targets if target.function and target.function != "count"}
    # "the repairs cost in total" names one property twice
    answers = dict.fromkeys(
        _answer(target, joins, graph) for target in derivation.targets if target.function or target.ref not in totals
    )
    order = order_term(derivation.order, joins)
    # the things and the values that are grouped by; a name or an identifier groups by its thing
    terms = [plan_term(ref, joins) for ref in derivation.group]
    abouts = {term: graph.about(term.predicate) for term in terms if isinstance(term, Attribute)}
    keys = {t for t, a in abouts.items() if a.role in ("name", "identifier") and a.functional and a.pairs_off}
    values = [term for term in abouts if term not in keys]
    group = tuple(term.variable for term in terms if term not in values)
    if values and any(isinstance(answer, Aggregate) for answer in answers):
        # "for each year and condition": a column beside a number for each group is one of its own
        beside = (a for a in answers if isinstance(a, Attribute) and a not in keys and a.variable not in group)
        values = list(dict.fromkeys((*values, *beside)))
    by = tuple(values)
    is_aggregated = order is not None and isinstance(order.by, Aggregate)
    is_aggregated |= any(condition.function for condition in derivation.conditions)
    if is_aggregated and not (group or by or any(isinstance(answer, Aggregate) for answer in answers)):
        group = (joins.variables[root].name,)
    if _counts_itself(order, group):
        return None
    return Select(
        tuple(answers),
        tuple(joins.variables.values()),
        joins.edges,
        filters,
        group,
        order,
        derivation.order.limit or None if derivation.order is not None else None,
        derivation.order.offset if derivation.order is not None else 0,
        paired=bool(PAIRING_RULES & set(derivation.trace)),
        by=by,
        zeros=GROUP_RULE in derivation.trace,
    )


def _counts_itself(order: Order | None, group: tuple[str, ...]) -> bool:
    """Whether an order is by a count of the things that are grouped by."""
    by = order.by if order is not None else None
    is_count = isinstance(by, Aggregate) and by.function == "count" and isinstance(by.of, Itself)
    return is_count and isinstance(by, Aggregate) and group == (by.of.variable,)


def _answer(target: Target, joins: Joins, graph: SchemaGraph) -> PlanTerm:
    """What is shown: of a thing that only holds a number, that number."""
    ref = target.ref
    if not target.function:
        return plan_term(ref if ref.predicate else ref._replace(predicate=amount_property(ref.node, graph)), joins)
    term = plan_term(ref, joins)
    if target.function == "count" and not target.distinct:
        # how many there are, not how many different values
        return Aggregate("count", Itself(term.variable))
    return Aggregate(target.function, term)


def _split_alternatives(derivation: Derivation) -> tuple[Derivation, Derivation]:
    """Return the derivation with the first and with the second of the two conditions that are combined."""
    conditions = list(derivation.conditions)
    joined = (i for i in range(1, len(conditions)) if conditions[i].join in ("or", "both"))
    second = next(joined, len(conditions) - 1)
    alike = [
        i
        for i in range(second)
        if conditions[i].ref == conditions[second].ref or conditions[i].op == conditions[second].op
    ]
    first = alike[-1] if alike else second - 1
    if derivation.combine == "union":
        # "A and B, or C": everything before the "or" belongs together
        one, other = conditions[:second], conditions[second:]
    else:
        one = [condition for i, condition in enumerate(conditions) if i != second]
        other = [condition for i, condition in enumerate(conditions) if i != first]
    return _with_conditions(derivation, one), _with_conditions(derivation, other)


def _with_conditions(derivation: Derivation, kept: Sequence[Condition]) -> Derivation:
    """The derivation with some of its conditions, and without the things that only the others use."""
    dropped = {condition.ref.thing for condition in derivation.conditions if condition not in kept}
    dropped -= {condition.ref.thing for condition in kept} | {target.ref.thing for target in derivation.targets}
    nodes = tuple(node for node in derivation.nodes if node not in dropped)
    return derivation._replace(conditions=tuple(kept), combine="", nodes=nodes)


AGGREGATES_OF_MANY = frozenset(AGGREGATES) - {"count"}  # aggregates that say nothing about a single value


def aggregate_members(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading with each aggregate over a single thing as one over the things that are linked to it. A
    comparison of two things changes on both sides or not at all."""
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


# the average number of links to a whole, at least: many things are members, one thing is the head
MIN_LINKS_PER_WHOLE = 1.5


def include_parts(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading in which a named place, body or category stands for all of its parts as well."""
    body, graph = candidate.body, context.graph
    if isinstance(body, Combine):
        body = replace(body, left=_include_parts(body.left, graph), right=_include_parts(body.right, graph))
    elif isinstance(body, Ask):
        body = replace(body, select=_include_parts(body.select, graph))
    elif isinstance(body, Select):
        body = _include_parts(body, graph)
    return candidate._replace(body=body)


def _include_parts(select: Select, graph: SchemaGraph) -> Select:
    part_links = _part_links(graph)
    if not part_links:
        return select
    used, wholes = _used_variables(select), _whole_nodes(graph, part_links)
    predicates = {iri.removeprefix("^") for iri in part_links}
    for variable in select.variables:
        if len(variable.keys) != 1 or not variable.label or variable.name in used:
            continue
        if not wholes & _nodes(variable, graph):
            continue
        shorter, part = _without_part_path(select, variable, predicates, used)
        edges = _edges(shorter, part.name)
        if len(edges) != 1 or not _has_several(edges[0], part, graph):
            continue
        ends = (edges[0].subject, edges[0].object)
        other = next(each for each in shorter.variables if each != part and each.name in ends)
        if edges[0].predicate in predicates and wholes & _nodes(other, graph):
            # "the rooms of the building", each of which may have parts as well
            continue
        whole = replace(part, classes=(), without=(), keys=variable.keys, label=variable.label, below=part_links)
        select = replace(shorter, variables=tuple(whole if each == part else each for each in shorter.variables))
    return select


def _without_part_path(
    select: Select, named: Variable, predicates: Collection[str], used: Collection[str]
) -> tuple[Select, Variable]:
    """The select without a path over parts to a named whole, and the variable at its beginning. Staff of "a unit of" a
    faculty is staff of one of its parts anyway."""
    while True:
        edges = _edges(select, named.name)
        if len(edges) != 1 or edges[0].predicate not in predicates:
            return select, named
        (edge,) = edges
        other = edge.subject if edge.object == named.name else edge.object
        part = next(variable for variable in select.variables if variable.name == other)
        if part.keys or other in used or len(_edges(select, other)) != 2:
            return select, named
        select = replace(
            select,
            variables=tuple(variable for variable in select.variables if variable != named),
            edges=tuple(each for each in select.edges if each != edge),
        )
        named = part


def _edges(select: Select, name: str) -> list[Edge]:
    return [edge for edge in select.edges if name in (edge.subject, edge.object)]


def _nodes(variable: Variable, graph: SchemaGraph) -> set[int]:
    return {graph.node_of_class[iri] for iri in variable.classes if iri in graph.node_of_class}


def _has_several(edge: Edge, named: Variable, graph: SchemaGraph) -> bool:
    """Whether several things are linked to one thing as here, or the link says where something is."""
    about, last = graph.about(edge.predicate), set(graph.words[edge.predicate][-1:])
    if edge.object == named.name and last & (WORDS["where_in"] | nouns_of_kind("places")):
        return True
    ends = about.objects if edge.object == named.name else about.subjects
    return ends > 0 and about.triples / ends >= MIN_LINKS_PER_WHOLE


def _used_variables(select: Select) -> set[str]:
    order = (select.order.by,) if select.order else ()
    sides = (side for each in select.filters if isinstance(each, Filter) for side in (each.left, each.right))
    terms = [
        aggregated_value(each) for each in (*select.answers, *select.by, *order, *sides) if not isinstance(each, str)
    ]
    return {each.variable for each in terms if isinstance(each, Attribute | Itself)} | set(select.group)


@lru_cache(maxsize=64)
def _part_links(graph: SchemaGraph) -> tuple[str, ...]:
    """The predicates from a part to its whole; those from a whole to its part begin with "^"."""
    up, down = WORDS["part_of"], WORDS["has_part"]
    found = []
    for predicate in graph.schema.predicates:
        if not predicate.has_links or predicate.role != "fact":
            continue
        name = "_".join(graph.words[predicate.iri])
        if name in up:
            found.append(predicate.iri)
        elif name in down:
            found.append(f"^{predicate.iri}")
    return tuple(found)


@lru_cache(maxsize=64)
def _whole_nodes(graph: SchemaGraph, part_links: tuple[str, ...]) -> frozenset[int]:
    return frozenset(
        source if iri.startswith("^") else target
        for iri in part_links
        for source, target in graph.ends.get(iri.removeprefix("^"), ())
    )
