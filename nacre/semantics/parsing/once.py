"""Leave out of a plan what stands in it twice: Select + SchemaGraph -> Select."""

from dataclasses import replace

from nacre.records.plan import Select, value_of
from nacre.semantics.linking.graph import SchemaGraph


def once(select: Select, graph: SchemaGraph) -> Select:
    """The plan without a second thing at the end of a link that leads to one alone, of which nothing is said."""
    said = {value_of(answer).variable for answer in select.answers}
    said |= {value_of(f.left).variable for f in select.filters} | {v.name for v in select.variables if v.keys}
    said |= {*select.group, *(each.variable for each in select.by)}
    said |= {value_of(select.order.by).variable} if select.order is not None else set()
    ends = [name for edge in select.edges for name in (edge.subject, edge.object)]
    first: set[tuple[str, str]] = set()
    spare: set[str] = set()
    for edge in select.edges:
        again = (edge.subject, edge.predicate) in first and graph.about(edge.predicate).functional
        if again and edge.object not in said and ends.count(edge.object) == 1:
            spare.add(edge.object)
        first.add((edge.subject, edge.predicate))
    return replace(
        select,
        variables=tuple(v for v in select.variables if v.name not in spare),
        edges=tuple(e for e in select.edges if e.object not in spare),
    )
