"""Rules for named things and values: ParseState + Link -> ParseStates in which the mention is a condition.

Names of a category may ask for its members. A category is a thing that only sorts others, as "pump" sorts machines.
"""

import calendar
from collections.abc import Collection, Iterator
from typing import Any

from nacre.language.data import WORDS
from nacre.language.thesaurus import is_person
from nacre.language.tokens import Token, lemma, multilingual_property, name_tokens
from nacre.language.word_forms import is_plural
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.link_names import previous_conjunct_end
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import NAMED_STEP_COST, RARE_STEP_COST
from nacre.understanding.linking.schema_terms import SKOS_NAMESPACE
from nacre.understanding.parsing.class_rules import (
    CLASS_FIRST_RULE,
    OWN_COLUMN_GAIN,
    OWN_COLUMN_RULE,
    precedes_own_property,
)
from nacre.understanding.parsing.cue_rules import ONLY_RULE, exclusive_conditions
from nacre.understanding.parsing.state import (
    DANGLING_COST,
    ParseContext,
    ParseState,
    ParseStates,
    add_link,
    add_schema_node,
    drop_open_property,
    has_self_link,
    is_second_mention,
    last_target_as_condition,
    next_slot,
)
from nacre.understanding.question.records import (
    Aggregation,
    Condition,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    token_mask,
)

AMONG_GAIN = 0.8  # what a reading gains by asking for one of several named things

# the rule by which a thing is asked for that an identifier or another name mentions, and what a reading gains by it if
# the property that holds the identifier stands before it
IDENTIFIER_RULE, IDENTIFIER_GAIN = "thing by its code", 0.5

# path cost of a property of the thing itself or of its direct neighbour (linking/graph)
MAX_NEIGHBOUR_COST = NAMED_STEP_COST + RARE_STEP_COST

SCALES = tuple(
    tuple(name for name in names if name)
    for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
)


