"""All derivations of a question within a beam: Question + indexes -> Candidates, likeliest first (stages link, derive)."""

from dataclasses import dataclass
from typing import NamedTuple

from records.plan import Body
from semantics.linking.graph import SchemaGraph
from semantics.linking.terms import Terms
from semantics.linking.values import Values
from semantics.parsing.beam import read
from semantics.parsing.finish import finish
from semantics.parsing.lower import lower
from semantics.parsing.state import Reader
from semantics.types import Derivation, Link, Question
from stores.lexicon import Lexicon

# partial readings that are finished, ways of joining that are tried, and readings that are kept
MOST_STATES = 80
MOST_WAYS = 3
MOST = 100


@dataclass(frozen=True)
class Index:
    """The indexes over one lexicon that parsing needs; built once a version, then only read."""

    lexicon: Lexicon
    graph: SchemaGraph
    terms: Terms
    values: Values


class Candidate(NamedTuple):
    """One reading with its plan; `joins` is what its ways cost, `ambiguous` how many ways there were besides."""

    derivation: Derivation
    body: Body
    joins: float
    steps: int
    ambiguous: int
    choice: int


def index(lexicon: Lexicon) -> Index:
    """Build the indexes."""
    graph = SchemaGraph(lexicon)
    return Index(lexicon, graph, Terms(lexicon, graph), Values(lexicon, graph))


def link(question: Question, known: Index) -> list[Link]:
    """Everything that stretches of the question may name."""
    return [*known.terms.links(question), *known.values.links(question)]


def derive(question: Question, links: list[Link], known: Index, deadline: float) -> list[Candidate]:
    """The readings of a question, likeliest first by their prior, each plan once."""
    states = read(Reader(question, known.graph), links, deadline)
    found: dict[Body, Candidate] = {}
    for state in states[:MOST_STATES]:
        for derivation in finish(state, Reader(question, known.graph)):
            for choice in range(MOST_WAYS):
                lowered = lower(derivation, known.graph, choice)
                if lowered is None:
                    break
                derivation = derivation._replace(prior=derivation.prior - (0.3 if choice else 0.0))
                candidate = Candidate(
                    derivation, lowered.body, lowered.cost, lowered.steps, lowered.ambiguous, choice
                )
                before = found.get(lowered.body)
                if before is None or prior(candidate) > prior(before):
                    found[lowered.body] = candidate
                if lowered.ambiguous <= choice:
                    break
    return sorted(found.values(), key=lambda c: -prior(c))[:MOST]


def prior(candidate: Candidate) -> float:
    """A first estimate that orders readings where no weights are at hand."""
    return candidate.derivation.prior - 0.2 * candidate.joins
