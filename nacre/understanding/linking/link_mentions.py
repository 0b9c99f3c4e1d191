"""Link mentions of a question to classes, properties, things and values: Question -> Links (stage `link_mentions`).

Every rule here removes links that cannot be meant or adds links that a single linker cannot see. None decides
between links that remain: parsing and ranking do.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise, permutations

from nacre.language.data import WORDS, phrase_list, word_list, word_map
from nacre.language.labels import SpellingCorrector
from nacre.language.small_talk import reason_end, strip_courtesy
from nacre.language.thesaurus import concept_phrases, english_data, function_words
from nacre.language.tokens import Token, name_tokens, tokenize
from nacre.language.word_forms import is_plural
from nacre.records.plan import AGGREGATES, EXTREMES
from nacre.records.schema import Schema
from nacre.records.threads import compute_once
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.adjectives import link_quantity_nodes
from nacre.understanding.linking.link_names import ValueLinker
from nacre.understanding.linking.link_schema import (
    MIN_TERM_SCORE,
    SchemaLinker,
    choose_unions,
    drop_hidden_rivals,
    link_comment_words,
    names_union,
    widened_links,
)
from nacre.understanding.linking.name_candidates import CACHED_TEXTS, NameCandidate
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_terms import (
    STEM_SCORE,
    SYNONYM_SCORE,
    link_row_noun,
    prefer_class_synonyms,
    term_link,
)
from nacre.understanding.question.analyse import analyse_question, question_of_tokens
from nacre.understanding.question.records import (
    INEQUALITIES,
    Link,
    Question,
    Ref,
    covered_mask,
    token_mask,
)

SUMMING_CUES = frozenset(AGGREGATES)  # Kinds of cues that ask for one number over several things.
LIKELY_SCORE = 0.75  # A partial class name scores at least this to stay next to a complete name of the same span.
MAX_WORDS_BETWEEN = 1  # Words between a link and the class or thing at its end, at most.

# Concepts of one expression that are looked up, likeliest first, and what each rank costs.
MAX_CONCEPTS, CONCEPT_RANK_COST = 8, 0.01

# Minimum score of the noun behind an expression: the best synonym, one rank down.
MIN_EXPRESSION_SCORE = SYNONYM_SCORE - CONCEPT_RANK_COST


@dataclass(frozen=True)
class LinkingIndex:
    """What linking and parsing look up. It never changes after it is built."""

    lexicon: Lexicon
    graph: SchemaGraph
    schema_linker: SchemaLinker
    value_linker: ValueLinker


def link_mentions(question: Question, index: LinkingIndex) -> list[Link]:
    """Everything that spans of the question may name."""
    graph, schema_linker = index.graph, index.schema_linker
    schema_links = list(_drop_parts_of_verbs(schema_linker.links(question), question))
    schema_links = list(_drop_counting_words(schema_links, question, graph))
    schema_links = [x for x in schema_links if x.kind != "class" or x.exact or not _is_own_verb(x, question)]
    schema_links = _with_key_words(_drop_narrower_classes(schema_links, question, graph), question)
    by_expression = list(_link_expressions(question, schema_links, schema_linker))
    paraphrases = [*by_expression, *_link_agent_nouns(question, [*schema_links, *by_expression], schema_linker)]
    found = [
        *(x for x in schema_links if not any(_is_part_of_expression(x, other) for other in paraphrases)),
        *paraphrases,
        *_drop_unlikely_names(index.value_linker.links(question), schema_links, question, graph),
    ]
    for link in _link_requested_units(question, graph):
        # Only the first property with the unit is linked to a word.
        if not any(link.covered & other.covered for other in found):
            found.append(link)
    found = _drop_other_years(_drop_beside_taught(found, graph), question, graph)
    found = _drop_other_identifiers(found, question)
    found = drop_hidden_rivals(found, graph.hidden_nodes)
    found = _drop_outscored_classes(found)
    found = [*found, *link_comment_words(question, found, schema_linker.comment_terms)]
    found = [*found, *index.value_linker.part_links(question, covered_mask((*found, *question.cues)))]
    found = [*found, *link_quantity_nodes(found, graph)]
    found = prefer_class_synonyms(found, question, schema_linker.class_synonyms, graph)
    found = choose_unions(absorb_name_words(found, question, graph), question, graph)
    found = [*found, *_compound_classes(found, question, graph)]
    found += link_row_noun(found, question, graph)
    return [*found, *_narrowed_links(found, graph), *widened_links(found, question, graph)]


def _drop_beside_taught(links: Sequence[Link], graph: SchemaGraph) -> list[Link]:
    """The links without what a word is only like if a layer gives the word to a property."""
    exact = (x for x in links if x.kind == "property" and x.exact and x.refs[0].predicate)
    taught = {(x.start, x.end) for x in exact if graph.about(x.refs[0].predicate).phrases}
    return [x for x in links if not (x.match == "like" and (x.start, x.end) in taught)]


def _compound_classes(links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """A class with the singular of one that a link joins to it before it: "boat types" are the types."""
    classes = [x for x in links if x.kind == "class" and x.exact]
    for first, last in permutations(classes, 2):
        one, other = first.refs[0].node, last.refs[0].node
        is_beside = first.end == last.start and not is_plural(question.tokens[first.end - 1].norm)
        if is_beside and one != other and any(step.target == other for step in graph.steps.get(one, ())):
            yield last._replace(start=first.start, covered=first.covered | last.covered)


def _drop_unlikely_names(
    names: Sequence[Link], schema_links: Sequence[Link], question: Question, graph: SchemaGraph
) -> Iterator[Link]:
    """The links to things and values without those that the words around them rule out."""
    # a number that is compared with something or is part of a date is no name
    compared = [n for n in question.numbers if n.op in INEQUALITIES or (n.date_start and n.end - n.start > 1)]
    bounds = {i for n in compared for i in range(n.start, n.end) if question.tokens[i].norm.isdigit()}
    # "2014-2015" may be the name of a season.
    ranges = {(n.start, n.end) for n in question.numbers if n.until is not None}
    degrees = [(c.start, c.end) for c in question.cues if c.kind == "degree"]
    named = {(x.start, ref.node) for x in names if x.match == "whole" for ref in x.refs}
    for link in names:
        is_bound = bounds.issuperset(range(link.start, link.end)) and (link.start, link.end) not in ranges
        # "how old is she" does not name "Old ...", nor "how high" a priority "high".
        in_degree = any(a <= link.start and link.end <= b for a, b in degrees)
        is_verb = link.match == "part" and _is_own_verb(link, question)
        is_number = is_bound or in_degree or _is_rank(link, question, graph) or _is_sum(link, question)
        is_of_class = _is_modifier_of_class(link, schema_links, question)
        # a "bakery" before the name of one is none that is called so: "the bakery Miller"
        is_small = all(token.text.islower() for token in question.tokens[link.start : link.end])
        is_noun = link.match == "part" and is_small and (link.end, link.refs[0].node) in named
        if not (is_number or is_verb or is_of_class or is_noun or _is_class_name(link, schema_links, question, graph)):
            yield link


def _is_own_verb(link: Link, question: Question) -> bool:
    """Whether a link only has the verb of what the asking people do: the "place" of "the orders that we place"."""
    words = question.tokens
    if link.start == 0 or words[link.start - 1].norm not in WORDS["owner_subjects"]:
        return False
    return link.covered == token_mask(link.start, link.start + 1) and not words[link.start].text[:1].isupper()


def _is_rank(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a link takes a superlative for a name that is its adjective: "the youngest" is not somebody called Young.
    Other values may be of degrees: "the highest priority" is "high"."""
    ranked = {i for cue in question.cues if cue.kind == "superlative" for i in range(cue.start, cue.end)}
    covered = {i for i in range(link.start, link.end) if link.covered >> i & 1}
    predicate = link.refs[0].predicate
    if not covered <= ranked or (predicate and not graph.words[predicate][-1].endswith("name")):
        return False
    return not {question.tokens[i].norm for i in covered} & set(name_tokens(link.label))


