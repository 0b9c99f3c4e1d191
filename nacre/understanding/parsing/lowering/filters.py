"""Turn conditions and orders into filters and terms of a plan: Conditions + Joins -> filters, and Joins with the keys
of named things."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from nacre.records.plan import Aggregate, Attribute, Comparison, Constant, Filter, Itself, Order, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.lowering.deduplicate import drop_redundant_variables
from nacre.understanding.parsing.lowering.joins import Joins, find_joins
from nacre.understanding.question.types import KIND_OPERATOR, Condition, Ordering, Ref

Filters = tuple[Filter, ...]
# the filters of one condition, None if it cannot be expressed
FilterRule = Callable[[Condition, Joins, SchemaGraph, frozenset[str]], Filters | None]


def lower_conditions(
    conditions: Sequence[Condition], joins: Joins, graph: SchemaGraph, hints: frozenset[str]
) -> tuple[Filters, Joins] | None:
    """Return the filters of conditions, and the joins in which a variable holds the keys of each named thing.

    None if a condition cannot be expressed.
    """
    filters: Filters = ()
    for condition in conditions:
        found = _condition_filters(condition, joins, graph, hints)
        if found is None:
            return None
        filters += found
        joins = _with_identity(condition, joins)
    return filters, joins


def exclusion_filter(
    condition: Condition,
    root: Ref,
    joins: Joins,
    graph: SchemaGraph,
    hints: frozenset[str],
    along: tuple[Ref, ...] = (),
) -> Filter | None:
    """Return the filter for "without X", "that never ...": not among the things that have it.

    `along` are other things on the way to X. None if nothing joins the two.
    """
    thing = Ref(root.node, "", 1) if condition.ref.thing == root else condition.ref.thing
    inner_things = (inner.ref.thing for inner in condition.inner)
    inside = find_joins(graph, [root, *along, thing, *inner_things], hints, prefix="not_")
    if inside is None:
        return None
    positive = condition._replace(negated=False, ref=Ref(thing.node, condition.ref.predicate, thing.slot))
    lowered = lower_conditions([positive], inside, graph, hints)
    if lowered is None:
        return None
    filters, inside = lowered
    more, inside = _lower_possible(condition.inner, inside, graph, hints)
    select = _select_things(root, inside, filters + more)
    return Filter(Itself(joins.variables[root].name), "in", drop_redundant_variables(select, graph), True)


def _lower_possible(
    conditions: Sequence[Condition], joins: Joins, graph: SchemaGraph, hints: frozenset[str]
) -> tuple[Filters, Joins]:
    """As `lower_conditions`, without the conditions that cannot be expressed."""
    filters: Filters = ()
    for condition in conditions:
        lowered = lower_conditions([condition], joins, graph, hints)
        if lowered is not None:
            filters, joins = filters + lowered[0], lowered[1]
    return filters, joins


def _select_things(thing: Ref, joins: Joins, filters: Filters) -> Select:
    """The things themselves, as a select inside another."""
    return Select((Itself(joins.variables[thing].name),), tuple(joins.variables.values()), joins.edges, filters)


def _with_identity(condition: Condition, joins: Joins) -> Joins:
    """The joins in which the variable of a named thing holds its keys."""
    if condition.op != "is" or condition.negated:
        return joins
    thing = condition.ref.thing
    variable = joins.variables[thing]
    keys = tuple(key for key in condition.keys if not variable.keys or key in variable.keys)
    return joins.with_variable(thing, replace(variable, keys=keys or condition.keys, label=condition.label))


def _condition_filters(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters | None:
    if condition.op in OPERATOR_RULES:
        return OPERATOR_RULES[condition.op](condition, joins, graph, hints)
    if condition.function:
        return _aggregate(condition, joins)
    if condition.against is not None:
        return _comparison(condition, joins, graph)
    return _value(condition, joins, graph)


def _existence(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters:
    """A thing that is joined exists."""
    return ()


def _class(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters:
    """ "Which trees are no poplars": a thing is of a narrower class, or is not."""
    variable, node = joins.variables[condition.ref.thing], graph.nodes[condition.inner[0].ref.node]
    member = Variable(f"{variable.name}_kind", node.classes, node.without)
    return (Filter(Itself(variable.name), "in", Select((Itself(member.name),), (member,)), condition.negated),)


def _unknown(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters:
    return (Filter(plan_term(condition.ref, joins), "unknown"),)


def _groups(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters | None:
    """ "Clubs that have more than 3 players": things whose groups meet the inner conditions."""
    thing = condition.ref.thing
    inside = find_joins(graph, [thing, *(inner.ref.thing for inner in condition.inner)], hints, prefix="having_")
    lowered = lower_conditions(condition.inner, inside, graph, hints) if inside is not None else None
    if lowered is None:
        return None
    filters, inside = lowered
    select = replace(_select_things(thing, inside, filters), group=(inside.variables[thing].name,))
    return (Filter(plan_term(condition.ref, joins), "in", select, condition.negated),)


def _first(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters | None:
    """ "In the largest state", "in the most common genre": a thing or a value that is first in an order."""
    left = plan_term(condition.ref, joins)
    if isinstance(left, Attribute):
        return (Filter(left, "in", _most_common_values(condition, graph), condition.negated),)
    first = _first_things(condition, graph, hints)
    return None if first is None else (Filter(left, "in", first, condition.negated),)


def _first_things(condition: Condition, graph: SchemaGraph, hints: frozenset[str]) -> Select | None:
    """The things that are first in an order."""
    assert condition.top is not None
    thing, by = Ref(condition.ref.node), condition.top.ref
    if by.node == thing.node and condition.top.function:
        by = by._replace(slot=1)
    inside = find_joins(graph, [thing, by.thing], hints, prefix="top_")
    if inside is None:
        return None
    return replace(
        _select_things(thing, inside, ()),
        group=(inside.variables[thing].name,) if condition.top.function else (),
        order=order_term(condition.top._replace(ref=by), inside),
        limit=condition.top.limit,
    )


def _most_common_values(condition: Condition, graph: SchemaGraph) -> Select:
    """The values of a property that most things of its class have, or the fewest."""
    assert condition.top is not None
    node, top = graph.nodes[condition.ref.node], condition.top
    value = Attribute("top_thing", condition.ref.predicate)
    variable = Variable(value.variable, node.classes, node.without)
    order = Order(Aggregate("count", Itself(value.variable)), top.descending)
    return Select((value,), (variable,), order=order, limit=top.limit, by=(value,))


def _identity(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters:
    """A named thing is a variable with its keys; a thing that is not meant is excluded."""
    if not condition.negated:
        return ()
    variable = joins.variables[condition.ref.thing]
    other = replace(variable, name=f"{variable.name}_not", keys=condition.keys, label=condition.label)
    return (Filter(Itself(variable.name), "in", Select((Itself(other.name),), (other,)), True),)


def _period(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters:
    """ "In 1990": from the first day of a period to the first day after it."""
    left = plan_term(condition.ref, joins)
    start, end = condition.values
    bounds = (Filter(left, ">=", start), Filter(left, "<", end))
    if condition.negated and isinstance(left, Attribute):
        return _no_value(left, joins.variables[condition.ref.thing], bounds)
    return bounds


# rules for conditions that their operator tells apart
OPERATOR_RULES: Mapping[str, FilterRule] = {
    "exists": _existence,
    KIND_OPERATOR: _class,
    "unknown": _unknown,
    "having": _groups,
    "top": _first,
    "is": _identity,
    "within": _period,
}


def _operator(condition: Condition) -> Comparison:
    """The operator of a condition that compares values."""
    return cast(Comparison, condition.op)


def _aggregate(condition: Condition, joins: Joins) -> Filters | None:
    """ "With more than 3 films": a count or an aggregate over a group is compared."""
    left, value = plan_term(condition.ref, joins), condition.values[0]
    if condition.function == "count":
        # of the things, or of the values that each has
        return (Filter(Aggregate("count", left), _operator(condition), value),)
    if not condition.function or not isinstance(left, Attribute):
        return None
    return (Filter(Aggregate(condition.function, left), _operator(condition), value),)


def _comparison(condition: Condition, joins: Joins, graph: SchemaGraph) -> Filters | None:
    """ "More exports than imports", "above the average": a property is compared with a property or an aggregate."""
    assert condition.against is not None
    left = plan_term(condition.ref, joins)
    if condition.against.function:
        aggregate = _aggregate_over_all(condition, graph)
        right: Attribute | Select | None = aggregate
    else:
        term = plan_term(condition.against.ref, joins)
        right = term if isinstance(term, Attribute) else None
    return None if right is None else (Filter(left, _operator(condition), right, condition.negated),)


def _aggregate_over_all(condition: Condition, graph: SchemaGraph) -> Select | None:
    """ "The average": over all things of the class, or over those that the inner conditions leave."""
    assert condition.against is not None
    ref, function = condition.against.ref, condition.against.function
    things = [ref.thing, *(inner.ref.thing for inner in condition.inner)]
    inside = find_joins(graph, things, frozenset(), prefix="other_")
    if inside is None:
        return None
    filters, inside = _lower_possible(condition.inner, inside, graph, frozenset())
    term = plan_term(ref, inside)
    if not isinstance(term, Attribute) or not function:
        return None
    return Select((Aggregate(function, term),), tuple(inside.variables.values()), inside.edges, filters)


def _value(condition: Condition, joins: Joins, graph: SchemaGraph) -> Filters:
    """A property has a value, any of several, or none of them."""
    left, operator = plan_term(condition.ref, joins), _operator(condition)
    value: Constant | tuple[Constant, ...] = condition.values
    if len(condition.values) == 1:
        (value,) = condition.values
    if condition.negated and isinstance(left, Attribute) and not graph.about(left.predicate).functional:
        # who speaks Dutch and Danish speaks Dutch
        return _no_value(left, joins.variables[condition.ref.thing], (Filter(left, operator, value),))
    if condition.negated and operator == "=" and len(condition.values) == 1:
        return (Filter(left, "!=", value),)
    return (Filter(left, operator, value, condition.negated),)


def _no_value(left: Attribute, variable: Variable, excluded: Filters) -> Filters:
    """A property is known, and none of its values meets the excluded conditions."""
    other = replace(variable, name=f"{variable.name}_not")
    inner = tuple(replace(each, left=replace(left, variable=other.name)) for each in excluded)
    select = Select((Itself(other.name),), (other,), (), inner)
    return (Filter(left, "known"), Filter(Itself(variable.name), "in", select, True))


def plan_term(ref: Ref, joins: Joins) -> Attribute | Itself:
    """Return a property of a variable, or the variable itself."""
    name = joins.variables[ref.thing].name
    return Attribute(name, ref.predicate, ref.part) if ref.predicate else Itself(name)


def order_term(order: Ordering | None, joins: Joins) -> Order | None:
    """Return an order by a property, an aggregate or a count of things."""
    if order is None:
        return None
    term = plan_term(order.ref, joins)
    if order.function == "count":
        return Order(Aggregate("count", Itself(term.variable)), order.descending)
    if order.function and isinstance(term, Attribute):
        return Order(Aggregate(order.function, term), order.descending)
    return Order(term, order.descending)
