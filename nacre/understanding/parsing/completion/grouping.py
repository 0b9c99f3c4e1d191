"""Settle what things are grouped by: Derivation -> Derivations, by what is said, by an aggregate or by a count."""

from collections.abc import Iterator
from typing import Literal

from nacre.language.base import language
from nacre.understanding.linking.schema.adjectives import amounts, measured_numbers
from nacre.understanding.parsing.completion.nest import nest_having
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Aggregation, Derivation, Ref, Target


def settle_grouping(derivation: Derivation, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """Yield the readings with groups that are said, implied by an aggregate beside a column, or by a count."""
    targets, group = derivation.targets, derivation.group
    if any(target.function not in ("", "count") and target.ref in group for target in targets):
        # the average of what is the same in each group
        return
    has_aggregate = any(target.function for target in targets)
    columns = tuple(target.ref for target in targets if not target.function)
    if group:
        yield from _said_group(derivation, has_aggregate, context)
    elif has_aggregate and columns:
        yield from _grouped_by_column(derivation, columns)
    else:
        inside = list(nest_having(derivation)) if has_aggregate and _has_count_condition(derivation) else []
        yield from inside
        if not inside and _is_ranked_by_group(derivation):
            yield from _grouped_by_count(derivation, columns, root)
        elif not inside:
            yield derivation


def _has_count_condition(derivation: Derivation) -> bool:
    return any(condition.function for condition in derivation.conditions)


def _is_ranked_by_group(derivation: Derivation) -> bool:
    """Whether an order or a condition is on an aggregate over groups."""
    has_order = derivation.order is not None and bool(derivation.order.function)
    return has_order or _has_count_condition(derivation)


def _said_group(derivation: Derivation, has_aggregate: bool, context: ParseContext) -> Iterator[Derivation]:
    """ "The number of films for each studio": groups that the question names."""
    targets, group = derivation.targets, derivation.group
    own = [target for target in targets if target.function and target.function != "count" and target.ref.predicate]
    if own and len(own) == len(targets) and all(target.ref.thing in group for target in own):
        # "the average number of visitors per museum"
        yield derivation.apply_rule("group is owner", 0.1, group=())
    shown = {target.ref for target in targets if not target.function}
    missing = tuple(Target(ref) for ref in group if ref not in shown and not _is_shown(derivation, ref))
    is_ranked = _is_ranked_by_group(derivation)
    if not has_aggregate and not is_ranked:
        yield from _group_without_aggregate(derivation, missing, context)
    elif not missing:
        yield derivation
    else:
        if has_aggregate:
            yield derivation.apply_rule("group shown", 0.1, targets=(*missing, *targets))
        if is_ranked:
            yield derivation.apply_rule("group hidden", -0.1 if has_aggregate else 0.0)


def _group_without_aggregate(
    derivation: Derivation, missing: tuple[Target, ...], context: ParseContext
) -> Iterator[Derivation]:
    """ "Visits per month", "cost per doctor", "the films for each studio"."""
    targets = derivation.targets
    function = _function_per_group(targets[0].ref, derivation.group, context) if len(targets) == 1 else ""
    if function and _asks_rate(context) and derivation.order is None:
        computed = (*map(Target, derivation.group), targets[0]._replace(function=function))
        yield derivation.apply_rule("number per group", 0.4, targets=computed)
    yield derivation.apply_rule("group dropped", group=())


def _function_per_group(asked: Ref, group: tuple[Ref, ...], context: ParseContext) -> Aggregation | Literal[""]:
    """How what is asked for is one number for each group: things are counted, money is added up, other measures have
    an average; "" for what is not a number, or has one value for each thing that is grouped by."""
    if not asked.predicate:
        return "count"
    if asked.thing in group or asked.predicate not in measured_numbers(context.graph, asked.node):
        return ""
    return "sum" if asked.predicate in amounts(context.graph, asked.node) else "avg"


def _asks_rate(context: ParseContext) -> bool:
    return any(token.norm in language().words["rate"] for token in context.question.tokens)


def _is_shown(derivation: Derivation, group: Ref) -> bool:
    """Whether the columns show what is grouped by: a property of the thing itself."""
    targets = derivation.targets
    return not group.predicate and any(target.ref.node == group.node and not target.function for target in targets)


def _grouped_by_column(derivation: Derivation, columns: tuple[Ref, ...]) -> Iterator[Derivation]:
    """ "The studios and the number of their films": an aggregate beside a column."""
    things = tuple(dict.fromkeys(ref.thing for ref in columns))
    has_several_classes = len({target.ref.node for target in derivation.targets}) > 1
    if has_several_classes or any(not ref.predicate for ref in columns):
        yield derivation.apply_rule("grouped by thing", 0.1, group=things[:1])
    if any(ref.predicate for ref in columns):
        yield derivation.apply_rule("grouped by column", 0.1, group=columns)


def _grouped_by_count(derivation: Derivation, columns: tuple[Ref, ...], root: Ref) -> Iterator[Derivation]:
    """ "The studio with the most films": an order or a condition on a count."""
    first = columns[0] if columns else root
    yield derivation.apply_rule("group of count", group=(first.thing,))
    if first.predicate:
        ordered = [derivation.order.ref] if derivation.order else []
        counted = [condition.ref for condition in derivation.conditions if condition.function]
        counts_own = any(ref.node == first.node for ref in ordered + counted)
        yield derivation.apply_rule("group of count by column", 0.1 if counts_own else -0.1, group=columns)