def value_mention(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """Yield the readings in which a named thing or a value is a condition, whatever comes before it."""
    ref = link.refs[0]
    is_entity, tokens = link.kind == "entity", context.question.tokens
    named_so = bool(link.start) and tokens[link.start - 1].norm in WORDS["calling"]
    if named_so and is_entity and state.owner is not None and state.owner.node != ref.node:
        # "rivers called Colorado" are no rivers of a state of that name
        return
    # the class of a thing named in full is asked for itself
    asked = {target.ref.node for target in state.targets if not target.ref.predicate and not target.ref.slot}
    said = {token.norm for token in tokens[link.start : link.end]}
    # the number after a property is its value, and rarely the code of a thing
    is_number = state.pending_property is not None and all(map(str.isdigit, said))
    is_target = not (named_so or is_number) and link.match in ("whole", "scope") and ref.node in asked
    if is_entity and not said <= set(name_tokens(link.label)) and (is_target or _is_identifier(state, link, context)):
        # words of an identifier or another name, and not of the label
        yield _thing_by_identifier(state, link, context)
        if state.pending_property:
            return
    if is_entity and state.degree:
        yield from _degree_of_thing(state, link, context)
    aggregated = state.pending_aggregates or any(target.function for target in state.targets)
    if state.next_role == "group" and link.match == "scope" and aggregated:
        # "how many for each of them"
        new = add_link(state, link, context, ref)._replace(owner=ref, group=(*state.group, ref), next_role="")
        same = _identity(link)
        yield new.add_conditions("group of those", 0.5, same, negated=state.negated, mode="C", last="value")
        return
    if is_entity:
        yield from category_members(state, link, context)
        yield from _against_thing(state, link, context)
        yield from _chosen_among(state, link, context)
    else:
        yield from _things_of_kind(state, link, context)
    scoped = _property_in_scope(state, ref, context)
    for place in _possible_things(state, link, context, is_target) if scoped is None else [scoped]:
        yield from _value_condition(state, link, place, named_so and is_entity, context)


def _things_of_kind(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "Which cats were treated", "the cats and their weights": a value asks for the things that have it."""
    words, ref = context.question.tokens, link.refs[0]
    is_chosen = link.start == 1 and words[0].norm in WORDS["choosing_one"]
    names_class = any(each.kind == "class" and each.start == link.end for each in context.links)
    if state.targets or state.mode != "T" or not ref.predicate or state.negated or names_class:
        return
    own = precedes_own_property(link, context)
    if (is_chosen or is_plural(words[link.end - 1].norm)) and (own or is_chosen):
        thing = Ref(ref.node, "", ref.slot)
        new = add_link(state, link, context, ref)._replace(owner=thing, last="class", shared_aggregates=())
        rule, gain = (OWN_COLUMN_RULE, OWN_COLUMN_GAIN) if own else (CLASS_FIRST_RULE, 0.0)
        yield new.add_conditions(rule, gain, _condition(state, link, ref, ()), targets=(Target(thing),))


def _identity(link: Link, negated: bool = False) -> Condition:
    """The condition that a thing is the mentioned one."""
    return Condition(link.refs[0], "is", (), negated, link.keys, link.label)


def _thing_by_identifier(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    """ "The concept with the notation 4112"."""
    new = add_link(state, link, context, link.refs[0])._replace(
        pending_property=None, last="value", shared_aggregates=(), **last_target_as_condition(state)
    )
    gain = IDENTIFIER_GAIN if state.pending_property else 0.0
    return new.add_conditions(IDENTIFIER_RULE, gain, _identity(link, state.negated))


def _possible_things(state: ParseState, link: Link, context: ParseContext, is_target: bool) -> list[Ref]:
    """The things of a class that a mention may be: the first, or one more at the other end of a link."""
    ref = link.refs[0]
    if link.kind != "entity":
        return [ref]
    # nobody asks which states Texas is
    things = [] if len(link.keys) == 1 and is_target else [ref]
    if not any(node.node == ref.node for node in state.nodes) or not has_self_link(ref, context):
        return things
    other = Ref(ref.node, "", next_slot(state, ref.node))
    return [other] if state.last == "own kind" or is_second_mention(state, ref, context) else [*things, other]


def _degree_of_thing(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "How long is the Rhine"."""
    ref = link.refs[0]
    measures = measured_properties(context.graph, ref.node, state.degree)[:2]
    # the year in which its maker was founded measures no thing
    own = [each for each in measures if each[0].node == ref.node or not context.graph.is_date(each[0].predicate)]
    for measure, _, cost in own:
        new = add_schema_node(add_link(state, link, context, ref), measure, context)
        new = new._replace(degree=(), last="value", owner=ref, targets=(*state.targets, Target(measure)))
        same = _identity(link, state.negated)
        yield new.add_conditions("degree of thing", 0.4 - cost, same, negated=state.negated)


def _value_condition(state: ParseState, link: Link, ref: Ref, named_so: bool, context: ParseContext) -> ParseStates:
    """A condition that something is a value or a thing, in its place among what was said before."""
    scale = _values_on_scale(link, ref, context)
    if scale:
        # the bound before the value is part of the condition
        link = link._replace(covered=link.covered | token_mask(link.start - 1, link.start))
    new = add_link(state, link, context, ref)._replace(last="value", shared_aggregates=())
    condition = _condition(state, link, ref, scale)
    exclusive = exclusive_conditions(condition, context) if state.exclusive else ()
    changes: dict[str, Any] = {
        "conditions": (*state.conditions, *(exclusive or (condition,))),
        "negated": False,
        "exclusive": False,
        "join": "both" if state.join == "both" else "and",
        "text_match": "",
    }
    rule, gain = "value" if condition.values else "other thing" if ref.slot else "thing", 0.0
    if named_so and state.owner is not None:
        rule, gain = "named so", 0.5
        if state.pending_is_target and state.links[-1].end == link.start:
            # "the year of the museum named ...": its name is not asked for
            new = new._replace(pending_property=None, **last_target_as_condition(state))
    if state.pending_property is not None:
        before = state.pending_property
        if (before.node, before.predicate) == (ref.node, ref.predicate):
            rule, gain = f"{rule} of property", 0.4
            if state.pending_is_target and state.mode == "T":
                # "the airport code AKO": the property was no target
                demoted = {**changes, "pending_property": None, **last_target_as_condition(state)}
                yield new.apply_rule(ONLY_RULE if exclusive else rule, 0.3, **demoted)
                gain = 0.0
            else:
                new = new._replace(pending_property=None)
        elif not state.pending_is_target and not ref.predicate and before.node == ref.node:
            rule = f"{rule} of node"
            loss = DANGLING_COST if before.predicate else 0.0
            new = new._replace(pending_property=None, score=new.score - loss)
        elif not state.pending_is_target:
            new = drop_open_property(new)
    yield new.apply_rule(ONLY_RULE if exclusive else rule, gain, **changes)


def _condition(state: ParseState, link: Link, ref: Ref, scale: tuple[str, ...]) -> Condition:
    """The condition itself: an identity, a value, the values on a scale, or a text that a property contains."""
    is_value = link.kind == "value"
    values: tuple[str | float, ...] = scale or ((link.value, *link.keys) if is_value else ())
    operator = "=" if values else "is"
    if state.text_match and values:
        operator, values = state.text_match, (link.label,)
    keys = () if is_value else link.keys
    return Condition(ref, operator, values, state.negated, keys, link.label, join=state.join)


def _property_in_scope(state: ParseState, ref: Ref, context: ParseContext) -> Ref | None:
    """The property of a value, as one of the things at hand if these belong to a wider class that has it."""
    scope = (link.refs[0] for link in state.links if link.match == "scope")
    owner = state.owner or next(scope, None)
    if owner is None or not ref.predicate or not context.graph.is_subclass(owner.node, ref.node):
        return None
    return Ref(owner.node, ref.predicate, owner.slot) if ref.predicate in context.graph.literals[owner.node] else None


def _is_identifier(state: ParseState, link: Link, context: ParseContext) -> bool:
    """Whether the property before a mention holds the names by which it mentions the thing: "the notation 4112"."""
    ref = state.pending_property
    if ref is None or not ref.predicate or ref.node != link.refs[0].node:
        return False
    before = state.links[-1]
    is_adjacent = before.kind == "property" and before.end == link.start
    return is_adjacent and context.graph.about(ref.predicate).role in ("identifier", "name")


def _values_on_scale(link: Link, ref: Ref, context: ParseContext) -> tuple[str, ...]:
    """The values that "before April" leaves if the property holds names of months or days; else none."""
    if link.kind != "value" or not link.start or not ref.predicate or not isinstance(link.value, str):
        return ()
    bound = context.question.tokens[link.start - 1].norm
    return values_on_scale(bound, link.value, context.graph.about(ref.predicate).values)


def _chosen_among(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "Which of them has the ...", "which X5 is the ...": one of several named things is asked for."""
    question, ref = context.question, link.refs[0]
    before = [token.norm for token in question.tokens[: link.start]]
    asks_one = bool(before) and before[0] in WORDS["choosing_one"]
    # "which X5 variants": the class that follows is what is asked for
    only_stopwords = all(i in question.stopwords for i in (*range(link.start), link.end))
    if state.targets or len(link.keys) < 2 or not (asks_one and only_stopwords and context.graph.nodes[ref.node].named):
        return
    new = add_link(state, link, context, ref)._replace(last="value", shared_aggregates=(), owner=ref)
    targets, same = (Target(ref),), _identity(link)
    yield new.add_conditions("chosen among", AMONG_GAIN, same, negated=state.negated, targets=targets)


def _against_thing(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "Longer than the Rhine": a property is compared with the same property of the thing."""
    ref, left = link.refs[0], state.pending_property
    if state.comparison is None or state.comparison[1] is not None or left is None:
        return
    if not left.predicate or context.graph.distance(left.node, ref.node) > MAX_NEIGHBOUR_COST:
        return
    operator = state.comparison[0]
    extreme: Aggregation = "max" if operator.startswith(">") else "min"
    compared = Condition(left, operator, (), state.negated, against=Target(left, extreme), inner=(_identity(link),))
    new = add_link(state, link, context, ref)._replace(last="value", shared_aggregates=())
    yield new.add_conditions("against thing", 0.5, compared, comparison=None, pending_property=None)


def values_on_scale(bound: str, value: str, values: Collection[str]) -> tuple[str, ...]:
    """Return the names before or after a value, on the scale that has all `values`; none if there is no such scale.

    >>> values_on_scale("before", "april", ["January", "April", "June"])
    ('January', 'February', 'March')
    """
    folded = {each.casefold() for each in values}
    for scale in SCALES:
        names = [name.casefold() for name in scale]
        if value.casefold() not in names or not folded <= set(names):
            continue
        at = names.index(value.casefold())
        if bound in {"before"} | WORDS["bound_until"]:
            return scale[: at + (bound in WORDS["bound_until"])]
        if bound in {"after"} | WORDS["bound_since"]:
            return scale[at + (bound == "after") :]
    return ()


def names_month(link: Link, graph: SchemaGraph) -> bool:
    """Whether a value is one of a property that holds names of months or days."""
    values = [graph.about(ref.predicate).values for ref in link.refs if ref.predicate]
    return isinstance(link.value, str) and any(values_on_scale("since", link.value, each) for each in values)


MEMBERS_RULE = "members of category"  # the rule by which the members of a category are asked for
# how many properties a category may have, and a concept of a thesaurus: its name, a code, a description
MAX_CATEGORY_PROPERTIES, MAX_CONCEPT_PROPERTIES = 6, 3
MAX_WORDS_IN_LIST = 4  # how many words after a name may belong to the same list: "sour or sweet cherries"
MAX_MEASURES = 2  # how many properties are tried as the measure of an adjective


def category_members(state: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "How many pumps are there", "the cheapest pump": things of the category with that name."""
    is_read = state.targets or state.conditions or state.links or set(state.pending_aggregates) - {"count"}
    before = [i for i in range(link.start) if i not in context.question.stopwords and not state.covered >> i & 1]
    if is_read or before:
        return
    category = Condition(link.refs[0], "is", (), False, link.keys, link.label)
    new = add_link(state, link, context, link.refs[0])._replace(
        last="value", shared_aggregates=(), conditions=(category,)
    )
    if state.rank is not None:
        yield from _first_member(state, new, link, context)
    elif link.match == "whole" and (
        _asks_which(link, context.question)
        or "count" in state.pending_aggregates
        or _is_plural_name(link, context.question)
    ):
        yield from _all_members(state, new, link, context)


def _asks_which(link: Link, question: Question) -> bool:
    """Whether a name follows "which" at the beginning of a question."""
    return link.start == 1 and question.tokens[0].norm in WORDS["asking_kind"]


def _all_members(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """The members by each predicate that sorts things by the category, or by categories below it."""
    graph = context.graph
    sorted_classes = list(_sorted_classes(graph, link.refs[0].node))
    below = graph.node_of_class.get(link.keys[0]) if len(link.keys) == 1 else None
    lower = {each for ref, each in sorted_classes if below is not None and (ref.node, below) in graph.ends[each]}
    predicates = {each for _, each in sorted_classes}
    # if nothing is of this category by any predicate, nothing is
    direct = {each for each in predicates if link.ends is None or each in link.ends} or predicates - lower
    for ref, predicate in sorted_classes:
        is_direct, is_lower = predicate in direct, predicate in lower
        if not is_direct and not is_lower:
            continue
        if _asks_which(link, context.question) and predicate.startswith(SKOS_NAMESPACE):
            # "what material": the members of a scheme of materials are what the words say
            continue
        target = Target(ref, "count" if "count" in state.pending_aggregates else "")
        members = add_schema_node(new, ref, context)._replace(pending_aggregates=(), owner=ref)
        hints = new.hints | {predicate}
        if not is_lower or (target.function and is_direct):
            yield members.apply_rule(MEMBERS_RULE, 0.3, targets=(target,), hints=hints)
            continue
        # the categories below are meant too, or alone if nothing is of the category itself
        assert below is not None
        other = Condition(Ref(below), "exists", join="or" if is_direct else "and")
        members = add_schema_node(members, other.ref, context)
        conditions = (*new.conditions, other) if is_direct else (other,)
        yield members.apply_rule(MEMBERS_RULE, 0.3, targets=(target,), hints=hints, conditions=conditions)


def _first_member(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> ParseStates:
    """ "The cheapest pump"."""
    rank, graph, ref = state.rank, context.graph, link.refs[0]
    if rank is None or not rank.concepts or state.pending_aggregates:
        return
    classes = [(ref, "")] if len(link.keys) > 1 else list(_sorted_classes(graph, ref.node))
    for target, predicate in classes:
        for measure, reverse, cost in measured_properties(graph, target.node, rank.concepts)[:MAX_MEASURES]:
            ranked = add_schema_node(add_schema_node(new, target, context), measure, context)
            yield ranked._replace(owner=target, rank=None, limit=0).apply_rule(
                "first of category",
                0.4 - cost,
                targets=(Target(target),),
                order=Ordering(measure, rank.descending != reverse, "", state.limit or 1),
                hints=new.hints | {predicate} if predicate else new.hints,
            )


def _is_plural_name(link: Link, question: Question) -> bool:
    """Whether a name is a plural, or the first of several that share their last word: "sour or sweet cherries"."""
    words, end = question.tokens, link.end
    if _is_plural(words[end - 1]):
        return True
    is_listed = any(at < len(words) and previous_conjunct_end(question, at) == end for at in (end, end + 1))
    last = lemma(link.label.casefold().split()[-1]) if is_listed and link.label.split() else ""
    return any(word.lemma == last and _is_plural(word) for word in words[end : end + MAX_WORDS_IN_LIST])


def _is_plural(word: Token) -> bool:
    """Whether a word is a plural, also one with another lemma: "saws" is a form of "saw", or of "see"."""
    return is_plural(word.norm) or (word.norm.endswith("s") and word.norm != word.lemma)


def _sorted_classes(graph: SchemaGraph, node: int) -> Iterator[tuple[Ref, str]]:
    """The classes that a category sorts, each with the predicate; None for other nodes."""
    if not _is_category(graph, node):
        return
    is_concept = any(step.forward and step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node])
    steps = [
        step
        for step in graph.steps[node]
        if not step.forward
        and graph.nodes[step.target].classes
        and graph.about(step.predicate).functional
        and not graph.nodes[step.target].relations & graph.nodes[node].relations
        and (
            graph.nodes[step.target].count > graph.nodes[node].count
            or (is_concept and not step.predicate.startswith(SKOS_NAMESPACE))
        )
    ]
    for step in steps:
        # of a class and a group in it the class is meant
        own = graph.nodes[step.target].relations
        if not any(step.predicate == other.predicate and own < graph.nodes[other.target].relations for other in steps):
            yield Ref(step.target), step.predicate


def _is_category(graph: SchemaGraph, node: int) -> bool:
    # the links of a thesaurus only arrange its concepts
    has_links = any(step.forward and not step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node])
    # names in several languages count as one property
    properties = [each for each in graph.literals[node] if multilingual_property(each) not in graph.schema.predicate_of]
    is_concept = any(step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node])
    most = MAX_CONCEPT_PROPERTIES if is_concept else MAX_CATEGORY_PROPERTIES
    return not has_links and len(properties) <= most and not is_person(graph.nodes[node].label)
