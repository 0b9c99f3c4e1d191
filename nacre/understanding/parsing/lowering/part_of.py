"""Include the parts of a named whole: Candidate -> Candidate ("staff of the faculty" includes those of its chairs)."""

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.records.plan import Ask, Attribute, Body, Combine, Edge, Filter, Itself, Select, Variable, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate, ParseContext

# the average number of links to a whole, at least: many things are members, one thing is the head
MIN_LINKS_PER_WHOLE = 1.5


def include_parts(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading in which a named place, body or category stands for all of its parts as well."""
    return candidate._replace(body=_parts_in_body(candidate.body, context.graph))


def _parts_in_body(body: Body, graph: SchemaGraph) -> Body:
    if isinstance(body, Combine):
        return replace(body, left=_include_parts(body.left, graph), right=_include_parts(body.right, graph))
    if isinstance(body, Ask):
        return replace(body, select=_include_parts(body.select, graph))
    return _include_parts(body, graph) if isinstance(body, Select) else body


def _include_parts(select: Select, graph: SchemaGraph) -> Select:
    part_links = _part_links(graph)
    if not part_links:
        return select
    used, wholes = _used_variables(select), _whole_nodes(graph, part_links)
    predicates = {iri.removeprefix("^") for iri in part_links}
    for variable in select.variables:
        if len(variable.keys) != 1 or not variable.label or variable.name in used:
            continue
        if not wholes & _nodes(variable, graph):
            continue
        shorter, part = _without_part_path(select, variable, predicates, used)
        edges = _edges(shorter, part.name)
        if len(edges) != 1 or not _has_several(edges[0], part, graph):
            continue
        ends = (edges[0].subject, edges[0].object)
        other = next(each for each in shorter.variables if each != part and each.name in ends)
        if edges[0].predicate in predicates and wholes & _nodes(other, graph):
            # "the rooms of the building", each of which may have parts as well
            continue
        whole = replace(part, classes=(), without=(), keys=variable.keys, label=variable.label, below=part_links)
        select = replace(shorter, variables=tuple(whole if each == part else each for each in shorter.variables))
    return select


def _without_part_path(
    select: Select, named: Variable, predicates: Collection[str], used: Collection[str]
) -> tuple[Select, Variable]:
    """The select without a path over parts to a named whole, and the variable at its beginning.

    Staff of "a unit of" a faculty is staff of one of its parts anyway.
    """
    while True:
        edges = _edges(select, named.name)
        if len(edges) != 1 or edges[0].predicate not in predicates:
            return select, named
        (edge,) = edges
        other = edge.subject if edge.object == named.name else edge.object
        part = next(variable for variable in select.variables if variable.name == other)
        if part.keys or other in used or len(_edges(select, other)) != 2:
            return select, named
        select = replace(
            select,
            variables=tuple(variable for variable in select.variables if variable != named),
            edges=tuple(each for each in select.edges if each != edge),
        )
        named = part


def _edges(select: Select, name: str) -> list[Edge]:
    return [edge for edge in select.edges if name in (edge.subject, edge.object)]


def _nodes(variable: Variable, graph: SchemaGraph) -> set[int]:
    return {graph.node_of_class[iri] for iri in variable.classes if iri in graph.node_of_class}


def _has_several(edge: Edge, named: Variable, graph: SchemaGraph) -> bool:
    """Whether several things are linked to one thing as here, or the link says where something is."""
    about, last = graph.about(edge.predicate), set(graph.words[edge.predicate][-1:])
    if edge.object == named.name and last & (language().words["where_in"] | nouns_of_kind("places")):
        return True
    ends = about.objects if edge.object == named.name else about.subjects
    return ends > 0 and about.triples / ends >= MIN_LINKS_PER_WHOLE


def _used_variables(select: Select) -> set[str]:
    """The variables that are shown, counted, ordered by or compared."""
    order = (select.order.by,) if select.order else ()
    sides = (side for each in select.filters if isinstance(each, Filter) for side in (each.left, each.right))
    terms = [
        aggregated_value(each) for each in (*select.answers, *select.by, *order, *sides) if not isinstance(each, str)
    ]
    return {each.variable for each in terms if isinstance(each, Attribute | Itself)} | set(select.group)


@lru_cache(maxsize=64)
def _part_links(graph: SchemaGraph) -> tuple[str, ...]:
    """The predicates from a part to its whole; those from a whole to its part begin with "^"."""
    up, down = language().words["part_of"], language().words["has_part"]
    found = []
    for predicate in graph.schema.predicates:
        if not predicate.has_links or predicate.role != "fact":
            continue
        name = "_".join(graph.words[predicate.iri])
        if name in up:
            found.append(predicate.iri)
        elif name in down:
            found.append(f"^{predicate.iri}")
    return tuple(found)


@lru_cache(maxsize=64)
def _whole_nodes(graph: SchemaGraph, part_links: tuple[str, ...]) -> frozenset[int]:
    """The classes of wholes."""
    return frozenset(
        source if iri.startswith("^") else target
        for iri in part_links
        for source, target in graph.ends.get(iri.removeprefix("^"), ())
    )
