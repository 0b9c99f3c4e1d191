"""Readings that other readings of the same question rule out: Candidates -> those left."""

from collections import defaultdict

from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.mention_rules.class_mentions import OWN_COLUMN_RULE
from nacre.understanding.parsing.modifier_rules.superlatives import TOTAL_RULE
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Derivation, Ref


def prefer_wider_classes(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings about a class that the question does not name, where a wider class reads the same.

    "The tallest work" is not restricted to tapestries.
    """
    graph = context.graph
    roots_of: dict[tuple[object, ...], set[int]] = defaultdict(set)
    keyed = [(each, _root(each.derivation), _without_root(each.derivation)) for each in candidates]
    for _, root, rest in keyed:
        roots_of[rest].add(root)

    def is_narrower(derivation: Derivation, root: int, rest: tuple[object, ...]) -> bool:
        if any(link.kind == "class" and link.refs[0].node == root for link in derivation.links):
            return False
        return any(graph.nodes[root].relations < graph.nodes[other].relations for other in roots_of[rest])

    return [each for each, root, rest in keyed if not is_narrower(each.derivation, root, rest)]


def _root(derivation: Derivation) -> int:
    """The class that a reading gives first."""
    return derivation.targets[0].ref.node if derivation.targets else -1


def _without_root(derivation: Derivation) -> tuple[object, ...]:
    """The content of a reading without the class that it gives first."""
    root, order = _root(derivation), derivation.order

    def masked(ref: Ref) -> Ref:
        return ref._replace(node=-1) if ref.node == root else ref

    return (
        tuple(target._replace(ref=masked(target.ref)) for target in derivation.targets),
        tuple(condition._replace(ref=masked(condition.ref)) for condition in derivation.conditions),
        tuple(map(masked, derivation.group)),
        order._replace(ref=masked(order.ref)) if order is not None else None,
        derivation.combine,
        derivation.hints,
    )


def prefer_own_columns(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """ "The boats with their keepers": keep the readings that show both, if there are any."""
    shown = [c for c in candidates if OWN_COLUMN_RULE not in c.derivation.trace or len(c.derivation.targets) > 1]
    return shown if any(OWN_COLUMN_RULE in c.derivation.trace for c in shown) else candidates


def prefer_totals(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the readings that rank things by their largest part, where others rank them by the sum of their parts.

    The department with the most beds has them in several rooms.
    """
    totals = [
        (each.derivation.order.ref, {target.ref.node for target in each.derivation.targets})
        for each in candidates
        if TOTAL_RULE in each.derivation.trace and each.derivation.order
    ]

    def ranks_by_part(derivation: Derivation) -> bool:
        nodes = {target.ref.node for target in derivation.targets}
        order = derivation.order
        return order is not None and any(order.ref == ref and nodes & other for ref, other in totals)

    return [c for c in candidates if TOTAL_RULE in c.derivation.trace or not ranks_by_part(c.derivation)]
