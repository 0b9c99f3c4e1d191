"""Turn a derivation into a plan: Derivation + SchemaGraph -> Body (its variables are joined by the cheapest ways)."""

from dataclasses import replace

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
    Variable,
)
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.parsing.completion.columns import MEASURE_RULE
from nacre.understanding.parsing.lowering.deduplicate import drop_redundant_variables
from nacre.understanding.parsing.lowering.joins import Joins, find_joins, incoming_predicates
from nacre.understanding.parsing.lowering.split_combined import split_alternatives, split_negated
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE
from nacre.understanding.question.types import KIND_OPERATOR, Condition, Derivation, Ordering, Ref, Target


class LoweredPlan:
    """One plan with what joining its variables took."""

    def __init__(self, body: Body, cost: float, steps: int, ambiguous: int) -> None:
        self.body, self.cost, self.steps, self.ambiguous = body, cost, steps, ambiguous


# rules by which things are asked for together with what they have
TOGETHER = {"class target with own", "name itself", MEASURE_RULE}


def lower_derivation(d: Derivation, graph: SchemaGraph, choice: int = 0) -> LoweredPlan | None:
    """The plan of a derivation; `choice` takes the next cheapest way where several are about as short.

    None where nothing joins its parts, or the choice does not exist.
    """
    if d.combine == "difference" or (d.combine and len(d.conditions) >= 2):
        parts = split_negated(d) if d.combine == "difference" else split_alternatives(d)
        lowered = [_select(part, graph, choice) for part in parts]
        if any(part is None for part in lowered):
            return None
        left, right = lowered
        assert left is not None
        assert right is not None
        op = d.combine
        if not isinstance(left.body, Select) or not isinstance(right.body, Select):
            return None
        if any(isinstance(a, Aggregate) for a in left.body.answers) or left.body.group or left.body.by:
            return _counted(left, right, op)
        return LoweredPlan(
            Combine(op, left.body, right.body),  # type: ignore[arg-type]
            left.cost + right.cost,
            left.steps,
            left.ambiguous,
        )
    return _select(d, graph, choice)


def _counted(left: LoweredPlan, right: LoweredPlan, op: str) -> LoweredPlan | None:
    """A count over things that have both: membership in each."""
    first, second = left.body, right.body
    assert isinstance(first, Select)
    assert isinstance(second, Select)
    counted = next((a for a in first.answers if isinstance(a, Aggregate)), None)
    if counted is None or first.group or first.by or op != "intersection":
        return None
    variable = counted.of.variable
    inner = Select((Itself(variable),), second.variables, second.edges, second.filters)
    both = replace(first, filters=(*first.filters, Filter(Itself(variable), "in", inner)))
    return LoweredPlan(both, left.cost + right.cost, left.steps, left.ambiguous)


def _select(d: Derivation, graph: SchemaGraph, choice: int) -> LoweredPlan | None:
    totals = {t.ref for t in d.targets if t.function and t.function != "count"}
    if totals & set(d.group):
        # "the total price for each price"
        return None
    roots = [r.thing for r in d.group] or [t.ref.thing for t in d.targets]
    root = roots[0]
    apart = [c for c in d.conditions if c.negated and (c.op == "exists" or c.ref.thing != root)]
    direct = [c for c in d.conditions if c not in apart]
    removed = {c.ref.thing for c in apart} | {i.ref.thing for c in apart for i in c.inner}
    removed -= {c.ref.thing for c in direct} | {t.ref.thing for t in d.targets}
    if d.order is not None:
        removed -= {d.order.ref.thing}
    wanted = [root, *(t.ref.thing for t in d.targets), *(g.thing for g in d.group)]
    # of several things of one kind the earlier one is joined first
    wanted += sorted((n for n in d.nodes if n not in removed), key=lambda n: n.slot)
    wanted += [c.ref.thing for c in direct]
    wanted += [c.against.ref.thing for c in direct if c.against is not None and not c.against.function]
    wanted += [d.order.ref.thing] if d.order is not None else []
    joins = find_joins(graph, wanted, d.hints, choice, hung=d.attachment, ends=incoming_predicates(d, direct))
    if joins is None:
        return None
    tied = {name for edge in joins.edges for name in (edge.subject, edge.object)}
    if any(not (v.classes or v.keys or v.name in tied) for v in joins.variables.values()):
        # things of any kind are known only by what they hang on
        return None
    filters: list[Filter] = []
    for condition in direct:
        found = _filters(condition, joins, graph, d.hints)
        if found is None:
            return None
        filters += found
    for condition in apart:
        # by the way that the thing itself is joined by
        along = tuple(n.thing for n in d.nodes if ONLY_RULE in d.trace and not n.slot)
        inner = _apart(condition, root, joins, graph, d.hints, along)
        if inner is None:
            return None
        filters.append(inner)
    group: list[str] = []
    by: list[Attribute] = []
    for ref in d.group:
        term = _term(ref, joins)
        if isinstance(term, Attribute) and not _tells_apart(ref.predicate, graph):
            by.append(term)
        else:
            group.append(term.variable)
    # "the repairs cost in total" names one property twice
    answers: list[PlanTerm] = [_answer(_told(t, graph), joins) for t in d.targets if t.function or t.ref not in totals]
    order = _order(d.order, joins)
    counted = (order is not None and isinstance(order.by, Aggregate)) or any(c.function for c in d.conditions)
    if counted and not (group or by or any(isinstance(a, Aggregate) for a in answers)):
        group = [joins.variables[root].name]
    counted_by = (
        order.by if order is not None and isinstance(order.by, Aggregate) and order.by.function == "count" else None
    )
    if counted_by is not None and isinstance(counted_by.of, Itself) and group == [counted_by.of.variable]:
        # each thing is one of itself
        return None
    limit = d.order.limit or None if d.order is not None else None
    offset = d.order.offset if d.order is not None else 0
    body = Select(
        tuple(dict.fromkeys(answers)),
        tuple(joins.variables.values()),
        tuple(joins.edges),
        tuple(filters),
        tuple(group),
        order,
        limit,
        offset,
        paired=bool(TOGETHER & set(d.trace)),
        by=tuple(by),
    )
    asked = [joins.variables[c.ref.thing].name for c in direct if c.op == "exists"]
    return LoweredPlan(drop_redundant_variables(body, graph, asked), joins.cost, joins.steps, joins.ambiguous)