def _drop_counting_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """The links without synonyms of a word that only counts the class after it: "number of orders" is no amount; and
    without a "number of orders" where the words are those of the orders, and nothing is counted or compared."""
    classes = {link.start for link in links if link.kind == "class" and link.exact}
    counts = [(c.start, c.end) for c in question.cues if c.kind == "count" and c.end in classes]
    asks_things = not question.numbers and {c.kind for c in question.cues} <= {"open", "having", "of"}
    named = {x.start for x in links if x.exact} if asks_things else set()
    for link in links:
        name = graph.words.get(link.refs[0].predicate, ())
        if name[:2] == phrase_list("linking", "number_of") and not link.exact and link.start in named:
            continue
        is_synonym = link.kind == "property" and link.match == "like"
        if not (is_synonym and any(start <= link.start and link.end <= end for start, end in counts)):
            yield link


def _drop_parts_of_verbs(links: Sequence[Link], question: Question) -> Iterator[Link]:
    """The links without parts of names inside a whole name: "discovered by" is not "discovered on"."""
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


def _with_key_words(links: list[Link], question: Question) -> list[Link]:
    """The links with names of properties extended by a word for a key: "the ISBN number" is the ISBN."""
    taken = {i for cue in question.cues for i in range(cue.start, cue.end)}
    longer = {(x.refs[0].node, x.end - 1) for x in links if x.exact and x.end - x.start > 1}
    codes = {
        link: link._replace(end=link.end + 1, covered=link.covered | 1 << link.end)
        for link in links
        if link.kind == "property" and link.exact and link.refs[0].predicate and link.end < len(question.tokens)
        if question.tokens[link.end].lemma in word_list("ingestion", "key_words")
        if link.end not in taken and (link.refs[0].node, link.end) not in longer
    }
    ends = {link.end for link in codes}
    kept = (link for link in links if link.kind != "property" or link.exact or not (link.end - 1 == link.start in ends))
    return [*kept, *codes.values()]


