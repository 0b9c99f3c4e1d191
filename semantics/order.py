"""Superlatives: markers + tree -> the order of the answer."""

from records.plan import Aggregate, Attribute, Itself, Order
from semantics.emit import order_by, walk
from semantics.linker import Candidate
from semantics.work import Node, Parts, Work


def order(
    work: Work, target: Node, parts: Parts, wanted: Candidate | None = None
) -> tuple[Order | None, tuple[str, ...], int | None, int]:
    """The order, groups, limit and offset that the superlative of the thing asked for sets."""
    for marker in list(work.supers):
        work.supers.remove(marker)
        limit, offset = marker.limit, marker.place - 1
        following = [n for n in work.nodes if 0 <= n.start - marker.end <= 2]
        pick = next((a for a in work.attributes if 0 <= a.start - marker.end <= 2 and a is not wanted), None)
        if pick is None and (marker.measure is None or not following):
            pick = next(
                (a for a in work.attributes if a is not wanted and not work.bounded(a) and a.start >= marker.start),
                None,
            )
            if pick is None and marker.measure is not None and marker.end >= len(work.tokens) - 1:
                pick = next((a for a in work.attributes if a is not wanted and not work.bounded(a)), None)
        average = any(function == "avg" for _, function in work.form.aggregates)
        if pick is not None and work.schema.predicate_of[pick.predicate].minimum is not None:
            work.used |= pick.covered
            owner = nearest_owner(work, pick, target)
            ways = work.graph.access(owner.relations, pick.predicate)
            if ways:
                work.cost += ways[0].cost * 0.5
                if average:
                    variable = walk(work, owner.name, ways[0].steps, parts)
                    by = Order(Aggregate("avg", Attribute(variable, pick.predicate)), marker.descending)
                    return by, (target.name,), limit, offset
                return order_by(work, owner.name, pick.predicate, ways[0], marker.descending, parts), (), limit, offset
        if marker.measure is None and following and following[0] is not target:
            counted = following[0]
            by = Order(Aggregate("count", Itself(counted.name)), marker.descending)
            return by, (target.name,), limit, offset
        if marker.measure is None:
            work.cost += 0.6
            continue
        thing = following[0] if following and following[0].parent is not None else target
        found = work.measured(thing, marker.measure.concepts)
        if found is None and thing is not target:
            found, thing = work.measured(target, marker.measure.concepts), target
        if found is None:
            work.cost += 0.8
            work.used -= set(range(marker.start, marker.end))
            continue
        work.cost += 0.3 * found[2]
        if average:
            variable = walk(work, thing.name, found[1].steps, parts)
            return (
                Order(Aggregate("avg", Attribute(variable, found[0])), marker.descending),
                (target.name,),
                limit,
                offset,
            )
        return order_by(work, thing.name, found[0], found[1], marker.descending, parts), (), limit, offset
    return None, (), None, 0


def nearest_owner(work: Work, pick: Candidate, target: Node) -> Node:
    """The thing of the question that a property is said of, for ordering."""
    best = (9.0, target)
    for node in (target, *(n for n in work.nodes if n.parent is not None)):
        ways = work.graph.access(node.relations, pick.predicate)
        if ways:
            between = abs(node.start - pick.start) / 20
            cost = ways[0].cost + between
            if cost < best[0]:
                best = cost, node
    return best[1]
