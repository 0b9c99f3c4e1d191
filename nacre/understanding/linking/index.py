"""The indexes over one lexicon, and what a question names by them: Question -> Links (stage `link_mentions`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.names.value_linker import ValueLinker
from nacre.understanding.linking.schema.class_synonyms import prefer_class_synonyms
from nacre.understanding.linking.schema.comments import link_comment_words
from nacre.understanding.linking.schema.expressions import CONCEPT_RANK_COST
from nacre.understanding.linking.schema.paraphrases import link_paraphrases
from nacre.understanding.linking.schema.quantity_nodes import link_quantity_nodes
from nacre.understanding.linking.schema.requested_names import absorb_name_words
from nacre.understanding.linking.schema.requested_units import link_requested_units, link_split_names
from nacre.understanding.linking.schema.schema_linker import SchemaLinker
from nacre.understanding.linking.schema.schema_terms import SYNONYM_SCORE
from nacre.understanding.question.types import INEQUALITIES, Link, Question

# cues that ask for a number over several things
SUMMING_CUES = frozenset(("sum", "avg", "max", "min", "count"))
# how sure a name is at least that may be meant where another is said in full
LIKELY_SCORE = 0.75
# words at most between a link and the kind or thing at its end
MAX_WORDS_BETWEEN = 1


@dataclass(frozen=True)
class LinkingIndex:
    """The indexes over one lexicon that parsing needs; built once a version, then only read."""

    lexicon: Lexicon
    graph: SchemaGraph
    terms: SchemaLinker
    values: ValueLinker


def build_linking_index(lexicon: Lexicon) -> LinkingIndex:
    """Build the indexes."""
    graph, terms = _of_schema(lexicon.of_schema)
    return LinkingIndex(lexicon, graph, terms, ValueLinker(lexicon, graph))


@lru_cache(maxsize=8)
def _of_schema(lexicon: Lexicon) -> tuple[SchemaGraph, SchemaLinker]:
    graph = SchemaGraph(lexicon)
    return graph, SchemaLinker(lexicon, graph)


# how likely the noun that an expression asks for is at least, where nothing in it is taken for itself
MIN_EXPRESSION_SCORE = SYNONYM_SCORE - CONCEPT_RANK_COST


def link_mentions(question: Question, known: LinkingIndex) -> list[Link]:
    """Everything that stretches of the question may name."""
    bare = [i for i, t in enumerate(question.tokens) if t.norm.isdigit() and _bounds(question, i)]
    # "2014-2015" may be what a season is called
    ranges = {(n.start, n.end) for n in question.numbers if n.until is not None}
    named = (
        x
        for x in known.values.links(question)
        if not set(range(x.start, x.end)) <= set(bare) or (x.start, x.end) in ranges
    )
    asked = [(c.start, c.end) for c in question.cues if c.kind == "degree"]
    # "how old is she" names nothing that is called "Old ..."
    named = (x for x in named if x.match != "part" or not any(a <= x.start and x.end <= b for a, b in asked))
    named = (x for x in named if not _is_sum(x, question))
    called = _widest(list(_in_full(known.terms.links(question), question)), question, known.graph)
    named = (x for x in named if not (_is_described(x, called, question) or _is_kind(x, called, known.graph)))
    others = link_paraphrases(question, called, known.terms)
    found = [*(x for x in called if not any(_is_within(x, other) for other in others)), *others, *named]
    found += (
        x for x in link_requested_units(question, known.graph) if not any(x.covered & other.covered for other in found)
    )
    found += link_split_names(question, known.graph)
    found = _outdone(_of_what(_without_year(found, question, known.graph), question))
    found += link_comment_words(question, found, known.terms.told)
    found += link_quantity_nodes(found, known.graph)
    found = absorb_name_words(
        prefer_class_synonyms(found, question, known.terms.besides, known.graph), question, known.graph
    )
    return [*found, *_narrowed(found, known.graph)]


def _of_what(links: list[Link], question: Question) -> list[Link]:
    """The links without those of a word for a number or a code to one that another word before it says is not
    meant: a "phone number" is no ring number, where nothing is called a phone."""
    words, named = question.tokens, 0
    for x in links:
        named |= x.covered if x.match not in ("like", "link like") else 0
    # "the most frequent status"
    named |= sum(1 << i for i in {i for c in question.cues for i in range(c.start, c.end)})

    def says_other(x: Link) -> bool:
        if x.kind != "property" or x.exact or x.end != x.start + 1 or not x.start:
            return False
        before = x.start - 1
        if (
            words[x.start].lemma not in language().words["identifying"]
            or before in question.stopwords
            or named >> before & 1
        ):
            return False
        return words[before].norm.isalpha() and question.text[words[before].end : words[x.start].start] == " "

    return [x for x in links if not says_other(x)]


def _without_year(links: list[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links without those of the "year" of "in what year" to the years of something else, where another word says
    of what: "was it founded"."""
    ends = [c.end for c in question.cues if c.kind == "open" and c.value == "when"]
    if not ends:
        return links
    at = max(ends)
    later = (x.refs[0].predicate for x in links if x.kind == "property" and x.start >= at)
    dated = any(predicate and graph.is_date(predicate) for predicate in later)
    return [x for x in links if not (dated and x.kind == "property" and not x.exact and x.end <= at)]


