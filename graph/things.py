"""What a graph says of one thing: its name or IRI -> its kinds, its facts, and what links to it."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from graph.asked import LONGEST_QUESTION
from graph.names import endpoint_names, names_for
from nacre.records.errors import ToolError
from nacre.records.schema import Schema
from nacre.records.turn import Rewrite
from nacre.semantics.understand import understand
from nacre.semantics.words import name_tokens
from nacre.stores.catalog import Graph
from nacre.stores.triples import TYPE, Triple, Triples

# of one thing (given)
MOST_FACTS, MOST_INCOMING, MOST_ALIKE, LONGEST_VALUE = 200, 50, 8, 1000
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")


@dataclass(frozen=True)
class Stated:
    """One triple: the predicate in words and as its IRI, and its other end with its label where that is a thing."""

    property: str
    predicate: str
    value: str
    label: str


@dataclass(frozen=True)
class Thing:
    """A thing, its `facts`, and under `incoming` the facts of others that lead to it. `alike` are further things that
    the name may mean; `truncated`: there is more than is told."""

    iri: str
    label: str
    kinds: list[str]
    facts: list[Stated]
    incoming: list[Stated]
    alike: list[str]
    truncated: bool


def describe(graph: Graph, name: str, seconds: float) -> Thing:
    """The thing that a name or an IRI means best; raises ToolError `unknown_name` where it means none.

    Blocking; what is not looked up within `seconds` is left out.
    """
    deadline = time.monotonic() + seconds
    name = name.strip().encode(errors="replace").decode()
    if not name or len(name) > LONGEST_QUESTION:
        raise ToolError("refused", f"A name has 1 to {LONGEST_QUESTION} characters.")
    if graph.stored is None:
        return _far(graph, name, seconds)
    triples = Triples(graph.stored)
    iri, alike = _meant(graph, name, triples.label)
    schema, kinds = graph.schema, [t[2] for t in triples.of(iri, TYPE)]
    domains = {"", *schema.with_parents(kinds)}
    facts, more = _first(
        (
            triple
            for predicate in sorted(schema.predicates, key=lambda p: -p.subjects)
            if predicate.iri != TYPE and domains & predicate.domains.keys()
            for triple in triples.of(iri, predicate.iri)
        ),
        MOST_FACTS,
        deadline,
    )
    incoming, more_in = _first(
        (
            triple
            for predicate in schema.predicates
            if predicate.has_links and domains & predicate.ranges.keys()
            for triple in triples.to(iri, predicate.iri)
        ),
        MOST_INCOMING,
        deadline,
    )
    return Thing(
        iri,
        triples.label(iri),
        [schema.class_of[kind].label if kind in schema.class_of else kind for kind in kinds],
        [_stated(predicate, value, triples.label, schema) for _, predicate, value in facts],
        [_stated(predicate, subject, triples.label, schema) for subject, predicate, _ in incoming],
        alike,
        more or more_in,
    )


def _far(graph: Graph, name: str, seconds: float) -> Thing:
    """The same of a graph behind an endpoint, by two queries."""
    names, source = endpoint_names(graph), graph.remote
    if names is None or source is None:
        raise ToolError("unavailable", f"Graph {graph.name!r} can't be reached.")
    iri, alike = _meant(graph, name, lambda each: names.labels([each]).get(each, ""))
    told = source.select(f"SELECT ?p ?o WHERE {{ <{iri}> ?p ?o }}", limit=MOST_FACTS, seconds=seconds)
    leading = source.select(f"SELECT ?s ?p WHERE {{ ?s ?p <{iri}> }}", limit=MOST_INCOMING, seconds=seconds)
    facts = [(p.value, o) for p, o in told.rows if p is not None and o is not None]
    incoming = [(p.value, s) for s, p in leading.rows if p is not None and s is not None]
    things = {term.value for _, term in (*facts, *incoming) if term.kind == "iri"}
    labels = names.labels(sorted({iri, *things}))
    schema = graph.schema

    def label(key: str) -> str:
        return labels.get(key, "")

    return Thing(
        iri,
        label(iri) or name,
        [schema.class_of[o.value].label if o.value in schema.class_of else o.value for p, o in facts if p == TYPE],
        [_stated(p, o.value, label, schema) for p, o in facts if p != TYPE],
        [_stated(p, s.value, label, schema) for p, s in incoming],
        alike,
        told.truncated or leading.truncated,
    )


def _meant(graph: Graph, name: str, label: Callable[[str], str]) -> tuple[str, list[str]]:
    """The IRI that is meant, and others that might be."""
    if IRI.fullmatch(name) and label(name):
        return name, []
    names = names_for(graph, name)
    words = name_tokens(name)
    spelt = [each for each in names.exact(words) if each.kind == "entity"] if words else []
    if words and not spelt:
        spelt = [n for n in names.holding([(word,) for word in words], MOST_ALIKE) if n.kind == "entity"]
    # a name that the data gives before one that only an IRI gives
    targets = [each.target for each in sorted(spelt, key=lambda each: each.weight < 0)]
    nearest = ""
    if not targets:
        read = understand(Rewrite(name), graph.schema, names)
        targets = [each.target for each in read.mentions if each.kind == "entity"]
        nearest = next((near for _, near in read.unknown if near), "")
    keys = [iri for iri in dict.fromkeys(targets) if IRI.fullmatch(iri)]
    if not keys:
        hint = f" The nearest name is {nearest!r}." if nearest else " Try the tool search."
        raise ToolError("unknown_name", f"No thing of this graph is called {name[:100]!r}.{hint}")
    return keys[0], keys[1 : MOST_ALIKE + 1]


def _first(triples: Iterator[Triple], most: int, deadline: float) -> tuple[list[Triple], bool]:
    """The first triples, and whether there are more, or there was no time to know."""
    found: list[Triple] = []
    for triple in islice(triples, most + 1):
        found.append(triple)
        if time.monotonic() > deadline:
            return found[:most], True
    return found[:most], len(found) > most


def _stated(predicate: str, value: str, label: Callable[[str], str], schema: Schema) -> Stated:
    known = schema.predicate_of.get(predicate)
    named = label(value) if IRI.fullmatch(value) else ""
    return Stated(known.label if known else predicate, predicate, value[:LONGEST_VALUE], named)
