"""Rules for names that stand for a kind of things: a category or part of names at hand + ParseState -> their members."""

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
# properties of a category at most: its name, a code, a description (given)
MOST_SAID = 3
# words after a name among which the last one of its like is sought
FURTHER = 4
# measures of an adjective that are tried
MOST_MEASURES = 2


def category_members(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "How many pumps are there", "which saws do we have": things of a category that is called so; "the cheapest
    pump": the first of them, or of the things that have the word in their name."""
    ref, graph, rank = link.refs[0], context.graph, state.rank
    before = [i for i in range(link.start) if i not in context.question.stopwords and not state.covered >> i & 1]
    if state.targets or state.conditions or state.links or before or set(state.pending_aggregates) - {"count"}:
        return
    keyed = Condition(ref, "is", (), False, link.keys, link.label)
    below = graph.node_of_class.get(link.keys[0]) if len(link.keys) == 1 else None
    new = add_link(state, link, context, ref)._replace(last="value", shared_aggregates=(), conditions=(keyed,))
    if rank is None:
        words = context.question.tokens
        which = link.start == 1 and words[0].norm in language().words["asking_kind"]
        if link.match == "whole" and (
            which or "count" in state.pending_aggregates or _says_several(link, context.question)
        ):
            sorting = list(_sorted(graph, ref.node))
            lowers = {p: below for t, p in sorting if below is not None and (t.node, below) in graph.ends[p]}
            # of none of them, where nothing is of this category by any link
            links = {p for _, p in sorting}
            leading = {p for p in links if link.ends is None or p in link.ends} or links - lowers.keys()
            for target, predicate in sorting:
                lower, itself = lowers.get(predicate), predicate in leading
                if not itself and lower is None:
                    continue
                if which and predicate.startswith(SKOS_NAMESPACE):
                    # "what material": of a scheme of materials, it is what the words say
                    continue
                asked = Target(target, "count" if "count" in state.pending_aggregates else "")
                sorted_ = add_schema_node(new, target, context)._replace(pending_aggregates=(), owner=target)
                hints = new.hints | {predicate}
                if lower is None or (asked.function and itself):
                    yield sorted_.apply_rule(MEMBERS_RULE, 0.3, targets=(asked,), hints=hints)
                    continue
                # of a category with others below it these are meant too, or alone where nothing is of itself
                other = Condition(Ref(lower), "exists", join="or" if itself else "and")
                wider = add_schema_node(sorted_, other.ref, context)
                both = (keyed, other) if itself else (other,)
                yield wider.apply_rule(MEMBERS_RULE, 0.3, targets=(asked,), hints=hints, conditions=both)
        return
    kinds = [(ref, "")] if len(link.keys) > 1 else list(_sorted(graph, ref.node))
    for target, predicate in kinds if rank.concepts and not state.pending_aggregates else ():
        for found, reverse, cost in measured_properties(graph, target.node, rank.concepts)[:MOST_MEASURES]:
            order = Ordering(found, rank.descending != reverse, "", state.limit or 1)
            placed = add_schema_node(add_schema_node(new, target, context), found, context)._replace(
                owner=target, rank=None, limit=0
            )
            hints = new.hints | {predicate} if predicate else new.hints
            yield placed.apply_rule(
                "first of category", 0.4 - cost, targets=(Target(target),), order=order, hints=hints
            )


def _says_several(link: Link, question: Question) -> bool:
    """Whether a name is said in the plural, or is the first of several whose last word stands only once: "sour or sweet
    cherries"."""
    words, end = question.tokens, link.end
    if _is_several(words[end - 1]):
        return True
    joined = any(at < len(words) and previous_conjunct_end(question, at) == end for at in (end, end + 1))
    last = lemma(link.label.casefold().split()[-1]) if joined and link.label.split() else ""
    return any(word.lemma == last and _is_several(word) for word in words[end : end + FURTHER])


def _is_several(word: Token) -> bool:
    """Whether a word is a plural: "saws" is a form of "saw", or of "see"."""
    return is_plural(word.norm) or (word.norm.endswith("s") and word.norm != word.lemma)


def _sorted(graph: SchemaGraph, node: int) -> Iterator[tuple[Ref, str]]:
    """The kinds of things that things of a node only sort, each with the link: these say little of themselves, and lead
    nowhere."""
    about = graph.nodes[node]
    # what a thesaurus says of its concepts only arranges them
    ahead = [step.predicate for step in graph.steps[node] if step.forward]
    concepts = any(predicate.startswith(SKOS_NAMESPACE) for predicate in ahead)
    leads = any(not predicate.startswith(SKOS_NAMESPACE) for predicate in ahead)
    # names in several languages say no more than one
    told = [p for p in graph.literals[node] if multilingual_property(p) not in graph.schema.predicate_of]
    if leads or len(told) > MOST_SAID or is_person(about.label):
        return
    found = [
        step
        for step in graph.steps[node]
        if not step.forward
        and graph.nodes[step.target].classes
        and graph.about(step.predicate).functional
        and not _shared(step.target, node, graph)
        and (
            graph.nodes[step.target].count > about.count or (concepts and not step.predicate.startswith(SKOS_NAMESPACE))
        )
    ]
    for step in found:
        # of a class and a group in it the class is meant
        own = graph.nodes[step.target].relations
        if not any(step.predicate == o.predicate and own < graph.nodes[o.target].relations for o in found):
            yield Ref(step.target), step.predicate


def _shared(one: int, other: int, graph: SchemaGraph) -> bool:
    """Whether things may be of both nodes."""
    return bool(graph.nodes[one].relations & graph.nodes[other].relations)
