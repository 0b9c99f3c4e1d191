"""Merge two selects: Select + Select -> both with the same variable names; equal classes become one variable."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Order, Select, Variable, aggregated_value


def merge_selects(earlier: Select, new: Select) -> tuple[Select, Select] | None:
    """The earlier select with the variables of the new one, and the new one with the same names; or None."""
    owners = list(dict.fromkeys(aggregated_value(a).variable for a in earlier.answers))
    known = sorted(earlier.variables, key=lambda v: owners.index(v.name) if v.name in owners else len(owners))
    names: dict[str, str] = {}
    for variable in sorted(new.variables, key=lambda v: not v.keys):
        same = next(
            (
                k
                for k in known
                if (k.classes, k.any_of) == (variable.classes, variable.any_of) and k.name not in names.values()
            ),
            None,
        )
        if same is not None:
            names[variable.name] = same.name
    if not names:
        return None
    taken = {v.name for v in earlier.variables}
    variables = list(earlier.variables)
    for variable in new.variables:
        if variable.name in names:
            continue
        name = free_name(variable.name, taken)
        taken.add(name)
        names[variable.name] = name
        variables.append(replace(variable, name=name))
    edges = tuple(dict.fromkeys((*earlier.edges, *(rename_edge(e, names) for e in new.edges))))
    renamed = replace(
        new,
        answers=tuple(rename_term(a, names) for a in new.answers),
        variables=tuple(replace(v, name=names[v.name]) for v in new.variables if v.name in names),
        edges=tuple(rename_edge(e, names) for e in new.edges),
        filters=tuple(rename_filter(f, names) for f in new.filters),
        group=tuple(names[g] for g in new.group),
        by=tuple(Attribute(names[b.variable], b.predicate, b.part) for b in new.by),
        order=None if new.order is None else Order(rename_term(new.order.by, names), new.order.descending),
    )
    # things of an earlier turn are given by their conditions, not by their keys
    old = {v.name: v for v in earlier.variables}
    own = tuple(replace(v, keys=()) if v.name in old and is_from_earlier_turn(v) else v for v in renamed.variables)
    named = {v.name: v for v in own if v.keys}
    variables = [
        replace(named[v.name], classes=v.classes, without=v.without) if v.name in named else v for v in variables
    ]
    return replace(earlier, variables=tuple(variables), edges=edges), replace(renamed, variables=own)


# ends the label of a variable for things of an earlier turn (see understanding/dialogue/references/scope.py)
EARLIER_TURN_MARK = "of before)"


def is_from_earlier_turn(variable: Variable) -> bool:
    """Whether a variable stands for things of an earlier answer."""
    return variable.label.endswith(EARLIER_TURN_MARK)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken.

    >>> free_name("piece", {"piece"})
    'piece_2'
    """
    return next(n for k in count(1) if (n := f"{wanted}_{k}" if k > 1 else wanted) not in taken)


def rename_edge(edge: Edge, names: Mapping[str, str]) -> Edge:
    """An edge with renamed variables."""
    return Edge(names[edge.subject], edge.predicate, names[edge.object])


def rename_term(term: Any, names: Mapping[str, str]) -> Any:
    """A term with renamed variables."""
    if isinstance(term, Aggregate):
        return replace(term, of=replace(term.of, variable=names[term.of.variable]))
    return replace(term, variable=names[term.variable])


def rename_filter(each: Filter, names: Mapping[str, str]) -> Filter:
    """A condition with renamed variables."""
    right = each.right
    if isinstance(right, Attribute):
        right = rename_term(right, names)
    return replace(each, left=rename_term(each.left, names), right=right)
