"""Link mentions of a question to classes, properties, things and values: Question -> Links (stage `link_mentions`).

Every rule here removes links that cannot be meant or adds links that a single linker cannot see. None decides between
links that remain: parsing and ranking do.
"""

from collections.abc import Iterator, Sequence

from nacre.language.base import language, word_list
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.schema.class_synonyms import prefer_class_synonyms
from nacre.understanding.linking.schema.comments import link_comment_words
from nacre.understanding.linking.schema.expressions import CONCEPT_RANK_COST
from nacre.understanding.linking.schema.paraphrases import link_paraphrases
from nacre.understanding.linking.schema.quantity_nodes import link_quantity_nodes
from nacre.understanding.linking.schema.requested_names import absorb_name_words
from nacre.understanding.linking.schema.schema_link_filters import drop_hidden_rivals
from nacre.understanding.linking.schema.schema_terms import SYNONYM_SCORE
from nacre.understanding.linking.schema.wide_words import choose_unions, widened_links
from nacre.understanding.question.types import INEQUALITIES, Link, Question, Ref

# Kinds of cues that ask for one number over several things.
SUMMING_CUES = frozenset(("sum", "avg", "max", "min", "count"))
# A partial class name scores at least this to stay next to a complete name of the same span.
LIKELY_SCORE = 0.75
# Words between a link and the class or thing at its end, at most.
MAX_WORDS_BETWEEN = 1
# Minimum score of the noun behind an expression: the best synonym, one rank down.
MIN_EXPRESSION_SCORE = SYNONYM_SCORE - CONCEPT_RANK_COST


def link_mentions(question: Question, index: LinkingIndex) -> list[Link]:
    """Everything that spans of the question may name."""
    graph, schema_linker = index.graph, index.schema_linker
    schema_links = list(_drop_parts_of_verbs(schema_linker.links(question), question))
    schema_links = _drop_narrower_classes(schema_links, question, graph)
    paraphrases = link_paraphrases(question, schema_links, schema_linker)
    found = [
        *(x for x in schema_links if not any(_is_part_of_expression(x, other) for other in paraphrases)),
        *paraphrases,
        *_drop_unlikely_names(index.value_linker.links(question), schema_links, question, graph),
    ]
    for link in _link_requested_units(question, graph):
        # Only the first property with the unit is linked to a word.
        if not any(link.covered & other.covered for other in found):
            found.append(link)
    found = _drop_other_years(found, question, graph)
    found = _drop_other_identifiers(found, question)
    found = drop_hidden_rivals(found, graph.hidden_nodes)
    found = _drop_outscored_classes(found)
    found = [*found, *link_comment_words(question, found, schema_linker.comment_terms)]
    found = [*found, *link_quantity_nodes(found, graph)]
    found = prefer_class_synonyms(found, question, schema_linker.class_synonyms, graph)
    found = choose_unions(absorb_name_words(found, question, graph), question, graph)
    return [*found, *_narrowed_links(found, graph), *widened_links(found, question, graph)]


def _drop_unlikely_names(
    names: Sequence[Link], schema_links: Sequence[Link], question: Question, graph: SchemaGraph
) -> Iterator[Link]:
    """The links to things and values without those that the words around them rule out."""
    bounds = {i for i, t in enumerate(question.tokens) if t.norm.isdigit() and _is_bound(question, i)}
    # "2014-2015" may be the name of a season.
    ranges = {(n.start, n.end) for n in question.numbers if n.until is not None}
    degrees = [(c.start, c.end) for c in question.cues if c.kind == "degree"]
    for link in names:
        is_bound = bounds.issuperset(range(link.start, link.end)) and (link.start, link.end) not in ranges
        # "how old is she" does not name "Old ...".
        in_degree = link.match == "part" and any(a <= link.start and link.end <= b for a, b in degrees)
        if (
            not is_bound
            and not in_degree
            and not _is_sum(link, question)
            and not _is_modifier_of_class(link, schema_links, question)
            and not _is_class_name(link, schema_links, graph)
        ):
            yield link


