"""The tree as a query: nodes -> variables, edges and filters; a superlative below the root becomes a sub-select."""

from records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Variable
from semantics.markers import Superlative
from semantics.paths import Access, Path, Step
from semantics.work import Node, Parts, Work


def emit(work: Work, node: Node, parts: Parts) -> None:
    """The node and everything attached to it, as variables and edges; a superlative below becomes a sub-select."""
    if not any(v.name == node.name for v in parts.variables):
        parts.variables.append(
            Variable(node.name, node.classes, node.without, node.keys, node.label if node.keys else "")
        )
    for child in node.children:
        way = work.ways[child.name]
        _spend(work, way)
        if _negated(work, node, child):
            inner = Parts()
            copy = Node(node.name + "_not", 0, 0, "class", node.relations, node.classes, node.without)
            copy.children = [child]
            inner.variables.append(Variable(copy.name, copy.classes, copy.without))
            emit(work, child, inner)
            _join(work, copy.name, way, child.name, inner)
            parts.filters.append(
                Filter(
                    Itself(node.name),
                    "in",
                    inner.select((Itself(copy.name),)),
                    negated=True,
                )
            )
            continue
        _join(work, node.name, way, child.name, parts)
        own = _superlative_of(work, child, node)
        most = None if own else _counting_child(work, child)
        if own is not None or most is not None:
            inner = Parts()
            emit(work, child, inner)
            sub = _ranked(work, child, own, inner) if own else _most(work, child, most, inner)
            if sub is not None:
                parts.variables.append(Variable(child.name, child.classes, child.without))
                parts.filters.append(Filter(Itself(child.name), "in", sub))
                continue
        emit(work, child, parts)


def _spend(work: Work, way: Path) -> None:
    for step in way.steps:
        for pick in work.links:
            if pick.predicate == step.predicate:
                work.used |= pick.covered


def _negated(work: Work, parent: Node, child: Node) -> bool:
    low, high = sorted((parent.start, child.start))
    return any(low < i < high for i in work.form.negations)


def _superlative_of(work: Work, node: Node, parent: Node) -> Superlative | None:
    """A superlative right before a thing that is not the one asked for, unless the one asked for "has" it."""
    for marker in work.supers:
        if marker.measure is None or not 0 <= node.start - marker.end <= 1:
            continue
        verb = {work.words[i] for i in range(parent.end, marker.start)}
        if verb & {"has", "have", "having", "had", "with"}:
            continue
        own, above = (work.measured(n, marker.measure.concepts) for n in (node, parent))
        if own and own[1].steps and above and not above[1].steps:
            # "the youngest <kind>": the thing asked for has the property, not its kind
            continue
        return marker
    return None


def _counting_child(work: Work, node: Node) -> tuple[Superlative, Node] | None:
    """ "The state that borders the most states": a plain "most" before a thing attached to this one."""
    for marker in work.supers:
        for child in node.children:
            if marker.measure is None and 0 <= child.start - marker.end <= 1:
                return marker, child
    return None


def _most(work: Work, node: Node, most: tuple[Superlative, Node] | None, parts: Parts) -> Select | None:
    if most is None:
        return None
    marker, counted = most
    work.supers.remove(marker)
    by = Order(Aggregate("count", Itself(counted.name)), marker.descending)
    return parts.select((Itself(node.name),), (node.name,), by, marker.limit, marker.place - 1)


def _ranked(work: Work, node: Node, marker: Superlative, parts: Parts) -> Select | None:
    assert marker.measure is not None
    found = work.measured(node, marker.measure.concepts)
    if found is None:
        return None
    work.supers.remove(marker)
    order = order_by(work, node.name, found[0], found[1], marker.descending, parts)
    return parts.select((Itself(node.name),), (), order, marker.limit, marker.place - 1)


def order_by(work: Work, variable: str, predicate: str, access: Access, descending: bool, parts: Parts) -> Order:
    """The order by a property that lies at the end of a way; a range counts by its nearer end."""
    end = walk(work, variable, access.steps, parts)
    descending = descending != access.reversed
    shape = work.schema.predicate_of[predicate].shape
    part = ("high" if descending else "low") if shape == "range" else ""
    return Order(Attribute(end, predicate, part), descending)  # type: ignore[arg-type]


def walk(work: Work, start: str, steps: tuple[Step, ...], parts: Parts) -> str:
    """Follow steps from a variable, making the variables in between; the same way is walked once."""
    here = start
    for i, step in enumerate(steps):
        key = (start, steps[: i + 1])
        known = parts.ways.get(key) or _existing(work, here, step, parts)
        if known is None:
            label = next((g.label for g in work.schema.groups if g.relation == step.target), step.target)
            known = work.fresh(label.removeprefix("other "))
            classes, without = work.type_of(_ends(work, parts, here, step))
            parts.variables.append(Variable(known, classes, without))
            parts.edges.append(Edge(here, step.predicate, known) if step.forward else Edge(known, step.predicate, here))
        parts.ways[key] = known
        here = known
    return here


def _ends(work: Work, parts: Parts, here: str, step: Step) -> frozenset[str]:
    """All tables that the link leads to from the variable at hand: kinds of one kind belong together."""
    start = next(v for v in parts.variables if v.name == here)
    sources = [
        g.relation
        for g in work.schema.groups
        if set(start.classes) <= set(g.classes) and not set(start.without) & set(g.classes)
    ]
    found = {
        s.target
        for r in sources
        for s in work.graph.steps[r]
        if s.predicate == step.predicate and s.forward == step.forward
    }
    return frozenset(found | {step.target})


def _existing(work: Work, here: str, step: Step, parts: Parts) -> str | None:
    for edge in parts.edges:
        if edge.predicate == step.predicate:
            if step.forward and edge.subject == here:
                return edge.object
            if not step.forward and edge.object == here:
                return edge.subject
    return None


def _join(work: Work, parent: str, way: Path, child: str, parts: Parts) -> None:
    last = walk(work, parent, way.steps[:-1], parts)
    step = way.steps[-1]
    parts.edges.append(Edge(last, step.predicate, child) if step.forward else Edge(child, step.predicate, last))
