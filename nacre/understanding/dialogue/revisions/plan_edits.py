"""Change an earlier plan by what a follow-up says: earlier Select + new Select + how -> Select, or None."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from nacre.plans.merge import merge_selects
from nacre.records.plan import (
    Aggregate,
    Attribute,
    Comparison,
    Filter,
    Function,
    Itself,
    Order,
    PlanTerm,
    Select,
    aggregated_value,
)

EditKind = Literal["add", "order", "restrict", "exclude", "instead", "correct"]


def edit_plan(earlier: Select, new: Select, how: EditKind) -> Select | None:
    """The earlier plan with the columns, order or conditions of the new one; None where the new one has none of these.

    Things of the new plan that are of the same kind as things of the earlier one are the same things.
    """
    both = merge_selects(earlier, new)
    if both is None:
        return None
    base, added = both
    if how == "add":
        return _with_columns(base, added)
    if how == "order":
        return _ordered(base, added)
    if how == "correct":
        return _corrected(base, added)
    narrows = bool(added.filters or (added.order and added.limit) or any(v.keys for v in added.variables))
    groups = any(isinstance(f.left, Aggregate) for f in added.filters)
    if (
        not narrows
        or (groups and not base.group)
        or (any(isinstance(a, Aggregate) for a in added.answers) and added.group)
    ):
        return None
    if how == "exclude":
        if len(added.filters) != 1:
            return None
        added = replace(added, filters=(replace(added.filters[0], negated=not added.filters[0].negated),), order=None)
    if how == "instead":
        again = {f.left for f in added.filters} & {f.left for f in base.filters}
        base = replace(base, filters=base.filters if again else (), order=None, limit=None, offset=0)
    said = {f.left for f in added.filters}
    kept = tuple(f for f in base.filters if f.left not in said and f not in added.filters)
    base = replace(base, filters=(*kept, *added.filters))
    if added.order is not None and added.limit is not None:
        # the first of what was counted
        base = (list_plan(base) or base) if isinstance(added.answers[0], Itself) else base
        base = replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)
    return base


def summarise_plan(earlier: Select, functions: Sequence[Function], beside: bool) -> Select | None:
    """Aggregates of the values that were shown last ("also the maximum", "the average of them").

    `beside`: those that were shown before stay; None where no value was shown.
    """
    shown = [aggregated_value(a) for a in earlier.answers]
    values = [a for a in shown if isinstance(a, Attribute)]
    if not values or not functions:
        return None
    before = tuple(a for a in earlier.answers if isinstance(a, Aggregate)) if beside else ()
    answers = tuple(dict.fromkeys((*before, *(Aggregate(f, values[-1]) for f in functions))))
    return replace(earlier, answers=answers, order=None, limit=None, offset=0)


def sort_plan(earlier: Select, by: PlanTerm, descending: bool) -> Select:
    """The earlier plan in another order."""
    return replace(earlier, order=Order(by, descending), limit=None, offset=0)


def bound_plan(earlier: Select, by: Attribute, op: Comparison, number: float) -> Select:
    """The earlier plan with a bound on a value, in the place of one on the same value."""
    kept = tuple(f for f in earlier.filters if f.left != by)
    return replace(earlier, filters=(*kept, Filter(by, op, number)))


def count_plan(earlier: Select) -> Select | None:
    """How many things the earlier plan is about; None where it shows no things."""
    owner = next((a.variable for a in earlier.answers if not isinstance(a, Aggregate)), None)
    if owner is None or earlier.group or earlier.by or earlier.limit is not None:
        return None
    return replace(earlier, answers=(Aggregate("count", Itself(owner)),), order=None)


def list_plan(earlier: Select) -> Select | None:
    """The things that the earlier plan counted ("which ones?"), or those that it shows once more; None where it gives
    other numbers."""
    if not isinstance(earlier.answers[0], Aggregate):
        return earlier
    counted = earlier.answers[0]
    if len(earlier.answers) > 1 or counted.function != "count" or earlier.group or earlier.by:
        return None
    return replace(earlier, answers=(counted.of,), order=None, limit=None, offset=0)


def negate_last_condition(earlier: Select) -> Select | None:
    """The things that do not meet the last condition of the earlier plan ("and the others?"); None where there is
    none."""
    if not earlier.filters or earlier.limit is not None or any(isinstance(f.left, Aggregate) for f in earlier.filters):
        return None
    *others, last = earlier.filters
    flag = last.op == "=" and isinstance(last.right, bool)
    turned = replace(last, right=not last.right) if flag else replace(last, negated=not last.negated)
    return replace(earlier, filters=(*others, turned))


def reverse_last_bound(earlier: Select, op: Comparison) -> Select | None:
    """The earlier plan with its last bound the other way ("and below?"); None where it has none."""
    bounds = [f for f in earlier.filters if f.op in _BOUNDS]
    if not bounds:
        return None
    return replace(
        earlier, filters=tuple(replace(f, op=op, negated=False) if f is bounds[-1] else f for f in earlier.filters)
    )


def limit_plan(earlier: Select, by: PlanTerm, descending: bool, places: int = 1) -> Select:
    """Those of the earlier plan that are first in an order, ties included; of numbers by group the groups alone."""
    things = tuple(a for a in earlier.answers if not isinstance(a, Aggregate))
    if things and isinstance(by, Aggregate) and by in earlier.answers:
        earlier = replace(earlier, answers=things)
    return replace(earlier, order=Order(by, descending), limit=places, offset=0, ties=True)


def compare_with_number(new: Select, stand_in: float, number: Select) -> Select | None:
    """The new plan with an earlier number's plan where a number stands in for it; None where that is nowhere."""
    at = [f for f in new.filters if not isinstance(f.right, Select) and f.right == stand_in]
    if not at or any(isinstance(f.left, Aggregate) for f in at):
        # how many there are of something is compared with what is known before the query runs
        return None
    return replace(new, filters=tuple(replace(f, right=number) if f in at else f for f in new.filters))


