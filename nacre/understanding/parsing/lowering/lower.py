"""Turn a derivation into a plan: Derivation + SchemaGraph -> LoweredPlan, joined by the cheapest paths."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nacre.records.plan import (
    Aggregate,
    Attribute,
    Body,
    Combine,
    Filter,
    Itself,
    Order,
    PlanTerm,
    Select,
)
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.parsing.completion.columns import MEASURE_RULE
from nacre.understanding.parsing.lowering.deduplicate import drop_redundant_variables
from nacre.understanding.parsing.lowering.filters import exclusion_filter, lower_conditions, order_term, plan_term
from nacre.understanding.parsing.lowering.joins import Joins, find_joins, incoming_predicates
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE
from nacre.understanding.question.types import Condition, Derivation, Ref, Target

# rules by which things are shown beside what belongs to them
PAIRING_RULES = frozenset(("class target with own", "name itself", MEASURE_RULE))


class LoweredPlan(NamedTuple):
    """A plan with what joining its variables took; see `Joins`."""

    body: Body
    cost: float
    steps: int
    ambiguous: int


def lower_derivation(derivation: Derivation, graph: SchemaGraph, choice: int = 0) -> LoweredPlan | None:
    """Return the plan of a derivation, None if nothing joins its parts.

    `choice` takes the next cheapest paths where several are about as cheap.
    """
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
    """A count of the things that are in both selects."""
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
        _answer(_with_amount(target, graph), joins)
        for target in derivation.targets
        if target.function or target.ref not in totals
    )
    order = order_term(derivation.order, joins)
    group, by = _groups(derivation, joins, graph)
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
    )


def _groups(derivation: Derivation, joins: Joins, graph: SchemaGraph) -> tuple[tuple[str, ...], tuple[Attribute, ...]]:
    """The things and the values that are grouped by; a name or an identifier groups by its thing."""
    terms = [plan_term(ref, joins) for ref in derivation.group]
    values = [term for term in terms if isinstance(term, Attribute) and not _is_key(term.predicate, graph)]
    return tuple(term.variable for term in terms if term not in values), tuple(values)


def _is_key(predicate: str, graph: SchemaGraph) -> bool:
    """Whether a property names or identifies things, one value each and none twice."""
    about = graph.about(predicate)
    return about.role in ("name", "identifier") and about.functional and about.pairs_off


def _counts_itself(order: Order | None, group: tuple[str, ...]) -> bool:
    """Whether an order is by a count of the things that are grouped by."""
    by = order.by if order is not None else None
    is_count = isinstance(by, Aggregate) and by.function == "count" and isinstance(by.of, Itself)
    return is_count and isinstance(by, Aggregate) and group == (by.of.variable,)


def _with_amount(target: Target, graph: SchemaGraph) -> Target:
    """The target with the number of a thing that only holds a number."""
    if target.function or target.ref.predicate:
        return target
    return target._replace(ref=target.ref._replace(predicate=amount_property(target.ref.node, graph)))


def _answer(target: Target, joins: Joins) -> PlanTerm:
    term = plan_term(target.ref, joins)
    if not target.function:
        return term
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
    return derivation._replace(conditions=tuple(kept), combine="", nodes=_needed_nodes(derivation, kept))


def _needed_nodes(derivation: Derivation, kept: Sequence[Condition]) -> tuple[Ref, ...]:
    dropped = {condition.ref.thing for condition in derivation.conditions if condition not in kept}
    dropped -= {condition.ref.thing for condition in kept} | {target.ref.thing for target in derivation.targets}
    return tuple(node for node in derivation.nodes if node not in dropped)