def _drop_parts_of_verbs(links: Sequence[Link], question: Question) -> Iterator[Link]:
    """The links without partial property names inside a verb with its preposition or particle, if that verb is a whole
    name: "discovered by" does not mean "discovered on", nor "check out" "check in"."""
    words, particles = question.tokens, word_list("wording", "prepositions") | word_list("wording", "particles")
    verbs = [
        x.covered
        for x in links
        if x.kind == "property" and x.exact and x.end - x.start == 2 and words[x.end - 1].norm in particles
    ]
    for link in links:
        is_partial = link.kind == "property" and not link.exact
        if not (is_partial and any(link.covered & verb == link.covered != verb for verb in verbs)):
            yield link


def _drop_narrower_classes(links: list[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links without subclasses if the word names a wider class at least as well, by its whole name or its head:
    "bells" are all bells and not "clock bells"; "works" are art works and not only paintings."""
    wide = [x for x in links if x.kind == "class" and (x.exact or _is_head(x, question, graph))]
    heads = {(x.start, x.end) for x in wide if not x.exact}

    def is_narrower(link: Link) -> bool:
        if link.kind == "property":
            # "works" does not mean "work height".
            predicate = link.refs[0].predicate
            last = graph.words[predicate][-1:] if predicate else ()
            return (link.start, link.end) in heads and bool(last) and last != (question.tokens[link.start].lemma,)
        own = graph.nodes[link.refs[0].node].relations
        same_span = (w for w in wide if (w.start, w.end) == (link.start, link.end))
        return any(own < graph.nodes[w.refs[0].node].relations for w in same_span)

    return [x for x in links if x.exact or not is_narrower(x)]


def _drop_other_years(links: list[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links without other years for "in what year" if a later word names the date that is asked for: "was it
    founded"."""
    ends = [c.end for c in question.cues if c.kind == "open" and c.value == "when"]
    if not ends:
        return links
    at = max(ends)
    later = (x.refs[0].predicate for x in links if x.kind == "property" and x.start >= at)
    is_dated = any(predicate and graph.is_date(predicate) for predicate in later)
    return [x for x in links if not (is_dated and x.kind == "property" and not x.exact and x.end <= at)]


def _drop_other_identifiers(links: list[Link], question: Question) -> list[Link]:
    """The links without identifiers for a word like "number" if the word before it names another kind of number: a
    "phone number" is not a ring number, although no property is called phone."""
    words, linked = question.tokens, 0
    for x in links:
        linked |= x.covered if x.match not in ("like", "link like") else 0
    # "the most frequent status"
    linked |= sum(1 << i for i in {i for c in question.cues for i in range(c.start, c.end)})

    def is_other(x: Link) -> bool:
        if x.kind != "property" or x.exact or x.end != x.start + 1 or not x.start:
            return False
        before = x.start - 1
        if words[x.start].lemma not in language().words["identifying"]:
            return False
        if before in question.stopwords or linked >> before & 1:
            return False
        return words[before].norm.isalpha() and question.text[words[before].end : words[x.start].start] == " "

    return [x for x in links if not is_other(x)]


def _drop_outscored_classes(links: list[Link]) -> list[Link]:
    """The links without classes that match in part or by a synonym, if the same words are the complete name of another
    class or thing: "gliders" are not glider types."""
    classes = {(x.start, x.end) for x in links if x.kind == "class" and x.exact}
    things = {(x.start, x.end) for x in links if x.kind == "entity" and x.match == "whole" and x.exact}
    named = classes | things
    return [
        x
        for x in links
        if not (x.kind == "class" and not x.exact and x.score < LIKELY_SCORE and (x.start, x.end) in named)
    ]


def _narrowed_links(links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """Values and links of a wide class, as those of the narrower classes that the question mentions: "endangered" of
    species where any taxon may be, "discovered by" of researchers where any person may discover."""
    mentions = [x for x in links if x.kind in ("class", "entity")]
    for link in links:
        ref, *sources = link.refs
        if not ((link.kind == "value" and ref.predicate) or ref.via):
            continue
        wide = graph.nodes[ref.node].relations if graph.nodes[ref.node].classes else frozenset()
        # The class at the other end of a link is mentioned next to it.
        nodes = {
            x.refs[0].node
            for x in mentions
            if not ref.via or max(x.start - link.end, link.start - x.end) <= MAX_WORDS_BETWEEN
        }
        for node in sorted(nodes):
            if not graph.nodes[node].relations < wide:
                continue
            ends = graph.ends.get(ref.via, ())
            if ref.via and not any((s.node, node) in ends or (node, s.node) in ends for s in sources):
                continue
            if ref.via or graph.value_counts.get((node, ref.predicate)):
                yield link._replace(refs=(ref._replace(node=node), *sources))


def _is_sum(link: Link, question: Question) -> bool:
    """Whether a name is one lower-case word that asks for a sum of what follows: "the total sales" does not mean a
    company called Total."""
    token = question.tokens[link.start]
    is_single = link.kind in ("entity", "value") and link.end == link.start + 1 < len(question.tokens)
    is_summing = any(c.kind in SUMMING_CUES and c.start <= link.start < c.end for c in question.cues)
    return is_single and is_summing and token.text.islower() and not link.label.islower()


def _is_part_of_expression(link: Link, expression: Link) -> bool:
    """Whether a synonym lies inside a longer expression: "made of" does not ask for the date something was made."""
    contains = (
        expression.start <= link.start and link.end <= expression.end and expression.score >= MIN_EXPRESSION_SCORE
    )
    return contains and link.end - link.start < expression.end - expression.start and link.match.endswith("like")


def _is_modifier_of_class(link: Link, schema_links: Sequence[Link], question: Question) -> bool:
    """Whether words that occur in a name in another order only modify a class: a "football club" is not "Club Nacional
    de Football"."""
    words = question.tokens[link.start : link.end]
    if link.match != "part" or len(link.keys) != 1 or len(words) < 2 or any(t.text[:1].isupper() for t in words):
        return False
    class_ends = {x.end for x in schema_links if x.kind == "class" and x.exact and x.start > link.start}
    return link.end in class_ends and " ".join(t.norm for t in words) not in link.label.casefold()


def _is_class_name(link: Link, schema_links: Sequence[Link], graph: SchemaGraph) -> bool:
    """Whether a part of things' names is the name of their class: "customers" does not mean those called
    "customer 12"."""
    if link.match != "part":
        return False
    span, own = (link.start, link.end), graph.nodes[link.refs[0].node]
    same = (x.refs[0].node for x in schema_links if x.kind == "class" and x.exact and (x.start, x.end) == span)
    return any(own.index == node or own.relations <= graph.nodes[node].relations for node in same)


def _is_head(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a link covers only the last word of a class name."""
    words = graph.nodes[link.refs[0].node].words
    return link.end - link.start == 1 and words[-1:] == (question.tokens[link.start].lemma,)


def _is_bound(question: Question, at: int) -> bool:
    """Whether a number is compared with something or is part of a date. It is no name then."""
    return any(
        n.start <= at < n.end and (n.op in INEQUALITIES or (n.date_start and n.end - n.start > 1))
        for n in question.numbers
    )


def _link_requested_units(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose numbers have the unit after "how many"."""
    units = english_data()["units"]
    for at in _requested_nouns(question):
        word = question.tokens[at]
        unit = units.get(word.norm) or units.get(word.lemma)
        if unit is None or any(n.start <= at < n.end for n in question.numbers):
            continue
        for predicate, holders in graph.holders.items():
            about = graph.about(predicate)
            if unit in (about.unit, units.get(about.unit.casefold())):
                for node in holders:
                    ref = Ref(node, predicate)
                    yield Link(at, at + 1, "property", (ref,), SYNONYM_SCORE, 1 << at, False, match="like")


def _requested_nouns(question: Question) -> Iterator[int]:
    """The places of words after "how many"."""
    known, words = language().words, question.tokens
    for at in range(2, len(words)):
        if words[at - 2].norm in known["degree"] and words[at - 1].norm in known["how_much"]:
            yield at
