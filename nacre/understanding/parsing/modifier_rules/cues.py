"""Rules for words that say how things are asked for: a cue at hand + ParseState -> further States."""

from collections.abc import Callable, Iterator, Mapping

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.mention_rules.exclusive import ONLY_RULE, exclusive_conditions
from nacre.understanding.parsing.mention_rules.question_words import nearest_person_refs
from nacre.understanding.parsing.modifier_rules.ongoing import now
from nacre.understanding.parsing.modifier_rules.ordering import direction, order, order_by_count, ordered
from nacre.understanding.parsing.state import (
    CUE_GAIN,
    RANK_AFTER_AGGREGATE,
    UNSETTLED_COST,
    ParseContext,
    ParseState,
    PendingSuperlative,
    add_schema_node,
    drop_open_property,
    last_target_as_condition,
)
from nacre.understanding.question.types import Aggregation, Condition, Cue, Ordering, Ref, Target

CueRule = Callable[[ParseState, Cue, ParseContext], Iterator[ParseState]]


def cue(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    """All ways to take a cue."""
    mask = ((1 << (found.end - found.start)) - 1) << found.start
    new = state._replace(covered=state.covered | mask, score=state.score + CUE_GAIN * (found.end - found.start))
    yield from CUE_RULES[found.kind](new, found, reader)


def _open(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if found.start == 0 or state.mode == "T":
        yield state._replace(last="open")
    else:
        state = drop_open_property(state)
        yield state.then("new target list", -0.1, mode="T", want="", last="open")


def _aggregate(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if found.kind in state.asks or len(state.asks) > 3:
        return
    if state.want == "group":
        # "for each class the average": what things are grouped by was said before
        return
    if found.kind == "count":
        yield from order_by_count(state)
    if found.kind == "count" and state.rank is not None and state.rank.common:
        # "with the most common number of pages": what a property is called
        yield state.then("number in aggregate", 0.1, last="rank")
        return
    if found.kind == "count" and state.rank is not None and state.owner is not None and state.last != "rank":
        # "the top 3 towers by number of steps"
        yield state.then("number in aggregate", 0.1, last="rank")
    if found.kind == "count" and state.last == "aggregate" and state.asks[-1:] not in ((), ("count",)):
        # "the average number of visitors": what a property is called
        yield state.then("number in aggregate", 0.1)
    said = state.targets[-1] if state.targets else None
    owned = said is not None and state.last == "class" and state.owner == Ref(said.ref.node, "", said.ref.slot)
    # "how many nights on average" is no total
    total = said is not None and said.function == "sum" and found.kind == "avg"
    plain = said is not None and said.ref.predicate and (total or not said.function)
    if plain and (state.from_target or owned or state.group) and _can_be(found.kind, said, reader):
        # "how many hours do they train on average", "the area of all the states combined"
        after = state.targets[-1]._replace(function=found.kind)  # type: ignore[arg-type]
        yield state.then("aggregate after target", -0.1, targets=(*state.targets[:-1], after), last="aggregate")
    asks: tuple[Aggregation, ...] = (*state.asks, found.kind)  # type: ignore[arg-type]
    if state.compare is not None and state.compare[1] is None:
        asks = (found.kind,)  # type: ignore[assignment]
    yield state._replace(asks=asks, last="aggregate", sticky=(), trace=(*state.trace, f"aggregate {found.kind}"))


def _can_be(function: str, said: Target | None, reader: ParseContext) -> bool:
    """Whether a value that was asked for may have been meant as such a number: nothing is the average of texts."""
    numeric = said is not None and reader.graph.is_numeric(said.ref.predicate)
    return function in ("max", "min") or (numeric and function in ("avg", "sum"))


def _most(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if state.rank is None or not state.rank.concepts:
        # after "average, minimum and" it is an aggregate
        cost = RANK_AFTER_AGGREGATE if state.asks else 0.0
        measuring = any(c.kind == "superlative" and c.end == found.end for c in reader.question.cues)
        said = {t.norm for t in reader.question.tokens[found.start : found.end]}
        restricts = state.mode == "C" or (
            state.last in ("of", "prop") and not any(t.ref.predicate for t in state.targets)
        )
        common = restricts and not state.want and bool(said & language().words["common"])
        rank = PendingSuperlative(found.value == "up", (), not measuring, common)
        if state.rank is not None and state.rank.descending != rank.descending:
            # of "the highest and lowest price" the first is lost
            cost += UNSETTLED_COST
        yield state._replace(rank=rank, last="rank", want="", score=state.score - cost)


def _superlative(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if state.rank is not None and state.rank.concepts:
        return
    direction, _, concepts = found.value.partition(" ")
    rank = PendingSuperlative(direction == "up", tuple(concepts.split("|")))
    done = _dated_before(state, found, reader)
    if done is None:
        yield state._replace(rank=rank, last="rank", want="")
    if state.owner is not None and state.order is None:
        # "the student who is oldest"
        options = (
            measured_properties(reader.graph, state.owner.node, rank.concepts)[:2]
            if done is None
            else [(done, False, 0.0)]
        )
        for ref, reverse, cost in options:
            order = Ordering(ref, rank.descending != reverse, "", state.limit or 1)
            after = add_schema_node(state, ref, reader)
            yield after.then("superlative after class", 0.1 - cost, order=order, limit=0, last="rank")
            if state.from_target and state.targets[-1:] == (Target(ref),):
                # "which artist joined last": the date says only who it is
                yield after.then(
                    "superlative after class", 0.1 - cost, order=order, limit=0, last="rank",
                    targets=state.targets[:-1], prop=None, from_target=False,
                )  # fmt: skip


def _dated_before(state: ParseState, found: Cue, reader: ParseContext) -> Ref | None:
    """The date of what "first" or "last" stands right after: what was paid last is told by when it was paid."""
    word = reader.question.tokens[found.start].norm
    if (
        word not in english_data()["at_end"]
        or not state.links
        or state.links[-1].end != found.start
        or state.owner is None
    ):
        return None
    refs = [r for r in state.links[-1].refs if r.predicate and r.node == state.owner.node]
    return next((r for r in refs if reader.graph.is_date(r.predicate)), None)


def _degree(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(degree=tuple(found.value.split("|")), last="degree")


def _comparative(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    op, _, concepts = found.value.partition(" ")
    if state.owner is not None:
        for ref, reverse, cost in measured_properties(reader.graph, state.owner.node, tuple(concepts.split("|")))[:2]:
            turned = {">": "<", "<": ">"}[op] if reverse else op
            yield add_schema_node(drop_open_property(state), ref, reader).then(
                "comparative", -cost, prop=ref, from_target=False, compare=(turned, None), mode="C", last="compare"
            )


def _group(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    after = reader.question.tokens[found.end : found.end + 1]
    if after and after[0].norm in language().words["altogether"]:
        # "the highest rate across all counties" is one number
        yield state._replace(last="of")
        return
    if found.value == "weak" and any(c.kind in ("direction", "ordered") for c in reader.question.cues):
        # "the sites by size, largest first"
        yield drop_open_property(state).then("order weak", 0.0, want="order up", last="order", asks=(), sticky=())
    if found.value == "weak":
        if state.targets and any(t.function for t in state.targets):
            yield drop_open_property(state).then("group weak", -0.1, want="group", last="group")
        return
    yield drop_open_property(state)._replace(want="group", last="group", sticky=(), trace=(*state.trace, "group cue"))


def _negation(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if reader.question.tokens[found.start].norm in language().words["nobody"]:
        # "the team that has nobody in it"
        for ref in nearest_person_refs(state, reader):
            none = Condition(ref, "exists", (), True)
            yield add_schema_node(drop_open_property(state), ref, reader).then(
                "without persons", 0.3, conditions=(*state.conditions, none), mode="C", last="class"
            )
    yield state._replace(negated=True, last="negation", mode="C", want="", trace=(*state.trace, "negation"))


def _both(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(join="both", last="and", trace=(*state.trace, "both"))


def _or(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(join="or", last="and", trace=(*state.trace, "or"))


def _and(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="and")


def _only(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    last = state.conditions[-1] if state.conditions and state.last == "value" else None
    held = exclusive_conditions(last, reader) if last is not None else ()
    if held:
        # "speaks English only"
        yield state.then(ONLY_RULE, 0.3, conditions=(*state.conditions[:-1], *held))
    words, known = reader.question.tokens, language().words
    asked = known["asking_which"]
    shows = any(
        c.kind == "open" and c.end == found.start and words[c.start].norm not in asked for c in reader.question.cues
    )
    # "the only ship", "show only the ships" say nothing of what ships have
    bare = found.start and words[found.start - 1].norm not in known["article"] and not shows
    yield state._replace(only=bool(bare))


def _distinct(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(distinct=True, trace=(*state.trace, "distinct"))


def _contains(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if state.prop is not None:
        new = state._replace(like=found.value, mode="C", trace=(*state.trace, "like"))
        yield new._replace(**last_target_as_condition(state))
        if state.from_target:
            yield new._replace(from_target=False)
    else:
        yield state._replace(like=found.value, mode="C", trace=(*state.trace, "like"))


def _compare(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(compare=(found.value, None), last="compare", mode="C")


# words between a bound and the number that it is of, at most
AFTER_BOUND = 3


def _bound(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    last = state.conditions[-1] if state.conditions else None
    if any(found.end <= n.start <= found.end + AFTER_BOUND for n in reader.question.numbers):
        # "and below age 30" bounds what follows
        return
    if last is not None and last.op == "=" and last.values and isinstance(last.values[0], float | int):
        bound = last._replace(op=found.value)
        yield state.then("bound after number", 0.3, conditions=(*state.conditions[:-1], bound), last="value")
    elif state.compare is not None and state.compare[0] == "=" and state.compare[1] is not None:
        yield state.then("bound after number", 0.3, compare=(found.value, state.compare[1]))


def _any(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if state.compare is not None and state.compare[1] is None:
        yield state._replace(asks=("max" if state.compare[0].startswith(">") else "min",), last="aggregate")
    yield state


def _having(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    if state.mode == "T" and not state.asks:
        keep = state if state.from_target else drop_open_property(state)
        yield keep._replace(mode="C", last="having", want="", sticky=())
    yield state._replace(last="having" if state.mode == "C" else state.last)


def _of(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="of")


def _missing(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    """ "Whose phone number is missing"."""
    if state.prop is None or not state.prop.predicate:
        yield from _negation(state, found, reader)
        return
    lacking = Condition(state.prop, "unknown", (), state.negated)
    yield state.then(
        "property missing", 0.3, conditions=(*state.conditions, lacking), prop=None, negated=False, last="value",
        **last_target_as_condition(state),
    )  # fmt: skip


def _share(state: ParseState, found: Cue, reader: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="of")


CUE_RULES: Mapping[str, CueRule] = {
    "open": _open,
    "count": _aggregate,
    "avg": _aggregate,
    "sum": _aggregate,
    "max": _aggregate,
    "min": _aggregate,
    "most": _most,
    "superlative": _superlative,
    "comparative": _comparative,
    "degree": _degree,
    "group": _group,
    "order": order,
    "direction": direction,
    "ordered": ordered,
    "negation": _negation,
    "missing": _missing,
    "now": now,
    "both": _both,
    "either": _or,
    "or": _or,
    "and": _and,
    "only": _only,
    "distinct": _distinct,
    "contains": _contains,
    "compare": _compare,
    "bound": _bound,
    "any": _any,
    "having": _having,
    "of": _of,
    "share": _share,
}


def compare_with_own_aggregate(state: ParseState) -> Iterator[ParseState]:
    """ "above the average": of the property that waits for its value."""
    if state.compare is None or state.compare[1] is not None or not state.asks:
        return
    left = state.prop
    if left is not None and left.predicate:
        condition = Condition(left, state.compare[0], (), state.negated, against=Target(left, state.asks[0]))
        changes = {"asks": (), **last_target_as_condition(state._replace(asks=()))}
        yield state.then(
            "against own aggregate", 0.4, conditions=(*state.conditions, condition), compare=None, prop=None,
            negated=False, **changes,
        )  # fmt: skip
