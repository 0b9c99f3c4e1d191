"""Things in a place, a body or a category as those in its parts too: Candidate -> Candidate ("staff of the faculty",
whose chairs have them)."""

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.records.plan import Ask, Attribute, Body, Combine, Edge, Filter, Itself, Select, Variable, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph

# how often a thing that has parts is linked to at least, on average: a head is of one thing, its members are of many
SEVERAL = 1.5


def include_parts(body: Body, graph: SchemaGraph) -> Body:
    """The plan with each thing that is named as a place, a body or a category of others standing for all in it."""
    if isinstance(body, Combine):
        return replace(body, left=_with_parts(body.left, graph), right=_with_parts(body.right, graph))
    if isinstance(body, Ask):
        return replace(body, select=_with_parts(body.select, graph))
    return _with_parts(body, graph) if isinstance(body, Select) else body


def _with_parts(select: Select, graph: SchemaGraph) -> Select:
    below = _parted(graph)
    if not below:
        return select
    used, wholes, ways = _used(select), _wholes(graph, below), {iri.removeprefix("^") for iri in below}
    for variable in select.variables:
        if len(variable.keys) != 1 or not variable.label or variable.name in used:
            continue
        if not wholes & _nodes(variable, graph):
            continue
        shorter, part = _up(select, variable, ways, used)
        edges = _edges(shorter, part.name)
        if len(edges) != 1 or not _is_of_several(edges[0], part, graph):
            continue
        other = next(v for v in shorter.variables if v != part and v.name in (edges[0].subject, edges[0].object))
        if edges[0].predicate in ways and wholes & _nodes(other, graph):
            # "the rooms of the building", each of which may have parts as well
            continue
        whole = replace(part, classes=(), without=(), keys=variable.keys, label=variable.label, below=below)
        select = replace(shorter, variables=tuple(whole if v == part else v for v in shorter.variables))
    return select


def _up(select: Select, named: Variable, ways: Collection[str], used: Collection[str]) -> tuple[Select, Variable]:
    """The select without a way over parts to a whole that is named, and what stands at its beginning: staff of "a unit
    of" a faculty are of one of its parts anyway."""
    while True:
        edges = _edges(select, named.name)
        if len(edges) != 1 or edges[0].predicate not in ways:
            return select, named
        (edge,) = edges
        other = edge.subject if edge.object == named.name else edge.object
        part = next(v for v in select.variables if v.name == other)
        if part.keys or other in used or len(_edges(select, other)) != 2:
            return select, named
        select = replace(
            select,
            variables=tuple(v for v in select.variables if v != named),
            edges=tuple(e for e in select.edges if e != edge),
        )
        named = part


def _edges(select: Select, name: str) -> list[Edge]:
    return [e for e in select.edges if name in (e.subject, e.object)]


def _nodes(variable: Variable, graph: SchemaGraph) -> set[int]:
    return {graph.node_of_class[iri] for iri in variable.classes if iri in graph.node_of_class}


def _is_of_several(edge: Edge, named: Variable, graph: SchemaGraph) -> bool:
    """Whether many things are linked to one as the named thing is, or a link says where something is."""
    about, last = graph.about(edge.predicate), graph.words[edge.predicate][-1:]
    if edge.object == named.name and (set(last) & (language().words["where_in"] | nouns_of_kind("places"))):
        return True
    ends = about.objects if edge.object == named.name else about.subjects
    return ends > 0 and about.triples / ends >= SEVERAL


def _used(select: Select) -> set[str]:
    """The variables that are shown, counted, ordered by or compared."""
    order = (select.order.by,) if select.order else ()
    sides = (side for f in select.filters if isinstance(f, Filter) for side in (f.left, f.right))
    terms = [
        aggregated_value(each) for each in (*select.answers, *select.by, *order, *sides) if not isinstance(each, str)
    ]
    return {each.variable for each in terms if isinstance(each, Attribute | Itself)} | set(select.group)


@lru_cache(maxsize=64)
def _parted(graph: SchemaGraph) -> tuple[str, ...]:
    """The links from a part to its whole, and those from a whole to its part with "^" before them, by their names."""
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
def _wholes(graph: SchemaGraph, below: tuple[str, ...]) -> frozenset[int]:
    """The kinds of wholes."""
    return frozenset(
        source if iri.startswith("^") else target
        for iri in below
        for source, target in graph.ends.get(iri.removeprefix("^"), ())
    )
