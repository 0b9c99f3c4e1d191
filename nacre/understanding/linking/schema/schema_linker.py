"""Link words of a question to classes and properties by their names: Question -> Links with scores, no decision."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from nacre.language.base import language, phrase_list, word_list
from nacre.language.booleans import is_boolean_predicate
from nacre.language.forms.nouns import is_plural
from nacre.language.thesaurus import antonyms, function_words, gradable_adjective, kind_words, nouns_of_kind
from nacre.language.tokens import Token, lemma, split_name
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.comments import terms_by_comment_word
from nacre.understanding.linking.schema.schema_link_filters import (
    add_class_properties,
    best_links,
    drop_repeated_classes,
    lower_rarer_classes,
)
from nacre.understanding.linking.schema.schema_terms import (
    LEMMA_SCORE,
    SAME_WORD_SCORE,
    SYNONYM_SCORE,
    SchemaTerm,
    schema_terms,
    term_link,
)
from nacre.understanding.linking.schema.wide_words import names_union
from nacre.understanding.linking.schema.word_matcher import WordMatcher
from nacre.understanding.question.types import DENIED_LINK_MATCH, NEGATED_MATCH, Link, Question

# The weighted share of a name that a question contains, at least; from which share it counts as the whole name; and
# the share of a span's words that belong to the name, at least.
MIN_TERM_SCORE, MIN_EXACT_SCORE, MIN_SPAN_SHARE = 0.34, 0.93, 0.5
# Function words between two words of a name, at most.
MAX_WORDS_INSIDE = 2
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
        self.class_synonyms = _class_synonyms(self.terms)
        self._matcher = WordMatcher(self.terms, name_words)
        self.terms_of_word = self._matcher.terms_of_word
        link_words = {word for term in self.terms if term.kind == "link" for word in term.words}
        self.denying_words = frozenset(opposite for word in link_words for opposite in antonyms(word))
        written = {n.words: "".join(split_name(n.label).split()) for n in graph.nodes}
        compounds = [(i, t) for i, t in enumerate(self.terms) if len(t.words) > 1]
        self._compounds = {"".join(t.words): i for i, t in compounds}
        self._compounds |= {written[t.words]: i for i, t in compounds if t.kind == "class" and t.words in written}
        # The whole class of each node that is only the rest of it ("other person").
        self._whole_class = {
            n.index: graph.node_of_class.get(n.classes[0]) for n in graph.nodes if n.without and n.classes
        }

    def links(self, question: Question) -> list[Link]:
        """The classes and properties that spans of the question may name."""
        found: list[Link] = []
        for index, fits in self._match_tokens(question).items():
            found += self._link_term(question, self.terms[index], fits)
        found = self._drop_counted_identifiers(found, question)
        found = drop_repeated_classes(add_class_properties(found, question))
        found = lower_rarer_classes(self._drop_rest_classes(found, question), self.graph.nodes)
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
            if joined in self.terms_of_word and len(joined) > SPLIT_WORD_LETTERS:
                for term, place in self.terms_of_word[joined]:
                    matched[term][i][place] = matched[term][i + 1][place] = LEMMA_SCORE
        return matched

    def _match_word(self, question: Question, at: int) -> Iterator[tuple[int, int, float]]:
        """The terms with a word that a token may stand for, the word's place in the name, and how well it fits."""
        token, known = question.tokens[at], language().words
        # "show the ..." does not mean a show, nor "the last ..." how long something lasts.
        is_request = at == 0 and at in question.stopwords
        is_request |= at > 0 and token.norm in known["the_last"] and question.tokens[at - 1].norm in known["article"]
        compared = _compared_adjective(token)
        is_agent = token.norm in nouns_of_kind("persons") or token.norm in nouns_of_kind("bodies")
        for word, fit in self._matcher.match(token.norm, token.lemma):
            if is_request and fit == SYNONYM_SCORE:
                continue
            if at == 0 and word in self.meaningful_lemmas and token.norm == word:
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

    def _link_span(
        self, question: Question, term: SchemaTerm, span: Sequence[int], fits: Mapping[int, Fits]
    ) -> Iterator[Link]:
        """The link of a span to a term, if the span contains enough of the name."""
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
        is_value = term.kind == "property" and self.graph.words[term.predicate] == label
        if is_value and any(is_plural(tokens[i].norm) for i in used):
            # "ratings" are things to count, not a "rating value".
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
            if options or (i - 1 in used and self._is_split_word(question, i)):
                used.append(i)
        return matched, used

    def _is_split_word(self, question: Question, at: int) -> bool:
        """Whether a token and the one before it are one word of a name: "run time" of "runtime"."""
        return question.tokens[at - 1].norm + question.tokens[at].norm in self.terms_of_word

    def _drop_counted_identifiers(self, links: list[Link], question: Question) -> list[Link]:
        """The links without identifiers that are counts: "the number of orders" does not ask for a number that
        identifies orders, but "the order numbers of those" does."""
        counts = [c for c in question.cues if c.kind == "count" and _is_plural_at(question, c.end)]
        return [
            x
            for x in links
            if not self._is_identifier(x)
            or not any(x.start < c.end and c.start < x.end and not (x.exact and x.start < c.start) for c in counts)
        ]

    def _drop_rest_classes(self, links: list[Link], question: Question) -> list[Link]:
        """The links without the rest of a class ("other person") if the words name the whole class as well."""
        if not self._whole_class or any(t.norm in language().words["other"] for t in question.tokens):
            return links
        named = {(x.start, x.end, x.refs[0].node) for x in links if x.kind == "class"}
        return [
            x
            for x in links
            if x.kind != "class" or (x.start, x.end, self._whole_class.get(x.refs[0].node)) not in named
        ]

    def _negated_links(self, question: Question) -> Iterator[Link]:
        """Words that negate a property of truth or with a date, or a link: "unpaid", "failed" for what is passed,
        "vacant" for what is occupied by somebody."""
        for i, token in enumerate(question.tokens):
            prefixes = [prefix for prefix in language().words["denying"] if token.norm.startswith(prefix)]
            negated = {lemma(token.norm.removeprefix(prefix)) for prefix in prefixes}
            if not {token.norm, token.lemma} & self.terms_of_word.keys():
                negated |= antonyms(token.lemma)
            for index in sorted({t for word in negated for t, _ in self.terms_of_word.get(word, ())}):
                term = self.terms[index]
                is_date = self._is_date(term)
                own = set(term.words) - language().words["time" if is_date else "being_flag"] - function_words()
                if len(own) != 1 or not own & negated:
                    continue
                is_link = term.kind == "link"
                is_truth = term.kind == "property" and is_boolean_predicate(self.graph.about(term.predicate))
                if is_link or is_date or is_truth:
                    how = DENIED_LINK_MATCH if is_link else NEGATED_MATCH
                    yield term_link(i, i + 1, term, LEMMA_SCORE, 1 << i, True, how)

    def _is_date(self, term: SchemaTerm) -> bool:
        return term.kind == "property" and self.graph.is_date(term.predicate)

    def _is_identifier(self, link: Link) -> bool:
        predicate = link.refs[0].predicate
        return bool(predicate) and self.graph.about(predicate).role == "identifier"


