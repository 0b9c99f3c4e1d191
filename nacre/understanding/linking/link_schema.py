"""Link words of a question to classes and properties by their names: Question -> Links with scores, no decision."""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import islice, product

from nacre.language.data import WORDS, phrase_list, word_list
from nacre.language.labels import is_boolean_predicate
from nacre.language.thesaurus import antonyms, function_words, gradable_adjective, kind_words, nouns_of_kind
from nacre.language.tokens import lemma, split_name, tokenize
from nacre.language.word_forms import is_plural
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import SchemaNode
from nacre.understanding.linking.schema_terms import (
    LEMMA_SCORE,
    SAME_WORD_SCORE,
    SYNONYM_SCORE,
    SchemaTerm,
    WordMatcher,
    schema_terms,
    term_link,
    term_refs,
)
from nacre.understanding.question.records import (
    DENIED_LINK_MATCH,
    INEQUALITIES,
    NEGATED_MATCH,
    RANKING_CUES,
    Link,
    Question,
    Ref,
    covered_mask,
    token_mask,
)

# The weighted share of a name that a question contains, at least; from which share it counts as the whole name; and
# the share of a span's words that belong to the name, at least.
MIN_TERM_SCORE, MIN_EXACT_SCORE, MIN_SPAN_SHARE = 0.34, 0.93, 0.5

MAX_WORDS_INSIDE = 2  # Function words between two words of a name, at most.

# Letters of a name of several words that a question writes as one, more than; and of a word that it writes as two.
COMPOUND_LETTERS, SPLIT_WORD_LETTERS = 5, 4

# How well a token fits each word of a name, by its place in the name.
Fits = Mapping[int, float]


