"""What things are grouped by: Derivation -> Derivations, by what was said, an aggregate beside a column, or a count."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.understanding.parsing.completion.nest import nest_having
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
        if own and len(own) == len(d.targets) and all(t.ref.thing in d.group for t in own):
            # "the average number of visitors per museum"
            yield d.apply_rule("group is owner", 0.1, group=())
        missing = tuple(Target(g) for g in d.group if g not in plain and not _says(d, g))
        if counted or ranked:
            if missing:
                if counted:
                    yield d.apply_rule("group shown", 0.1, targets=(*missing, *d.targets))
                if ranked:
                    yield d.apply_rule("group hidden", -0.1 if counted else 0.0)
            else:
                yield d
        else:
            if _per(context) and d.order is None and [bool(t.ref.predicate) for t in d.targets] == [False]:
                # "visits per month"
                number = (*(Target(g) for g in d.group), d.targets[0]._replace(function="count"))
                yield d.apply_rule("number per group", 0.4, targets=number)
            yield d.apply_rule("group dropped", 0.0, group=())
            if missing:
                yield d.apply_rule("group as column", 0.0, group=(), targets=(*missing, *d.targets))
        return
    if counted and plain:
        same = {t.ref.node for t in d.targets}
        nodes = tuple(dict.fromkeys(p.thing for p in plain))
        if len(same) > 1 or any(not p.predicate for p in plain):
            yield d.apply_rule("grouped by thing", 0.1, group=nodes[:1])
        if any(p.predicate for p in plain):
            yield d.apply_rule("grouped by column", 0.1, group=plain)
        yield d.apply_rule("not grouped", -0.5)
        return
    if counted and not plain and any(c.function for c in d.conditions):
        inside = list(nest_having(d))
        yield from inside
        if inside:
            return
    if ranked:
        first = plain[0] if plain else root
        yield d.apply_rule("group of count", 0.0, group=(first.thing,))
        if first.predicate:
            counts_own = any(
                f.node == first.node
                for f in (*((d.order.ref,) if d.order else ()), *(c.ref for c in d.conditions if c.function))
            )
            yield d.apply_rule("group of count by column", 0.1 if counts_own else -0.1, group=plain)
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
    yield d.apply_rule("extreme of each", 0.3, targets=targets, order=None)


def _says(d: Derivation, group: Ref) -> bool:
    """Whether the targets show what is grouped by: a property of the very thing."""
    return not group.predicate and any(t.ref.node == group.node and not t.function for t in d.targets)
