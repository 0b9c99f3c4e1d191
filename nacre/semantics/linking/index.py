"""The indexes over one lexicon, and what a question names by them: Question -> Links (stage `link`)."""

from dataclasses import dataclass
from functools import lru_cache

from nacre.semantics.linking.graph import SchemaGraph
from nacre.semantics.linking.kinds import of_kinds
from nacre.semantics.linking.terms import Terms
from nacre.semantics.linking.values import Values
from nacre.semantics.types import Link, Question
from nacre.stores.lexicon import Lexicon


@dataclass(frozen=True)
class Index:
    """The indexes over one lexicon that parsing needs; built once a version, then only read."""

    lexicon: Lexicon
    graph: SchemaGraph
    terms: Terms
    values: Values


def index(lexicon: Lexicon) -> Index:
    """Build the indexes."""
    graph, terms = _of_schema(lexicon.of_schema)
    return Index(lexicon, graph, terms, Values(lexicon, graph))


@lru_cache(maxsize=8)
def _of_schema(lexicon: Lexicon) -> tuple[SchemaGraph, Terms]:
    graph = SchemaGraph(lexicon)
    return graph, Terms(lexicon, graph)


def link(question: Question, known: Index) -> list[Link]:
    """Everything that stretches of the question may name."""
    bare = [i for i, t in enumerate(question.tokens) if t.norm.isdigit() and _bounds(question, i)]
    # "2014-2015" may be what a season is called
    ranges = {(n.start, n.end) for n in question.numbers if n.until is not None}
    named = (
        x
        for x in known.values.links(question)
        if not set(range(x.start, x.end)) <= set(bare) or (x.start, x.end) in ranges
    )
    return of_kinds((*known.terms.links(question), *named), question, known.terms.besides, known.graph)


def _bounds(question: Question, at: int) -> bool:
    """Whether a number is what something is compared with, or part of a date: it names nothing then."""
    return any(
        n.start <= at < n.end and (n.op in ("<", ">", "<=", ">=") or (n.first and n.end - n.start > 1))
        for n in question.numbers
    )