def _compared_adjective(token: Token) -> str:
    """The adjective of a comparative or superlative: "heavy" of "heaviest"; "" for other words."""
    adjective = gradable_adjective(token)
    return token.lemma if adjective is not None and adjective.degree != "positive" else ""


def _meaningful_lemmas(lexicon: Lexicon) -> frozenset[str]:
    """Function words whose other form carries the meaning of a name: "find", because things are "found at" a place."""
    light, filler = function_words(), language().words["filler"]
    without_meaning = light | filler
    neighbours = light | language().words["generic"] | word_list("wording", "keys")
    return frozenset(
        lemma(t)
        for name in lexicon.schema_entries
        for t in name.tokens
        if t not in without_meaning
        and lemma(t) in without_meaning
        and all(other == t or other in neighbours for other in name.tokens)
    )


def _class_synonyms(terms: Collection[SchemaTerm]) -> Mapping[str, frozenset[int]]:
    """The nodes by single words that are not their own names."""
    found: dict[str, set[int]] = defaultdict(set)
    for term in terms:
        if term.score < SAME_WORD_SCORE and len(term.words) == 1:
            found[term.words[0]] |= set(term.nodes)
    return {word: frozenset(nodes) for word, nodes in found.items()}


def _runs(question: Question, places: Sequence[int], kind: str) -> list[list[int]]:
    """The matched tokens in groups with only a few function words in between."""
    runs: list[list[int]] = []
    for i in places:
        between = range(runs[-1][-1] + 1, i) if runs else range(0)
        is_near = len(between) <= MAX_WORDS_INSIDE and all(k in question.stopwords for k in between)
        if runs and is_near and not (_has_verb(question, between, kind) or _is_denied(question, between)):
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _has_verb(question: Question, between: range, kind: str) -> bool:
    """Whether a verb stands between words, so that they are not one noun phrase: "substances that have been measured"
    is not "substance measurements", nor "documents have the status" "document status"."""
    known = language().words
    verbs = known["being"] | known["been"] | known["helping"] if kind == "class" else known["owning_verbs"]
    return any(question.tokens[k].norm in verbs for k in between)


def _is_denied(question: Question, between: range) -> bool:
    """Whether a negation stands between words: "mills with no owner's name" are no "mill owners"."""
    return any(cue.kind == "negation" and cue.start in between for cue in question.cues)


def _is_plural_at(question: Question, at: int) -> bool:
    return at < len(question.tokens) and is_plural(question.tokens[at].norm)
