"""The triples that a value of a semantic layer is derived from: triples + schema -> the same, derived ones replaced.

A path is followed from the thing to the value. Of a pattern or a rule the value is cited with the thing's own triples
that the pattern reads.
"""

from collections.abc import Iterable, Sequence

from nacre.errors import ToolError
from nacre.plans.sparql.property_path import PathTriples, PropertyPath, parse_path
from nacre.records.schema import Schema
from nacre.stores.sparql.query_tokens import query_tokens
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import StatedTriples, Triple

# triples that one derived value is cited with
MAX_SOURCES = 20
_START, _END = "?this ", " ?value"


def with_derived_sources(triples: Sequence[Triple], tables: Tables) -> tuple[Triple, ...]:
    """The triples, with those of a layer replaced by the triples of the graph that they come from."""
    schema = tables.schema
    if not any(_patterns(triple, schema) for triple in triples):
        return tuple(triples)
    stated = StatedTriples(tables)
    found: dict[Triple, None] = {}
    for triple in triples:
        found |= dict.fromkeys(_sources(triple, schema, stated) or (triple,))
    return tuple(found)


def _patterns(triple: Triple, schema: Schema) -> tuple[str, ...]:
    predicate = schema.predicate_of.get(triple[1])
    return predicate.patterns if predicate is not None else ()


def _sources(triple: Triple, schema: Schema, stated: StatedTriples) -> Iterable[Triple]:
    subject, _, value = triple
    for pattern in _patterns(triple, schema):
        path = _path_of(pattern)
        found = _read_by(pattern, subject, stated) if path is None else _along(path, subject, value, stated)
        if found:
            return found[:MAX_SOURCES]
    return ()


def _path_of(pattern: str) -> PropertyPath | None:
    """The path of a pattern that is nothing but a path."""
    if not (pattern.startswith(_START) and pattern.endswith(_END)):
        return None
    try:
        return parse_path(pattern[len(_START) : -len(_END)])
    except ToolError:
        # several triples, of which the first begins and the last ends as a path does
        return None


def _along(path: PropertyPath, subject: str, value: str, stated: StatedTriples) -> Sequence[Triple]:
    return PathTriples(stated.with_subject, stated.with_object).between(path, subject, value)


def _read_by(pattern: str, subject: str, stated: StatedTriples) -> Sequence[Triple]:
    """The triples around a thing by the properties of a pattern, two links far."""
    iris = dict.fromkeys(token.text[1:-1] for token in query_tokens(pattern) if token.kind == "iri")
    own = [triple for iri in iris for triple in (*stated.with_subject(subject, iri), *stated.with_object(subject, iri))]
    behind = [
        triple
        for near in own[:MAX_SOURCES]
        for end in {near[0], near[2]} - {subject}
        for iri in iris
        for triple in stated.with_subject(end, iri)
    ]
    return tuple(dict.fromkeys((*own, *behind)))
