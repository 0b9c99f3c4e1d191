"""The dates that a bare year or month may be of: ParseState + SchemaGraph -> references, and what each costs."""

from nacre.language.base import language
from nacre.language.thesaurus import function_words, nouns_of_kind
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import ParseState
from nacre.understanding.question.types import Ref

MOST_DATES = 4
# what a date by which something ends costs, which is seldom what is meant by when it was
LATER, BORN = 0.25, 0.8
# what a date gains that is of the event of which something else was named
SAME_EVENT = 0.3


def nearby_dates(state: ParseState, graph: SchemaGraph) -> list[tuple[Ref, float]]:
    """Properties with dates or years of the nodes at hand, or one step away, nearest first."""
    found: dict[Ref, float] = {}
    event = _event(state, graph)
    start = [n.node for n in state.nodes] or [n.index for n in graph.nodes]
    for node in start:
        reach = {node: 0.0}
        for step in graph.steps[node]:
            reach.setdefault(step.target, 0.3 * step.cost)
        for there, away in reach.items():
            for predicate in graph.literals[there]:
                if graph.is_date(predicate):
                    year = graph.about(predicate).datatype == "year"
                    cost = away + (0.0 if year else 0.1)
                    ref = Ref(there, predicate)
                    if event & set(graph.words[predicate]):
                        # "born in Rome after 1990": by the day of birth
                        cost -= SAME_EVENT + later_date_cost(ref, graph)
                    found[ref] = min(found.get(ref, 9.0), cost)
    return sorted(found.items(), key=lambda f: (f[1], f[0]))[:MOST_DATES]


def _event(state: ParseState, graph: SchemaGraph) -> set[str]:
    """The words of the links that were named, but for those that say little of what happened."""
    named = {ref.via for link in state.links if link.kind == "property" for ref in link.refs if ref.via}
    known = language().words
    little = function_words() | known["generic"] | known["time"] | nouns_of_kind("places")
    return {word for iri in named for word in graph.words[iri]} - little


def later_date_cost(ref: Ref, graph: SchemaGraph) -> float:
    """What a date costs by which things end: they are "in March" when they begin; and more when somebody was born."""
    words, known = set(graph.words[ref.predicate]), language().words
    if known["life"] & words:
        return BORN
    return LATER if known["ending"] & words else 0.0
