"""Rules for named things and values: an entity or value at hand + ParseState -> further States."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.tokens import name_tokens
from nacre.understanding.linking.graph.steps import NAMED_STEP_COST, RARE_STEP_COST
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.mention_rules.categories import category_members
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE, exclusive_conditions
from nacre.understanding.parsing.modifier_rules.scales import values_on_scale
from nacre.understanding.parsing.state import (
    DANGLING_COST,
    ParseContext,
    ParseState,
    add_link,
    add_schema_node,
    drop_open_property,
    has_self_link,
    is_second_mention,
    last_target_as_condition,
    next_slot,
)
from nacre.understanding.question.types import Aggregation, Condition, Link, Ref, Target

# what a reading gains by which one of the named things is asked for
AMONG = 0.8
# the rule by which a thing is asked for that a code or another name of it names, and what it gains where the property
# that is called so stands before it
BY_ITS_CODE, BY_CODE = "thing by its code", 0.5
# a property of the thing itself, or of what it hangs on directly (cost of a way, linking/graph.py)
NEXT = NAMED_STEP_COST + RARE_STEP_COST


def value_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """A thing or a value: a condition, whatever comes before."""
    ref = link.refs[0]
    slots = [ref]
    called = bool(link.start) and context.question.tokens[link.start - 1].norm in language().words["calling"]
    if called and link.kind == "entity" and state.owner is not None and state.owner.node != ref.node:
        # "rivers called Colorado" are no rivers of a state of that name
        return
    asked_itself = (
        not called
        and link.match in ("whole", "scope")
        and any(t.ref.node == ref.node and not t.ref.predicate and not t.ref.slot for t in state.targets)
    )
    by_code = link.kind == "entity" and not _says_label(link, context)
    if by_code and (asked_itself or _is_code(state, link, context)):
        keyed = Condition(ref, "is", (), state.negated, link.keys, link.label)
        yield (
            add_link(state, link, context, ref)
            ._replace(pending_property=None, last="value", shared_aggregates=(), **last_target_as_condition(state))
            .apply_rule(
                BY_ITS_CODE,
                BY_CODE if state.pending_property else 0.0,
                conditions=(*state.conditions, keyed),
                negated=False,
            )
        )
        if state.pending_property:
            return
    if link.kind == "entity" and len(link.keys) == 1 and asked_itself:
        # nobody asks which states Texas is
        slots = []
    if link.kind == "entity" and any(n.node == ref.node for n in state.nodes) and has_self_link(ref, context):
        other = Ref(ref.node, "", next_slot(state, ref.node))
        slots = [other] if state.last == "own kind" or is_second_mention(state, ref, context) else [*slots, other]
    if state.degree:
        for place, (found, _, cost) in enumerate(measured_properties(context.graph, ref.node, state.degree)[:2]):
            new = add_schema_node(add_link(state, link, context, ref), found, context)
            if place:
                new = new.apply_rule("further measure")
            keyed = Condition(ref, "is", (), state.negated, link.keys, link.label)
            if link.kind == "entity":
                yield new._replace(degree=(), last="value", owner=ref).apply_rule(
                    "degree of thing", 0.4 - cost, targets=(*state.targets, Target(found)),
                    conditions=(*state.conditions, keyed),
                )  # fmt: skip
    if (
        state.next_role == "group"
        and link.match == "scope"
        and (state.pending_aggregates or any(t.function for t in state.targets))
    ):
        # "how many for each of them"
        those = Condition(ref, "is", (), False, link.keys, link.label)
        yield add_link(state, link, context, ref)._replace(owner=ref).apply_rule(
            "group of those", 0.5, group=(*state.group, ref), next_role="", mode="C", last="value",
            conditions=(*state.conditions, those),
        )  # fmt: skip
        return
    if link.kind == "entity":
        yield from category_members(state, link, context)
        yield from _against_thing(state, link, context)
        yield from _chosen_among(state, link, context)
    own = _own(state, ref, context)
    for at in slots if own is None else [own]:
        several = _on_scale(link, at, context)
        mention = link._replace(covered=link.covered | 1 << (link.start - 1)) if several else link
        new = add_link(state, mention, context, at)._replace(last="value", shared_aggregates=())
        values: tuple[str | float, ...] = several or ((link.value,) if link.kind == "value" else ())
        op = "=" if values else "is"
        join = state.join
        label = link.label
        if state.text_match and values:
            op = state.text_match
            values = (label,)
        condition = Condition(
            at,
            op,
            values,
            state.negated,
            link.keys,
            label,
            join=join,  # type: ignore[arg-type]
        )
        held = exclusive_conditions(condition, context) if state.exclusive else ()
        conditions = (*state.conditions, *(held or (condition,)))
        gain = 0.0
        rule = "value" if values else "thing" if not at.slot else "other thing"
        if called and link.kind == "entity" and state.owner is not None:
            gain, rule = 0.5, "named so"
            if state.pending_is_target and state.links[-1].end == link.start:
                # "the year of the museum named ...": its name is not asked for
                new = new._replace(pending_property=None, **last_target_as_condition(state))
        if state.pending_property is not None:
            if state.pending_property.predicate == at.predicate and state.pending_property.node == at.node:
                gain, rule = 0.4, f"{rule} of property"
                if state.pending_is_target and state.mode == "T":
                    # "the airport code AKO": the property was no target
                    yield new.apply_rule(
                        ONLY_RULE if held else rule, 0.3, conditions=conditions, pending_property=None, exclusive=False,
                        negated=False, join="and" if join != "both" else join, text_match="", **last_target_as_condition(state),
                    )  # fmt: skip
                    gain = 0.0
                else:
                    new = new._replace(pending_property=None)
            elif state.pending_is_target:
                pass
            elif at.predicate == "" and state.pending_property.node == at.node:
                loss = DANGLING_COST if state.pending_property.predicate else 0.0
                new, rule = new._replace(pending_property=None, score=new.score - loss), f"{rule} of node"
            else:
                new = drop_open_property(new)
        yield new.apply_rule(
            ONLY_RULE if held else rule, gain, conditions=conditions, negated=False, exclusive=False,
            join=join if join == "both" else "and", text_match="",
        )  # fmt: skip


def _own(state: ParseState, ref: Ref, context: ParseContext) -> Ref | None:
    """The property of a value as one of the things at hand, where these are some of a wider kind that has it: "which of
    the keepers speak Dutch" asks for no others of their staff."""
    scope = (x.refs[0] for x in state.links if x.match == "scope")
    owner = state.owner or next(scope, None)
    if owner is None or not ref.predicate or not context.graph.is_subclass(owner.node, ref.node):
        return None
    return Ref(owner.node, ref.predicate, owner.slot) if ref.predicate in context.graph.literals[owner.node] else None


