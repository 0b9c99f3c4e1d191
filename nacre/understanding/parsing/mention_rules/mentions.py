"""Rules for what names something: a class, a property, a thing or a value at hand + ParseState -> further States."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.booleans import none_value, true_value
from nacre.language.forms.nouns import is_participle, is_plural, wording_entry
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.linking.schema.quantity_nodes import QUANTITY
from nacre.understanding.parsing.mention_rules.booleans import boolean_condition, names_boolean_property
from nacre.understanding.parsing.mention_rules.entities_and_values import value_mention
from nacre.understanding.parsing.mention_rules.events import event_condition, event_objects
from nacre.understanding.parsing.mention_rules.possessives import follows_possessive, precedes_own_property
from nacre.understanding.parsing.mention_rules.subclasses import subclass_mention
from nacre.understanding.parsing.modifier_rules.comparisons import compared_property
from nacre.understanding.parsing.modifier_rules.numbers import COUNTING, upper_bound
from nacre.understanding.parsing.modifier_rules.superlatives import ranked_by_name, ranked_class, ranked_property
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    add_link,
    add_schema_node,
    drop_open_property,
    has_self_link,
    is_second_mention,
    next_slot,
)
from nacre.understanding.question.types import NEGATED_MATCH, Aggregation, Condition, Link, Ordering, Ref, Target

# what a reading gains by which things are asked for as well as what they have
WITH_OWN = 0.5


def mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """All ways to take a mention."""
    if link.kind == "class":
        yield from class_mention(state, link, context)
    elif link.match == QUANTITY:
        held, _ = link.refs
        yield from property_mention(_of_quantity(state, link, context), link, context, held)
    elif link.kind == "property":
        for ref in link.refs:
            if ref.predicate or ref.via:
                yield from property_mention(state, link, context, ref)
    else:
        yield from value_mention(state, link, context)


def _of_quantity(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    """The state where a number is that of one kind of quantity."""
    held, of = link.refs
    if of.predicate:
        kind = Condition(of, "=", (link.value,))
    else:
        kind = Condition(Ref(of.node), "is", (), False, link.keys, link.label)
        state = add_schema_node(add_schema_node(state, Ref(held.node), context), of, context)
    return state.apply_rule(QUANTITY, conditions=(*state.conditions, kind))


def class_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """A class: what is asked for, its owner, what is counted, what things are grouped by, or one that must exist."""
    ref = link.refs[0]
    new = drop_open_property(add_link(state, link, context, ref))._replace(
        owner=ref, last="class", shared_aggregates=()
    )
    done = list(event_objects(state, new, link, context))
    if done:
        yield from done
        return
    if state.mode == "O":
        yield new.apply_rule("class in order")
        return
    yield from subclass_mention(state, link, context)
    if (
        follows_possessive(link, context)
        and state.targets
        and not (state.pending_aggregates or any(t.function for t in state.targets))
    ):
        # "the courses on Monday with their teachers"
        yield new.apply_rule("class target with own", WITH_OWN, targets=(*state.targets, Target(ref)), mode="T")
    if state.next_role == "group":
        yield new.apply_rule("group class", 0.2, group=(*state.group, ref), next_role="", mode="T")
    if state.degree:
        for found, _, cost in measured_properties(context.graph, ref.node, state.degree)[:2]:
            target = Target(found)
            yield (
                add_schema_node(new, found, context)
                ._replace(degree=())
                .apply_rule("degree of class", 0.4 - cost, targets=(*state.targets, target))
            )
    if state.next_role.startswith("order"):
        order = Ordering(ref, state.next_role == "order down", "count")
        yield new.apply_rule(
            "order by count of class", 0.1, order=state.order or order, next_role="", pending_aggregates=(), mode="O"
        )
    if state.last == "own kind" and any(n.node == ref.node for n in state.nodes):
        other = Ref(ref.node, "", next_slot(state, ref.node))
        again = drop_open_property(add_link(state, link, context, other))._replace(
            owner=other, shared_aggregates=(), mode="C"
        )
        if state.rank is None:
            yield again.apply_rule("other of own kind", 0.7, last="class")
        elif state.rank.concepts:
            for found, reverse, cost in measured_properties(context.graph, ref.node, state.rank.concepts)[:3]:
                order = Ordering(found, state.rank.descending != reverse, "", state.limit or 1)
                top = Condition(other, "top", top=order)
                yield again.apply_rule(
                    "top of own kind", 0.4 - cost, conditions=(*state.conditions, top), rank=None, limit=0, last="class"
                )
    if state.rank is not None:
        if state.pending_aggregates and not state.rank.concepts and state.pending_aggregates != ("count",):
            # "the lowest average variant price"
            yield new.apply_rule("owner before ranked aggregate", 0.6)
        yield from ranked_class(state, new, ref, context)
        return
    if state.comparison is not None and state.comparison[1] is not None:
        op, value = state.comparison
        if state.unit not in COUNTING:
            # "under 60 kg" is no number of players
            yield new.apply_rule("class in condition", 0.0)
            return
        assert value is not None
        condition = Condition(ref, op, (value,), state.negated, function="count")
        bounds = (condition, *upper_bound(condition, state.until))
        yield new.apply_rule(
            "having count",
            0.3,
            conditions=(*state.conditions, *bounds),
            comparison=None,
            negated=False,
            pending_aggregates=(),
        )
        return
    if is_second_mention(state, ref, context) and not state.negated:
        # "states that border states": another one
        other = Ref(ref.node, "", next_slot(state, ref.node))
        again = drop_open_property(add_link(state, link, context, other))._replace(
            owner=other, last="class", shared_aggregates=()
        )
        yield again.apply_rule("other of class", 0.2)
        return
    if state.negated and not _is_participle_of(link, context):
        missing = Condition(ref, "exists", (), True)
        yield new.apply_rule("without class", 0.2, conditions=(*state.conditions, missing), negated=False)
    if state.mode == "T":
        if state.next_role == "group":
            return
        if "count" in state.pending_aggregates:
            target = Target(ref, "count", state.distinct)
            asks = tuple(a for a in state.pending_aggregates if a != "count")
            yield new.apply_rule(
                "count class", 0.3, targets=(*state.targets, target), pending_aggregates=asks, distinct=False
            )
        elif state.pending_aggregates:
            yield new.apply_rule("owner before aggregate", 0.0)
        else:
            own = precedes_own_property(link, context)
            if _is_listed(state, link, context):
                # "the job title, team and start date of ..."
                yield new.apply_rule(
                    "class target after target", 0.3, targets=(*state.targets, Target(ref)), distinct=False
                )
                return
            # "the cameras with their cost and telescope"
            another_column = state.last == "and" and "class target with own" in state.trace
            gain = WITH_OWN if own or another_column else -0.25 if state.targets else 0.0
            follows = "with own" if own else "after target" if state.targets else "first"
            target = Target(ref)
            yield new.apply_rule(f"class target {follows}", gain, targets=(*state.targets, target), distinct=False)
        if not state.pending_aggregates or state.targets:
            own = any(t.ref.node == ref.node for t in state.targets)
            gain = 0.1 if own and state.last == "of" else 0.0
            yield new.apply_rule("owner" if not own else "owner of target", gain)
    else:
        yield new.apply_rule("class in condition", 0.0)
        if any(n.node == ref.node for n in state.nodes) and has_self_link(ref, context):
            # "that borders a state": another one
            other = Ref(ref.node, "", next_slot(state, ref.node))
            again = drop_open_property(add_link(state, link, context, other))._replace(
                owner=other, last="class", shared_aggregates=()
            )
            yield again.apply_rule("other of class", 0.0)


def _is_participle_of(link: Link, context: ParseContext) -> bool:
    """Whether a kind is named by a participle of which more is said: "not located in Rome" has no location in Rome, or
    another one."""
    named, *after = (t.norm for t in context.question.tokens[link.start : max(link.end, link.start + 2)])
    return is_participle(named) and len(after) == 1 and after[0] in wording_entry("prepositions")


def _is_listed(state: ParseState, link: Link, context: ParseContext) -> bool:
    """Whether a kind stands among columns: after a comma, with a property before it and one more behind."""
    question = context.question
    words = question.tokens
    if not state.targets or not state.targets[-1].ref.predicate or not link.start or link.end >= len(words):
        return False
    parted = question.text[words[link.start - 1].end : words[link.start].start].strip() == ","
    follows = question.text[words[link.end - 1].end : words[link.end].start].strip() == ","
    return parted and (follows or words[link.end].norm in language().words["joining"])


def _has_any(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether things are said to have some value of a property, whichever: "with a phone", "with wifi"."""
    words = language().words
    denied = any(c.kind == "negation" and c.start < link.start <= c.end for c in context.question.cues)
    if state.last == "having" and not denied and none_value(context.graph.about(ref.predicate)) is not None:
        return context.question.tokens[link.start - 1].norm in words["owning"]
    having, article = ("", "", *(t.norm for t in context.question.tokens[: link.start]))[-2:]
    return state.last == "having" and having in words["owning"] and article in words["indefinite"]


