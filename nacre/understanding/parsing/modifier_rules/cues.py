"""Rules for words that say how things are asked for: ParseState + Cue -> ParseStates, by the kind of the cue."""

from collections.abc import Callable, Iterator, Mapping

from nacre.language.base import language
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE, exclusive_conditions
from nacre.understanding.parsing.modifier_rules.ongoing import ongoing_cue
from nacre.understanding.parsing.modifier_rules.persons import nearest_person_refs
from nacre.understanding.parsing.modifier_rules.ranking_cues import (
    comparative_cue,
    degree_cue,
    direction_cue,
    most_cue,
    order_by_count,
    order_cue,
    ordered_cue,
    superlative_cue,
)
from nacre.understanding.parsing.state import (
    CUE_GAIN,
    ParseContext,
    ParseState,
    add_schema_node,
    drop_open_property,
    last_target_as_condition,
)
from nacre.understanding.question.types import Aggregation, Condition, Cue, token_mask

CueRule = Callable[[ParseState, Cue, ParseContext], Iterator[ParseState]]

# how many words may stand between a bound and its number
MAX_WORDS_AFTER_BOUND = 3
# how many aggregates may wait for one property
MAX_PENDING_AGGREGATES = 3


def apply_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """Yield all ways to take a cue."""
    covered = state.covered | token_mask(cue.start, cue.end)
    new = state._replace(covered=covered, score=state.score + CUE_GAIN * (cue.end - cue.start))
    yield from CUE_RULES[cue.kind](new, cue, context)