def _outdone(links: list[Link]) -> list[Link]:
    """The links without kinds that words name in part, or by a word that only may say the same, where the very words
    name another kind or thing in full: "gliders" are no glider types."""
    whole = {(x.start, x.end) for x in links if x.kind == "class" and x.exact}
    named = {(x.start, x.end) for x in links if x.kind == "entity" and x.match == "whole" and x.exact}
    return [
        x
        for x in links
        if not (x.kind == "class" and not x.exact and x.score < LIKELY_SCORE and (x.start, x.end) in whole | named)
    ]


def _is_sum(link: Link, question: Question) -> bool:
    """Whether a name is one word in small letters that asks for a number of what follows: "the total sales" are not
    those of a company called Total."""
    token = question.tokens[link.start]
    alone = link.kind in ("entity", "value") and link.end == link.start + 1 < len(question.tokens)
    summing = any(c.kind in SUMMING_CUES and c.start <= link.start < c.end for c in question.cues)
    return alone and summing and token.text.islower() and not link.label.islower()


def _in_full(links: Sequence[Link], question: Question) -> Iterator[Link]:
    """Names of properties without parts of others that lie in a verb that is said with its preposition or particle:
    "discovered by" speaks of no "discovered on", "check out" of no "check in"."""
    words, small = question.tokens, wording_entry("prepositions") | wording_entry("particles")
    full = [
        x.covered
        for x in links
        if x.kind == "property" and x.exact and x.end - x.start == 2 and words[x.end - 1].norm in small
    ]
    for link in links:
        part = link.kind == "property" and not link.exact
        if not (part and any(link.covered & whole == link.covered != whole for whole in full)):
            yield link


def _widest(links: list[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links without the narrower kinds that a word names no better than a wider one, by its whole name or by the
    last word of it: "bells" are all bells, and no "clock bells", "works" art works, and no paintings alone."""
    wide = [x for x in links if x.kind == "class" and (x.exact or _is_head(x, question, graph))]

    heads = {(x.start, x.end) for x in wide if not x.exact}

    def is_part(link: Link) -> bool:
        if link.kind == "property":
            # "works" are no "work height"
            named = link.refs[0].predicate
            last = graph.words[named][-1:] if named else ()
            return (link.start, link.end) in heads and bool(last) and last != (question.tokens[link.start].lemma,)
        own = graph.nodes[link.refs[0].node].relations
        within = (w for w in wide if (w.start, w.end) == (link.start, link.end))
        return any(own < graph.nodes[w.refs[0].node].relations for w in within)

    return [x for x in links if x.exact or not is_part(x)]


def _is_within(link: Link, expression: Link) -> bool:
    """Whether a word that only sounds like a name is part of an expression that says more: "made of" asks for no day on
    which something was made."""
    longer = expression.start <= link.start and link.end <= expression.end and expression.score >= MIN_EXPRESSION_SCORE
    return longer and link.end - link.start < expression.end - expression.start and link.match.endswith("like")


def _is_described(link: Link, called: Sequence[Link], question: Question) -> bool:
    """Whether words that are parts of a thing's name in another order only say more of a kind: a "football club" is no
    "Club Nacional de Football"."""
    words = question.tokens[link.start : link.end]
    if link.match != "part" or len(link.keys) != 1 or len(words) < 2 or any(t.text[:1].isupper() for t in words):
        return False
    kinds = {x.end for x in called if x.kind == "class" and x.exact and x.start > link.start}
    return link.end in kinds and " ".join(t.norm for t in words) not in link.label.casefold()


def _is_kind(link: Link, called: Sequence[Link], graph: SchemaGraph) -> bool:
    """Whether part of things' names is what their kind is called: "customers" are not those called "customer 12"."""
    if link.match != "part":
        return False
    span, own = (link.start, link.end), graph.nodes[link.refs[0].node]
    same = (x.refs[0].node for x in called if x.kind == "class" and x.exact and (x.start, x.end) == span)
    return any(own.index == kind or own.relations <= graph.nodes[kind].relations for kind in same)


def _is_head(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a link is the last word of a kind's name."""
    words = graph.nodes[link.refs[0].node].words
    return link.end - link.start == 1 and words[-1:] == (question.tokens[link.start].lemma,)


def _narrowed(links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """Values and links of a wide kind, as those of the narrower kinds that the question speaks of: "endangered" of
    species where all taxa may be, "discovered by" of researchers where persons discover."""
    named = [x for x in links if x.kind in ("class", "entity")]
    for link in links:
        ref, *sources = link.refs
        if not ((link.kind == "value" and ref.predicate) or ref.via):
            continue
        wide = graph.nodes[ref.node].relations if graph.nodes[ref.node].classes else frozenset()
        # who is at the other end of a link is said beside it
        kinds = {
            x.refs[0].node
            for x in named
            if not ref.via or max(x.start - link.end, link.start - x.end) <= MAX_WORDS_BETWEEN
        }
        for node in sorted(kinds):
            if not graph.nodes[node].relations < wide:
                continue
            ways = graph.ends.get(ref.via, ())
            if ref.via and not any((s.node, node) in ways or (node, s.node) in ways for s in sources):
                continue
            if ref.via or graph.facts.get((node, ref.predicate)):
                yield link._replace(refs=(ref._replace(node=node), *sources))


def _bounds(question: Question, at: int) -> bool:
    """Whether a number is what something is compared with, or part of a date: it names nothing then."""
    return any(
        n.start <= at < n.end and (n.op in INEQUALITIES or (n.date_start and n.end - n.start > 1))
        for n in question.numbers
    )