def _says_label(link: Link, context: ParseContext) -> bool:
    """Whether words name a thing by its label, and not by a code or another name."""
    return {t.norm for t in context.question.tokens[link.start : link.end]} <= set(name_tokens(link.label))


def _is_code(state: ParseState, link: Link, context: ParseContext) -> bool:
    """Whether the property before a name is what the thing has that name by: "the concept with the notation 4112"."""
    prop = state.pending_property
    if prop is None or not prop.predicate or prop.node != link.refs[0].node:
        return False
    before = state.links[-1]
    follows = before.kind == "property" and before.end == link.start
    return follows and context.graph.about(prop.predicate).role in ("identifier", "name")


def _on_scale(link: Link, ref: Ref, context: ParseContext) -> tuple[str, ...]:
    """The values that "before April" leaves, where the property has names of months or days; none elsewhere."""
    if link.kind != "value" or not link.start or not ref.predicate or not isinstance(link.value, str):
        return ()
    word = context.question.tokens[link.start - 1].norm
    return values_on_scale(word, link.value, context.graph.about(ref.predicate).values)


def _chosen_among(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "Which of them has the ...", "which X5 is the ...": one of several named things is asked for."""
    before = [t.norm for t in context.question.tokens[: link.start]]
    light = all(i in context.question.stopwords for i in range(link.start))
    asks = bool(before) and before[0] in language().words["choosing_one"]
    # "which X5 variants": the kind that follows is what is asked for
    light = light and link.end in context.question.stopwords
    named = context.graph.nodes[link.refs[0].node].named
    if state.targets or len(link.keys) < 2 or not (light and asks and named):
        return
    ref = link.refs[0]
    keyed = Condition(ref, "is", (), False, link.keys, link.label)
    new = add_link(state, link, context, ref)._replace(last="value", shared_aggregates=(), owner=ref)
    yield new.apply_rule("chosen among", AMONG, targets=(Target(ref),), conditions=(*state.conditions, keyed))


def _against_thing(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "longer than the Rhine": the property is compared with that thing's."""
    ref, left = link.refs[0], state.pending_property
    if state.comparison is None or state.comparison[1] is not None or left is None:
        return
    if not left.predicate or context.graph.distance(left.node, ref.node) > NEXT:
        return
    own = Condition(ref, "is", (), False, link.keys, link.label)
    best: Aggregation = "max" if state.comparison[0].startswith(">") else "min"
    against = Condition(left, state.comparison[0], (), state.negated, against=Target(left, best), inner=(own,))
    new = add_link(state, link, context, ref)._replace(
        last="value", shared_aggregates=(), comparison=None, pending_property=None
    )
    yield new.apply_rule("against thing", 0.5, conditions=(*state.conditions, against), negated=False)
