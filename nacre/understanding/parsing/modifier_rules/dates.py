"""The dates that a bare year or month may be of, and the years and months by which things are counted."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import function_words, nouns_of_kind
from nacre.language.tokens import Token
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Ref, Target, token_mask

# how many dates are tried
MAX_DATES = 4
# the cost of a date by which something ends, and of a date of birth: "in March" seldom means these
END_DATE_COST, BIRTH_DATE_COST = 0.25, 0.8
# what a date gains that shares a word with a link of the reading
SAME_EVENT_GAIN = 0.3
# the cost of a step away, as a share of its path cost, and of a day where a year is meant
STEP_COST_SHARE, DAY_COST = 0.3, 0.1
# what a word of time gains: less than a property of that name
PERIOD_GAIN = 0.8


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


def is_period_word(token: Token) -> bool:
    """Whether a word may name the part of a date by which things are counted."""
    return token.lemma in ("year", "month")


def group_by_period(state: ParseState, context: ParseContext, at: int) -> Iterator[ParseState]:
    """ "Loans per year", "in which month did most races start": groups by a part of a date."""
    part = context.question.tokens[at].lemma
    is_group = state.next_role == "group"
    if not is_group and not _asks_for_top_period(state, context, at):
        return
    covered = state.covered | token_mask(at, at + 1)
    for date, cost in nearby_dates(state, context.graph):
        if context.graph.about(date.predicate).datatype not in ("date", "datetime"):
            continue
        ref = date._replace(part=part)  # type: ignore[arg-type]
        new = add_schema_node(state._replace(covered=covered), ref, context)
        gain = PERIOD_GAIN - cost - later_date_cost(date, context.graph)
        if is_group:
            group = (*state.group, ref)
            yield new.apply_rule("group by time", gain, group=group, next_role="", mode="T", last="prop")
        else:
            yield new.apply_rule("time of most", gain, targets=(Target(ref),), last="prop", shared_aggregates=())


def _asks_for_top_period(state: ParseState, context: ParseContext, at: int) -> bool:
    """Whether the period with the most of something is asked for: "which year had the most ..."."""
    has_superlative = any(cue.kind == "most" and cue.start > at for cue in context.question.cues)
    return state.mode == "T" and not state.targets and has_superlative
