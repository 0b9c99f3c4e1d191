"""Superlatives: markers + tree -> the order of the answer."""

from dataclasses import dataclass, replace

from records.plan import Aggregate, Attribute, Itself, Order
from semantics.candidates import Candidate
from semantics.emit import order_by, walk
from semantics.markers import Superlative
from semantics.paths import Access
from semantics.work import Node, Parts, Work


@dataclass(frozen=True)
class Ranking:
    """What a superlative adds to a select."""

    order: Order | None = None
    group: tuple[str, ...] = ()
    limit: int | None = None
    offset: int = 0


def ranking(work: Work, target: Node, parts: Parts, wanted: Candidate | None = None) -> Ranking:
    """The order that the superlative of the thing asked for sets; `wanted`, the property asked for, orders nothing."""
    for thing, predicate, descending in work.ranked:
        if any(v.name == thing.name for v in parts.variables):
            access = work.graph.access(thing.relations, predicate)[0]
            return Ranking(order_by(work, thing.name, predicate, access, descending, parts), (), 1)
    for marker in list(work.supers):
        work.supers.remove(marker)
        here = [n for n in work.nodes if any(v.name == n.name for v in parts.variables)]
        found = _by_number(work, marker, target, here)
        found = found or _by_said(work, marker, target, here, parts, wanted) or _by_count(work, marker, target, here)
        found = found or _by_measure(work, marker, target, here, parts)
        if found is not None:
            return found
        work.cost += 0.8
        work.dropped += 1
        work.used -= set(range(marker.start, marker.end))
    return Ranking()


def _by_number(work: Work, marker: Superlative, target: Node, here: list[Node]) -> Ranking | None:
    """ "The highest number of members": they are counted, unless a property is called so."""
    start = marker.end + 2
    if work.words[marker.end : start] != ["number", "of"] or any(
        a.start <= marker.end and a.end > start for a in work.attributes
    ):
        return None
    following = next((n for n in here if n is not target and 0 <= n.start - start <= 1), None)
    if following is None:
        return None
    work.used |= {marker.end, marker.end + 1}
    return _counting(marker, target, following)


def _by_said(
    work: Work, marker: Superlative, target: Node, here: list[Node], parts: Parts, wanted: Candidate | None
) -> Ranking | None:
    """ "The largest population": the property is said."""
    # "the second highest price" is both what is asked for and what orders it
    free = [a for a in work.attributes if a is not wanted or (marker.place > 1 and marker.end == a.start)]
    pick = next((a for a in free if 0 <= a.start - marker.end <= 2 or _around(a, marker)), None)
    if pick is None and work.words[marker.start] in ("first", "last"):
        # "who died first"
        pick = next((a for a in free if a.end == marker.start), None)
    if pick is None and marker.measure is None and _after(marker, here) is None:
        # "which tour grossed the most", "can hold the most people"
        last = marker.end >= len(work.tokens) - 1
        verbs = [a for a in free if a.end <= marker.start and (last or marker.start - a.end <= 1)]
        pick = next((a for a in reversed(verbs) if not work.bounded(a)), None)
    if pick is None and (marker.measure is None or not _after(marker, here)):
        # "is the price lowest": at the end of the question the property was said before
        last = marker.measure is not None and marker.end >= len(work.tokens) - 1
        pick = next(
            (
                a
                for a in free
                if not work.bounded(a)
                and (a.start >= marker.start or last)
                and work.graph.can_measure(a.predicate, marker.measure)
            ),
            None,
        )
    if pick is None or work.schema.predicate_of[pick.predicate].minimum is None:
        return None
    work.used |= pick.covered
    owner, access = _owner(work, pick, target, here)
    if access is None:
        return None
    work.cost += access.cost * 0.5
    if marker.measure is not None and work.graph.runs_against(pick.predicate, marker.measure.concepts):
        access = replace(access, reversed=True)
    return _ranked(work, marker, target, owner, pick.predicate, access, parts)


def _around(pick: Candidate, marker: Superlative) -> bool:
    """ "Carries the most people": the superlative stands inside what says the property."""
    return pick.start < marker.start and marker.end < pick.end


def _by_count(work: Work, marker: Superlative, target: Node, here: list[Node]) -> Ranking | None:
    """ "The most members": the things that follow are counted."""
    following = _after(marker, here)
    if following is None and marker.end >= len(work.tokens) - 1:
        # "has borrowed the most": what was said before is counted
        following = next((n for n in reversed(here) if n is not target and n.end <= marker.start), None)
    if marker.measure is not None or following is None or following is target:
        return None
    return _counting(marker, target, following)


def _counting(marker: Superlative, target: Node, counted: Node) -> Ranking:
    by = Order(Aggregate("count", Itself(counted.name)), marker.descending)
    return Ranking(by, (target.name,), marker.limit, marker.place - 1)


def _by_measure(work: Work, marker: Superlative, target: Node, here: list[Node], parts: Parts) -> Ranking | None:
    """ "The largest": what the adjective measures, of the thing that follows it or of the one asked for."""
    if marker.measure is None:
        return None
    following = _after(marker, here)
    ways = [(t, work.measured(t, marker.measure.concepts)) for t in (following, target) if t is not None]
    found = [(t, way) for t, way in ways if way is not None]
    if not found:
        return None
    # what has the property itself goes before what only leads to it
    thing, (predicate, access, cost) = min(found, key=lambda f: len(f[1][1].steps))
    work.cost += 0.3 * cost
    return _ranked(work, marker, target, thing, predicate, access, parts)


def _after(marker: Superlative, here: list[Node]) -> Node | None:
    return next((n for n in here if 0 <= n.start - marker.end <= 2), None)


def _ranked(
    work: Work, marker: Superlative, target: Node, owner: Node, predicate: str, access: Access, parts: Parts
) -> Ranking:
    if any(function == "avg" for _, function in work.form.aggregates):
        variable = walk(work, owner.name, access.steps, parts)
        by = Order(Aggregate("avg", Attribute(variable, predicate)), marker.descending)
        return Ranking(by, (target.name,), marker.limit, marker.place - 1)
    by = order_by(work, owner.name, predicate, access, marker.descending, parts)
    return Ranking(by, (), marker.limit, marker.place - 1)


def _owner(work: Work, pick: Candidate, target: Node, here: list[Node]) -> tuple[Node, Access | None]:
    """The thing of the question that a property is said of, and the way to it."""
    best: tuple[float, Node, Access | None] = (9.0, target, None)
    # one thing has no order
    for node in (target, *(n for n in here if n is not target and len(n.keys) != 1)):
        ways = work.graph.access(node.relations, pick.predicate)
        if ways and ways[0].cost + abs(node.start - pick.start) / 20 < best[0]:
            best = ways[0].cost + abs(node.start - pick.start) / 20, node, ways[0]
    return best[1], best[2]