def property_mention(state: ParseState, link: Link, context: ParseContext, ref: Ref) -> Iterator[ParseState]:
    """A property: a column that is asked for, a condition's left side, or what things are grouped or ordered by."""
    new = add_link(state, link, context, ref)
    if ref.via:
        sources = [r for r in link.refs if not r.via]
        if sources:
            new = add_schema_node(new, sources[0], context)
    if state.owner is not None and state.owner.node == ref.node and state.last in ("class", "of", "owned"):
        new = new._replace(score=new.score + 0.25)
    if ref.predicate and link.match == NEGATED_MATCH and context.graph.is_date(ref.predicate):
        # "unpaid" is what has no date on which it was paid
        op = "known" if state.negated else "unknown"
        yield (
            drop_open_property(new)
            ._replace(last="value")
            .apply_rule("flag denied", 0.2, conditions=(*state.conditions, Condition(ref, op)), negated=False)
        )
        return
    if ref.predicate and state.next_role != "group" and names_boolean_property(link, ref, context):
        yield from boolean_condition(state, new, link, ref, context)
        return
    if ref.via and state.negated and state.mode == "C" and not _is_participle_of(link, context):
        # "never taught by anybody"
        missing = Condition(Ref(ref.node, "", ref.slot or int(state.owner == Ref(ref.node))), "exists", (), True)
        yield (
            drop_open_property(add_link(state, link, context, missing.ref))
            ._replace(hints=state.hints | {ref.via}, last="prop")
            .apply_rule("without link", 0.2, conditions=(*state.conditions, missing), negated=False)
        )
    if ref.predicate and state.negated and state.mode == "C" and state.comparison is None:
        # "plants without a flower colour"
        none = none_value(context.graph.about(ref.predicate))
        lacking = Condition(ref, "unknown") if none is None else Condition(ref, "=", (none,))
        without = drop_open_property(new)._replace(last="value", conditions=(*state.conditions, lacking), negated=False)
        yield without.apply_rule("without property", 0.0 if none is None else 0.5)
    if ref.predicate and not state.negated and state.comparison is None and _has_any(state, link, ref, context):
        # "plants with a flower colour", "how many members have an email"
        none = none_value(context.graph.about(ref.predicate))
        had = Condition(ref, "known") if none is None else Condition(ref, "!=", (none,))
        yield (
            drop_open_property(new)
            ._replace(last="value")
            .apply_rule("with property", 0.5, conditions=(*state.conditions, had))
        )
    if ref.predicate and state.pending_text and not context.graph.is_numeric(ref.predicate):
        # "with the letter a in their names"
        held = Condition(ref, state.text_match, (state.pending_text,), state.negated, label=state.pending_text)
        yield (
            drop_open_property(new)
            ._replace(last="value")
            .apply_rule(
                "text before property",
                0.4,
                conditions=(*state.conditions, held),
                text_match="",
                pending_text="",
                negated=False,
            )
        )
    numeric = bool(ref.predicate) and (context.graph.is_numeric(ref.predicate) or context.graph.is_date(ref.predicate))
    new = new._replace(last="prop")
    if state.mode == "O":
        yield drop_open_property(new).apply_rule("property in order")
        return
    if ref.via and state.owner is not None and any(r.node == ref.node for r in link.refs if not r.via):
        owner = state.owner
        if (
            owner.node == ref.node
            and not state.next_role
            and state.last in ("class", "having", "and", "or", "negation")
        ):
            # "states that border states": a link between things of one kind
            same = drop_open_property(add_link(state, link, context, owner))
            hints = same.hints | {ref.via}
            yield same.apply_rule("link of own kind", 0.1, hints=hints, last="own kind", shared_aggregates=())
    if ref.via and state.next_role == "" and state.rank is None and state.comparison is None:
        yield (
            drop_open_property(new)
            ._replace(owner=Ref(ref.node), shared_aggregates=())
            .apply_rule("owner by link", -0.05)
        )
    if state.next_role == "group":
        new = drop_open_property(new)
        yield new.apply_rule("group property", 0.2, group=(*state.group, ref), next_role="", mode="T")
        return
    if state.next_role.startswith("order"):
        new = drop_open_property(new)
        function = state.pending_aggregates[0] if state.pending_aggregates else ""
        if function == "count" and numeric and context.graph.about(ref.predicate).role != "identifier":
            # "by number of seats" is what the property holds
            function = ""
        order = Ordering(ref, state.next_role == "order down", function, state.limit)
        yield new.apply_rule(
            "order by property", 0.2, order=state.order or order, pending_aggregates=(), limit=0, next_role="", mode="O"
        )
        return
    if state.rank is not None:
        yield from ranked_property(state, drop_open_property(new), ref, numeric, context)
    elif state.order is None and not state.pending_aggregates:
        yield from ranked_by_name(state, drop_open_property(new), link, ref, numeric, context)
    if state.comparison is not None:
        yield from compared_property(state, new, ref, context)
        if state.comparison[1] is not None:
            return
    if state.rank is None and state.mode == "T":
        if ref.predicate and not state.pending_aggregates and any(t.ref == ref and t.function for t in state.targets):
            # "how many languages do they speak"
            yield drop_open_property(new).apply_rule("property said again", 0.2, last="prop")
            return
        yield from _target(state, drop_open_property(new), ref, numeric, context)
    elif state.mode == "C":
        if state.conditions and state.conditions[-1].ref == ref and state.last == "value":
            # "the Spices category": the property says what the value is of
            yield new.apply_rule("property after value", 0.3)
            return
        function = state.pending_aggregates[0] if state.pending_aggregates else ""
        yield from event_condition(state, drop_open_property(new), link, ref, context)
        waiting = drop_open_property(new)._replace(
            pending_property=ref, pending_function=function, pending_aggregates=(), pending_is_target=False
        )
        yield waiting.apply_rule("property in condition", 0.0)
        yes = true_value(context.graph.about(ref.predicate)) if ref.predicate else None
        if yes is not None:
            condition = Condition(ref, "=", (yes,), state.negated)
            yield drop_open_property(new).apply_rule(
                "property holds", 0.1, conditions=(*state.conditions, condition), negated=False
            )
        if state.last in ("and", "of") and state.rank is None and state.comparison is None:
            yield from _target(
                state, drop_open_property(new)._replace(score=new.score - 0.3), ref, numeric, context, "late "
            )


