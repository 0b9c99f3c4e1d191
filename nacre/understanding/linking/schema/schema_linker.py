"""Link words of a question to classes and properties by their names: Question -> Links with scores, no decision."""

from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache

import simplemma
from rapidfuzz import fuzz, process

from nacre.language.base import language
from nacre.language.booleans import is_boolean_predicate
from nacre.language.forms.nouns import is_plural, wording_entry
from nacre.language.thesaurus import antonyms, function_words, gradable_adjective, nouns_of_kind, synonyms
from nacre.language.tokens import Token, lemma
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.comments import terms_by_comment_word
from nacre.understanding.linking.schema.schema_terms import (
    LEMMA_SCORE,
    SAME_WORD_SCORE,
    SPELLING_SCORE,
    STEM_SCORE,
    SYNONYM_SCORE,
    VALUE_WORDS,
    SchemaTerm,
    schema_terms,
    term_link,
)
from nacre.understanding.question.types import NEGATED_MATCH, Link, Question, Ref

# the least share of a name that must be said
MIN_TERM_SCORE = 0.34
MAX_TERM_LINKS_PER_SPAN = 10
# what a link to the rarer of two kinds of one name is worth beside the other
RARER_CLASS_FACTOR = 0.9
# a link that is weaker gives way to an exact one
MIN_RIVAL_SCORE = 0.45
_SHORTEST_STEM = 5
_SHORTEST_CODE = 3
# how the forms of verbs end, which are misspelt with them
_VERB_ENDS = ("ing", "ed")


