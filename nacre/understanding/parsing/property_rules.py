"""Rules for a property: ParseState + Link -> ParseStates in which it is a column, a condition, a group or an order.

In each rule, `state` is the reading before the mention and `new` the reading with the mention added.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

from nacre.language.data import WORDS, phrase_map, word_list
from nacre.language.labels import false_value, is_boolean_predicate, none_value, true_value
from nacre.language.tokens import lemma, split_name
from nacre.language.word_forms import is_participle, is_plural
from nacre.records.plan import OF_NUMBERS, PERIODS
from nacre.understanding.linking.adjectives import is_intensive, is_measured_number
from nacre.understanding.parsing.class_rules import is_open_participle
from nacre.understanding.parsing.state import (
    ParseContext,
    ParseState,
    ParseStates,
    add_link,
    add_schema_node,
    drop_open_property,
)
from nacre.understanding.parsing.superlative_rules import compared_property, numbers_own_class, ranked_property
from nacre.understanding.question.records import (
    DENIED_LINK_MATCH,
    NEGATED_MATCH,
    Condition,
    Link,
    Ordering,
    Ref,
    Target,
    token_mask,
)

PropertyRule = Callable[[ParseState, ParseState, Link, Ref, ParseContext], ParseStates]

AMOUNT_LEFT_RULE = "amount left"  # the rule by which nothing or something of an amount is left
LINK_DENIED_RULE = "link denied"  # the rule by which a word says that a link is missing
TOTAL_RULE = "total for count"  # the rule by which "how many" asks for a sum
OWN_PROPERTY_GAIN = 0.25  # what a reading gains by a property of the class right before it
MIN_NAME_REPEATS = 2  # how many things share a name on average, at least, if different names are counted (set by hand)
MAX_WORDS_OF_LEFT = 3  # words of "run out of"
MAX_WORDS_BEFORE = 4  # how many words before a verb may say that it happened: "have not yet been"


def property_mention(state: ParseState, link: Link, context: ParseContext, ref: Ref) -> ParseStates:
    """Yield the readings in which a property is a column, the left side of a condition, a group or an order."""
    new = _at_property(state, link, ref, context)
    if ref.predicate and link.match == NEGATED_MATCH and not is_boolean_predicate(context.graph.about(ref.predicate)):
        # "unpaid": what has no date of payment; "vacant": what has no tenant
        undated = Condition(ref, "known" if state.negated else "unknown")
        yield drop_open_property(new).add_conditions("flag denied", 0.2, undated, last="value")
        return
    if link.match.endswith(DENIED_LINK_MATCH):
        # "vacant rooms": those that are occupied by nobody
        if ref.via and not state.negated and state.comparison is None and state.owner != Ref(ref.node):
            yield _unlinked(LINK_DENIED_RULE, state, link, ref, context)
        return
    if state.next_role == "group" and not link.exact and context.question.tokens[link.start].lemma in PERIODS:
        asked = (context.graph.about(target.ref.predicate) for target in state.targets if target.ref.predicate)
        if any(each.datatype in ("date", "datetime") for each in asked):
            # "arrived each year": by the year of that date, and by no year of birth
            return
    if (left := _amount_left(state, link, ref, context)) is not None:
        used, condition = left
        # "what is out of stock"
        targets = state.targets or (() if state.owner else (Target(Ref(ref.node)),))
        changes: dict[str, Any] = {"targets": targets, "covered": new.covered | used, "last": "value"}
        yield drop_open_property(new).add_conditions(AMOUNT_LEFT_RULE, 0.3, condition, **changes)
        return
    if ref.predicate and state.next_role != "group" and names_boolean_property(link, ref, context):
        yield from boolean_condition(state, new, link, ref, context)
        return
    if state.negated or state.pending_text or state.last == "having":
        for rule in PRESENCE_RULES:
            yield from rule(state, new, link, ref, context)
    new = new._replace(last="prop")
    if state.mode == "O":
        yield drop_open_property(new).apply_rule("property in order")
        return
    yield from _link_of_own_class(state, link, ref, context)
    if ref.via and state.next_role == "" and state.rank is None and state.comparison is None:
        # "the director's films": the thing at the end of a link owns what comes next
        owner = drop_open_property(new)._replace(owner=Ref(ref.node), shared_aggregates=())
        yield owner.apply_rule("owner by link", -0.05)
    if state.next_role == "group":
        group = (*state.group, ref)
        yield drop_open_property(new).apply_rule("group property", 0.2, group=group, next_role="", mode="T")
    elif state.next_role.startswith("order"):
        yield _order(state, new, ref, context)
    else:
        yield from _by_modifier(state, new, link, ref, context)


def _at_property(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseState:
    """Add a property, and the thing at the source of the link that it names."""
    new = add_link(state, link, context, ref)
    sources = [source for source in link.refs if not source.via] if ref.via else []
    if sources:
        new = add_schema_node(new, sources[0], context)
    if state.owner is not None and state.owner.node == ref.node and state.last in ("class", "of", "owned"):
        new = new._replace(score=new.score + OWN_PROPERTY_GAIN)
    return new


def _amount_left(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> tuple[int, Condition] | None:
    """ "Out of stock", "sold out", "in stock": whether some of an amount is left, and the words that say so."""
    is_own = ref.predicate in context.graph.literals[ref.node]
    if not is_own or state.pending_aggregates or state.comparison or state.next_role:
        return None
    if not is_measured_number(context.graph, ref.predicate):
        return None
    first = max(0, link.start - MAX_WORDS_OF_LEFT)
    text = " ".join(token.norm for token in context.question.tokens[first : link.end])
    for left, phrases in phrase_map("parsing", "amount_left").items():
        for said, start in product((each for each in phrases if each in text), range(first, link.start + 1)):
            end = start + len(said.split())
            words = [token.norm for token in context.question.tokens[start:end]]
            if " ".join(words) == said and link.start <= end <= link.end:
                denials = [x for x in context.question.cues if x.kind == "negation" and x.start <= start <= x.end]
                condition = Condition(ref, "=" if (left == "none") != bool(denials) else ">", (0,))
                return token_mask(start, end), condition
    return None


def _unlinked(rule: str, state: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseState:
    """The reading in which nothing is at the other end of a link."""
    other_end = Ref(ref.node, "", ref.slot or int(state.owner == Ref(ref.node)))
    missing = Condition(other_end, "exists", (), True)
    linked = drop_open_property(add_link(state, link, context, other_end))
    return linked.add_conditions(rule, 0.2, missing, hints=state.hints | {ref.via}, last="prop")


def _without_link(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Never taught by anybody"."""
    if ref.via and state.negated and state.mode == "C" and not is_open_participle(link, context):
        yield _unlinked("without link", state, link, ref, context)