def _tells_apart(predicate: str, graph: SchemaGraph) -> bool:
    """Whether each thing has one value of a property that names or identifies it, and its own."""
    about = graph.about(predicate)
    return about.role in ("name", "identifier") and about.functional and about.pairs_off


def _term(ref: Ref, joins: Joins) -> Attribute | Itself:
    name = joins.variables[ref.thing].name
    return Attribute(name, ref.predicate, ref.part) if ref.predicate else Itself(name)


def _told(target: Target, graph: SchemaGraph) -> Target:
    """What is told of a thing that is asked for: of one that is no more than a number, the number."""
    if target.function or target.ref.predicate:
        return target
    return target._replace(ref=target.ref._replace(predicate=amount_property(target.ref.node, graph)))


def _answer(target: Target, joins: Joins) -> PlanTerm:
    term = _term(target.ref, joins)
    if not target.function:
        return term
    if target.function == "count" and not (target.distinct or isinstance(term, Itself)):
        # how many there are, not how many different values
        return Aggregate("count", Itself(term.variable)) if not target.distinct else Aggregate("count", term)
    return Aggregate(target.function, term)


def _order(order: Ordering | None, joins: Joins) -> Order | None:
    if order is None:
        return None
    term = _term(order.ref, joins)
    if order.function == "count":
        return Order(Aggregate("count", Itself(term.variable)), order.descending)
    if order.function and isinstance(term, Attribute):
        return Order(Aggregate(order.function, term), order.descending)
    return Order(term, order.descending)


def _filters(condition: Condition, joins: Joins, graph: SchemaGraph, hints: frozenset[str]) -> list[Filter] | None:
    thing = condition.ref.thing
    left = _term(condition.ref, joins)
    if condition.op == "exists":
        return []
    if condition.op == KIND_OPERATOR:
        variable, node = joins.variables[thing], graph.nodes[condition.inner[0].ref.node]
        copy = Variable(f"{variable.name}_kind", node.classes, node.without)
        return [Filter(Itself(variable.name), "in", Select((Itself(copy.name),), (copy,)), condition.negated)]
    if condition.op == "unknown":
        return [Filter(left, "unknown")]
    if condition.op == "having":
        held = _having(condition, graph, hints)
        return None if held is None else [Filter(left, "in", held, condition.negated)]
    if condition.top is not None and isinstance(left, Attribute):
        return [Filter(left, "in", _most_common(condition, graph), condition.negated)]
    if condition.top is not None:
        top = _first_of(condition, graph, hints)
        return None if top is None else [Filter(Itself(left.variable), "in", top, condition.negated)]
    if condition.function:
        if condition.function == "count":
            # of the things, or of the values that each has
            return [Filter(Aggregate("count", left), condition.op, condition.values[0])]  # type: ignore[arg-type]
        if not isinstance(left, Attribute):
            return None
        return [Filter(Aggregate(condition.function, left), condition.op, condition.values[0])]  # type: ignore[arg-type]
    if condition.against is not None and not condition.against.function:
        right = _term(condition.against.ref, joins)
        return [Filter(left, condition.op, right, condition.negated)] if isinstance(right, Attribute) else None  # type: ignore[arg-type]
    if condition.against is not None:
        inner = _against(condition, graph)
        return None if inner is None else [Filter(left, condition.op, inner, condition.negated)]  # type: ignore[arg-type]
    if condition.op == "is":
        if condition.negated:
            variable = joins.variables[thing]
            copy = replace(variable, name=variable.name + "_not", keys=condition.keys, label=condition.label)
            return [Filter(Itself(variable.name), "in", Select((Itself(copy.name),), (copy,)), True)]
        variable = joins.variables[thing]
        keys = tuple(k for k in condition.keys if not variable.keys or k in variable.keys)
        joins.variables[thing] = replace(variable, keys=keys or condition.keys, label=condition.label)
        return []
    if condition.op == "within":
        first, after = condition.values
        if condition.negated and isinstance(left, Attribute):
            return _none(left, joins.variables[thing], Filter(left, ">=", first), Filter(left, "<", after))
        return [Filter(left, ">=", first), Filter(left, "<", after)]
    value = condition.values[0] if len(condition.values) == 1 else condition.values
    if condition.negated and isinstance(left, Attribute) and not graph.about(left.predicate).functional:
        # who speaks Dutch and Danish is none who does not speak Dutch
        return _none(left, joins.variables[thing], Filter(left, condition.op, value))  # type: ignore[arg-type]
    if condition.negated and condition.op == "=" and len(condition.values) == 1:
        return [Filter(left, "!=", value)]
    return [Filter(left, condition.op, value, condition.negated)]  # type: ignore[arg-type]


