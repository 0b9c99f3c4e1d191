"""Rules for a property as a column: ParseState + Ref -> ParseStates with it as a target, plain or aggregated."""

from collections.abc import Iterator
from typing import Any

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Ref, Target


def property_target(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext
) -> Iterator[ParseState]:
    """Yield the readings in which a property is asked for; `numeric` says if its values are numbers or dates."""
    if state.pending_aggregates:
        yield from _aggregate_target(state, new, ref, numeric, context)
        return
    pending: dict[str, Any] = {"pending_property": ref, "pending_is_target": True}
    if _is_counted_property(state, new, ref, context):
        counted = Target(ref, "count", _counts_values(new, ref, context))
        yield new.apply_rule("aggregate target", 0.4, targets=(*state.targets[:-1], counted), **pending)
    if _is_name_of(state, new, context) and ref.predicate and not numeric:
        named = Target(ref, "", state.targets[-1].distinct)
        targets = (*state.targets[:-1], named)
        yield new.apply_rule("name of value", 0.2, targets=targets, shared_aggregates=(), **pending)
    if state.shared_aggregates and state.last in ("and", "prop"):
        # "the average price and weight"
        targets = (*state.targets, *(Target(ref, function) for function in state.shared_aggregates))
        yield new.apply_rule(
            "aggregate shared", 0.0, targets=targets, shared_aggregates=state.shared_aggregates, **pending
        )
    targets = (*state.targets, Target(ref, "", state.distinct))
    yield new.apply_rule("target", 0.0, targets=targets, shared_aggregates=(), distinct=False, **pending)


def _aggregate_target(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext
) -> Iterator[ParseState]:
    """ "The average price": a property after an aggregate."""
    functions = state.pending_aggregates
    is_identifier = bool(ref.predicate) and context.graph.about(ref.predicate).role == "identifier"
    if (is_identifier or not numeric) and set(functions) & {"avg", "sum"}:
        # texts and identifiers have no average
        return
    pending: dict[str, Any] = {"pending_aggregates": (), "pending_property": ref, "pending_is_target": True}
    distinct = state.distinct or (bool(ref.predicate) and _counts_values(new, ref, context))
    aggregated = (Target(ref, function, distinct and function == "count") for function in functions)
    yield new.apply_rule(
        "aggregate target",
        0.2,
        targets=(*state.targets, *aggregated),
        shared_aggregates=functions,
        distinct=False,
        **pending,
    )
    has_total = numeric and not is_identifier and not context.graph.is_date(ref.predicate)
    if functions == ("count",) and has_total and not _is_intensive(ref.predicate, context):
        total = Target(ref, "sum")
        yield new.apply_rule("total for count", -0.1, targets=(*state.targets, total), **pending)
    if functions in (("sum",), ("count",)):
        # "the total points", "the number of seats" may be what a property holds
        targets = (*state.targets, Target(ref))
        yield new.apply_rule("plain target of total", -0.1, targets=targets, distinct=False, **pending)


def _counts_values(new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a count is of the different values of a property, and not of the things that have it.

    Values are counted if a thing has several, and if they only sort things ("how many colours are there"). Names,
    identifiers and amounts belong to one thing each, and "how many have a colour" counts things.
    """
    about = context.graph.about(ref.predicate)
    if not about.functional:
        return True
    words = context.graph.words[ref.predicate]
    numeric = context.graph.is_numeric(ref.predicate) and not context.graph.is_date(ref.predicate)
    sorts = not numeric or _is_intensive(ref.predicate, context)
    if not sorts or about.role != "fact" or (words and words[-1] in language().words["naming"]):
        return False
    if about.objects >= about.subjects:
        return False
    named = new.links[-1].start
    counting = max(
        (cue.end for cue in context.question.cues if cue.kind == "count" and cue.end <= named), default=named
    )
    verbs = language().words["owning"] | language().words["being"]
    return not any(token.norm in verbs for token in context.question.tokens[counting:named])


def _is_counted_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a counted class in the singular only modifies the property after it.

    "How many film directors are there" counts directors.
    """
    if not ref.predicate or not state.targets or len(new.links) < 2:
        return False
    owner, counted = new.links[-2:]
    words = context.question.tokens
    is_class_counted = state.targets[-1] == Target(Ref(ref.node), "count", state.targets[-1].distinct)
    # and not "how many films are there of each film genre"
    is_repeated = sum(x.kind == "class" and x.refs[0].node == ref.node for x in new.links) > 1
    is_adjacent = owner.kind == "class" and owner.end == counted.start
    is_adjacent &= is_plural(words[counted.end - 1].norm) and not is_plural(words[owner.end - 1].norm)
    return is_class_counted and is_adjacent and not is_repeated and not state.next_role


def _is_intensive(predicate: str, context: ParseContext) -> bool:
    """Whether a property is intensive, so that its values are not added up: "height"."""
    words = set(context.graph.words[predicate])
    return bool(words & language().words["intensive"]) and not words & language().words["counting"]


def _is_name_of(state: ParseState, new: ParseState, context: ParseContext) -> bool:
    """Whether the target before is only the word "name" of this property: "the names of the studios"."""
    if not state.targets or state.last not in ("of", "prop") or len(new.links) < 2:
        return False
    name, owner = new.links[-2:]
    words = context.question.tokens
    return (
        name.kind == "property"
        and name.refs[0] == state.targets[-1].ref
        and name.end == name.start + 1
        and words[name.start].norm in language().words["telling"]
        and name.end < owner.start
        and words[name.end].norm == "of"
        and name.refs[0].node == owner.refs[0].node
    )
