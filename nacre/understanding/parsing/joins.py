"""Joins and filters of a plan: Refs, Conditions + SchemaGraph -> Joins (variables and edges), filters and terms.

Things are joined along the cheapest paths; then conditions and orders become filters and terms, and redundant
variables are dropped.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, cast

from nacre.records.plan import (
    Aggregate,
    Attribute,
    Comparison,
    Constant,
    Edge,
    Filter,
    Itself,
    Order,
    Select,
    Variable,
    aggregated_value,
)
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import PathStep, WeightedPaths
from nacre.understanding.question.records import KIND_OPERATOR, Condition, Derivation, Ordering, Ref

MAX_EXTRA_COST = 0.7  # paths that cost at most so much more than the cheapest are other readings
FIRST_SLOT_ON_PATH = 50  # slots from here on are things on a path between others, to which nothing is joined
MAX_PATHS = 8  # how many paths are looked at if some do not lead to what is named

# the predicates that lead to named things
IncomingPredicates = frozenset[tuple[Ref, frozenset[str]]]


@dataclass(frozen=True)
class Joins:
    """The variables of one select, their edges, what the paths cost, and how many others are as cheap (`ambiguous`)."""

    variables: Mapping[Ref, Variable]
    edges: tuple[Edge, ...]
    cost: float
    steps: int
    ambiguous: int


def find_joins(
    graph: SchemaGraph,
    refs: Sequence[Ref],
    hints: frozenset[str],
    choice: int = 0,
    prefix: str = "",
    attachment: str = "",
    ends: IncomingPredicates = frozenset(),
) -> Joins | None:
    """Join all things, the nearest first; return None if there is no path.

    `choice` takes the next cheapest path where several are about as cheap. `prefix` begins the names of the variables.
    The result is cached: the readings of a question join the same things again and again.
    """
    return _join(graph, tuple(dict.fromkeys(refs)), hints, choice, prefix, attachment, ends)


@lru_cache(maxsize=4096)
def _join(
    graph: SchemaGraph,
    refs: tuple[Ref, ...],
    hints: frozenset[str],
    choice: int,
    prefix: str,
    attachment: str,
    ends: IncomingPredicates,
) -> Joins | None:
    incoming = dict(ends)
    builder, waiting = _JoinBuilder(graph, prefix), list(refs)
    if waiting:
        builder.add_thing(waiting.pop(0))
    while waiting:
        candidates = _candidates(graph, waiting, tuple(builder.variables), hints, attachment, incoming)
        best = min(candidates, key=lambda candidate: candidate.rank, default=None)
        if best is None:
            return None
        near = [path for path in best.paths if path[0] <= best.paths[0][0] + MAX_EXTRA_COST]
        chosen = min(choice, len(near) - 1)
        choice = max(0, choice - (len(near) - 1))
        builder.add_path(best.known, best.ref, near[chosen], len(near) - 1)
        waiting.remove(best.ref)
    return builder.build()


class _Candidate(NamedTuple):
    """A thing that may be joined next, what it is joined to, and the paths between the two."""

    rank: tuple[float, int, int]
    known: Ref
    ref: Ref
    paths: WeightedPaths


def _candidates(
    graph: SchemaGraph,
    waiting: Sequence[Ref],
    joined: Sequence[Ref],
    hints: frozenset[str],
    attachment: str,
    incoming: Mapping[Ref, frozenset[str]],
) -> Iterator[_Candidate]:
    """Every pair of a thing that waits and a thing that is joined already, if there is a path."""
    for place, ref in enumerate(waiting):
        if any(other.node == ref.node and other.slot < ref.slot for other in waiting):
            # of several things of one class each is joined to the one before
            continue
        for known in joined:
            if known.slot >= FIRST_SLOT_ON_PATH:
                continue
            paths = _paths(graph, known, ref, hints, incoming)
            if not paths:
                continue
            # of several things of one class the last is meant
            same_class = bool(ref.slot) and known.node == ref.node
            to_last = same_class or attachment == "last"
            cost = 0.0 if same_class and attachment == "last" else paths[0][0]
            yield _Candidate((cost, place, -known.slot if to_last else known.slot), known, ref, paths)


def _paths(
    graph: SchemaGraph, known: Ref, ref: Ref, hints: frozenset[str], incoming: Mapping[Ref, frozenset[str]]
) -> WeightedPaths:
    """The cheapest paths from a thing to another; to a named one over its predicates or those of the question."""
    paths = graph.cheapest_paths(known.node, ref.node, hints)
    if known not in incoming and ref not in incoming:
        return paths

    def leads(path: tuple[PathStep, ...]) -> bool:
        first, last = path[0], path[-1]
        leads_to_ref = not last.forward or ref not in incoming or last.predicate in incoming[ref] | hints
        leads_to_known = first.forward or known not in incoming or first.predicate in incoming[known] | hints
        return leads_to_ref and leads_to_known

    more = graph.cheapest_paths(known.node, ref.node, hints, MAX_PATHS)
    return tuple(path for path in more if leads(path[1]))[: len(paths)] or paths


class _JoinBuilder:
    """Collects the variables and edges of one select."""

    def __init__(self, graph: SchemaGraph, prefix: str) -> None:
        self._graph, self._prefix = graph, prefix
        self.variables: dict[Ref, Variable] = {}
        self._edges: list[Edge] = []
        self._cost, self._steps, self._ambiguous = 0.0, 0, 0
        self._things_on_paths = 0

    def build(self) -> Joins:
        return Joins(self.variables, tuple(self._edges), self._cost, self._steps, self._ambiguous)

    def add_thing(self, ref: Ref) -> str:
        """Add a variable for a thing if it has none, and return its name."""
        known = self.variables.get(ref)
        if known is not None:
            return known.name
        node = self._graph.nodes[ref.node]
        base = name = self._prefix + node.variable
        taken = {variable.name for variable in self.variables.values()}
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        noun = node.label if node.any_of else ""
        self.variables[ref] = Variable(name, node.classes, node.without, any_of=node.any_of, noun=noun)
        return name

    def add_path(self, start: Ref, end: Ref, path: tuple[float, tuple[PathStep, ...]], alternatives: int) -> None:
        cost, steps = path
        self._cost += cost
        self._ambiguous += alternatives
        here = self.variables[start].name
        for i, step in enumerate(steps):
            if i == len(steps) - 1:
                there = self.add_thing(end)
            else:
                self._things_on_paths += 1
                slot = FIRST_SLOT_ON_PATH + self._things_on_paths
                there = self._shared_thing(here, step) or self.add_thing(Ref(step.target, "", slot))
            edge = Edge(here, step.predicate, there) if step.forward else Edge(there, step.predicate, here)
            if edge not in self._edges:
                self._edges.append(edge)
            self._steps += 1
            here = there

    def _shared_thing(self, here: str, step: PathStep) -> str | None:
        """A variable on another path over the same edge: one more property of the same row."""
        for edge in self._edges:
            if edge.predicate != step.predicate:
                continue
            if step.forward and edge.subject == here:
                return edge.object
            if not step.forward and edge.object == here:
                other = next((ref for ref, each in self.variables.items() if each.name == edge.subject), None)
                if other is not None and other.slot >= FIRST_SLOT_ON_PATH:
                    return edge.subject
        return None


def incoming_predicates(derivation: Derivation, conditions: Sequence[Condition]) -> IncomingPredicates:
    """Return the predicates that lead to each thing that the conditions name, as far as they are known."""
    known = {link.keys: link.ends for link in derivation.links if link.ends is not None}
    found: dict[Ref, frozenset[str]] = {}
    for condition in conditions:
        if condition.op == "is" and not condition.negated and condition.keys in known:
            ref = condition.ref.thing
            found[ref] = found.get(ref, frozenset()) | known[condition.keys]
    return frozenset(found.items())


Filters = tuple[Filter, ...]


def lower_conditions(
    conditions: Sequence[Condition], joins: Joins, graph: SchemaGraph, hints: frozenset[str]
) -> tuple[Filters, Joins] | None:
    """Return the filters of conditions, and the joins in which a variable holds the keys of each named thing. None if a
    condition cannot be expressed."""
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
    """Return the filter for "without X", "that never ...": not among the things that have it. `along` are other things
    on the way to X. None if nothing joins the two."""
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
    named = replace(variable, keys=keys or condition.keys, label=condition.label)
    return replace(joins, variables={**joins.variables, thing: named})


def _condition_filters(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> Filters | None:
    """The filters of one condition, None if it cannot be expressed."""
    match condition.op:
        case "exists":
            # a thing that is joined exists
            return ()
        case "unknown":
            return (Filter(plan_term(condition.ref, joins), "unknown"),)
        case "having":
            return _groups(condition, joins, graph, hints)
        case "top":
            return _first(condition, joins, graph, hints)
        case "is":
            return _identity(condition, joins)
        case "within":
            return _period(condition, joins)
    if condition.op == KIND_OPERATOR:
        return _class(condition, joins, graph)
    if condition.function:
        return _aggregate(condition, joins)
    return _comparison(condition, joins, graph) if condition.against is not None else _value(condition, joins, graph)


def _class(condition: Condition, joins: Joins, graph: SchemaGraph) -> Filters:
    """ "Which trees are no poplars": a thing is of a narrower class, or is not."""
    variable, node = joins.variables[condition.ref.thing], graph.nodes[condition.inner[0].ref.node]
    member = Variable(f"{variable.name}_kind", node.classes, node.without)
    return (Filter(Itself(variable.name), "in", Select((Itself(member.name),), (member,)), condition.negated),)


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
    is_value = isinstance(left, Attribute)
    first = _most_common_values(condition, graph) if is_value else _first_things(condition, graph, hints)
    return None if first is None else (Filter(left, "in", first, condition.negated),)


def _first_things(condition: Condition, graph: SchemaGraph, hints: frozenset[str]) -> Select | None:
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


def _identity(condition: Condition, joins: Joins) -> Filters:
    """A named thing is a variable with its keys; a thing that is not meant is excluded."""
    if not condition.negated:
        return ()
    variable = joins.variables[condition.ref.thing]
    other = replace(variable, name=f"{variable.name}_not", keys=condition.keys, label=condition.label)
    return (Filter(Itself(variable.name), "in", Select((Itself(other.name),), (other,)), True),)


def _period(condition: Condition, joins: Joins) -> Filters:
    """ "In 1990": from the first day of a period to the first day after it."""
    left = plan_term(condition.ref, joins)
    start, end = condition.values
    bounds = (Filter(left, ">=", start), Filter(left, "<", end))
    if condition.negated and isinstance(left, Attribute):
        return _no_value(left, joins.variables[condition.ref.thing], bounds)
    return bounds


def _operator(condition: Condition) -> Comparison:
    return cast(Comparison, condition.op)


def _aggregate(condition: Condition, joins: Joins) -> Filters | None:
    """ "With more than 3 films": a count or an aggregate over a group is compared."""
    left = plan_term(condition.ref, joins)
    # things can only be counted
    if not condition.function or (condition.function != "count" and not isinstance(left, Attribute)):
        return None
    return (Filter(Aggregate(condition.function, left), _operator(condition), condition.values[0]),)


def _comparison(condition: Condition, joins: Joins, graph: SchemaGraph) -> Filters | None:
    """ "More exports than imports", "above the average": a property is compared with a property or an aggregate."""
    assert condition.against is not None
    left = plan_term(condition.ref, joins)
    if condition.against.function:
        right: Attribute | Select | None = _aggregate_over_all(condition, graph)
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


def drop_redundant_variables(select: Select, graph: SchemaGraph, required: Collection[str] = ()) -> Select:
    """Return the plan without a second variable at the one end of a link, unless used or `required`."""
    # the variables that are shown, filtered, named, grouped or ordered by
    terms = [*select.answers, *(each.left for each in select.filters)]
    terms += [each.right for each in select.filters if isinstance(each.right, Attribute)]
    terms += [select.order.by] if select.order is not None else []
    named = {variable.name for variable in select.variables if variable.keys}
    grouped = {*select.group, *(each.variable for each in select.by)}
    used = ({aggregated_value(term).variable for term in terms} | named | grouped) | set(required)
    names = [name for edge in select.edges for name in (edge.subject, edge.object)]
    ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in select.edges:
        if graph.about(edge.predicate).functional:
            ends[edge.subject, edge.predicate].append(edge.object)
    redundant: set[str] = set()
    for objects in ends.values():
        unused = [name for name in objects if name not in used and names.count(name) == 1]
        # the first one stays unless another is required
        redundant |= {name for name in unused if name != objects[0] or not set(required).isdisjoint(objects)}
    if not redundant:
        return select
    variables = tuple(variable for variable in select.variables if variable.name not in redundant)
    return replace(select, variables=variables, edges=tuple(e for e in select.edges if e.object not in redundant))
