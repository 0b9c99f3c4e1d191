"""Rules for names that stand for things of a category: ParseState + Link -> ParseStates that ask for the members.

A category is a thing that only sorts others, as "pump" sorts machines.
"""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.detect_language import multilingual_property
from nacre.language.forms.nouns import is_plural
from nacre.language.thesaurus import is_person
from nacre.language.tokens import Token, lemma
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.names.value_linker import previous_conjunct_end
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.linking.schema.class_synonyms import SKOS_NAMESPACE
from nacre.understanding.parsing.state import ParseContext, ParseState, add_link, add_schema_node
from nacre.understanding.question.types import Condition, Link, Ordering, Question, Ref, Target

# the rule by which the members of a category are asked for
MEMBERS_RULE = "members of category"
# how many properties a category may have: its name, a code, a description
MAX_CATEGORY_PROPERTIES = 3
# how many words after a name may belong to the same list: "sour or sweet cherries"
MAX_WORDS_IN_LIST = 4
# how many properties are tried as the measure of an adjective
MAX_MEASURES = 2


def category_members(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "How many pumps are there", "which saws do we have", "the cheapest pump": things of the category with that name.

    A superlative may also rank the things that have the word in their name.
    """
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
    elif link.match == "whole" and _asks_for_members(state, link, context.question):
        yield from _all_members(state, new, link, context)


def _asks_which(link: Link, question: Question) -> bool:
    """Whether a name follows "which" at the beginning of a question."""
    return link.start == 1 and question.tokens[0].norm in language().words["asking_kind"]


def _asks_for_members(state: ParseState, link: Link, question: Question) -> bool:
    return _asks_which(link, question) or "count" in state.pending_aggregates or _is_plural_name(link, question)


def _all_members(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
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


def _first_member(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
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
    """The classes of things that a category sorts, each with the predicate. None if the node is no category.

    Categories have few properties, and link to nothing but each other.
    """
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
    return not has_links and len(properties) <= MAX_CATEGORY_PROPERTIES and not is_person(graph.nodes[node].label)