class SchemaLinker:
    """The names of classes and properties. It never changes after it is built.

    `meaningful_lemmas` are function words that carry meaning in a name: "find" because of "found at". `denying_words`
    say that a link is missing: "available" where something may be "reserved by" somebody. `comment_terms` are terms by
    words that only their comment contains, `class_synonyms` nodes by words that are not their name.
    """

    def __init__(self, lexicon: Lexicon, graph: SchemaGraph) -> None:
        self.graph = graph
        self.meaningful_lemmas = _meaningful_lemmas(lexicon)
        self.terms, name_words = schema_terms(lexicon, graph)
        self.comment_terms = terms_by_comment_word(graph, self.terms, name_words)
        # the nodes by single words that are not their own names
        found: dict[str, set[int]] = defaultdict(set)
        for term in self.terms:
            if term.score < SAME_WORD_SCORE and len(term.words) == 1:
                found[term.words[0]] |= set(term.nodes)
        self.class_synonyms = {word: frozenset(nodes) for word, nodes in found.items()}
        self._matcher = WordMatcher(self.terms, name_words)
        self.terms_of_word = self._matcher.terms_of_word
        link_words = {word for term in self.terms if term.kind == "link" for word in term.words}
        self.denying_words = frozenset(opposite for word in link_words for opposite in antonyms(word))
        written = {n.words: "".join(split_name(n.label).split()) for n in graph.nodes}
        compounds = [(i, t) for i, t in enumerate(self.terms) if len(t.words) > 1]
        self._heads = {n.words[-1] for n in graph.nodes if n.classes and n.words}
        self._compounds = {"".join(t.words): i for i, t in compounds}
        self._compounds |= {written[t.words]: i for i, t in compounds if t.kind == "class" and t.words in written}
        # The whole class of each node that is only the rest of it ("other person").
        self._whole_class = {
            n.index: graph.node_of_class.get(n.classes[0]) for n in graph.nodes if n.without and n.classes
        }

    def links(self, question: Question) -> list[Link]:
        """The classes and properties that spans of the question may name."""
        found: list[Link] = []
        known: dict[Hashable, tuple[Link, ...]] = {}
        for index, fits in self._match_tokens(question).items():
            term = self.terms[index]
            # thousands of classes may have a property of one name
            key = term._replace(nodes=()), tuple((i, *places.items()) for i, places in fits.items())
            if key not in known:
                known[key] = tuple(self._link_term(question, term, fits))
            found += (link._replace(refs=term_refs(term)) for link in known[key])
        found = self._drop_counted_identifiers(found, question)
        found = drop_repeated_classes(add_class_properties(found, question))
        found = lower_rarer_classes(self._drop_rest_classes(found, question), self.graph.nodes)
        found = drop_ends_of_unnamed(found, self.graph)
        return best_links([*found, *self._negated_links(question)])

    def is_union(self, term: SchemaTerm) -> bool:
        """Whether a name is a word for the things of several classes."""
        return term.kind == "class" and bool(self.graph.nodes[term.nodes[0]].any_of)

    def _match_tokens(self, question: Question) -> Mapping[int, Mapping[int, Fits]]:
        """How well tokens fit words of names: term -> token -> place in the name -> score."""
        matched: dict[int, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        words = question.tokens
        for i, token in enumerate(words):
            for term, place, fit in self._match_word(question, i):
                if fit > matched[term][i].get(place, 0.0):
                    matched[term][i][place] = fit
            joined = (token.norm + words[i + 1].norm) if i + 1 < len(words) else ""
            for word in (joined, token.norm, token.norm.removesuffix("s")):
                if word in self._compounds and (word == joined or len(word) > COMPOUND_LETTERS):
                    # A name of several words that are written as one.
                    fits = matched[self._compounds[word]][i]
                    for place in range(len(self.terms[self._compounds[word]].words)):
                        fits[place] = max(SAME_WORD_SCORE if word != joined else 0.0, fits.get(place, 0.0))
            for term, place in self._terms_of_two(question, i) if len(joined) > SPLIT_WORD_LETTERS else ():
                matched[term][i][place] = matched[term][i + 1][place] = LEMMA_SCORE
        return matched

    def _terms_of_two(self, question: Question, at: int) -> Sequence[tuple[int, int]]:
        """The terms with a word that the question writes as two: "run time" of "runtime"."""
        first, second = question.tokens[at : at + 2]
        terms = self.terms_of_word
        return terms.get(first.norm + second.norm) or terms.get(first.norm + second.lemma, ())

    def _match_word(self, question: Question, at: int) -> Iterator[tuple[int, int, float]]:
        """The terms with a word that a token may stand for, the word's place in the name, and how well it fits."""
        token = question.tokens[at]
        # "show the ..." does not mean a show, nor "the last ..." how long something lasts.
        is_request = at == 0 and at in question.stopwords
        is_request |= at > 0 and token.norm in WORDS["the_last"] and question.tokens[at - 1].norm in WORDS["article"]
        # the adjective of a comparative or superlative: "heavy" of "heaviest"; "" for other words
        adjective = gradable_adjective(token)
        compared = token.lemma if adjective is not None and adjective.degree != "positive" else ""
        is_agent = token.norm in nouns_of_kind("persons") or token.norm in nouns_of_kind("bodies")
        for word, fit in self._matcher.match(token.norm, token.lemma):
            if is_request and fit == SYNONYM_SCORE:
                continue
            # "does he" is no date on which something was "done"
            is_helping = token.norm in WORDS["helping"] and word == token.lemma
            # "how long" asks for no longitude
            is_helping |= word in WORDS["longitude"] and question.tokens[at - 1].norm in WORDS["degree"]
            if is_helping or (at == 0 and word in self.meaningful_lemmas and token.norm == word):
                continue
            for index, place in self.terms_of_word[word]:
                term = self.terms[index]
                is_far = term.kind == "class" and term.score < SAME_WORD_SCORE and fit == SYNONYM_SCORE
                if is_far and token.lemma in kind_words():
                    # A "dish" is no ingredient because both are food.
                    continue
                if self.is_union(term) and not (fit >= LEMMA_SCORE and names_union(question, at, self.graph)):
                    continue
                if word == compared and term.predicate and (word,) == term.words in self.graph.phrases[term.predicate]:
                    # "heaviest" orders by what is called "heavy". It does not name it.
                    continue
                # The "maker" is not the date something was made.
                is_other_date = is_agent and fit < LEMMA_SCORE and self._is_date(term)
                if not is_other_date and not (is_request and term.score < SAME_WORD_SCORE):
                    yield index, place, fit

    def _link_term(self, question: Question, term: SchemaTerm, fits: Mapping[int, Fits]) -> Iterator[Link]:
        """The links of one name: spans that contain enough of it, with no other word in between."""
        quoted = {i for start, end in question.quoted for i in range(start, end)}
        size = len(term.words)
        for run in _runs(question, sorted(fits), term.kind):
            # Words near the name may belong to something else: "are those of high rank higher than".
            windows = [run[k : k + size] for k in range(len(run) - size + 1)] if 1 < size < len(run) else []
            for span in (run, *windows, *([i] for i in run if len(run) > 1)):
                # A value in quotation marks is not part of the name before it.
                if len({i in quoted for i in span}) == 1:
                    yield from self._link_span(question, term, span, fits)
        if term.kind == "property" and any(len(word) == 4 and word.isdigit() for word in term.words):
            yield from self._link_of_year(question, term, fits)

    def _link_of_year(self, question: Question, term: SchemaTerm, fits: Mapping[int, Fits]) -> Iterator[Link]:
        """The link of a name with a year ("staff 2010") whose year stands apart: "how many staff had they in 2010"."""
        matched, used = self._assign_words(question, term, sorted(fits), fits)
        named = [i for i in used if not question.tokens[i].norm.isdigit()]
        is_whole = len(matched) == len(term.words) and min(matched.values()) >= LEMMA_SCORE
        if named and is_whole and (used[-1] not in named or named[0] - used[0] == 1):
            covered = sum(1 << i for i in used)
            start = used[0] if used[-1] in named else named[0]
            yield term_link(start, named[-1] + 1, term, term.score * LEMMA_SCORE, covered, True, "exact")

    def _link_span(
        self, question: Question, term: SchemaTerm, span: Sequence[int], fits: Mapping[int, Fits]
    ) -> Iterator[Link]:
        matched, used = self._assign_words(question, term, span, fits)
        score = term.score * sum(term.weights[p] * f for p, f in matched.items()) / sum(term.weights)
        share = len(matched) / len(span) if span else 0
        if score < MIN_TERM_SCORE or share < MIN_SPAN_SHARE:
            return
        tokens = question.tokens
        exact = score > MIN_EXACT_SCORE
        if not exact and all(tokens[i].norm in word_list("wording", "prepositions") for i in used):
            # "names of presses" does not ask what the presses are made of, nor "by Ann" who owns something.
            return
        label = (*term.words, *phrase_list("linking", "value_word"))
        is_modifier = len(term.words) - 1 not in matched
        is_price = is_modifier and term.words[-1] in phrase_list("parsing", "price_concepts")
        is_price &= term.words[0] in phrase_list("parsing", "priced_units")
        is_value = term.kind == "property" and (is_price or self.graph.words[term.predicate] == label)
        is_value |= is_modifier and term.kind == "class" and any(term.words[p] in self._heads for p in matched)
        last = tokens[used[-1]].norm
        is_verb = term.kind == "class" and len(used) > 1 and last.endswith("ed") and last not in term.words
        if is_verb or (is_value and any(is_plural(tokens[i].norm) for i in used)):
            # "ratings" are things to count, not a "rating value", "units" no unit price, and "orders" rather customer
            # orders than order lines; what a "customer ordered" is no customer order
            return
        is_partial = min(matched.values()) >= LEMMA_SCORE and term.score > SYNONYM_SCORE
        how = "exact" if exact else "partial" if is_partial else "like"
        # A word that repeats another one may still name something of its own, so only used words are covered.
        yield term_link(used[0], used[-1] + 1, term, score, sum(1 << i for i in used), exact, how)

    def _assign_words(
        self, question: Question, term: SchemaTerm, span: Sequence[int], fits: Mapping[int, Fits]
    ) -> tuple[Fits, Sequence[int]]:
        """The best unused word of the name for each token of a span, left to right: place -> score; the tokens used."""
        matched: dict[int, float] = {}
        used: list[int] = []
        for i in span:
            options = {place: fit for place, fit in fits[i].items() if place not in matched}
            is_compound = len(options) == len(term.words) > 1 and len(set(options.values())) == 1
            if is_compound:
                matched.update(options)
            elif options:
                place = max(options, key=lambda p: (options[p], -p))
                matched[place] = options[place]
            if options or (i - 1 in used and self._terms_of_two(question, i - 1)):
                used.append(i)
        return matched, used

    def _drop_counted_identifiers(self, links: list[Link], question: Question) -> list[Link]:
        """The links without identifiers that are counts: "the number of orders" asks for none."""
        words = question.tokens
        counts = [c for c in question.cues if c.kind == "count" and any(is_plural(t.norm) for t in words[c.end :][:1])]
        return [
            x
            for x in links
            if not (x.refs[0].predicate and self.graph.about(x.refs[0].predicate).role == "identifier")
            or not any(x.start < c.end and c.start < x.end and not (x.exact and x.start < c.start) for c in counts)
        ]

    def _drop_rest_classes(self, links: list[Link], question: Question) -> list[Link]:
        """The links without the rest of a class ("other person") if the words name the whole class as well."""
        if not self._whole_class or any(t.norm in WORDS["other"] for t in question.tokens):
            return links
        named = {(x.start, x.end, x.refs[0].node) for x in links if x.kind == "class"}
        return [
            x
            for x in links
            if x.kind != "class" or (x.start, x.end, self._whole_class.get(x.refs[0].node)) not in named
        ]

    def _negated_links(self, question: Question) -> Iterator[Link]:
        """Words that negate a property or a link: "unpaid", "failed" of what is passed, "vacant"."""
        for i, token in enumerate(question.tokens):
            prefixes = [prefix for prefix in WORDS["denying"] if token.norm.startswith(prefix)]
            negated = {lemma(token.norm.removeprefix(prefix)) for prefix in prefixes}
            if not {token.norm, token.lemma} & self.terms_of_word.keys():
                negated |= antonyms(token.lemma)
            for index in sorted({t for word in negated for t, _ in self.terms_of_word.get(word, ())}):
                term = self.terms[index]
                is_date = self._is_date(term)
                own = set(term.words) - WORDS["time" if is_date else "being_flag"] - function_words()
                if len(own) != 1 or not own & negated:
                    continue
                is_link = term.kind == "link"
                is_truth = term.kind == "property" and is_boolean_predicate(self.graph.about(term.predicate))
                if is_link or is_date or is_truth or self._may_lack(term):
                    how = DENIED_LINK_MATCH if is_link else NEGATED_MATCH
                    yield term_link(i, i + 1, term, LEMMA_SCORE, 1 << i, True, how)

    def _is_date(self, term: SchemaTerm) -> bool:
        return term.kind == "property" and self.graph.is_date(term.predicate)

    def _may_lack(self, term: SchemaTerm) -> bool:
        """Whether some things of a class have no text of a property: flats without a tenant."""
        graph, is_text = self.graph, term.kind == "property" and not self.graph.is_numeric(term.predicate)
        return is_text and any(
            graph.value_counts.get((n, term.predicate), 0) < graph.nodes[n].count for n in term.nodes
        )


def _meaningful_lemmas(lexicon: Lexicon) -> frozenset[str]:
    """Function words whose other form carries the meaning of a name: "find", because things are "found at" a place."""
    light, filler = function_words(), WORDS["filler"]
    without_meaning = light | filler
    neighbours = light | WORDS["generic"] | word_list("wording", "keys")
    return frozenset(
        lemma(t)
        for name in lexicon.schema_entries
        for t in name.tokens
        if t not in without_meaning
        and lemma(t) in without_meaning
        and all(other == t or other in neighbours for other in name.tokens)
    )


def _runs(question: Question, places: Sequence[int], kind: str) -> list[list[int]]:
    """The matched tokens in groups with only a few function words in between."""
    runs: list[list[int]] = []
    verbs = WORDS["being"] | WORDS["been"] | WORDS["helping"] if kind == "class" else WORDS["owning_verbs"]
    for i in places:
        between = range(runs[-1][-1] + 1, i) if runs else range(0)
        is_near = len(between) <= MAX_WORDS_INSIDE and all(k in question.stopwords for k in between)
        # "mills with no owner's name" are no "mill owners"
        is_denied = any(cue.kind == "negation" and cue.start in between for cue in question.cues)
        # "documents have the status" is no "document status"
        has_verb = any(question.tokens[k].norm in verbs for k in between)
        if runs and is_near and not (is_denied or has_verb):
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


MAX_TERM_LINKS_PER_SPAN = 10  # Links of one kind that are kept for a span.
RARER_CLASS_FACTOR = 0.9  # The factor on the score of the rarer of two classes with the same name.
MIN_RIVAL_SCORE = 0.45  # Minimum score of a link next to an exact one of the same span.


def add_class_properties(links: list[Link], question: Question) -> list[Link]:
    """The links, with properties joined to the class right before or after them if another property only resembles
    both: the "loan amount" is the amount of a loan, not a "number of loans"."""
    similar = {(x.start, x.end) for x in links if x.kind == "property" and not x.exact}
    starts = {x.start for x in links if x.kind == "class"}
    # "project outcomes" does not mention projects.
    classes = [x for x in links if x.kind == "class" and x.exact and x.end not in starts]
    properties = [x for x in links if x.kind == "property" and x.exact and x.refs[0].predicate]
    joined = []
    for own, kind in product(properties, classes):
        if kind.refs[0].node != own.refs[0].node or kind.covered & own.covered:
            continue
        first, last = sorted((kind, own), key=lambda x: x.start)
        between = range(first.end, last.start)
        is_near = not between if first is kind else between and all(i in question.stopwords for i in between)
        if is_near and (first.start, last.end) in similar:
            whole = own._replace(start=first.start, end=last.end, covered=kind.covered | own.covered)
            joined.append(whole._replace(score=min(kind.score, own.score)))
    return [*links, *joined]


def drop_repeated_classes(links: list[Link]) -> list[Link]:
    """The links without the class of a verb that names a link: "suppliers deliver" has suppliers once."""
    named = {(x.end, x.refs[0].node) for x in links if x.kind == "class" and x.exact}
    verbs = {(x.start, x.end) for x in links if x.kind == "property" and x.refs[0].via}
    return [
        x
        for x in links
        if not (
            x.kind == "class" and x.match == "like" and (x.start, x.end) in verbs and (x.start, x.refs[0].node) in named
        )
    ]


def lower_rarer_classes(links: list[Link], nodes: Sequence[SchemaNode]) -> list[Link]:
    """The links, with a lower score for a class if one with more things has the same name."""
    classes = {x: node for x in links if x.kind == "class" and (node := nodes[x.refs[0].node]).classes}
    most: dict[tuple[int, int, tuple[str, ...]], int] = defaultdict(int)
    for x, node in classes.items():
        most[x.start, x.end, node.words] = max(most[x.start, x.end, node.words], node.count)
    rarer = {x for x, node in classes.items() if node.count < most[x.start, x.end, node.words]}
    return [x._replace(score=x.score * RARER_CLASS_FACTOR) if x in rarer else x for x in links]


def drop_ends_of_unnamed(links: list[Link], graph: SchemaGraph) -> list[Link]:
    """The links without the ends that a link has for a class which is not named, where the same words are its end for
    a named class: the "broader concept" of concepts, and not that of some of them."""
    named = {x.refs[0].node for x in links if x.kind == "class" and graph.nodes[x.refs[0].node].classes}
    ends = {x for x in links if x.kind == "class" and not graph.nodes[x.refs[0].node].classes}
    own = {x for x in ends if any(step.target in named for step in graph.steps[x.refs[0].node])}
    spans = {(x.start, x.end, graph.nodes[x.refs[0].node].words) for x in own}
    return [x for x in links if x not in ends - own or (x.start, x.end, graph.nodes[x.refs[0].node].words) not in spans]


def drop_hidden_rivals(links: list[Link], hidden_nodes: Collection[int]) -> list[Link]:
    """The links without the names of things of hidden classes, where the same words name a thing of a shown class."""
    entities = [x for x in links if x.kind == "entity" and hidden_nodes]
    shown = {(x.start, x.end) for x in entities if x.refs[0].node not in hidden_nodes}
    hidden = {x for x in entities if x.refs[0].node in hidden_nodes and (x.start, x.end) in shown}
    return [x for x in links if x not in hidden] if hidden else links


def best_links(links: list[Link]) -> list[Link]:
    """The best links of each span. A span with an exact link keeps no weak ones."""
    exact = {(x.start, x.end) for x in links if x.exact and x.score >= LEMMA_SCORE}
    spans: dict[tuple[int, int, str], list[Link]] = defaultdict(list)
    for link in links:
        if link.score >= MIN_RIVAL_SCORE or (link.start, link.end) not in exact:
            spans[link.start, link.end, link.kind].append(link)
    best = []
    for of_span in spans.values():
        first: dict[tuple[Ref, ...], Link] = {}
        for link in sorted(of_span, key=lambda x: (-x.score, x.refs)):
            first.setdefault(link.refs, link)
        best += list(first.values())[:MAX_TERM_LINKS_PER_SPAN]
    return sorted(best, key=lambda x: (x.start, x.end, x.kind, -x.score, x.refs))


# The score of a word that only a comment contains (given), and its letters at least.
COMMENT_SCORE, MIN_COMMENT_WORD_LETTERS = 0.45, 4

# The first sentence defines a term. What follows are hints for people who enter data.
_SENTENCE_END = re.compile(r"[.;](?=\s|$)")


def terms_by_comment_word(
    graph: SchemaGraph, terms: Sequence[SchemaTerm], name_words: Collection[str]
) -> Mapping[str, tuple[SchemaTerm, ...]]:
    """The terms by each lemma of their comments that no name (`name_words`) and no other comment contains."""
    ignored = function_words() | WORDS["filler"] | WORDS["generic"] | set(name_words)
    schema = graph.schema
    comments = [*((c.iri, c.comment) for c in schema.classes), *((p.iri, p.comment) for p in schema.predicates)]
    iris_of_word: dict[str, dict[str, None]] = defaultdict(dict)
    for iri, comment in comments:
        for word in {lemma(t.norm) for t in tokenize(_SENTENCE_END.split(comment)[0])} - ignored:
            if len(word) >= MIN_COMMENT_WORD_LETTERS and word.isalpha():
                iris_of_word[word][iri] = None
    unique = {word: next(iter(iris)) for word, iris in iris_of_word.items() if len(iris) == 1}
    # One name of each class or property is enough.
    terms_of_iri: dict[str, dict[tuple[str, tuple[int, ...]], SchemaTerm]] = defaultdict(dict)
    for term in terms if unique else ():
        iri = term.predicate or next(iter(graph.nodes[term.nodes[0]].classes), "")
        terms_of_iri[iri].setdefault((term.kind, term.nodes), term)
    return {word: tuple(terms_of_iri[iri].values()) for word, iri in unique.items()}


def link_comment_words(
    question: Question, links: Sequence[Link], comment_terms: Mapping[str, tuple[SchemaTerm, ...]]
) -> Iterator[Link]:
    """What unlinked words name by a comment: "before it fades", of the time "until the tone has faded"."""
    linked = covered_mask(links)
    for cue in question.cues:
        if cue.kind in RANKING_CUES:
            linked |= cue.covered
    for i, token in enumerate(question.tokens):
        if not linked >> i & 1 and i not in question.stopwords:
            for term in comment_terms.get(token.lemma, ()):
                yield term_link(i, i + 1, term, COMMENT_SCORE, 1 << i, False, "like")


_BEFORE_NOUNS = frozenset(("superlative", "most", "count", "comparative"))  # Cues right before nouns.


def names_union(question: Question, at: int, graph: SchemaGraph) -> bool:
    """Whether a token is a noun for the things of a union: "works", and not the verb of "who works here"."""
    token = question.tokens[at]
    forms = {token.norm, token.lemma}
    if not forms & graph.unions.words.keys():
        return False
    if forms & set(phrase_list("parsing", "nouns_of_no_thing")):
        return True
    before = question.tokens[at - 1].norm if at else ""
    follows_cue = any(c.start < at <= c.end and c.kind in _BEFORE_NOUNS for c in question.cues)
    if not is_plural(token.norm):
        return follows_cue or before in WORDS["article"] | WORDS["asking_kind"] | WORDS["demonstrative"]
    if not forms & set(phrase_list("linking", "nouns_and_verbs")):
        return True
    subjects = WORDS["asking_who"] | WORDS["pronouns"] - WORDS["demonstrative"] | WORDS["helping"]
    return not at or follows_cue or (at - 1 in question.stopwords and before not in subjects)


def choose_unions(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links, with the smallest union that has what the other words name, as far as the largest has it."""
    by_span: dict[tuple[int, int], list[Link]] = defaultdict(list)
    for x in links:
        if x.kind == "class" and graph.nodes[x.refs[0].node].any_of:
            by_span[x.start, x.end].append(x)
    links = [_with_wide_noun(x, by_span, graph) for x in links]
    classes = {(x.start, x.end) for x in links if x.kind == "class"}
    dropped: set[Link] = set()
    for (start, _), found in by_span.items():
        if any(s < start < e for s, e in classes):
            # "death events" are deaths
            dropped.update(found)
            continue
        ordered = sorted(found, key=lambda x: len(graph.nodes[x.refs[0].node].relations))
        asked = [_asked_of(x.refs[0].node, links, question, graph) for x in ordered]
        chosen = next(x for x, own in zip(ordered, asked, strict=True) if own >= asked[-1])
        dropped.update(x for x in ordered if x is not chosen)
    return [x for x in links if x not in dropped]


def _with_wide_noun(link: Link, unions: Mapping[tuple[int, int], Sequence[Link]], graph: SchemaGraph) -> Link:
    """The link of a class with the wide noun after it, if its things are some of the union's: "death events"."""
    if link.kind != "class" or not link.exact or graph.nodes[link.refs[0].node].any_of:
        return link
    after = next((found for (start, _), found in unions.items() if start == link.end), ())
    if not any(graph.is_subclass(link.refs[0].node, x.refs[0].node) for x in after):
        return link
    return link._replace(end=after[0].end, covered=link.covered | after[0].covered)


def _asked_of(union: int, links: Sequence[Link], question: Question, graph: SchemaGraph) -> set[tuple[int, int]]:
    """The places of the question that name properties, values or measures which things of a union have."""
    found = {
        (x.start, x.end)
        for x in links
        if x.kind in ("property", "value") and any(graph.is_subclass(ref.node, union) for ref in x.refs)
    }
    for cue in question.cues:
        if cue.kind in ("superlative", "comparative") and (concepts := cue.ranking[1]) != ("",):
            measures = measured_properties(graph, union, concepts)
            found |= {(cue.start, cue.end)} if any(ref.node == union for ref, _, _ in measures) else set()
    return found


def widened_links(links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties, values and links of the classes of a mentioned union, as those of the union: the "condition" of
    objects, "kept in" of any of them.

    "Who" may be of any class of persons, and "what is on loan" of any class with that value.
    """
    unions = {x.refs[0].node for x in links if x.kind == "class"} & graph.unions.members.keys()
    seen: set[Link] = set()
    for link in links:
        if link.kind not in ("property", "value"):
            continue
        for union in sorted(unions | _asked_unions(link, links, question, graph)):
            members = set(graph.unions.members[union])

            def widened(ref: Ref, union: int = union, members: set[int] = members) -> Ref:
                is_member = ref.node in members or graph.is_subclass(ref.node, union)
                return ref._replace(node=union) if is_member else ref

            wide = link._replace(refs=tuple(dict.fromkeys(map(widened, link.refs))))
            if wide.refs != link.refs and wide not in seen:
                seen.add(wide)
                yield wide


def _asked_unions(link: Link, links: Sequence[Link], question: Question, graph: SchemaGraph) -> set[int]:
    """The union that the first word of a question asks for, if a property or value of it is named and no class is."""
    first = question.tokens[0].norm if question.tokens else ""
    predicate = link.refs[0].predicate
    classes = [x.refs[0].node for x in links if x.kind == "class"]
    by_size = [n.index for n in sorted(graph.unions.nodes, key=lambda n: len(n.relations))]
    if predicate and first in WORDS["asking_who"] and graph.persons.isdisjoint(classes):
        return set([i for i in by_size if i in graph.persons][-1:])
    is_bounded = link.kind == "value" or any(n.op in INEQUALITIES for n in question.numbers)
    if not predicate or not is_bounded or first not in WORDS["asking_kind"] or classes:
        return set()
    holders = set(graph.property_nodes(predicate))
    wide = (union for union in by_size if all(graph.is_subclass(i, union) for i in holders))
    return set(islice(wide, 1)) if len(holders) > 1 else set()


# A year in the name of a column, complete or as '95; the label of "no. of births '95" is "number of births '95s".
_NAMED_YEAR = re.compile(r"(?<!\S)(?:(?P<year>1[89]\d\d|20\d\d)|['’](?P<short>\d\d)s?)(?!\S)")


def choose_year_columns(question: Question, links: list[Link], graph: SchemaGraph) -> tuple[Question, list[Link]]:
    """Of columns that differ by the year in their names, those of a year in the question, which then dates nothing
    else: "in 1996" chooses "rate '96". A year after a verb dates that verb."""
    words, dating = question.tokens, WORDS["dating"]
    linked = covered_mask(x for x in links if x.kind != "class")
    for number in question.numbers:
        before = number.start - 1
        is_year = number.op in ("", "=") and number.until is None and len(number.digits) == 4
        if not is_year or number.end != before + 2 or (before >= 0 and words[before].norm not in dating):
            continue
        dated = max((i for i in range(before) if i not in question.stopwords), default=-1)
        if dated >= 0 and not (linked >> dated & 1 or any(n.start <= dated < n.end for n in question.numbers)):
            continue
        families = [(x, _column_of_year(x.refs[0], graph, int(number.value))) for x in links if x.kind == "property"]
        if any(own for _, own in families):
            mask = token_mask(max(before, 0), number.end)
            chosen = {
                x: x._replace(refs=(x.refs[0]._replace(predicate=p),), covered=x.covered | mask)
                for x, p in families
                if p
            }
            others = tuple(each for each in question.numbers if each is not number)
            return question._replace(numbers=others), list(dict.fromkeys(chosen.get(x, x) for x in links))
    return question, links


def _column_of_year(ref: Ref, graph: SchemaGraph, year: int) -> str:
    """The property of a year among those that differ by the year in their names alone; "" if there is none."""
    found = {}
    for predicate in graph.literals[ref.node]:
        label = graph.about(predicate).label
        if match := _NAMED_YEAR.search(label):
            found[predicate] = (_NAMED_YEAR.sub("", label), int(match["year"] or match["short"]))
    stem, _ = found.get(ref.predicate, ("", 0))
    alike = {own: predicate for predicate, (other, own) in found.items() if ref.predicate in found and other == stem}
    return alike.get(year, alike.get(year % 100, "")) if len(alike) > 1 else ""