def _with_columns(base: Select, added: Select) -> Select | None:
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    counted = [a for a in new if isinstance(a, Aggregate)]
    if not new:
        return None
    if not counted:
        if added.by or added.group or added.order is not None or any(isinstance(a, Aggregate) for a in base.answers):
            return None
        paired = any(isinstance(a, Itself) for a in base.answers)
        return replace(base, answers=(*base.answers, *new), filters=_together(base, added), paired=paired)
    shown = [a for a in base.answers if not isinstance(a, Aggregate)]
    owners = list(dict.fromkeys(a.variable for a in shown))
    if not shown or base.limit is not None:
        return None
    changed = replace(base, answers=(*base.answers, *counted), filters=_together(base, added))
    if all(c.of.variable in owners for c in counted):
        # the things themselves are counted: for each value that was shown
        values = tuple(a for a in shown if isinstance(a, Attribute))
        return replace(changed, by=values) if values else None
    return replace(changed, group=tuple(owners))


def _ordered(base: Select, added: Select) -> Select | None:
    # "sort the list by the owner's age": what is said is what it is sorted by
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    if added.order is None and not new:
        return None
    order = added.order or Order(new[-1], isinstance(new[-1], Aggregate))
    base = replace(base, filters=_together(base, added))
    if isinstance(order.by, Aggregate) and not (base.group or base.by):
        shown = [a for a in base.answers if not isinstance(a, Aggregate)]
        owners = tuple(dict.fromkeys(a.variable for a in shown))
        if not shown:
            return None
        if order.by.of.variable in owners:
            base = replace(base, by=tuple(a for a in shown if isinstance(a, Attribute)))
            if not base.by:
                return None
        else:
            base = replace(base, group=owners)
    # "with the oldest first" is no limit
    return replace(base, order=order, limit=added.limit if added.limit != 1 else None, offset=added.offset)


def _corrected(base: Select, added: Select) -> Select | None:
    # "no, I meant the age": what is asked for, or what it is ordered by
    if added.order is not None and added.limit is not None:
        return replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)
    asked = tuple(a for a in added.answers if not isinstance(a, Itself))
    grouped = base.group or base.by or added.group or added.by
    return replace(base, answers=asked, paired=False) if asked and not grouped else None


def _together(base: Select, added: Select) -> tuple[Filter, ...]:
    return tuple(dict.fromkeys((*base.filters, *added.filters)))


_BOUNDS = frozenset(("<", "<=", ">", ">="))
