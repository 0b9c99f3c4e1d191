"""Rules for a class: ParseState + Link -> ParseStates in which it is a target, an owner, a group or a condition.

In each rule, `state` is the reading before the mention and `new` the reading with the mention added.
"""

from collections.abc import Callable
from itertools import pairwise

from nacre.language.data import WORDS, word_list
from nacre.language.word_forms import is_participle
from nacre.understanding.parsing.number_rules import COUNT_UNITS, upper_bound
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    ParseStates,
    add_link,
    drop_open_property,
    has_self_link,
    is_second_mention,
    next_slot,
)
from nacre.understanding.parsing.superlative_rules import ranked_class
from nacre.understanding.question.records import KIND_OPERATOR, Condition, Link, Ordering, Ref, Target

ClassRule = Callable[[ParseState, ParseState, Link, ParseContext], ParseStates]

# the rule by which things are shown beside what belongs to them, and what a reading gains by it
OWN_COLUMN_RULE, OWN_COLUMN_GAIN = "class target with own", 0.5

WORDS_AFTER = 3  # how many words after "and" or "with" may make a possessive
CLASS_FIRST_RULE = "class target first"  # the rule by which things are shown that are named first


def class_mention(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """Yield the readings in which a class is a target, an owner, counted, grouped by, or must exist."""
    ref = link.refs[0]
    state = _without_possessed(state, link, context)
    new = _at_class(state, link, ref, context)
    if state.mode == "O":
        yield new.apply_rule("class in order")
        return
    yield from _subclass_mention(state, link, context)
    for rule in SPECIAL_ROLES:
        yield from rule(state, new, link, context)
    if state.rank is not None:
        if state.pending_aggregates and not state.rank.concepts and state.pending_aggregates != ("count",):
            # "the lowest average variant price"
            yield new.apply_rule("owner before ranked aggregate", 0.6)
        yield from ranked_class(state, new, ref, context)
    elif state.comparison is not None and state.comparison[1] is not None:
        yield from _compared_count(state, new, link)
    elif is_second_mention(state, ref, context) and not state.negated:
        # "states that border states"
        yield _other_thing(state, link, context).apply_rule("other of class", 0.2)
    else:
        if state.negated and not is_open_participle(link, context):
            # "students without a supervisor"; who "never attended a concert" has no attendance of one
            is_verb = state.trace[-2:] == ("negation", "class in condition")
            bare = new._replace(nodes=tuple(n for n in new.nodes if n != state.owner)) if is_verb else new
            yield bare.add_conditions("without class", 0.2, Condition(ref, "exists", (), True))
        yield from (_class_target if state.mode == "T" else _class_in_condition)(state, new, link, context)


def _at_class(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseState:
    """Add a class as the owner of what comes next."""
    return drop_open_property(add_link(state, link, context, ref))._replace(
        owner=ref, last="class", shared_aggregates=()
    )


def _other_thing(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    """Add a class as one more thing of a class that was mentioned before."""
    node = link.refs[0].node
    return _at_class(state, link, Ref(node, "", next_slot(state, node)), context)


def _possessive_column(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "The courses on Monday with their teachers"."""
    aggregated = state.pending_aggregates or any(target.function for target in state.targets)
    before = [token.norm for token in context.question.tokens[max(0, link.start - 2) : link.start]]
    is_possessive = len(before) == 2 and before[0] in WORDS["beside"] and before[1] in _possessives()
    if is_possessive and state.targets and not aggregated:
        targets = (*state.targets, Target(link.refs[0]))
        yield new.apply_rule(OWN_COLUMN_RULE, OWN_COLUMN_GAIN, targets=targets, mode="T")


def _class_group(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "How many films for each studio"."""
    if state.next_role == "group":
        yield new.apply_rule("group class", 0.2, group=(*state.group, link.refs[0]), next_role="", mode="T")


def _order_by_count(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "Sorted by films": by how many there are."""
    if state.next_role.startswith("order"):
        order = Ordering(link.refs[0], state.next_role == "order down", "count")
        yield new.apply_rule(
            "order by count of class", 0.1, order=state.order or order, next_role="", pending_aggregates=(), mode="O"
        )


# what a class may be besides a plain target or condition; each rule checks whether the words before allow it
SPECIAL_ROLES: tuple[ClassRule, ...] = (_possessive_column, _class_group, _order_by_count)


def _compared_count(state: ParseState, new: ParseState, link: Link) -> ParseStates:
    """ "More than 3 films": a class after a number with its comparison."""
    assert state.comparison is not None
    operator, value = state.comparison
    if state.unit not in COUNT_UNITS:
        # "under 60 kg" is no number of players
        yield new.apply_rule("class in condition", 0.0)
        return
    assert value is not None
    lower = Condition(link.refs[0], operator, (value,), state.negated, function="count")
    bounds = (lower, *upper_bound(lower, state.until))
    yield new.add_conditions("having count", 0.3, *bounds, comparison=None, pending_aggregates=())


def _class_target(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """A class where targets are expected: the things, their number, or the owner of a target to come."""
    ref = link.refs[0]
    if state.next_role == "group":
        return
    if "count" in state.pending_aggregates:
        targets = (*state.targets, Target(ref, "count", state.distinct))
        others = tuple(function for function in state.pending_aggregates if function != "count")
        yield new.apply_rule("count class", 0.3, targets=targets, pending_aggregates=others, distinct=False)
    elif state.pending_aggregates:
        yield new.apply_rule("owner before aggregate", 0.0)
    elif _is_listed(state, link, context):
        # "the job title, team and start date of ..."
        targets = (*state.targets, Target(ref))
        yield new.apply_rule("class target after target", 0.3, targets=targets, distinct=False)
        return
    else:
        yield _plain_target(state, new, link, context)
    if not state.pending_aggregates or state.targets:
        is_target = any(target.ref.node == ref.node for target in state.targets)
        gain = 0.1 if is_target and state.last == "of" else 0.0
        yield new.apply_rule("owner of target" if is_target else "owner", gain)


def _plain_target(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseState:
    """ "Which cameras": the things themselves, beside other columns if there are any."""
    own = precedes_own_property(link, context)
    # "the cameras with their cost and telescope"
    another_column = state.last == "and" and OWN_COLUMN_RULE in state.trace
    gain = OWN_COLUMN_GAIN if own or another_column else -0.25 if state.targets else 0.0
    rule = OWN_COLUMN_RULE if own else "class target after target" if state.targets else CLASS_FIRST_RULE
    return new.apply_rule(rule, gain, targets=(*state.targets, Target(link.refs[0])), distinct=False)


def _class_in_condition(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """A class in a condition: it must exist, or is one more thing of the class ("that borders a state")."""
    ref = link.refs[0]
    yield new.apply_rule("class in condition", 0.0)
    if any(node.node == ref.node for node in state.nodes) and has_self_link(ref, context):
        yield _other_thing(state, link, context).apply_rule("other of class", 0.0)


def _is_listed(state: ParseState, link: Link, context: ParseContext) -> bool:
    """Whether a class stands in a list of columns: after a property and a comma, and before one more column."""
    question = context.question
    words = question.tokens
    if not state.targets or not state.targets[-1].ref.predicate or not link.start or link.end >= len(words):
        return False
    follows_comma = question.text[words[link.start - 1].end : words[link.start].start].strip() == ","
    precedes_comma = question.text[words[link.end - 1].end : words[link.end].start].strip() == ","
    return follows_comma and (precedes_comma or words[link.end].norm in WORDS["joining"])


def precedes_own_property(link: Link, context: ParseContext) -> bool:
    """Whether something of the mentioned things is asked for after them: "the masons and their trade"."""
    after = [token.norm for token in context.question.tokens[link.end : link.end + WORDS_AFTER]]
    at = next((i for i, word in enumerate(after[:2]) if word in WORDS["beside"]), None)
    if at is None or not after[at + 1 : at + 2]:
        return False
    if after[at + 1] in _possessives() or after[at + 1] not in WORDS["article"]:
        return after[at + 1] in _possessives()
    # "the halls and the year each one was built"
    words = pairwise(token.norm for token in context.question.tokens[link.end :])
    return any(one in WORDS["grouping"] and other in WORDS["stand_in"] for one, other in words)


def _possessives() -> frozenset[str]:
    """Possessives, and "there" as a misspelt "their"."""
    return WORDS["possessive"] | {"there"}


MAX_WORDS_BETWEEN = 4  # how many words may stand between a class and a narrower one: "which of the trees that are"

NARROWER_KIND_RULE, OTHER_KIND_RULE = "narrower kind", "other kind"


def _subclass_mention(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "Which trees are poplars", "poplar trees", "trees that are not poplars"."""
    owner, narrow = state.owner, link.refs[0].node
    is_adjacent = state.last == "class" and state.links[-1].end == link.start if owner is not None else False
    if owner is not None and is_adjacent and context.graph.is_subclass(owner.node, narrow):
        # "poplar trees"
        yield add_link(state, link, context, owner).apply_rule(NARROWER_KIND_RULE, 0.4)
    wide = _wider_thing(state, link, context)
    if wide is None:
        return
    last = state.conditions[-1] if state.conditions and state.last == "and" else None
    if _is_possessed(state, link, context):
        return
    if state.negated or (last is not None and last.op == KIND_OPERATOR and last.negated):
        # "trees that are not poplars or willows", "all trees except poplars"
        other = Condition(wide, KIND_OPERATOR, (), True, inner=(Condition(Ref(narrow), "exists"),))
        new = add_link(state, link, context, wide)
        yield new.add_conditions(OTHER_KIND_RULE, 0.2, other, join="and", last="class", mode="C")
        return
    before = context.question.tokens[max(0, link.start - MAX_WORDS_BETWEEN) : link.start]
    if any(token.norm in WORDS["being"] for token in before):
        yield _narrowed(add_link(state, link, context, wide), wide, narrow)


def _wider_thing(state: ParseState, link: Link, context: ParseContext) -> Ref | None:
    """The things that are asked for if they are of a wider class, which the words do not only repeat."""
    graph = context.graph
    targets = [target.ref for target in state.targets if not target.ref.predicate]
    things = targets or [each.refs[0] for each in state.links if each.match == "scope"]
    wide = next((ref for ref in things if graph.is_subclass(link.refs[0].node, ref.node)), None)
    said = {token.lemma for token in context.question.tokens[link.start : link.end]}
    # "courses" are no "lab courses"
    return None if wide is None or said <= set(graph.nodes[wide.node].words) else wide


def _is_possessed(state: ParseState, link: Link, context: ParseContext) -> bool:
    """Whether things have one of a class, or none: "has no seat", but not "are no seats"."""
    before = context.question.tokens[state.links[-1].end if state.links else 0 : link.start]
    words = {token.norm for token in before}
    return bool(words & WORDS["wanting"]) or bool(words & WORDS["owning"] and not words & WORDS["being"])


def _without_possessed(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    """The reading in which what is asked for is not of a class that it lacks: "items without a photo"."""
    if not state.negated or not _is_possessed(state, link, context):
        return state
    unions, own = context.graph.unions.members, link.refs[0].node
    wide = next((ref for ref in state.nodes if own in unions.get(ref.node, ())), None)
    others = set(unions[wide.node]) - {own} if wide is not None else set()
    if wide is None or len(others) != 1:
        return state
    return _narrowed(state, wide, *others)._replace(mode=state.mode, last=state.last)


def _narrowed(state: ParseState, wide: Ref, narrow: int) -> ParseState:
    """The reading with things of the narrower class in the place of the wider one."""

    def narrowed(ref: Ref) -> Ref:
        return ref._replace(node=narrow) if (ref.node, ref.slot) == (wide.node, wide.slot) else ref

    return state.apply_rule(
        NARROWER_KIND_RULE,
        0.2,
        targets=tuple(target._replace(ref=narrowed(target.ref)) for target in state.targets),
        conditions=tuple(condition._replace(ref=narrowed(condition.ref)) for condition in state.conditions),
        nodes=tuple(dict.fromkeys(map(narrowed, state.nodes))),
        owner=narrowed(state.owner) if state.owner is not None else None,
        last="class",
        mode="C",
    )


def is_open_participle(link: Link, context: ParseContext) -> bool:
    """Whether a participle stands before a preposition: "not located in Rome" has another location, or none."""
    first, *after = (token.norm for token in context.question.tokens[link.start : max(link.end, link.start + 2)])
    return is_participle(first) and len(after) == 1 and after[0] in word_list("wording", "prepositions")