class SchemaLinker:
    """The names of classes and properties by their lemmas; built once a version, then only read."""

    def __init__(self, lexicon: Lexicon, graph: SchemaGraph) -> None:
        self.graph = graph
        light, filler, keys = function_words(), language().words["filler"], wording_entry("keys")
        # "found at" says something of things, as "find" does not
        beside, small = light | language().words["generic"] | keys, light | filler
        self.done = frozenset(
            lemma(t)
            for name in lexicon.described
            for t in name.tokens
            if t not in small and lemma(t) in small and all(o == t or o in beside for o in name.tokens)
        )
        # the whole of each node that is the rest of a kind
        self.whole = {n.index: graph.node_of.get(n.classes[0]) for n in graph.nodes if n.without and n.classes}
        self.terms, said = schema_terms(lexicon, graph)
        self.told = terms_by_comment_word(graph, self.terms, said)
        self.besides = _besides(self.terms)
        self.by_word: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, term in enumerate(self.terms):
            for place, word in enumerate(term.words):
                self.by_word[word].append((i, place))
        self.vocabulary = sorted(self.by_word)
        self.stems: dict[str, list[str]] = defaultdict(list)
        for word in self.vocabulary:
            # of the graph's own words: "stations" are no "stationers"
            if len(word) >= _SHORTEST_STEM and word in said:
                self.stems[word[:4]].append(word)
        self.joined = {"".join(t.words): i for i, t in enumerate(self.terms) if len(t.words) == 2}
        self.like = lru_cache(maxsize=4096)(self._like)

    def links(self, question: Question) -> list[Link]:
        """The classes and properties that stretches of the question may name."""
        matched: dict[int, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        words, known = question.tokens, language().words
        persons, bodies = nouns_of_kind("persons"), nouns_of_kind("bodies")
        for i, token in enumerate(words):
            # "show the ..." is no show, "the last ..." lasts no time
            asks = i == 0 and i in question.stopwords
            asks |= i > 0 and token.norm in known["the_last"] and words[i - 1].norm in known["article"]
            doer = token.norm in persons or token.norm in bodies
            for word, fit in self.like(token.norm, token.lemma):
                if (asks and fit == SYNONYM_SCORE) or (i == 0 and word in self.done and token.norm == word):
                    continue
                for term, place in self.by_word[word]:
                    if asks and self.terms[term].sure < SAME_WORD_SCORE:
                        continue
                    if doer and fit < LEMMA_SCORE and self._is_dated(self.terms[term]):
                        # the "maker" is no day on which something was made
                        continue
                    if fit > matched[term][i].get(place, 0.0):
                        matched[term][i][place] = fit
            joined = (token.norm + words[i + 1].norm) if i + 1 < len(words) else ""
            for word in (joined, token.norm):
                if word in self.joined and (word == joined or len(word) > 5):
                    term = self.joined[word]
                    for place in range(2):
                        matched[term][i][place] = max(
                            SAME_WORD_SCORE if word == token.norm else 0, matched[term][i].get(place, 0)
                        )
            if joined in self.by_word and len(joined) > 4:
                for term, place in self.by_word[joined]:
                    matched[term][i][place] = matched[term][i + 1][place] = LEMMA_SCORE
        found: list[Link] = []
        for index, places in matched.items():
            found += self._of_term(question, self.terms[index], places)
        # "the number of orders" is none that tells orders apart, but the "order numbers of those" are
        counting = [c for c in question.cues if c.kind == "count" and _several(question, c.end)]
        found = [
            x
            for x in found
            if not self._is_number(x)
            or not any(x.start < c.end and c.start < x.end and not (x.exact and x.start < c.start) for c in counting)
        ]
        found = self._most_common(self._of_whole(_not_again([*found, *_of_kind(found, question)]), question))
        return _best([*found, *self._denied(question)])

    def _most_common(self, found: list[Link]) -> list[Link]:
        """The links, of which those to a class that is called as another one with more things are less likely."""
        nodes = self.graph.nodes
        classes = {x: node for x in found if x.kind == "class" and (node := nodes[x.refs[0].node]).classes}
        most: dict[tuple[int, int, tuple[str, ...]], int] = defaultdict(int)
        for x, node in classes.items():
            most[x.start, x.end, node.words] = max(most[x.start, x.end, node.words], node.count)
        rarer = {x for x, node in classes.items() if node.count < most[x.start, x.end, node.words]}
        return [x._replace(score=x.score * RARER_CLASS_FACTOR) if x in rarer else x for x in found]

    def _of_whole(self, found: list[Link], question: Question) -> list[Link]:
        """The links without those to the rest of a kind ("other person") where the words name the whole as well."""
        other = language().words["other"]
        if not self.whole or any(t.norm in other for t in question.tokens):
            return found
        said = {(x.start, x.end, x.refs[0].node) for x in found if x.kind == "class"}
        return [x for x in found if x.kind != "class" or (x.start, x.end, self.whole.get(x.refs[0].node)) not in said]

    def _is_one_word(self, question: Question, at: int) -> bool:
        """Whether a word and the one before it are one word of a name: "run time" of "runtime"."""
        return question.tokens[at - 1].norm + question.tokens[at].norm in self.by_word

    def _of_term(self, question: Question, term: SchemaTerm, matched: dict[int, dict[int, float]]) -> list[Link]:
        """The links of one name: stretches of the question that say enough of it, with no other word in between."""
        runs: list[list[int]] = []
        for i in sorted(matched):
            between = range(runs[-1][-1] + 1, i) if runs else range(0)
            joined = len(between) <= 2 and all(k in question.stopwords for k in between)
            # "substances that have been measured" are no "substance measurements", "documents have the status" no
            # "document status"
            if runs and joined and not _parted(question, between, term.kind):
                runs[-1].append(i)
            else:
                runs.append([i])
        found = []
        whole = sum(term.weights)
        most = len(term.words)
        quoted = {i for start, end in question.quoted for i in range(start, end)}
        for run in runs:
            # words that are near as well may belong to something else: "are those of high rank higher than"
            windows = [run[k : k + most] for k in range(len(run) - most + 1)] if 1 < most < len(run) else []
            for part in (run, *windows, *([i] for i in run if len(run) > 1)):
                if len({i in quoted for i in part}) > 1:
                    # a value in quotation marks is no part of the name before it
                    continue
                fits: dict[int, float] = {}
                used: list[int] = []
                for i in part:
                    options = {p: f for p, f in matched[i].items() if p not in fits}
                    joined = len(options) == len(term.words) == 2 and len(set(options.values())) == 1
                    if joined:
                        fits.update(options)
                    elif options:
                        place = max(options, key=lambda p: (options[p], -p))
                        fits[place] = options[place]
                    if options or (i - 1 in used and self._is_one_word(question, i)):
                        used.append(i)
                score = term.sure * sum(term.weights[p] * f for p, f in fits.items()) / whole
                said = sum(1.0 for _ in fits) / len(part) if part else 0
                if score < MIN_TERM_SCORE or said < 0.5:
                    continue
                exact = score > 0.93
                if not exact and all(question.tokens[i].norm in language().words["of"] for i in used):
                    # "names of presses" asks for nothing that these are made of
                    continue
                is_value = term.kind == "property" and self.graph.words[term.predicate] == (*term.words, *VALUE_WORDS)
                if is_value and any(is_plural(question.tokens[i].norm) for i in used):
                    # "ratings" are counted, they are no "rating value"
                    continue
                covered = sum(1 << i for i in used)
                how = (
                    "exact"
                    if exact
                    else "partial"
                    if min(fits.values()) >= LEMMA_SCORE and term.sure > SYNONYM_SCORE
                    else "like"
                )
                # a word that says again what another said may name something of its own
                found.append(term_link(used[0], used[-1] + 1, term, score, covered, exact, how))
        return found

    def _is_dated(self, term: SchemaTerm) -> bool:
        return term.kind == "property" and self.graph.is_date(term.predicate)

    def _is_number(self, link: Link) -> bool:
        """Whether a link names numbers that tell things apart."""
        predicate = link.refs[0].predicate
        return bool(predicate) and self.graph.about(predicate).role == "identifier"

    def _denied(self, question: Question) -> list[Link]:
        """Words that deny a property of yes or no: "unpaid", and "failed" of what is passed; or what has a date."""
        found = []
        for i, token in enumerate(question.tokens):
            starts = [start for start in language().words["denying"] if token.norm.startswith(start)]
            denied = {lemma(token.norm.removeprefix(start)) for start in starts}
            if not {token.norm, token.lemma} & self.by_word.keys():
                denied |= antonyms(token.lemma)
            for index in sorted({t for word in denied for t, _ in self.by_word.get(word, ())}):
                term = self.terms[index]
                dated = self._is_dated(term)
                own = set(term.words) - language().words["time" if dated else "being_flag"]
                if term.kind != "property" or len(own) != 1:
                    continue
                if dated or is_boolean_predicate(self.graph.about(term.predicate)):
                    found.append(term_link(i, i + 1, term, LEMMA_SCORE, 1 << i, True, NEGATED_MATCH))
        return found

    def _like(self, norm: str, own: str) -> tuple[tuple[str, float], ...]:
        """The words of names that a word may stand for, with how well."""
        found: dict[str, float] = {}
        for word in self.by_word.keys() & {norm}:
            found[word] = SAME_WORD_SCORE
        for word in self.by_word.keys() & {own}:
            found.setdefault(word, LEMMA_SCORE if norm != own else SAME_WORD_SCORE)
        said = gradable_adjective(Token(norm, 0, len(norm), norm, own))
        if said is not None and said.degree != "positive":
            # "longest" orders by a length, it does not name it
            return tuple(sorted(found.items()))
        for word in synonyms(own) | (synonyms(norm) if norm != own else frozenset()):
            if word in self.by_word:
                found.setdefault(word, SYNONYM_SCORE)
        nouns = {f"{own}ing", f"{own.removesuffix('e')}ing"} if norm != own and norm.endswith("ed") else set()
        for word in nouns & self.by_word.keys():
            # "how is it heated": its heating
            found.setdefault(word, SYNONYM_SCORE)
        if len(norm) >= _SHORTEST_CODE and norm[-1].isdigit() and not norm[0].isdigit():
            # a code at the end of a longer one
            found.update({w: STEM_SCORE for w in self.vocabulary if w.endswith(norm) and w != norm})
        if len(own) >= _SHORTEST_STEM:
            for word in self.stems.get(own[:4], ()):
                shared = next((i for i, (a, b) in enumerate(zip(word, own, strict=False)) if a != b), None)
                shared = min(len(word), len(own)) if shared is None else shared
                if shared >= max(_SHORTEST_STEM - 1, 0.6 * max(len(word), len(own))):
                    found.setdefault(word, STEM_SCORE)
        if not found and len(norm) >= 5 and norm.isalpha() and not simplemma.is_known(norm, lang="en"):
            stems = (own.removesuffix(end) for end in _VERB_ENDS)
            for form in {own, *(stem for stem in stems if len(stem) >= _SHORTEST_STEM)}:
                near = process.extract(form, self.vocabulary, scorer=fuzz.ratio, limit=2, score_cutoff=82)
                for word, ratio, _ in near:
                    found[word] = max(found.get(word, 0.0), SPELLING_SCORE * ratio / 100)
        return tuple(sorted(found.items()))


def _besides(terms: Collection[SchemaTerm]) -> dict[str, frozenset[int]]:
    """The nodes by the words that are none of their own names."""
    found: dict[str, set[int]] = defaultdict(set)
    for term in terms:
        if term.sure < SAME_WORD_SCORE and len(term.words) == 1:
            found[term.words[0]] |= set(term.nodes)
    return {word: frozenset(nodes) for word, nodes in found.items()}


def _several(question: Question, at: int) -> bool:
    """Whether the word at a place of the question is a plural."""
    return at < len(question.tokens) and is_plural(question.tokens[at].norm)


def _parted(question: Question, between: range, kind: str) -> bool:
    """Whether a verb parts words, so that they are no noun phrase."""
    known = language().words
    verbs = known["being"] | known["been"] | known["helping"] if kind == "class" else known["owning_verbs"]
    return any(question.tokens[k].norm in verbs for k in between)


def _of_kind(found: list[Link], question: Question) -> list[Link]:
    """The properties of kinds that are named right before or after them, where another property only sounds like both:
    the "loan amount" is what a loan has as its amount, and no "number of loans"."""
    like = {(x.start, x.end) for x in found if x.kind == "property" and not x.exact}
    starts = {x.start for x in found if x.kind == "class"}
    # "project outcomes" are no projects
    kinds = [x for x in found if x.kind == "class" and x.exact and x.end not in starts]
    made = []
    for own in (x for x in found if x.kind == "property" and x.exact and x.refs[0].predicate):
        for kind in (k for k in kinds if k.refs[0].node == own.refs[0].node and not k.covered & own.covered):
            first, last = sorted((kind, own), key=lambda x: x.start)
            between = range(first.end, last.start)
            joined = not between if first is kind else between and all(i in question.stopwords for i in between)
            if joined and (first.start, last.end) in like:
                whole = own._replace(start=first.start, end=last.end, covered=kind.covered | own.covered)
                made.append(whole._replace(score=min(kind.score, own.score)))
    return made


def _not_again(found: list[Link]) -> list[Link]:
    """The links without those of a verb to the kind that was named right before it, where it names a link: "suppliers
    deliver" says how, and no supplier again."""
    named = {(x.end, x.refs[0].node) for x in found if x.kind == "class" and x.exact}
    verbs = {(x.start, x.end) for x in found if x.kind == "property" and x.refs[0].via}
    return [
        x
        for x in found
        if not (
            x.kind == "class" and x.match == "like" and (x.start, x.end) in verbs and (x.start, x.refs[0].node) in named
        )
    ]


def _best(found: list[Link]) -> list[Link]:
    """The best links of every span; what is named by its own name is nothing that only sounds a little like it."""
    spans: dict[tuple[int, int, str], list[Link]] = defaultdict(list)
    named = {(link.start, link.end) for link in found if link.exact and link.score >= LEMMA_SCORE}
    for link in found:
        if link.score >= MIN_RIVAL_SCORE or (link.start, link.end) not in named:
            spans[link.start, link.end, link.kind].append(link)
    kept = []
    for links in spans.values():
        links.sort(key=lambda x: (-x.score, x.refs))
        seen: set[tuple[Ref, ...]] = set()
        for link in links:
            if link.refs not in seen and len(seen) < MAX_TERM_LINKS_PER_SPAN:
                seen.add(link.refs)
                kept.append(link)
    return sorted(kept, key=lambda x: (x.start, x.end, x.kind, -x.score, x.refs))
