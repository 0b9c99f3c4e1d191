"""The dates that a bare year or month may be of: ParseState + SchemaGraph -> references with their costs."""

from nacre.language.base import language
from nacre.language.thesaurus import function_words, nouns_of_kind
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import ParseState
from nacre.understanding.question.types import Ref

# how many dates are tried
MAX_DATES = 4
# the cost of a date by which something ends, and of a date of birth: "in March" seldom means these
END_DATE_COST, BIRTH_DATE_COST = 0.25, 0.8
# what a date gains that shares a word with a link of the reading
SAME_EVENT_GAIN = 0.3
# the cost of a step away, as a share of its path cost, and of a day where a year is meant
STEP_COST_SHARE, DAY_COST = 0.3, 0.1


def nearby_dates(state: ParseState, graph: SchemaGraph) -> list[tuple[Ref, float]]:
    """Return the dates and years of the things in the reading, or one step away, the cheapest first."""
    costs: dict[Ref, float] = {}
    event = _event_words(state, graph)
    for node in [ref.node for ref in state.nodes] or [each.index for each in graph.base_nodes]:
        distances = {node: 0.0}
        for step in graph.steps[node]:
            distances.setdefault(step.target, STEP_COST_SHARE * step.cost)
        for target, distance in distances.items():
            for predicate in filter(graph.is_date, graph.literals[target]):
                ref = Ref(target, predicate)
                cost = distance + (0.0 if graph.about(predicate).datatype == "year" else DAY_COST)
                if event & set(graph.words[predicate]):
                    # "born in Rome after 1990": by the day of birth
                    cost -= SAME_EVENT_GAIN + later_date_cost(ref, graph)
                costs[ref] = min(costs.get(ref, cost), cost)
    return sorted(costs.items(), key=lambda item: (item[1], item[0]))[:MAX_DATES]


def _event_words(state: ParseState, graph: SchemaGraph) -> set[str]:
    """The words of the links in a reading, without those that do not tell what happened."""
    named = {ref.via for link in state.links if link.kind == "property" for ref in link.refs if ref.via}
    known = language().words
    idle = function_words() | known["generic"] | known["time"] | nouns_of_kind("places")
    return {word for iri in named for word in graph.words[iri]} - idle


def later_date_cost(ref: Ref, graph: SchemaGraph) -> float:
    """Return the cost of a date of birth, or of an end: things are "in March" if they begin then."""
    words, known = set(graph.words[ref.predicate]), language().words
    if known["life"] & words:
        return BIRTH_DATE_COST
    return END_DATE_COST if known["ending"] & words else 0.0