def _without_property(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Plants without a flower colour"."""
    if ref.predicate and state.negated and state.mode == "C" and state.comparison is None:
        none = context.graph.none_of(ref.node, ref.predicate)
        lacking = Condition(ref, "unknown") if none is None else Condition(ref, "=", (none,))
        gain = 0.0 if none is None else 0.5
        yield drop_open_property(new).add_conditions("without property", gain, lacking, last="value")


def _with_property(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Plants with a flower colour", "how many members have an email"."""
    if ref.predicate and not state.negated and state.comparison is None and _has_any(state, link, ref, context):
        none = context.graph.none_of(ref.node, ref.predicate)
        present = Condition(ref, "known") if none is None else Condition(ref, "!=", (none,))
        yield drop_open_property(new).add_conditions("with property", 0.5, present, last="value")


def _containing_text(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "With the letter a in their names"."""
    if ref.predicate and state.pending_text and not context.graph.is_numeric(ref.predicate):
        text = state.pending_text
        containing = Condition(ref, state.text_match, (text,), state.negated, label=text)
        yield drop_open_property(new).add_conditions(
            "text before property", 0.4, containing, last="value", text_match="", pending_text=""
        )


# conditions that a property makes by itself: that it has a value, has none, or contains a text said before
PRESENCE_RULES: tuple[PropertyRule, ...] = (_without_link, _without_property, _with_property, _containing_text)


def _link_of_own_class(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "States that border states": a link between things of one class."""
    owner = state.owner
    if not ref.via or owner is None or owner.node != ref.node or state.next_role:
        return
    is_self_link = any(source.node == ref.node for source in link.refs if not source.via)
    if is_self_link and state.last in ("class", "having", "and", "or", "negation"):
        linked = drop_open_property(add_link(state, link, context, owner))
        hints = linked.hints | {ref.via}
        yield linked.apply_rule("link of own kind", 0.1, hints=hints, last="own kind", shared_aggregates=())


def _order(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> ParseState:
    """ "Sorted by height"."""
    function = state.pending_aggregates[0] if state.pending_aggregates else ""
    if function == "count" and _is_ordered(ref, context) and context.graph.about(ref.predicate).role != "identifier":
        # "by number of seats" is what the property holds
        function = ""
    order = Ordering(ref, state.next_role == "order down", function, state.limit)
    return drop_open_property(new).apply_rule(
        "order by property", 0.2, order=state.order or order, pending_aggregates=(), limit=0, next_role="", mode="O"
    )


def _by_modifier(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """A property after a superlative or a comparison, else as a target or in a condition."""
    numeric, free = _is_ordered(ref, context), drop_open_property(new)
    if state.rank is not None:
        yield from ranked_property(state, free, ref, numeric, context)
    if state.comparison is not None:
        yield from compared_property(state, new, ref, context)
        if state.comparison[1] is not None:
            return
    if state.rank is None and state.mode == "T":
        aggregated = any(target.ref == ref and target.function for target in state.targets)
        if ref.predicate and not state.pending_aggregates and aggregated:
            # "how many languages do they speak"
            yield free.apply_rule("property said again", 0.2, last="prop")
        else:
            yield from property_target(state, free, ref, numeric, context)
    elif state.mode == "C":
        yield from _property_in_condition(state, new, link, ref, context)


def _property_in_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> ParseStates:
    """A property whose value comes next, or that holds by itself."""
    if state.conditions and state.conditions[-1].ref == ref and state.last == "value":
        # "the Spices category": the property says what the value is of
        yield new.apply_rule("property after value", 0.3)
        return
    function, free = state.pending_aggregates[0] if state.pending_aggregates else "", drop_open_property(new)
    ranked = list(_ranked_by_own_word(state, free, link, ref, context))
    yield from ranked or _event_condition(state, free, link, ref, context)
    yield free._replace(
        pending_property=ref, pending_function=function, pending_aggregates=(), pending_is_target=False
    ).apply_rule("property in condition", 0.0)


def _is_ordered(ref: Ref, context: ParseContext) -> bool:
    """Whether the values of a property are numbers or dates."""
    return bool(ref.predicate) and (context.graph.is_numeric(ref.predicate) or context.graph.is_date(ref.predicate))


def _has_any(state: ParseState, link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether the question asks for any value of a property: "with a phone", "with wifi"."""
    denied = any(cue.kind == "negation" and cue.start < link.start <= cue.end for cue in context.question.cues)
    if state.last == "having" and not denied and none_value(context.graph.about(ref.predicate)) is not None:
        return context.question.tokens[link.start - 1].norm in WORDS["owning"]
    having, article = ("", "", *(token.norm for token in context.question.tokens[: link.start]))[-2:]
    return state.last == "having" and having in WORDS["owning"] and article in WORDS["indefinite"]


def _ranked_by_own_word(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Which bell was last rung" where a date is called "last rung": the bell with the latest."""
    # "issued last" does not ask for what was last modified
    if link.covered.bit_count() == 1 or not (ref.predicate and context.graph.is_date(ref.predicate)):
        return
    words = context.question.tokens
    before = {token.norm for token in words[max(0, link.start - 2) : link.start]} & (WORDS["being"] | WORDS["helping"])
    ends = {words[link.start].norm, words[link.end - 1].norm} & (WORDS["the_last"] | WORDS["the_next"])
    if not (before and ends):
        return
    asked = [x for x in state.links if x.kind == "class" and (Target(x.refs[0]),) == state.targets]
    is_one = len(asked) == 1 and asked[0].refs[0].node == ref.node and not is_plural(words[asked[0].end - 1].norm)
    if is_one or (not state.links and words[0].norm in WORDS["asking_who"]):
        order = Ordering(ref, bool(ends & WORDS["the_last"]), "", state.limit or 1)
        yield new.apply_rule("superlative after class", 0.5, order=order, limit=0, last="rank")


def _event_condition(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Employees that have left", "bills not yet returned": the date of an event is known, or is not; "boats that were
    sold", of which some were "sold for" an amount."""
    words, graph = context.question.tokens, context.graph
    is_event = bool(ref.predicate) and is_participle(words[link.end - 1].norm)
    if is_event and not graph.is_date(ref.predicate):
        first, *rest = [*graph.surface_words(ref.predicate), ""]
        is_said = first.casefold() == words[link.start].norm and rest[0] in word_list("wording", "prepositions")
        is_event = is_said and graph.about(ref.predicate).subjects < graph.nodes[ref.node].count
    if not is_event or state.comparison or set(state.pending_aggregates) - {"count"}:
        return
    if any(token.norm in word_list("wording", "prepositions") for token in words[link.end : link.end + 1]):
        # "built by", "sold in" ask by whom and when, not whether
        return
    before = {token.norm for token in words[max(0, link.start - MAX_WORDS_BEFORE) : link.start]}
    if before & (WORDS["being"] | WORDS["helping"]):
        operator, rule = ("unknown", "has not happened") if state.negated else ("known", "has happened")
        yield new.add_conditions(rule, 0.1, Condition(ref, operator), last="value")


def property_target(state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext) -> ParseStates:
    """Yield the readings in which a property is asked for; `numeric` says if its values are numbers or dates."""
    if numbers_own_class(ref, context.graph) and is_plural(context.question.tokens[new.links[-1].end - 1].norm):
        # "the flights" are no numbers of flights
        return
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
        pending["shared_aggregates"] = state.shared_aggregates
        yield new.apply_rule("aggregate shared", 0.0, targets=targets, **pending)
    targets, pending["shared_aggregates"] = (*state.targets, Target(ref, "", state.distinct)), ()
    yield new.apply_rule("target", 0.0, targets=targets, distinct=False, **pending)


def _aggregate_target(
    state: ParseState, new: ParseState, ref: Ref, numeric: bool, context: ParseContext
) -> ParseStates:
    """ "The average price": a property after an aggregate."""
    functions = state.pending_aggregates
    is_identifier = bool(ref.predicate) and context.graph.about(ref.predicate).role == "identifier"
    if (is_identifier or not numeric) and OF_NUMBERS & set(functions):
        # texts and identifiers have no average
        return
    pending: dict[str, Any] = {"pending_aggregates": (), "pending_property": ref, "pending_is_target": True}
    distinct = state.distinct or (bool(ref.predicate) and _counts_values(new, ref, context))
    targets = (*state.targets, *(Target(ref, each, distinct and each == "count") for each in functions))
    shared = {"targets": targets, "shared_aggregates": functions, "distinct": False}
    yield new.apply_rule("aggregate target", 0.2, **shared, **pending)
    has_total = numeric and not is_identifier and not context.graph.is_date(ref.predicate)
    if functions == ("count",) and has_total and not is_intensive(context.graph, ref.predicate):
        total = Target(ref, "sum")
        yield new.apply_rule(TOTAL_RULE, -0.1, targets=(*state.targets, total), **pending)
    if functions in (("sum",), ("count",)):
        # "the total points", "the number of seats" may be what a property holds
        targets = (*state.targets, Target(ref))
        yield new.apply_rule("plain target of total", -0.1, targets=targets, distinct=False, **pending)


def _counts_values(new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a count is of the different values of a property, and not of the things that have it.

    Values are counted if a thing has several, and if they only sort things ("how many colours are there"). Amounts,
    and names and identifiers that rarely repeat, belong to one thing each, and "how many have a colour" counts things.
    """
    about = context.graph.about(ref.predicate)
    if not about.functional:
        return True
    words = context.graph.words[ref.predicate]
    numeric = context.graph.is_numeric(ref.predicate) and not context.graph.is_date(ref.predicate)
    sorts = not numeric or is_intensive(context.graph, ref.predicate)
    is_name = about.role in ("name", "identifier") or bool(words and words[-1] in WORDS["naming"])
    if not sorts or not (is_name or about.role == "fact") or about.objects >= about.subjects:
        return False
    if is_name and about.objects * MIN_NAME_REPEATS > about.subjects:
        return False
    named = new.links[-1].start
    counting = max(
        (cue.end for cue in context.question.cues if cue.kind == "count" and cue.end <= named), default=named
    )
    verbs = WORDS["owning"] | WORDS["being"]
    return not any(token.norm in verbs for token in context.question.tokens[counting:named])


def _is_counted_property(state: ParseState, new: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a singular class only modifies the property after it: "how many film directors"."""
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
        and words[name.start].norm in WORDS["telling"]
        and name.end < owner.start
        and words[name.end].norm == "of"
        and name.refs[0].node == owner.refs[0].node
    )


MAX_WORDS_BEFORE_BOOLEAN = 3  # how many words before a property may ask what it says: "whether they are ..."
SHARED_LETTERS = 4  # how many letters two forms of a word share


def names_boolean_property(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word asks for things of which a boolean property holds, not for the property ("the paid flag")."""
    if link.match == NEGATED_MATCH or context.graph.about(ref.predicate).datatype == "boolean":
        return True
    words = context.question.tokens
    is_said_of_things = link.start > 0 and words[link.start - 1].norm in WORDS["being"]
    if is_plural(words[link.end - 1].norm) and not is_said_of_things:
        # "the decisions", which are yes or no; "which are duplicates" asks for those that are
        return False
    near = words[max(0, link.start - MAX_WORDS_BEFORE_BOOLEAN) : link.end + 1]
    asks_for_flag = any(token.norm in WORDS["asking_flag"] for token in near)
    return ref.predicate in context.graph.boolean_predicates and not asks_for_flag


def boolean_condition(state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext) -> ParseStates:
    """ "Blocked customers", "unpaid rentals": a boolean property holds, or does not."""
    about = context.graph.about(ref.predicate)
    yes, no = true_value(about), false_value(about)
    if yes is None or _names_amount(link, ref, context):
        return
    # who "earns" has not paid, and what they "pay" is not yes or no
    if yes is not True and (_is_unlike(link, ref, context) or _is_verb_of_participle(link, ref, context)):
        return
    if link.match == "partial" and _is_only_verb(link, ref, context):
        # what is run by somebody does not run at night
        return
    # "the decision no"
    after = context.question.tokens[link.end : link.end + 1]
    says_no = any(token.norm in WORDS["lacking"] for token in after)
    if says_no:
        new = new._replace(covered=new.covered | token_mask(link.end, link.end + 1))
    is_denied = (state.negated != (link.match == NEGATED_MATCH)) != says_no
    if is_denied and no is not None:
        # an unknown value is neither
        rule, condition = "flag denied", Condition(ref, "=", (no,))
    else:
        rule, condition = "flag", Condition(ref, "=", (yes,), is_denied)
    yield new.add_conditions(rule, 0.2, condition, last="flag")


def _is_unlike(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is like the name, and no other form of its words, or a slip: "freelance" of "is freelancer"."""
    said = {token.lemma[:SHARED_LETTERS] for token in context.question.tokens[link.start : link.end]}
    own = {word[:SHARED_LETTERS] for word in context.graph.words[ref.predicate]}
    return link.match == "like" and not any(len(stem) == SHARED_LETTERS for stem in said & own)


def _names_amount(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word that is only like the name also names an amount of the things: "cost", which is not "paid"."""
    same = (each.refs[0] for each in context.links if each.kind == "property" and each.covered == link.covered)
    amounts = (each for each in same if each.node == ref.node and each.predicate != ref.predicate)
    is_amount = any(each.predicate and context.graph.is_numeric(each.predicate) for each in amounts)
    return is_amount and _is_unlike(link, ref, context)


def _is_only_verb(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is only the verb at the beginning of a longer name: "runs" of "runs at night"."""
    said = [token.lemma for token in context.question.tokens[link.start : link.end]]
    first = split_name(context.graph.about(ref.predicate).label).split()[0]
    is_verb = said == [lemma(first)] and first in word_list("wording", "verbs")
    return is_verb and len(context.graph.words[ref.predicate]) > 1


def _is_verb_of_participle(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is the verb of the participle in the name: "pay" of "paid"."""
    words = context.question.tokens
    name = context.graph.about(ref.predicate).label.casefold().split()[-1]
    said = words[link.end - 1].norm
    asks_yes_no = words[0].norm in WORDS["helping"]
    return not asks_yes_no and said != name and lemma(name) == said