def _drop_narrower_classes(links: list[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links without subclasses of a class that the word names at least as well: "bells" are all bells."""
    classes = ((x, graph.nodes[x.refs[0].node].words[-1:]) for x in links if x.kind == "class")
    words = [(token.lemma,) for token in question.tokens]
    # named completely, or by the last word alone
    wide = [x for x, head in classes if x.exact or (x.end - x.start == 1 and head == words[x.start])]
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
    """The links without other years for "in what year" if a later word names the date: "was it founded"."""
    ends = [c.end for c in question.cues if c.kind == "open" and c.value == "when"]
    if not ends:
        return links
    at = max(ends)
    later = (x.refs[0].predicate for x in links if x.kind == "property" and x.start >= at)
    is_dated = any(predicate and graph.is_date(predicate) for predicate in later)
    return [x for x in links if not (is_dated and x.kind == "property" and not x.exact and x.end <= at)]


def _drop_other_identifiers(links: list[Link], question: Question) -> list[Link]:
    """The links without identifiers for "number" after another kind: a "phone number" is no ring number."""
    words, linked = question.tokens, covered_mask(x for x in links if x.match not in ("like", "link like"))
    # "the most frequent status"
    linked |= sum(1 << i for i in {i for c in question.cues for i in range(c.start, c.end)})

    def is_other(x: Link) -> bool:
        if x.kind != "property" or x.exact or x.end != x.start + 1 or not x.start:
            return False
        before = x.start - 1
        if words[x.start].lemma not in WORDS["identifying"]:
            return False
        if before in question.stopwords or linked >> before & 1:
            return False
        return words[before].norm.isalpha() and question.text[words[before].end : words[x.start].start] == " "

    return [x for x in links if not is_other(x)]


def _drop_outscored_classes(links: list[Link]) -> list[Link]:
    """The links without partly matched classes if the same words are a complete name of something else."""
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
    """Whether a lower-case word of a name asks for a sum: "the total sales" does not mean a company called Total."""
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
    """Whether words only modify a class: a "football club" is not "Club Nacional de Football"."""
    words = question.tokens[link.start : link.end]
    if link.match != "part" or len(link.keys) != 1 or len(words) < 2 or any(t.text[:1].isupper() for t in words):
        return False
    class_ends = {x.end for x in schema_links if x.kind == "class" and x.exact and x.start > link.start}
    return link.end in class_ends and " ".join(t.norm for t in words) not in link.label.casefold()


def _is_class_name(link: Link, schema_links: Sequence[Link], question: Question, graph: SchemaGraph) -> bool:
    """Whether a name is that of the class: "customers" are not those called "customer 12" or "Customer"."""
    is_small = all(token.text.islower() for token in question.tokens[link.start : link.end])
    if link.match != "part" and (link.kind != "entity" or not is_small or link.label.islower()):
        return False
    span, own = (link.start, link.end), graph.nodes[link.refs[0].node]
    same = (x.refs[0].node for x in schema_links if x.kind == "class" and x.exact and (x.start, x.end) == span)
    return any(own.index == node or own.relations <= graph.nodes[node].relations for node in same)


def _link_requested_units(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose numbers have the unit after "how many"."""
    units, words = english_data()["units"], question.tokens
    for at in range(2, len(words)):
        if words[at - 2].norm not in WORDS["degree"] or words[at - 1].norm not in WORDS["how_much"]:
            continue
        unit = units.get(words[at].norm) or units.get(words[at].lemma)
        if unit is None or any(n.start <= at < n.end for n in question.numbers):
            continue
        for predicate, holders in graph.holders.items():
            about = graph.about(predicate)
            if unit in (about.unit, units.get(about.unit.casefold())):
                for node in holders:
                    ref = Ref(node, predicate)
                    yield Link(at, at + 1, "property", (ref,), SYNONYM_SCORE, 1 << at, False, match="like")


MAX_MISSPELT_WORDS = 4  # With more unlinked words than this, one correction does not make the question understood.


class Linker:
    """The linking index of one lexicon, its spelling corrector, and a cache of linked texts. `stopwords` are the
    function words and the words that too many names contain to name anything."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        graph, schema_linker = _schema_parts(lexicon.of_schema)
        self.index = LinkingIndex(lexicon, graph, schema_linker, ValueLinker(lexicon, graph))
        self.entities = self.index.value_linker.entities
        self.stopwords = self.entities.stopwords
        self.spelling = SpellingCorrector(lexicon)
        self._cached_link = lru_cache(CACHED_TEXTS)(self._link)

    def link(self, words: Sequence[Token]) -> tuple[NameCandidate, ...]:
        """The candidates of all spans, best first."""
        return self._cached_link(tuple(words))

    def _link(self, words: tuple[Token, ...]) -> tuple[NameCandidate, ...]:
        links = link_mentions(question_of_tokens(words), self.index)
        found = [self._candidate(link) for link in links if link.kind != "entity"]
        found += self.entities.candidates(words)
        return tuple(
            sorted(
                found,
                key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label, c.predicate, c.value, c.classes, c.keys),
            )
        )

    def _candidate(self, link: Link) -> NameCandidate:
        ref = link.refs[0]
        node = self.index.graph.nodes[ref.node]
        predicate = ref.predicate or ref.via
        label, kind = link.label or node.label, link.kind
        if link.kind == "property":
            about = self.index.graph.about(predicate)
            label, kind = about.label, "flag" if about.datatype == "boolean" else "predicate"  # type: ignore[assignment]
        return NameCandidate(
            kind,  # type: ignore[arg-type]
            link.start,
            link.end,
            link.score,
            label,
            link.exact,
            node.relations,
            node.classes,
            node.without,
            link.keys,
            predicate,
            str(link.value),
            covered=frozenset(i for i in range(link.end) if link.covered >> i & 1),
        )


@compute_once(8)
def linker_of(lexicon: Lexicon) -> Linker:
    """The linker of a lexicon, built once."""
    return Linker(lexicon)


def _rephrase(text: str) -> str:
    """A question in the wording that is read for it: "how many towers for each material" for a breakdown."""
    for wording, other in word_map("question", "completed").items():
        text = re.sub(wording, other, text)
    found = (
        (re.fullmatch(wording, text.strip()), other) for wording, other in word_map("question", "rephrased").items()
    )
    return next((other.format(**match.groupdict()) for match, other in found if match), text)


def _with_verb(token: Token, before: Token, text: str, names: Collection[str]) -> Token:
    """A present participle with the lemma of the verb in a name of the graph: "is hanging", "what's hanging" of "hangs
    on"."""
    is_being = before.norm in WORDS["being"] or (not before.start and text[before.end + 1 :][:1] == "s")
    stem = token.norm[: -len("ing")] if token.norm.endswith("ing") and token.lemma not in names and is_being else ""
    bases = (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else "")
    return next((token._replace(lemma=base) for base in bases if stem and base in names), token)


def prepare_question(text: str, linker: Linker) -> Question:
    """The analysed question. Character offsets are those of the text with its spelling corrected.

    A leading reason ("I am planning a trip, ...") is blanked out if it names nothing of the graph. A function word
    carries meaning if a name of the graph contains it: "found" where a property is called "found at".
    """
    text = strip_courtesy(text)
    end = reason_end(text)
    if end and not linker.link(tokenize(text[:end])):
        text = " " * end + text[end:]
    question = analyse_question(linker.spelling.correct(_rephrase(text)))
    schema_linker, words = linker.index.schema_linker, question.tokens
    verbs = (_with_verb(word, before, question.text, schema_linker.terms_of_word) for before, word in pairwise(words))
    return question._replace(
        tokens=(*words[:1], *verbs),
        stopwords=frozenset(
            i
            for i in question.stopwords
            if words[i].norm == words[i].lemma or words[i].lemma not in schema_linker.meaningful_lemmas
            if words[i].norm not in schema_linker.denying_words
            if not names_union(question, i, linker.index.graph)
        ),
    )


def link_misspellings(
    question: Question, links: Sequence[Link], index: LinkingIndex, spelling: SpellingCorrector
) -> list[Link]:
    """What unlinked words name with a letter corrected. The words stay reported as unused."""
    linked = covered_mask(links)
    for cue in question.cues:
        linked |= cue.covered
    unlinked = [i for i in range(len(question.tokens)) if not (linked >> i & 1 or i in question.stopwords)]
    if len(unlinked) > MAX_MISSPELT_WORDS:
        return []
    found: list[Link] = []
    for i in unlinked:
        token = question.tokens[i]
        is_verb_form = token.norm != token.lemma and token.norm.endswith(("ed", "ing"))
        # "rested" is no slip for "Reston"
        if is_verb_form or (meant := spelling.graph_word_near(token)) is None:
            continue
        right = token._replace(norm=meant.norm, lemma=meant.lemma)
        corrected = question._replace(tokens=(*question.tokens[:i], right, *question.tokens[i + 1 :]))
        found += [
            x._replace(covered=x.covered & ~(1 << i), exact=False, match="slip")
            for x in link_mentions(corrected, index)
            if x.covered >> i & 1
        ]
    return found


@lru_cache(maxsize=8)
def _schema_parts(lexicon: Lexicon) -> tuple[SchemaGraph, SchemaLinker]:
    """What lexicons share that share a schema."""
    graph = SchemaGraph(lexicon)
    return graph, SchemaLinker(lexicon, graph)


MIN_VERB_LETTERS = 3  # Letters of a verb that gets an agent noun, at least.


def _link_expressions(question: Question, links: Sequence[Link], schema_linker: SchemaLinker) -> Iterator[Link]:
    """What expressions ask for whose own words name nothing: "who is in charge of", "how much per hour"."""
    linked = covered_mask(link for link in links if link.exact or link.match.endswith("partial"))
    for start, end, concepts in find_expressions(question, linked):
        covered = (1 << end) - (1 << start)
        for rank, concept in enumerate(concepts):
            for index, at in schema_linker.terms_of_word.get(concept, ()):
                term = schema_linker.terms[index]
                score = term.weights[at] * (SYNONYM_SCORE - CONCEPT_RANK_COST * rank) / sum(term.weights)
                if score >= MIN_TERM_SCORE and not schema_linker.is_union(term):
                    yield term_link(start, end, term, score, covered, False, "like")


def _link_agent_nouns(question: Question, links: Sequence[Link], schema_linker: SchemaLinker) -> Iterator[Link]:
    """What unlinked verbs ask for by their agent noun: "who keeps the bears", the "keeper"."""
    if not question.tokens or question.tokens[0].norm not in WORDS["asking_who"]:
        return
    linked = covered_mask(links)
    for i, token in enumerate(question.tokens):
        if linked >> i & 1 or i in question.stopwords or len(token.lemma) < MIN_VERB_LETTERS:
            continue
        for ending in sorted(word_list("wording", "agents")):
            for index, _ in schema_linker.terms_of_word.get(token.lemma.removesuffix("e") + ending, ()):
                term = schema_linker.terms[index]
                if term.kind != "class" and len(term.words) == 1:
                    yield term_link(i, i + 1, term, STEM_SCORE, 1 << i, False, "like")


# Kinds of cues that may begin with the last word of an expression.
_COMPUTING_CUES = SUMMING_CUES - EXTREMES | {"group", "compare"}

_Expression = tuple[tuple[str, ...], tuple[str, ...]]


def find_expressions(question: Question, linked: int) -> Iterator[tuple[int, int, Sequence[str]]]:
    """The spans of expressions, with their concepts. Leaves out expressions inside longer ones, and those with a
    content word that is already linked (a bit mask of tokens)."""
    lemmas = [t.lemma for t in question.tokens]
    end = 0
    for i, first in enumerate(lemmas):
        if i < end:
            continue
        for words, concepts in _expressions_by_first_word().get(first, ()):
            if tuple(lemmas[i : i + len(words)]) != words:
                continue
            if any(i < c.start < i + len(words) < c.end and c.kind in _COMPUTING_CUES for c in question.cues):
                # "how long do they work on average" does not contain "work on".
                continue
            is_timed = any(n.start == i + len(words) and n.unit for n in question.numbers)
            if concepts[0] in word_list("parsing", "duration_concepts") and not is_timed:
                # "run for 60 months", and not "run for mayor"
                continue
            content = [k for k in range(i, i + len(words)) if k not in question.stopwords] or range(i, i + len(words))
            if not any(linked >> k & 1 for k in content):
                yield i, i + len(words), concepts[:MAX_CONCEPTS]
                end = i + len(words)
            break


@cache
def _expressions_by_first_word() -> Mapping[str, Sequence[_Expression]]:
    found: dict[str, list[_Expression]] = {}
    for words, concepts in sorted(concept_phrases().items(), key=lambda each: -len(each[0])):
        found.setdefault(words[0], []).append((words, concepts))
    return found


MAX_WORDS_IN_BETWEEN = 3  # Words between "name" and the class, at most: "names of all the presses".


def absorb_name_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links, in which a class includes the word "name" next to it if its things have no such property."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        if token.lemma not in WORDS["called_by"]:
            continue
        here = [x for x in found if x.kind in ("property", "class") and x.start <= at < x.end]
        classes = [x for x in found if x.kind == "class" and x.exact and not x.start <= at < x.end]
        for link in classes:
            span = _span_with_name(link, at, question)
            node = graph.nodes[link.refs[0].node]
            has_property = any(node.relations & graph.nodes[ref.node].relations for x in here for ref in x.refs[:1])
            if span is None or not node.named or has_property:
                continue
            start, end = span
            whole = link._replace(start=start, end=end, covered=token_mask(start, end))
            found = [*(x for x in found if x not in here or x.end - x.start > 1), whole]
    return found


def _span_with_name(link: Link, at: int, question: Question) -> tuple[int, int] | None:
    """The span of "names of the presses" or "press names"."""
    between = [t.norm for t in question.tokens[at + 1 : link.start]]
    is_near = 0 < len(between) <= MAX_WORDS_IN_BETWEEN and function_words().issuperset(between)
    if is_near and between[0] in WORDS["of"]:
        return at, link.end
    return (link.start, at + 1) if link.end == at else None