def _open(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Which", "list": targets follow, also after a condition."""
    if cue.start == 0 or state.mode == "T":
        yield state._replace(last="open")
    else:
        yield drop_open_property(state).apply_rule("new target list", -0.1, mode="T", next_role="", last="open")


def _aggregate(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "The average", "how many": an aggregate of what comes next, or of the target before it."""
    if cue.kind in state.pending_aggregates or len(state.pending_aggregates) > MAX_PENDING_AGGREGATES:
        return
    if state.next_role == "group":
        # "for each class the average": what things are grouped by was said before
        return
    if cue.kind == "count":
        yield from order_by_count(state)
        if state.rank is not None and state.rank.common:
            # "with the most common number of pages": the name of a property
            yield state.apply_rule("number in aggregate", 0.1, last="rank")
            return
        yield from _number_in_name(state)
    yield from _aggregate_of_target(state, cue, context)
    function: Aggregation = cue.kind  # type: ignore[assignment]
    waits_for_value = state.comparison is not None and state.comparison[1] is None
    functions = (function,) if waits_for_value else (*state.pending_aggregates, function)
    yield state.apply_rule(
        f"aggregate {function}", pending_aggregates=functions, last="aggregate", shared_aggregates=()
    )


def _number_in_name(state: ParseState) -> Iterator[ParseState]:
    """ "Number of" as a part of a property's name."""
    if state.rank is not None and state.owner is not None and state.last != "rank":
        # "the top 3 towers by number of steps"
        yield state.apply_rule("number in aggregate", 0.1, last="rank")
    if state.last == "aggregate" and state.pending_aggregates[-1:] not in ((), ("count",)):
        # "the average number of visitors"
        yield state.apply_rule("number in aggregate", 0.1)


def _aggregate_of_target(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "How many hours do they train on average", "the area of all the states combined"."""
    if not state.targets:
        return
    target = state.targets[-1]
    # "how many nights on average" is no total
    is_total = target.function == "sum" and cue.kind == "avg"
    is_plain = target.ref.predicate and (is_total or not target.function)
    is_owned = state.last == "class" and state.owner == target.ref.thing
    if not is_plain or not (state.pending_is_target or is_owned or state.group):
        return
    # texts have no average
    if cue.kind in ("max", "min") or (cue.kind in ("avg", "sum") and context.graph.is_numeric(target.ref.predicate)):
        aggregated = target._replace(function=cue.kind)  # type: ignore[arg-type]
        targets = (*state.targets[:-1], aggregated)
        yield state.apply_rule("aggregate after target", -0.1, targets=targets, last="aggregate")


def _group(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "For each", "by": what comes next is what things are grouped by."""
    after = context.question.tokens[cue.end : cue.end + 1]
    if after and after[0].norm in language().words["altogether"]:
        # "the highest rate across all counties" is one number
        yield state._replace(last="of")
        return
    closed = drop_open_property(state)
    if cue.value != "weak":
        # the weight of the rule was learned from traces without the property that is dropped here
        trace = (*state.trace, "group cue")
        yield closed._replace(next_role="group", last="group", shared_aggregates=(), trace=trace)
        return
    if any(other.kind in ("direction", "ordered") for other in context.question.cues):
        # "the sites by size, largest first"
        yield closed.apply_rule(
            "order weak", next_role="order up", last="order", pending_aggregates=(), shared_aggregates=()
        )
    if state.targets and any(target.function for target in state.targets):
        yield closed.apply_rule("group weak", -0.1, next_role="group", last="group")


def _negation(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Not", "without", "nobody"."""
    if context.question.tokens[cue.start].norm == "nobody":
        # "the team that has nobody in it"
        for ref in nearest_person_refs(state, context):
            missing = Condition(ref, "exists", (), True)
            yield add_schema_node(drop_open_property(state), ref, context).apply_rule(
                "without persons", 0.3, conditions=(*state.conditions, missing), mode="C", last="class"
            )
    yield state.apply_rule("negation", negated=True, last="negation", mode="C", next_role="")


def _missing(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Whose phone number is missing"."""
    ref = state.pending_values
    if ref is None:
        # at the end of a question there is nothing to deny: "which rooms are empty"
        if cue.end < len(context.question.tokens):
            yield from _negation(state, cue, context)
        return
    yield state.apply_rule(
        "property missing",
        0.3,
        conditions=(*state.conditions, Condition(ref, "unknown", (), state.negated)),
        pending_property=None,
        negated=False,
        last="value",
        **last_target_as_condition(state),
    )


def _both(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state.apply_rule("both", join="both", last="and")


def _or(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state.apply_rule("or", join="or", last="and")


def _and(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="and")


def _of(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state._replace(last="of")


def _only(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Speaks English only", "speaks only English"."""
    before = state.conditions[-1] if state.conditions and state.last == "value" else None
    exclusive = exclusive_conditions(before, context) if before is not None else ()
    if exclusive:
        yield state.apply_rule(ONLY_RULE, 0.3, conditions=(*state.conditions[:-1], *exclusive))
    words, known = context.question.tokens, language().words
    # "the only ship", "show only the ships" do not say what ships have
    is_after_article = cue.start > 0 and words[cue.start - 1].norm in known["article"]
    is_after_request = any(
        other.kind == "open" and other.end == cue.start and words[other.start].norm not in known["asking_which"]
        for other in context.question.cues
    )
    yield state._replace(exclusive=cue.start > 0 and not is_after_article and not is_after_request)


def _distinct(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    yield state.apply_rule("distinct", distinct=True)


def _contains(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Starts with": a text follows, of the property before or after it."""
    new = state.apply_rule("like", text_match=cue.value, mode="C")
    if state.pending_property is None:
        yield new
        return
    yield new._replace(**last_target_as_condition(state))
    if state.pending_is_target:
        yield new._replace(pending_is_target=False)


def _compare(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "More than": what it is compared with follows."""
    yield state._replace(comparison=(cue.value, None), last="compare", mode="C")


def _bound(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "30 or more": a bound after its number."""
    if any(cue.end <= number.start <= cue.end + MAX_WORDS_AFTER_BOUND for number in context.question.numbers):
        # "and below age 30" bounds the number that follows
        return
    last = state.conditions[-1] if state.conditions else None
    if last is not None and last.op == "=" and last.values and isinstance(last.values[0], float | int):
        bound = last._replace(op=cue.value)
        yield state.apply_rule("bound after number", 0.3, conditions=(*state.conditions[:-1], bound), last="value")
    elif state.comparison is not None and state.comparison[0] == "=" and state.comparison[1] is not None:
        yield state.apply_rule("bound after number", 0.3, comparison=(cue.value, state.comparison[1]))


def _any(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Higher than any": more than the highest."""
    if state.comparison is not None and state.comparison[1] is None:
        extreme = "max" if state.comparison[0].startswith(">") else "min"
        yield state._replace(pending_aggregates=(extreme,), last="aggregate")
    yield state


def _having(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "With", "that have": a condition follows, or another column."""
    if state.mode == "T" and not state.pending_aggregates:
        closed = state if state.pending_is_target else drop_open_property(state)
        yield closed._replace(mode="C", last="having", next_role="", shared_aggregates=())
    yield state._replace(last="having" if state.mode == "C" else state.last)


CUE_RULES: Mapping[str, CueRule] = {
    "open": _open,
    "count": _aggregate,
    "avg": _aggregate,
    "sum": _aggregate,
    "max": _aggregate,
    "min": _aggregate,
    "most": most_cue,
    "superlative": superlative_cue,
    "comparative": comparative_cue,
    "degree": degree_cue,
    "group": _group,
    "order": order_cue,
    "direction": direction_cue,
    "ordered": ordered_cue,
    "negation": _negation,
    "missing": _missing,
    "now": ongoing_cue,
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
    "share": _of,
}