def _target(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext, when: str = ""
) -> Iterator[ParseState]:
    asks: tuple[Aggregation, ...] = state.pending_aggregates
    numbered = bool(ref.predicate) and context.graph.about(ref.predicate).role == "identifier"
    if (numbered or not numeric) and set(asks) & {"avg", "sum"}:
        # nothing is the average of texts, or of numbers that tell things apart
        return
    if asks:
        values = state.distinct or (bool(ref.predicate) and _counts_values(new, ref, context))
        targets = tuple(Target(ref, a, values and a == "count") for a in asks)
        yield new.apply_rule(
            f"{when}aggregate target", 0.2, targets=(*state.targets, *targets), pending_aggregates=(), shared_aggregates=asks, distinct=False,
            pending_property=ref, pending_is_target=True,
        )  # fmt: skip
        gathered = numeric and not numbered and not context.graph.is_date(ref.predicate)
        if asks == ("count",) and gathered and not _is_intensive(ref.predicate, context):
            yield new.apply_rule(
                f"{when}total for count", -0.1, targets=(*state.targets, Target(ref, "sum")), pending_aggregates=(),
                pending_property=ref, pending_is_target=True,
            )  # fmt: skip
        if asks == ("sum",) or asks == ("count",):
            # "the total points", "the number of seats" may be what a property holds
            yield new.apply_rule(
                f"{when}plain target of total", -0.1, targets=(*state.targets, Target(ref)), pending_aggregates=(), distinct=False,
                pending_property=ref, pending_is_target=True,
            )  # fmt: skip
        return
    if _is_owner(state, new, ref, context):
        counted = Target(ref, "count", _counts_values(new, ref, context))
        yield new.apply_rule(
            "aggregate target",
            0.4,
            targets=(*state.targets[:-1], counted),
            pending_property=ref,
            pending_is_target=True,
        )
    if _is_name_of(state, new, context) and ref.predicate and not numeric:
        named = (*state.targets[:-1], Target(ref, "", state.targets[-1].distinct))
        yield new.apply_rule(
            "name of value", 0.2, targets=named, shared_aggregates=(), pending_property=ref, pending_is_target=True
        )
    if state.shared_aggregates and state.last in ("and", "prop"):
        targets = tuple(Target(ref, a) for a in state.shared_aggregates)
        yield new.apply_rule(
            "aggregate shared", 0.0, targets=(*state.targets, *targets), shared_aggregates=state.shared_aggregates,
            pending_property=ref, pending_is_target=True,
        )  # fmt: skip
    yield new.apply_rule(
        f"{when}target", 0.0, targets=(*state.targets, Target(ref, "", state.distinct)), shared_aggregates=(), distinct=False,
        pending_property=ref, pending_is_target=True,
    )  # fmt: skip


