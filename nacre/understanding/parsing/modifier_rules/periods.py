"""Rules for years and months by which things are counted: ParseState + token -> ParseStates ("loans per year")."""

from collections.abc import Iterator

from nacre.language.tokens import Token
from nacre.understanding.parsing.modifier_rules.dates import later_date_cost, nearby_dates
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Target, token_mask

# what a word of time gains: less than a property of that name
PERIOD_GAIN = 0.8


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