def _none(left: Attribute, variable: Variable, *held: Filter) -> list[Filter]:
    """That a property is known, and that none of its values meets these conditions on it."""
    copy = replace(variable, name=f"{variable.name}_not")
    own = replace(left, variable=copy.name)
    inside = Select((Itself(copy.name),), (copy,), (), tuple(replace(each, left=own) for each in held))
    return [Filter(left, "known"), Filter(Itself(variable.name), "in", inside, True)]


def _first_of(condition: Condition, graph: SchemaGraph, hints: frozenset[str]) -> Select | None:
    """The things that are first in an order, as a select of their own."""
    assert condition.top is not None
    thing = Ref(condition.ref.node)
    by = condition.top.ref
    if by.node == thing.node and condition.top.function:
        by = by._replace(slot=1)
    joins = find_joins(graph, [thing, by.thing], hints, prefix="top_")
    if joins is None:
        return None
    name = joins.variables[thing].name
    order = _order(condition.top._replace(ref=by), joins)
    group = (name,) if condition.top.function else ()
    return Select(
        (Itself(name),), tuple(joins.variables.values()), tuple(joins.edges), (), group, order, condition.top.limit
    )


def _having(condition: Condition, graph: SchemaGraph, hints: frozenset[str]) -> Select | None:
    """The things of a kind whose groups meet the inner conditions, as a select of their own."""
    thing = condition.ref.thing
    joins = find_joins(graph, [thing, *(c.ref.thing for c in condition.inner)], hints, prefix="having_")
    if joins is None:
        return None
    filters: list[Filter] = []
    for each in condition.inner:
        found = _filters(each, joins, graph, hints)
        if found is None:
            return None
        filters += found
    name = joins.variables[thing].name
    return Select((Itself(name),), tuple(joins.variables.values()), tuple(joins.edges), tuple(filters), (name,))


def _most_common(condition: Condition, graph: SchemaGraph) -> Select:
    """The values of a property that most things of its kind have, or fewest."""
    assert condition.top is not None
    node, top = graph.nodes[condition.ref.node], condition.top
    of = Attribute("top_thing", condition.ref.predicate)
    variable = Variable(of.variable, node.classes, node.without)
    counted = Order(Aggregate("count", Itself(of.variable)), top.descending)
    return Select((of,), (variable,), order=counted, limit=top.limit, by=(of,))


def _against(condition: Condition, graph: SchemaGraph) -> Select | None:
    """ "above the average": the aggregate over all things of the kind, or over those that its own conditions leave."""
    assert condition.against is not None
    ref = condition.against.ref
    joins = find_joins(graph, [ref.thing, *(c.ref.thing for c in condition.inner)], frozenset(), prefix="other_")
    if joins is None:
        return None
    filters: list[Filter] = []
    for each in condition.inner:
        filters += _filters(each, joins, graph, frozenset()) or []
    term = _term(ref, joins)
    if not isinstance(term, Attribute) or not condition.against.function:
        return None
    answer = Aggregate(condition.against.function, term)
    return Select((answer,), tuple(joins.variables.values()), tuple(joins.edges), tuple(filters))


def _apart(
    condition: Condition,
    root: Ref,
    joins: Joins,
    graph: SchemaGraph,
    hints: frozenset[str],
    along: tuple[Ref, ...] = (),
) -> Filter | None:
    """ "without X", "that never ...": the things that have it, taken away; `along` are others on the way to it."""
    thing = condition.ref.thing
    if thing == root:
        thing = Ref(root.node, "", 1)
    inner = find_joins(graph, [root, *along, thing, *(c.ref.thing for c in condition.inner)], hints, prefix="not_")
    if inner is None:
        return None
    positive = condition._replace(negated=False, ref=Ref(thing.node, condition.ref.predicate, thing.slot))
    filters = _filters(positive, inner, graph, hints)
    if filters is None:
        return None
    for each in condition.inner:
        filters += _filters(each, inner, graph, hints) or []
    select = Select(
        (Itself(inner.variables[root].name),), tuple(inner.variables.values()), tuple(inner.edges), tuple(filters)
    )
    return Filter(Itself(joins.variables[root].name), "in", drop_redundant_variables(select, graph), True)