def _counts_values(new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether it is the different values of a property that are counted, and not the things that have it: of things
    with several values each, and of what only sorts things ("how many colours are there"); names, codes and amounts
    tell things apart, and "how many have a colour" counts things."""
    about = context.graph.about(ref.predicate)
    if not about.functional:
        return True
    words = context.graph.words[ref.predicate]
    numeric = context.graph.is_numeric(ref.predicate) and not context.graph.is_date(ref.predicate)
    sorting = not numeric or _is_intensive(ref.predicate, context)
    if not sorting or about.role != "fact" or (words and words[-1] in language().words["naming"]):
        return False
    if about.objects >= about.subjects:
        return False
    named = new.links[-1].start
    counting = max((c.end for c in context.question.cues if c.kind == "count" and c.end <= named), default=named)
    verbs = language().words["owning"] | language().words["being"]
    return not any(t.norm in verbs for t in context.question.tokens[counting:named])


def _is_owner(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a kind that was to be counted stands in the singular right before a property of its things: "how many
    film directors are there"."""
    if not ref.predicate or not state.targets or len(new.links) < 2:
        return False
    kind, now = new.links[-2:]
    words = context.question.tokens
    counted = state.targets[-1] == Target(Ref(ref.node), "count", state.targets[-1].distinct)
    # and not "how many films are there of each film genre"
    again = sum(x.kind == "class" and x.refs[0].node == ref.node for x in new.links) > 1
    adjacent = kind.kind == "class" and kind.end == now.start
    adjacent &= is_plural(words[now.end - 1].norm) and not is_plural(words[kind.end - 1].norm)
    return counted and adjacent and not again and not state.next_role


def _is_intensive(predicate: str, context: ParseContext) -> bool:
    """Whether numbers of a property say how much of something each thing is, so that nobody adds them up: "height"."""
    words = set(context.graph.words[predicate])
    return bool(words & language().words["intensive"]) and not words & language().words["counting"]


def _is_name_of(state: ParseState, new: ParseState, context: ParseContext) -> bool:
    """Whether the target before is only the word "name", said of what comes now: "the names of the studios"."""
    if not state.targets or state.last not in ("of", "prop") or len(new.links) < 2:
        return False
    before, now = new.links[-2:]
    words = context.question.tokens
    return (
        before.kind == "property"
        and before.refs[0] == state.targets[-1].ref
        and before.end == before.start + 1
        and words[before.start].norm in language().words["telling"]
        and before.end < now.start
        and words[before.end].norm == "of"
        and before.refs[0].node == now.refs[0].node
    )
