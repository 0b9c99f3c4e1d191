"""What things are grouped by: Derivation -> Derivations, by what was said, an aggregate beside a column, or a count."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.understanding.parsing.lowering.nest import apply_rule, nest_having
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Derivation, Ref, Target


def settle_grouping(d: Derivation, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """What things are grouped by, where that is said, implied by an aggregate beside a column, or by a count."""
    counted = any(t.function for t in d.targets)
    plain = tuple(t.ref for t in d.targets if not t.function)
    ranked = (d.order is not None and d.order.function) or any(c.function for c in d.conditions)
    if any(t.function not in ("", "count") and t.ref in d.group for t in d.targets):
        # the average of what is the same in each group
        return
    if d.group:
        yield from _extreme_of_each(d)
        own = [t for t in d.targets if t.function and t.function != "count" and t.ref.predicate]
        if own and len(own) == len(d.targets) and all(Ref(t.ref.node, "", t.ref.slot) in d.group for t in own):
            # "the average number of visitors per museum"
            yield apply_rule(d, "group is owner", 0.1, group=())
        missing = tuple(Target(g) for g in d.group if g not in plain and not _says(d, g))
        if counted or ranked:
            if missing:
                if counted:
                    yield apply_rule(d, "group shown", 0.1, targets=(*missing, *d.targets))
                if ranked:
                    yield apply_rule(d, "group hidden", -0.1 if counted else 0.0)
            else:
                yield d
        else:
            if _per(context) and d.order is None and [bool(t.ref.predicate) for t in d.targets] == [False]:
                # "visits per month"
                number = (*(Target(g) for g in d.group), d.targets[0]._replace(function="count"))
                yield apply_rule(d, "number per group", 0.4, targets=number)
            yield apply_rule(d, "group dropped", 0.0, group=())
            if missing:
                yield apply_rule(d, "group as column", 0.0, group=(), targets=(*missing, *d.targets))
        return
    if counted and plain:
        same = {t.ref.node for t in d.targets}
        nodes = tuple(dict.fromkeys(Ref(p.node, "", p.slot) for p in plain))
        if len(same) > 1 or any(not p.predicate for p in plain):
            yield apply_rule(d, "grouped by thing", 0.1, group=nodes[:1])
        if any(p.predicate for p in plain):
            yield apply_rule(d, "grouped by column", 0.1, group=plain)
        yield apply_rule(d, "not grouped", -0.5)
        return
    if counted and not plain and any(c.function for c in d.conditions):
        inside = list(nest_having(d))
        yield from inside
        if inside:
            return
    if ranked:
        first = plain[0] if plain else root
        yield apply_rule(d, "group of count", 0.0, group=(Ref(first.node, "", first.slot),))
        if first.predicate:
            counts_own = any(
                f.node == first.node
                for f in (*((d.order.ref,) if d.order else ()), *(c.ref for c in d.conditions if c.function))
            )
            yield apply_rule(d, "group of count by column", 0.1 if counts_own else -0.1, group=plain)
        return
    yield d


def _per(context: ParseContext) -> bool:
    """Whether a rate is asked for."""
    return any(t.norm in language().words["rate"] for t in context.question.tokens)


def _extreme_of_each(d: Derivation) -> Iterator[Derivation]:
    """ "how old is the youngest person for each job": not the first of all, but the value of the first of each job."""
    order = d.order
    if order is None or order.function or order.limit != 1 or d.targets != (Target(order.ref),):
        return
    best = Target(order.ref, "max" if order.descending else "min")
    targets = (*(Target(g) for g in d.group), best)
    yield apply_rule(d, "extreme of each", 0.3, targets=targets, order=None)


def _says(d: Derivation, group: Ref) -> bool:
    """Whether the targets show what is grouped by: a property of the very thing."""
    return not group.predicate and any(t.ref.node == group.node and not t.function for t in d.targets)
