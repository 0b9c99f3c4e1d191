"""Drop redundant variables of a plan: Select + SchemaGraph -> Select."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from nacre.records.plan import Attribute, Select, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph


def drop_redundant_variables(select: Select, graph: SchemaGraph, required: Collection[str] = ()) -> Select:
    """Return the plan without a second variable at the one end that a link has, if nothing else uses it.

    `required` are variables that must exist.
    """
    used = _used_variables(select) | set(required)
    names = [name for edge in select.edges for name in (edge.subject, edge.object)]
    ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in select.edges:
        if graph.about(edge.predicate).functional:
            ends[edge.subject, edge.predicate].append(edge.object)
    redundant: set[str] = set()
    for variables in ends.values():
        unused = [name for name in variables if name not in used and names.count(name) == 1]
        # the first one stays unless another is required
        redundant |= {name for name in unused if name != variables[0] or not set(required).isdisjoint(variables)}
    return replace(
        select,
        variables=tuple(variable for variable in select.variables if variable.name not in redundant),
        edges=tuple(edge for edge in select.edges if edge.object not in redundant),
    )


def _used_variables(select: Select) -> set[str]:
    """The variables that are shown, filtered, named, grouped or ordered by."""
    terms = [*select.answers, *(each.left for each in select.filters)]
    terms += [each.right for each in select.filters if isinstance(each.right, Attribute)]
    terms += [select.order.by] if select.order is not None else []
    named = {variable.name for variable in select.variables if variable.keys}
    grouped = {*select.group, *(each.variable for each in select.by)}
    return {aggregated_value(term).variable for term in terms} | named | grouped
