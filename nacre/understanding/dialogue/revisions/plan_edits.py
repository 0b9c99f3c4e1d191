"""Change an earlier plan as a follow-up says: Select (+ Select of the follow-up) -> Select, or None if it cannot be."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from nacre.plans.merge import merge_selects
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Body,
    Comparison,
    Compute,
    Filter,
    Function,
    Itself,
    Order,
    PlanTerm,
    Select,
    aggregated_value,
)

EditKind = Literal["add", "order", "restrict", "exclude", "instead", "correct"]

_INEQUALITIES = frozenset(("<", "<=", ">", ">="))


def edit_plan(earlier: Select, new: Select, how: EditKind) -> Select | None:
    """The earlier plan with the columns, order or conditions of the new one. None if the new one has none of these.

    Things of the same class in both plans are the same things.
    """
    both = merge_selects(earlier, new)
    if both is None:
        return None
    base, added = both
    if how == "add":
        return _add_columns(base, added)
    if how == "order":
        return _reorder(base, added)
    if how == "correct":
        return _correct(base, added)
    return _restrict(base, added, how)


def summarise_plan(earlier: Select, functions: Sequence[Function], keep_others: bool) -> Select | None:
    """Aggregates of the values that were shown last: "the average of them". With `keep_others` the aggregates before
    stay: "also the maximum". None if no value was shown."""
    values = [a for a in map(aggregated_value, earlier.answers) if isinstance(a, Attribute)]
    if not values or not functions:
        return None
    before = tuple(a for a in earlier.answers if isinstance(a, Aggregate)) if keep_others else ()
    answers = tuple(dict.fromkeys((*before, *(Aggregate(f, values[-1]) for f in functions))))
    return replace(earlier, answers=answers, order=None, limit=None, offset=0)


def sort_plan(earlier: Select, by: PlanTerm, descending: bool) -> Select:
    """The earlier plan in another order."""
    return replace(earlier, order=Order(by, descending), limit=None, offset=0)


def bound_plan(earlier: Select, by: Attribute, op: Comparison, number: float) -> Select:
    """The earlier plan with a bound on a value, which replaces any other condition on it."""
    kept = tuple(f for f in earlier.filters if f.left != by)
    return replace(earlier, filters=(*kept, Filter(by, op, number)))


def count_plan(earlier: Select) -> Select | None:
    """The number of things that the earlier plan is about. None if it shows no things."""
    owner = next((a.variable for a in earlier.answers if not isinstance(a, Aggregate)), None)
    if owner is None or earlier.group or earlier.by or earlier.limit is not None:
        return None
    return replace(earlier, answers=(Aggregate("count", Itself(owner)),), order=None)


def list_plan(earlier: Select) -> Select | None:
    """The things that the earlier plan counted ("which ones?") or shows. None if it gives other numbers."""
    if not isinstance(earlier.answers[0], Aggregate):
        return earlier
    aggregate = earlier.answers[0]
    if len(earlier.answers) > 1 or aggregate.function != "count" or earlier.group or earlier.by:
        return None
    return replace(earlier, answers=(aggregate.of,), order=None, limit=None, offset=0)


def tested_select(body: Body) -> Select | None:
    """The things that a plan shows, or that meet what it tests: of one thing ("is A open?") or of all."""
    if isinstance(body, Compute):
        return list_plan(body.left) if body.op == "=" else None
    if isinstance(body, Ask):
        own = aggregated_value(body.select.answers[0]).variable
        variables = tuple(replace(v, keys=(), label="") if v.name == own else v for v in body.select.variables)
        return replace(body.select, variables=variables)
    return body if isinstance(body, Select) else None


def negate_last_condition(earlier: Select) -> Select | None:
    """The things that do not meet the last condition of the earlier plan: "and the others?". None if it has none."""
    if earlier.limit is not None or any(isinstance(f.left, Aggregate) for f in earlier.filters):
        return None
    if not earlier.filters:
        return _complement(earlier)
    *others, last = earlier.filters
    is_boolean = last.op == "=" and isinstance(last.right, bool)
    negated = replace(last, right=not last.right) if is_boolean else replace(last, negated=not last.negated)
    return replace(earlier, filters=(*others, negated))


def _complement(earlier: Select) -> Select | None:
    """The other things of the class that the earlier plan shows. None if it shows all, or something else."""
    answer = earlier.answers[0]
    if not earlier.edges or len(earlier.answers) > 1 or not isinstance(answer, Itself):
        return None
    own = next(v for v in earlier.variables if v.name == answer.variable)
    other = replace(own, name=f"{own.name}_other", keys=(), label="")
    return Select((Itself(other.name),), (other,), filters=(Filter(Itself(other.name), "in", earlier, True),))


def reverse_last_bound(earlier: Select, op: Comparison) -> Select | None:
    """The earlier plan with another comparison in its last bound: "and below?". None if it has no bound."""
    bounds = [f for f in earlier.filters if f.op in _INEQUALITIES]
    if not bounds:
        return None
    filters = tuple(replace(f, op=op, negated=False) if f is bounds[-1] else f for f in earlier.filters)
    return replace(earlier, filters=filters)


def limit_plan(earlier: Select, by: PlanTerm, descending: bool, places: int = 1) -> Select:
    """The first things of the earlier plan in an order, with ties. Numbers by group give the groups only."""
    things = tuple(a for a in earlier.answers if not isinstance(a, Aggregate))
    if things and isinstance(by, Aggregate) and by in earlier.answers:
        earlier = replace(earlier, answers=things)
    return replace(earlier, order=Order(by, descending), limit=places, offset=0, ties=True)


def compare_with_number(new: Select, stand_in: float, number: Select) -> Select | None:
    """The new plan with the plan of an earlier number in place of the `stand_in`. None if that is in no condition."""
    at = [f for f in new.filters if not isinstance(f.right, Select) and f.right == stand_in]
    if not at or any(isinstance(f.left, Aggregate) for f in at):
        # A count is compared with what is known before the query runs.
        return None
    return replace(new, filters=tuple(replace(f, right=number) if f in at else f for f in new.filters))


def _restrict(base: Select, added: Select, how: EditKind) -> Select | None:
    """The base with further conditions ("restrict"), their negation ("exclude"), or other conditions ("instead")."""
    has_condition = bool(added.filters or (added.order and added.limit) or any(v.keys for v in added.variables))
    bounds_groups = any(isinstance(f.left, Aggregate) for f in added.filters)
    groups_anew = any(isinstance(a, Aggregate) for a in added.answers) and added.group
    if not has_condition or (bounds_groups and not base.group) or groups_anew:
        return None
    if how == "exclude":
        if len(added.filters) != 1:
            return None
        added = replace(added, filters=(replace(added.filters[0], negated=not added.filters[0].negated),), order=None)
    if how == "instead":
        replaces = {f.left for f in added.filters} & {f.left for f in base.filters}
        base = replace(base, filters=base.filters if replaces else (), order=None, limit=None, offset=0)
    if how == "restrict" and base.limit == 1 and added.filters:
        # "Which are older than 20?" after the oldest chooses among all that it was chosen from.
        base = replace(base, order=None, limit=None, offset=0)
    restricted = {f.left for f in added.filters}
    kept = tuple(f for f in base.filters if f.left not in restricted and f not in added.filters)
    base = replace(base, filters=(*kept, *added.filters))
    if added.order is None or added.limit is None:
        return base
    # The first of the things that were counted.
    base = (list_plan(base) or base) if isinstance(added.answers[0], Itself) else base
    return replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)


def _add_columns(base: Select, added: Select) -> Select | None:
    """The base with the values or counts that the follow-up asks for as well."""
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    counts = [a for a in new if isinstance(a, Aggregate)]
    if not new:
        return None
    if not counts:
        if added.by or added.group or added.order is not None or any(isinstance(a, Aggregate) for a in base.answers):
            return None
        paired = any(isinstance(a, Itself) for a in base.answers)
        return replace(base, answers=(*base.answers, *new), filters=_join_filters(base, added), paired=paired)
    shown = [a for a in base.answers if not isinstance(a, Aggregate)]
    owners = list(dict.fromkeys(a.variable for a in shown))
    if not shown or base.limit is not None:
        return None
    changed = replace(base, answers=(*base.answers, *counts), filters=_join_filters(base, added))
    if all(c.of.variable in owners for c in counts):
        # The things themselves are counted, for each value that was shown.
        values = tuple(a for a in shown if isinstance(a, Attribute))
        return replace(changed, by=values) if values else None
    return replace(changed, group=tuple(owners))


def _reorder(base: Select, added: Select) -> Select | None:
    """The base in the order of the follow-up, or by the value that it names: "sort the list by the owner's age"."""
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    if added.order is None and not new:
        return None
    order = added.order or Order(new[-1], isinstance(new[-1], Aggregate))
    base = replace(base, filters=_join_filters(base, added))
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
    # "with the oldest first" is not a limit.
    return replace(base, order=order, limit=added.limit if added.limit != 1 else None, offset=added.offset)


def _correct(base: Select, added: Select) -> Select | None:
    """The base with another rank or another requested value: "no, I meant the age"."""
    if added.order is not None and added.limit is not None:
        return replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)
    requested = tuple(a for a in added.answers if not isinstance(a, Itself))
    is_grouped = base.group or base.by or added.group or added.by
    return replace(base, answers=requested, paired=False) if requested and not is_grouped else None


def _join_filters(base: Select, added: Select) -> tuple[Filter, ...]:
    return tuple(dict.fromkeys((*base.filters, *added.filters)))
