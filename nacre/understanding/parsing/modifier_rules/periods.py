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


def group_by_period(state: ParseState, reader: ParseContext, at: int) -> Iterator[ParseState]:
    """ "loans per year", "in which month did most races start": the years of a date."""
    said = reader.question.tokens[at].lemma
    grouped = state.want == "group"
    if not (grouped or _places(state, reader, at)):
        return
    covered = state.covered | 1 << at
    for found, cost in nearby_dates(state, reader.graph):
        if reader.graph.about(found.predicate).datatype not in ("date", "datetime"):
            continue
        ref = found._replace(part=said)  # type: ignore[arg-type]
        new = add_schema_node(state._replace(covered=covered), ref, reader)
        gain = SAID - cost - later_date_cost(found, reader.graph)
        if grouped:
            yield new.then("group by time", gain, group=(*state.group, ref), want="", mode="T", last="prop")
        else:
            yield new.then("time of most", gain, targets=(Target(ref),), last="prop", sticky=())


def _places(state: ParseState, reader: ParseContext, at: int) -> bool:
    """Whether the time is asked for that has the most of something: "which year had the most ..."."""
    later = (c for c in reader.question.cues if c.start > at)
    return state.mode == "T" and not state.targets and any(c.kind == "most" for c in later)
