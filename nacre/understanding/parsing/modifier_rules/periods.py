"""Rules for years and months that things are counted by: a word of time + ParseState -> further States."""

from collections.abc import Iterator

from nacre.language.tokens import Token
from nacre.understanding.parsing.modifier_rules.dates import later_date_cost, nearby_dates
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Target

# what a word of time is worth, less than a property of that name
SAID = 0.8


def is_period_word(token: Token) -> bool:
    """Whether a word may name a part of a date that things are counted by."""
    return token.lemma in ("year", "month")


def group_by_period(state: ParseState, context: ParseContext, at: int) -> Iterator[ParseState]:
    """ "loans per year", "in which month did most races start": the years of a date."""
    said = context.question.tokens[at].lemma
    grouped = state.next_role == "group"
    if not (grouped or _places(state, context, at)):
        return
    covered = state.covered | 1 << at
    for found, cost in nearby_dates(state, context.graph):
        if context.graph.about(found.predicate).datatype not in ("date", "datetime"):
            continue
        ref = found._replace(part=said)  # type: ignore[arg-type]
        new = add_schema_node(state._replace(covered=covered), ref, context)
        gain = SAID - cost - later_date_cost(found, context.graph)
        if grouped:
            yield new.apply_rule("group by time", gain, group=(*state.group, ref), next_role="", mode="T", last="prop")
        else:
            yield new.apply_rule("time of most", gain, targets=(Target(ref),), last="prop", shared_aggregates=())


def _places(state: ParseState, context: ParseContext, at: int) -> bool:
    """Whether the time is asked for that has the most of something: "which year had the most ..."."""
    later = (c for c in context.question.cues if c.start > at)
    return state.mode == "T" and not state.targets and any(c.kind == "most" for c in later)
