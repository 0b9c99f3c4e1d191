"""Rules for a class: ParseState + Link -> ParseStates in which it is a target, an owner, a group or a condition.

In each rule, `state` is the reading before the mention and `new` the reading with the mention added.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

from nacre.language.base import language
from nacre.understanding.parsing.mention_rules.participles import is_open_participle
from nacre.understanding.parsing.mention_rules.subclasses import subclass_mention
from nacre.understanding.parsing.modifier_rules.number_conditions import COUNT_UNITS, upper_bound
from nacre.understanding.parsing.modifier_rules.superlatives import ranked_class
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    add_link,
    drop_open_property,
    has_self_link,
    is_second_mention,
    next_slot,
)
from nacre.understanding.question.types import Condition, Link, Ordering, Ref, Target

ClassRule = Callable[[ParseState, ParseState, Link, ParseContext], Iterator[ParseState]]
# the rule by which things are shown beside what belongs to them, and what a reading gains by it
OWN_COLUMN_RULE, OWN_COLUMN_GAIN = "class target with own", 0.5
# how many words after "and" or "with" may make a possessive
WORDS_AFTER = 3
# the rule by which things are shown that are named first
CLASS_FIRST_RULE = "class target first"


def class_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """Yield the readings in which a class is a target, an owner, counted, grouped by, or must exist."""
    ref = link.refs[0]
    new = _at_class(state, link, ref, context)
    if state.mode == "O":
        yield new.apply_rule("class in order")
        return
    for rule in SPECIAL_ROLES:
        yield from rule(state, new, link, context)
    if state.rank is not None:
        yield from _ranked(state, new, link, context)
    elif state.comparison is not None and state.comparison[1] is not None:
        yield from _compared_count(state, new, link)
    elif is_second_mention(state, ref, context) and not state.negated:
        # "states that border states"
        yield _other_thing(state, link, context).apply_rule("other of class", 0.2)
    else:
        yield from _missing_class(state, new, link, context)
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


def _narrower_class(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    yield from subclass_mention(state, link, context)


def _possessive_column(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "The courses on Monday with their teachers"."""
    aggregated = state.pending_aggregates or any(target.function for target in state.targets)
    if _follows_possessive(link, context) and state.targets and not aggregated:
        targets = (*state.targets, Target(link.refs[0]))
        yield new.apply_rule(OWN_COLUMN_RULE, OWN_COLUMN_GAIN, targets=targets, mode="T")


def _class_group(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "How many films for each studio"."""
    if state.next_role == "group":
        yield new.apply_rule("group class", 0.2, group=(*state.group, link.refs[0]), next_role="", mode="T")


def _order_by_count(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "Sorted by films": by how many there are."""
    if state.next_role.startswith("order"):
        order = Ordering(link.refs[0], state.next_role == "order down", "count")
        yield new.apply_rule(
            "order by count of class", 0.1, order=state.order or order, next_role="", pending_aggregates=(), mode="O"
        )


# what a class may be besides a plain target or condition; each rule checks whether the words before allow it
SPECIAL_ROLES: tuple[ClassRule, ...] = (
    _narrower_class,
    _possessive_column,
    _class_group,
    _order_by_count,
)


def _ranked(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """A class after a superlative."""
    assert state.rank is not None
    if state.pending_aggregates and not state.rank.concepts and state.pending_aggregates != ("count",):
        # "the lowest average variant price"
        yield new.apply_rule("owner before ranked aggregate", 0.6)
    yield from ranked_class(state, new, link.refs[0], context)


def _compared_count(state: ParseState, new: ParseState, link: Link) -> Iterator[ParseState]:
    """ "More than 3 films": a class after a number with its comparison."""
    assert state.comparison is not None
    operator, value = state.comparison
    if state.unit not in COUNT_UNITS:
        # "under 60 kg" is no number of players
        yield new.apply_rule("class in condition", 0.0)
        return
    assert value is not None
    lower = Condition(link.refs[0], operator, (value,), state.negated, function="count")
    yield new.apply_rule(
        "having count",
        0.3,
        conditions=(*state.conditions, lower, *upper_bound(lower, state.until)),
        comparison=None,
        negated=False,
        pending_aggregates=(),
    )


def _missing_class(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "Students without a supervisor"."""
    if state.negated and not is_open_participle(link, context):
        missing = Condition(link.refs[0], "exists", (), True)
        yield new.apply_rule("without class", 0.2, conditions=(*state.conditions, missing), negated=False)


def _class_target(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """A class where targets are expected: the things, their number, or the owner of a target to come."""
    ref = link.refs[0]
    if state.next_role == "group":
        return
    if "count" in state.pending_aggregates:
        counted = Target(ref, "count", state.distinct)
        others = tuple(function for function in state.pending_aggregates if function != "count")
        yield new.apply_rule(
            "count class", 0.3, targets=(*state.targets, counted), pending_aggregates=others, distinct=False
        )
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


def _class_in_condition(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
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
    return follows_comma and (precedes_comma or words[link.end].norm in language().words["joining"])


def precedes_own_property(link: Link, context: ParseContext) -> bool:
    """Whether something of the mentioned things is asked for after them: "the masons and their trade"."""
    known = language().words
    after = [token.norm for token in context.question.tokens[link.end : link.end + WORDS_AFTER]]
    at = next((i for i, word in enumerate(after[:2]) if word in known["beside"]), None)
    if at is None or not after[at + 1 : at + 2]:
        return False
    is_possessive = after[at + 1] in _possessives()
    return is_possessive or (after[at + 1] in known["article"] and _says_each_one(link, context))


def _follows_possessive(link: Link, context: ParseContext) -> bool:
    """Whether a mention belongs to what was mentioned before: "with their ..."."""
    before = [token.norm for token in context.question.tokens[max(0, link.start - 2) : link.start]]
    return len(before) == 2 and before[0] in language().words["beside"] and before[1] in _possessives()


def _says_each_one(link: Link, context: ParseContext) -> bool:
    """Whether each of the things is spoken of: "the halls and the year each one was built"."""
    words, known = [token.norm for token in context.question.tokens[link.end :]], language().words
    return any(one in known["grouping"] and other in known["stand_in"] for one, other in pairwise(words))


def _possessives() -> frozenset[str]:
    """Possessives, and "there" as a misspelt "their"."""
    return language().words["possessive"] | {"there"}
