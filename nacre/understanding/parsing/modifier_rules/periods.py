"""Rules for years and months that things are counted by: a word of time + State -> further States."""

from collections.abc import Iterator

from nacre.language.tokens import Token
from nacre.understanding.parsing.modifier_rules.dates import dates_near, later
from nacre.understanding.parsing.state import Reader, State, with_node
from nacre.understanding.question.types import Target

# what a word of time is worth, less than a property of that name
SAID = 0.8


def names_time(token: Token) -> bool:
    """Whether a word may name a part of a date that things are counted by."""
    return token.lemma in ("year", "month")


def by_time(state: State, reader: Reader, at: int) -> Iterator[State]:
    """ "loans per year", "in which month did most races start": the years of a date."""
    said = reader.question.tokens[at].lemma
    grouped = state.want == "group"
    if not (grouped or _places(state, reader, at)):
        return
    covered = state.covered | 1 << at
    for found, cost in dates_near(state, reader.graph):
        if reader.graph.about(found.predicate).datatype not in ("date", "datetime"):
            continue
        ref = found._replace(part=said)  # type: ignore[arg-type]
        new = with_node(state._replace(covered=covered), ref, reader)
        gain = SAID - cost - later(found, reader.graph)
        if grouped:
            yield new.then("group by time", gain, group=(*state.group, ref), want="", mode="T", last="prop")
        else:
            yield new.then("time of most", gain, targets=(Target(ref),), last="prop", sticky=())


def _places(state: State, reader: Reader, at: int) -> bool:
    """Whether the time is asked for that has the most of something: "which year had the most ..."."""
    later = (c for c in reader.question.cues if c.start > at)
    return state.mode == "T" and not state.targets and any(c.kind == "most" for c in later)
