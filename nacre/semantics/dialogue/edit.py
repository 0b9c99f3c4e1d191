"""Change an earlier plan by what a follow-up says: earlier Select + new Select + how -> Select, or None."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from nacre.records.plan import (
    Aggregate,
    Attribute,
    Comparison,
    Edge,
    Filter,
    Function,
    Itself,
    Order,
    Select,
    Term,
    Variable,
)

How = Literal["add", "order", "restrict", "exclude", "instead"]


def edited(earlier: Select, new: Select, how: How) -> Select | None:
    """The earlier plan with the columns, order or conditions of the new one; None where the new one has none of these.

    Things of the new plan that are of the same kind as things of the earlier one are the same things.
    """
    joined = _joined(earlier, new)
    if joined is None:
        return None
    base, added = joined
    if how == "add":
        return _with_columns(base, added)
    if how == "order":
        return _ordered(base, added)
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
        base = replace(base, filters=(), order=None, limit=None, offset=0)
    said = {f.left for f in added.filters}
    kept = tuple(f for f in base.filters if f.left not in said and f not in added.filters)
    base = replace(base, filters=(*kept, *added.filters))
    if added.order is not None and added.limit is not None:
        base = replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)
    return base


def summarised(earlier: Select, functions: Sequence[Function], beside: bool) -> Select | None:
    """Aggregates of the values that were shown last ("also the maximum", "the average of them").

    `beside`: those that were shown before stay; None where no value was shown.
    """
    shown = [a.of if isinstance(a, Aggregate) else a for a in earlier.answers]
    values = [a for a in shown if isinstance(a, Attribute)]
    if not values or not functions:
        return None
    before = tuple(a for a in earlier.answers if isinstance(a, Aggregate)) if beside else ()
    answers = tuple(dict.fromkeys((*before, *(Aggregate(f, values[-1]) for f in functions))))
    return replace(earlier, answers=answers, order=None, limit=None, offset=0)


def sorted_by(earlier: Select, by: Term, descending: bool) -> Select:
    """The earlier plan in another order."""
    return replace(earlier, order=Order(by, descending), limit=None, offset=0)


def bounded(earlier: Select, by: Attribute, op: Comparison, number: float) -> Select:
    """The earlier plan with a bound on a value, in the place of one on the same value."""
    kept = tuple(f for f in earlier.filters if f.left != by)
    return replace(earlier, filters=(*kept, Filter(by, op, number)))


def counted(earlier: Select) -> Select | None:
    """How many things the earlier plan is about; None where it shows no things."""
    owner = next((a.variable for a in earlier.answers if not isinstance(a, Aggregate)), None)
    if owner is None or earlier.group or earlier.by or earlier.limit is not None:
        return None
    return replace(earlier, answers=(Aggregate("count", Itself(owner)),), order=None)


def turned(earlier: Select, op: Comparison) -> Select | None:
    """The earlier plan with its last bound the other way ("and below?"); None where it has none."""
    bounds = [f for f in earlier.filters if f.op in _BOUNDS]
    if not bounds:
        return None
    return replace(
        earlier, filters=tuple(replace(f, op=op, negated=False) if f is bounds[-1] else f for f in earlier.filters)
    )


def only_first(earlier: Select, by: Term, descending: bool, places: int = 1) -> Select:
    """Those of the earlier plan that are first in an order, ties included."""
    return replace(earlier, order=Order(by, descending), limit=places, offset=0, ties=True)


def compared_with(new: Select, stand_in: float, number: Select) -> Select | None:
    """The new plan with an earlier number's plan where a number stands in for it; None where that is nowhere."""
    filters = tuple(
        replace(f, right=number) if not isinstance(f.right, Select) and f.right == stand_in else f for f in new.filters
    )
    return replace(new, filters=filters) if filters != new.filters else None


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


def _together(base: Select, added: Select) -> tuple[Filter, ...]:
    return tuple(dict.fromkeys((*base.filters, *added.filters)))


def _joined(earlier: Select, new: Select) -> tuple[Select, Select] | None:
    """The earlier plan with the things of the new one beside it, and the new one in the same names."""
    owners = list(dict.fromkeys((a.of if isinstance(a, Aggregate) else a).variable for a in earlier.answers))
    known = sorted(earlier.variables, key=lambda v: owners.index(v.name) if v.name in owners else len(owners))
    names: dict[str, str] = {}
    for variable in sorted(new.variables, key=lambda v: not v.keys):
        same = next((k for k in known if k.classes == variable.classes and k.name not in names.values()), None)
        if same is not None:
            names[variable.name] = same.name
    if not names:
        return None
    taken = {v.name for v in earlier.variables}
    variables = list(earlier.variables)
    for variable in new.variables:
        if variable.name in names:
            continue
        name = next(n for k in range(1, 99) if (n := f"{variable.name}_{k}" if k > 1 else variable.name) not in taken)
        taken.add(name)
        names[variable.name] = name
        variables.append(replace(variable, name=name))
    edges = tuple(dict.fromkeys((*earlier.edges, *(_edge(e, names) for e in new.edges))))
    renamed = replace(
        new,
        answers=tuple(_term(a, names) for a in new.answers),
        variables=tuple(replace(v, name=names[v.name]) for v in new.variables if v.name in names),
        edges=tuple(_edge(e, names) for e in new.edges),
        filters=tuple(_filter(f, names) for f in new.filters),
        group=tuple(names[g] for g in new.group),
        by=tuple(Attribute(names[b.variable], b.predicate, b.part) for b in new.by),
        order=None if new.order is None else Order(_term(new.order.by, names), new.order.descending),
    )
    # the things of before are meant by their conditions, not by their keys
    old = {v.name: v for v in earlier.variables}
    own = tuple(replace(v, keys=()) if v.name in old and _of_before(v) else v for v in renamed.variables)
    named = {v.name: v for v in own if v.keys}
    variables = [
        replace(named[v.name], classes=v.classes, without=v.without) if v.name in named else v for v in variables
    ]
    return replace(earlier, variables=tuple(variables), edges=edges), replace(renamed, variables=own)


# what stands for the things of before in the label of a variable (nacre/semantics/linking/scope.py)
BEFORE = "of before)"


def _of_before(variable: Variable) -> bool:
    return variable.label.endswith(BEFORE)


_BOUNDS = frozenset(("<", "<=", ">", ">="))


def _edge(edge: Edge, names: dict[str, str]) -> Edge:
    return Edge(names[edge.subject], edge.predicate, names[edge.object])


def _term(term: Any, names: dict[str, str]) -> Any:
    if isinstance(term, Aggregate):
        return replace(term, of=replace(term.of, variable=names[term.of.variable]))
    return replace(term, variable=names[term.variable])


def _filter(each: Filter, names: dict[str, str]) -> Filter:
    right = each.right
    if isinstance(right, Attribute):
        right = _term(right, names)
    return replace(each, left=_term(each.left, names), right=right)
