"""Rules for words that say how things are asked for: a cue at hand + ParseState -> further States."""

from collections.abc import Callable, Iterator, Mapping

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE, exclusive_conditions
from nacre.understanding.parsing.modifier_rules.ongoing import now
from nacre.understanding.parsing.modifier_rules.ordering import direction, order, order_by_count, ordered
from nacre.understanding.parsing.modifier_rules.persons import nearest_person_refs
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
from nacre.understanding.question.types import Aggregation, Condition, Cue, Ordering, Ref, Target, token_mask

CueRule = Callable[[ParseState, Cue, ParseContext], Iterator[ParseState]]


def cue(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """All ways to take a cue."""
    mask = token_mask(found.start, found.end)
    new = state._replace(covered=state.covered | mask, score=state.score + CUE_GAIN * (found.end - found.start))
    yield from CUE_RULES[found.kind](new, found, context)


def _open(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if found.start == 0 or state.mode == "T":
        yield state._replace(last="open")
    else:
        state = drop_open_property(state)
        yield state.apply_rule("new target list", -0.1, mode="T", next_role="", last="open")


def _aggregate(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if found.kind in state.pending_aggregates or len(state.pending_aggregates) > 3:
        return
    if state.next_role == "group":
        # "for each class the average": what things are grouped by was said before
        return
    if found.kind == "count":
        yield from order_by_count(state)
    if found.kind == "count" and state.rank is not None and state.rank.common:
        # "with the most common number of pages": what a property is called
        yield state.apply_rule("number in aggregate", 0.1, last="rank")
        return
    if found.kind == "count" and state.rank is not None and state.owner is not None and state.last != "rank":
        # "the top 3 towers by number of steps"
        yield state.apply_rule("number in aggregate", 0.1, last="rank")
    if found.kind == "count" and state.last == "aggregate" and state.pending_aggregates[-1:] not in ((), ("count",)):
        # "the average number of visitors": what a property is called
        yield state.apply_rule("number in aggregate", 0.1)
    said = state.targets[-1] if state.targets else None
    owned = said is not None and state.last == "class" and state.owner == said.ref.thing
    # "how many nights on average" is no total
    total = said is not None and said.function == "sum" and found.kind == "avg"
    plain = said is not None and said.ref.predicate and (total or not said.function)
    if plain and (state.pending_is_target or owned or state.group) and _can_be(found.kind, said, context):
        # "how many hours do they train on average", "the area of all the states combined"
        after = state.targets[-1]._replace(function=found.kind)  # type: ignore[arg-type]
        yield state.apply_rule("aggregate after target", -0.1, targets=(*state.targets[:-1], after), last="aggregate")
    asks: tuple[Aggregation, ...] = (*state.pending_aggregates, found.kind)  # type: ignore[arg-type]
    if state.comparison is not None and state.comparison[1] is None:
        asks = (found.kind,)  # type: ignore[assignment]
    yield state._replace(
        pending_aggregates=asks, last="aggregate", shared_aggregates=(), trace=(*state.trace, f"aggregate {found.kind}")
    )


def _can_be(function: str, said: Target | None, context: ParseContext) -> bool:
    """Whether a value that was asked for may have been meant as such a number: nothing is the average of texts."""
    numeric = said is not None and context.graph.is_numeric(said.ref.predicate)
    return function in ("max", "min") or (numeric and function in ("avg", "sum"))


def _most(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if state.rank is None or not state.rank.concepts:
        # after "average, minimum and" it is an aggregate
        cost = RANK_AFTER_AGGREGATE if state.pending_aggregates else 0.0
        measuring = any(c.kind == "superlative" and c.end == found.end for c in context.question.cues)
        said = {t.norm for t in context.question.tokens[found.start : found.end]}
        restricts = state.mode == "C" or (
            state.last in ("of", "prop") and not any(t.ref.predicate for t in state.targets)
        )
        common = restricts and not state.next_role and bool(said & language().words["common"])
        rank = PendingSuperlative(found.value == "up", (), not measuring, common)
        if state.rank is not None and state.rank.descending != rank.descending:
            # of "the highest and lowest price" the first is lost
            cost += UNSETTLED_COST
        yield state._replace(rank=rank, last="rank", next_role="", score=state.score - cost)


def _superlative(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if state.rank is not None and state.rank.concepts:
        return
    direction, _, concepts = found.value.partition(" ")
    rank = PendingSuperlative(direction == "up", tuple(concepts.split("|")))
    done = _dated_before(state, found, context)
    if done is None:
        yield state._replace(rank=rank, last="rank", next_role="")
    if state.owner is not None and state.order is None:
        # "the student who is oldest"
        options = (
            measured_properties(context.graph, state.owner.node, rank.concepts)[:2]
            if done is None
            else [(done, False, 0.0)]
        )
        for ref, reverse, cost in options:
            order = Ordering(ref, rank.descending != reverse, "", state.limit or 1)
            after = add_schema_node(state, ref, context)
            yield after.apply_rule("superlative after class", 0.1 - cost, order=order, limit=0, last="rank")
            if state.pending_is_target and state.targets[-1:] == (Target(ref),):
                # "which artist joined last": the date says only who it is
                yield after.apply_rule(
                    "superlative after class", 0.1 - cost, order=order, limit=0, last="rank",
                    targets=state.targets[:-1], pending_property=None, pending_is_target=False,
                )  # fmt: skip


def _dated_before(state: ParseState, found: Cue, context: ParseContext) -> Ref | None:
    """The date of what "first" or "last" stands right after: what was paid last is told by when it was paid."""
    word = context.question.tokens[found.start].norm
    if (
        word not in english_data()["at_end"]
        or not state.links
        or state.links[-1].end != found.start
        or state.owner is None
    ):
        return None
    refs = [r for r in state.links[-1].refs if r.predicate and r.node == state.owner.node]
    return next((r for r in refs if context.graph.is_date(r.predicate)), None)


def _degree(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(degree=tuple(found.value.split("|")), last="degree")


def _comparative(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    op, _, concepts = found.value.partition(" ")
    if state.owner is not None:
        for ref, reverse, cost in measured_properties(context.graph, state.owner.node, tuple(concepts.split("|")))[:2]:
            turned = {">": "<", "<": ">"}[op] if reverse else op
            yield add_schema_node(drop_open_property(state), ref, context).apply_rule(
                "comparative",
                -cost,
                pending_property=ref,
                pending_is_target=False,
                comparison=(turned, None),
                mode="C",
                last="compare",
            )


def _group(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    after = context.question.tokens[found.end : found.end + 1]
    if after and after[0].norm in language().words["altogether"]:
        # "the highest rate across all counties" is one number
        yield state._replace(last="of")
        return
    if found.value == "weak" and any(c.kind in ("direction", "ordered") for c in context.question.cues):
        # "the sites by size, largest first"
        yield drop_open_property(state).apply_rule(
            "order weak", 0.0, next_role="order up", last="order", pending_aggregates=(), shared_aggregates=()
        )
    if found.value == "weak":
        if state.targets and any(t.function for t in state.targets):
            yield drop_open_property(state).apply_rule("group weak", -0.1, next_role="group", last="group")
        return
    yield drop_open_property(state)._replace(
        next_role="group", last="group", shared_aggregates=(), trace=(*state.trace, "group cue")
    )


def _negation(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if context.question.tokens[found.start].norm == "nobody":
        # "the team that has nobody in it"
        for ref in nearest_person_refs(state, context):
            none = Condition(ref, "exists", (), True)
            yield add_schema_node(drop_open_property(state), ref, context).apply_rule(
                "without persons", 0.3, conditions=(*state.conditions, none), mode="C", last="class"
            )
    yield state._replace(negated=True, last="negation", mode="C", next_role="", trace=(*state.trace, "negation"))


def _both(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(join="both", last="and", trace=(*state.trace, "both"))


def _or(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(join="or", last="and", trace=(*state.trace, "or"))


def _and(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="and")


def _only(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    last = state.conditions[-1] if state.conditions and state.last == "value" else None
    held = exclusive_conditions(last, context) if last is not None else ()
    if held:
        # "speaks English only"
        yield state.apply_rule(ONLY_RULE, 0.3, conditions=(*state.conditions[:-1], *held))
    words, known = context.question.tokens, language().words
    asked = known["asking_which"]
    shows = any(
        c.kind == "open" and c.end == found.start and words[c.start].norm not in asked for c in context.question.cues
    )
    # "the only ship", "show only the ships" say nothing of what ships have
    bare = found.start and words[found.start - 1].norm not in known["article"] and not shows
    yield state._replace(exclusive=bool(bare))


def _distinct(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(distinct=True, trace=(*state.trace, "distinct"))


def _contains(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if state.pending_property is not None:
        new = state._replace(text_match=found.value, mode="C", trace=(*state.trace, "like"))
        yield new._replace(**last_target_as_condition(state))
        if state.pending_is_target:
            yield new._replace(pending_is_target=False)
    else:
        yield state._replace(text_match=found.value, mode="C", trace=(*state.trace, "like"))


def _compare(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(comparison=(found.value, None), last="compare", mode="C")


# words between a bound and the number that it is of, at most
AFTER_BOUND = 3


def _bound(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    last = state.conditions[-1] if state.conditions else None
    if any(found.end <= n.start <= found.end + AFTER_BOUND for n in context.question.numbers):
        # "and below age 30" bounds what follows
        return
    if last is not None and last.op == "=" and last.values and isinstance(last.values[0], float | int):
        bound = last._replace(op=found.value)
        yield state.apply_rule("bound after number", 0.3, conditions=(*state.conditions[:-1], bound), last="value")
    elif state.comparison is not None and state.comparison[0] == "=" and state.comparison[1] is not None:
        yield state.apply_rule("bound after number", 0.3, comparison=(found.value, state.comparison[1]))


def _any(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if state.comparison is not None and state.comparison[1] is None:
        yield state._replace(
            pending_aggregates=("max" if state.comparison[0].startswith(">") else "min",), last="aggregate"
        )
    yield state


def _having(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    if state.mode == "T" and not state.pending_aggregates:
        keep = state if state.pending_is_target else drop_open_property(state)
        yield keep._replace(mode="C", last="having", next_role="", shared_aggregates=())
    yield state._replace(last="having" if state.mode == "C" else state.last)


def _of(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="of")


def _missing(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Whose phone number is missing"."""
    if state.pending_property is None or not state.pending_property.predicate:
        yield from _negation(state, found, context)
        return
    lacking = Condition(state.pending_property, "unknown", (), state.negated)
    yield state.apply_rule(
        "property missing", 0.3, conditions=(*state.conditions, lacking), pending_property=None, negated=False, last="value",
        **last_target_as_condition(state),
    )  # fmt: skip


def _share(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
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
    if state.comparison is None or state.comparison[1] is not None or not state.pending_aggregates:
        return
    left = state.pending_property
    if left is not None and left.predicate:
        condition = Condition(
            left, state.comparison[0], (), state.negated, against=Target(left, state.pending_aggregates[0])
        )
        changes = {"pending_aggregates": (), **last_target_as_condition(state._replace(pending_aggregates=()))}
        yield state.apply_rule(
            "against own aggregate", 0.4, conditions=(*state.conditions, condition), comparison=None, pending_property=None,
            negated=False, **changes,
        )  # fmt: skip
