"""Leave out of a plan what stands in it twice: Select + SchemaGraph -> Select."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from nacre.records.plan import Select, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph


def drop_redundant_variables(select: Select, graph: SchemaGraph, asked: Collection[str] = ()) -> Select:
    """The plan without a second thing, of which nothing is said, at the end of a link that leads to one alone; `asked`
    are variables that must exist."""
    said = {aggregated_value(answer).variable for answer in select.answers}
    said |= {aggregated_value(f.left).variable for f in select.filters} | {v.name for v in select.variables if v.keys}
    said |= {*asked, *select.group, *(each.variable for each in select.by)}
    said |= {aggregated_value(select.order.by).variable} if select.order is not None else set()
    used = [name for edge in select.edges for name in (edge.subject, edge.object)]
    ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in select.edges:
        if graph.about(edge.predicate).functional:
            ends[edge.subject, edge.predicate].append(edge.object)
    spare: set[str] = set()
    for there in ends.values():
        loose = [name for name in there if name not in said and used.count(name) == 1]
        # a first one gives way only to what must exist
        spare |= {name for name in loose if name != there[0] or not set(asked).isdisjoint(there)}
    return replace(
        select,
        variables=tuple(v for v in select.variables if v.name not in spare),
        edges=tuple(e for e in select.edges if e.object not in spare),
    )
