"""Link words of a question to things, values and codes by their names: Question -> Links with scores, no decision."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from nacre.language.data import WORDS, load_language_data, word_list
from nacre.language.thesaurus import function_words, gradable_adjective, nouns_of_kind
from nacre.language.tokens import Token, fold, tokenize
from nacre.language.values import is_number_name
from nacre.language.word_forms import is_plural
from nacre.records.plan import Variable
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.linking.name_candidates import EntityNames, NameCandidate
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.analyse import is_state
from nacre.understanding.question.numbers import FIRST_YEAR, LAST_YEAR
from nacre.understanding.question.records import Link, Question, Ref, token_mask
from nacre.wording.nouns import class_noun

MAX_VALUE_TOKENS = 9  # Words of a name, at most.

# The score of a name in another word form, and factors for a part of a name and for a bare number as a name.
INFLECTED_SCORE, PARTIAL_SCORE, NUMERIC_SCORE = 0.9, 0.6, 0.3

MAX_LINKS_PER_SPAN, MAX_KEYS = 16, 400  # Links of a span, at most; things of one name, at most.
MIN_JOINED_LETTERS = 6  # Letters of a name that the question writes as two words, at least.
MAX_MODIFIERS = 3  # Words of a name before its last one, if another name has that last word.
MIN_PART_LETTERS, MAX_PHRASE_TOKENS = 4, 6  # Letters of a word that stands for a value, at least; words of the value.


class _NameSpan(NamedTuple):
    """A span that is the name of things or values, with how well it fits."""

    start: int
    end: int
    names: Sequence[LexiconEntry]
    score: float

    def contains(self, start: int, end: int) -> bool:
        return self.start <= start and end <= self.end


class ValueLinker:
    """The names of things and the values of properties. It never changes after it is built."""

    def __init__(self, lexicon: Lexicon, graph: SchemaGraph) -> None:
        self.graph = graph
        self.lexicon = lexicon
        self.entities = EntityNames(lexicon)
        self._values_of_name = _values_of_name(graph)
        self._short_values = {x.tokens[0] for x in lexicon.schema_entries if x.kind == "value" and len(x.tokens) == 1}
        amounts = (p for p in graph.words if graph.is_numeric(p) and graph.about(p).role != "identifier")
        self._amounts = {word for p in amounts for word in graph.words[p][-1:]}

    def links(self, question: Question) -> list[Link]:
        """The things and values that spans of the question may name."""
        spans = list(self._exact_spans(question))
        spans += self._conjunct_spans(question, spans)
        spans += self._joined_spans(question, spans)
        found = [link for span in spans for link in self._span_links(span, question)]
        for candidate in self.entities.candidates(question.tokens):
            if not any(span.contains(candidate.start, candidate.end) for span in spans):
                found += self._candidate_links(candidate, question)
        return [*self._prefer_places(found, question), *self._code_links(question)]

    def _prefer_places(self, links: Sequence[Link], question: Question) -> list[Link]:
        """Of values after "in" those of properties called places, if there are any: "in Oslo" is no crew."""
        inside = {i + 1 for i, token in enumerate(question.tokens) if token.norm in WORDS["where_in"]}

        def is_place(link: Link) -> bool:
            return not nouns_of_kind("places").isdisjoint(self.graph.words.get(link.refs[0].predicate, ()))

        located = {(x.start, x.end) for x in links if x.start in inside and is_place(x)}
        return [x for x in links if x.kind != "value" or (x.start, x.end) not in located or is_place(x)]

    def part_links(self, question: Question, linked: int) -> Iterator[Link]:
        """The values of which words that name nothing else are parts, if one value of the property has them: "Labour"
        of "Labour Party"."""
        words, done = question.tokens, linked
        for i, token in enumerate(words):
            if done >> i & 1 or i in question.stopwords or len(token.norm) < MIN_PART_LETTERS:
                continue
            if self.graph.main_sheet is not None and token.text.islower() and is_plural(token.norm):
                # "how many creatures" asks for the rows of a sheet, and for none of "Creature Park"
                continue
            values: dict[str, dict[str, LexiconEntry]] = defaultdict(dict)
            for word in {token.norm, token.lemma}:
                for entry in self._values_with.get(word, ()):
                    values[entry.predicate].setdefault(entry.target, entry)
            names = [name for of in values.values() if len(of) == 1 for name in of.values()]
            own = set(names[0].tokens) if names else set()
            covered = sum(
                1 << j for j in range(i, len(words)) if not linked >> j & 1 and (i == j or words[j].norm in own)
            )
            done |= covered if names else 0
            for link in self._value_links(_NameSpan(i, i + 1, names, PARTIAL_SCORE)):
                yield link._replace(match="part", covered=covered)

    @cached_property
    def _values_with(self) -> Mapping[str, Sequence[LexiconEntry]]:
        """The values of several words by each of these, those that may be phrases by the first. Prose is left out."""
        found: dict[str, list[LexiconEntry]] = defaultdict(list)
        for entry in (each for each in self.lexicon.schema_entries if len(each.tokens) <= MAX_PHRASE_TOKENS):
            is_name = len(entry.tokens) <= MAX_NAME_TOKENS and function_words().isdisjoint(entry.tokens)
            telling = len(entry.tokens) if is_name else 1
            for word in entry.tokens[:telling] if entry.kind == "value" and " " in entry.target else ():
                found[word].append(entry)
        return found

    def _exact_spans(self, question: Question) -> Iterator[_NameSpan]:
        """Spans that are whole names, as written or in another word form."""
        words = question.tokens
        norms, lemmas = tuple(t.norm for t in words), tuple(t.lemma for t in words)
        for start in range(len(words)):
            for end in range(min(len(words), start + self._longest_name(words[start])), start, -1):
                names: Sequence[LexiconEntry] = _things_and_values(self.lexicon.exact(norms[start:end]))
                score = 1.0
                # "longer" is no name "Long"
                graded = gradable_adjective(words[start]) if end == start + 1 else None
                if not names and (graded is None or graded.degree == "positive"):
                    base = self._base(words[start]) if end == start + 1 else ""
                    names = _things_and_values(self.lexicon.exact((base,) if base else lemmas[start:end]))
                    names = names or _things_and_values(self.lexicon.inflected(lemmas[start:end]))
                    score = INFLECTED_SCORE
                if not names:
                    continue
                # of names that differ in signs at their end, those with the sign of the question: "A+" is not "A"
                sign = _mark(question.text[question.tokens[end - 1].end :].split(" ")[0].rstrip(".,;:?!)"))
                marked = [name for name in names if _mark(name.label) == sign]
                names = marked or ([] if {"+", "#"} & set(sign) else names)
                is_written = score == 1.0 and self._follows_property(names, question, start)
                if names and (_may_be_name(question, start, end) or is_written):
                    yield _NameSpan(start, end, names, score)

    def _conjunct_spans(self, question: Question, spans: Sequence[_NameSpan]) -> list[_NameSpan]:
        """Names whose last word stands only after a later name: the "sour" of "sour or sweet cherries"."""
        words = question.tokens
        found: list[_NameSpan] = []
        whole = {(span.start, span.end) for span in spans}
        waiting = [(start, words[end - 1].lemma) for start, end in sorted(whole) if end - start > 1]
        while waiting:
            start, head = waiting.pop()
            end = previous_conjunct_end(question, start)
            for first in range(max(0, end - MAX_MODIFIERS), end):
                exact = (*(t.norm for t in words[first:end]), head)
                lemmas = (*(t.lemma for t in words[first:end]), head)
                names = _things_and_values(self.lexicon.exact(exact))
                names = names or _things_and_values(self.lexicon.inflected(lemmas))
                overlaps = any(span.start < end and first < span.end for span in (*spans, *found))
                if names and not overlaps:
                    found.append(_NameSpan(first, end, names, INFLECTED_SCORE))
                    waiting.append((first, head))
                    break
        return found

    def _joined_spans(self, question: Question, spans: Sequence[_NameSpan]) -> list[_NameSpan]:
        """Names of one word that the question writes as two: "Sun Flower" for Sunflower."""
        found: list[_NameSpan] = []
        for start, word in enumerate(first.norm + second.norm for first, second in pairwise(question.tokens)):
            if len(word) < MIN_JOINED_LETTERS or not word.isalpha():
                continue
            names = _things_and_values(self.lexicon.exact((word,)))
            if names and not any(span.contains(start, start + 2) for span in (*spans, *found)):
                found.append(_NameSpan(start, start + 2, names, INFLECTED_SCORE))
        return found

    def _longest_name(self, first: Token) -> int:
        """How many words the longest name has that begins with a word."""
        longest = [word.longest for form in {first.norm, first.lemma} if (word := self.lexicon.word(form)) is not None]
        return min(MAX_VALUE_TOKENS, max(longest, default=int(self._base(first) != "")))

    def _base(self, word: Token) -> str:
        """The value that a word is an adverb or an unlisted plural of: "annual" of "annually"; "" if there is none."""
        bases = (word.norm.removesuffix(e) for e in ("ly", "s") if word.norm == word.lemma and word.norm.endswith(e))
        return next((base for base in bases if base in self._short_values), "")

    def _follows_property(self, names: Sequence[LexiconEntry], question: Question, start: int) -> bool:
        """Whether the word before a value is the last word of its property's name: "the status done"."""
        before = question.tokens[start - 1].lemma if start else ""
        properties = {name.predicate for name in names if name.kind == "value"}
        nodes = {n for name in names if not name.predicate for n in self.graph.nodes_of_relation.get(name.relation, ())}
        codes = {p for n in nodes for p in self.graph.literals[n] if self.graph.about(p).role == "identifier"}
        return any(self.graph.words[p][-1:] == (before,) for p in properties | codes if p in self.graph.words)

    def _span_links(self, span: _NameSpan, question: Question) -> list[Link]:
        own = question.tokens[span.start : span.end]
        is_numeric = all(t.norm[0].isdigit() for t in own)
        named = [] if is_numeric and self._is_amount(span, question) else self._entity_links(span, question, is_numeric)
        found = [*named, *self._value_links(span)]
        if is_numeric and not any(a <= span.start and span.end <= b for a, b in question.quoted):
            # A bare number is more often an amount than a name.
            found = [
                x._replace(score=x.score * (NUMERIC_SCORE if x.kind == "entity" else PARTIAL_SCORE)) for x in found
            ]
        return sorted(found, key=lambda x: (-x.score, x.kind, x.refs))[:MAX_LINKS_PER_SPAN]

    def _is_amount(self, span: _NameSpan, question: Question) -> bool:
        """Whether a bare number is a year, an amount or a bound, and no name: "born in 1930", "were 18", "above 40", "a
        height of 12"."""
        number = next((n for n in question.numbers if n.start <= span.start < n.end), None)
        if number is None or span.start in {a for a, _ in question.quoted}:
            return False
        before = question.tokens[span.start - 1].norm if span.start else ""
        is_said = span.start > 2 and before in WORDS["being"] | WORDS["owning"]
        is_dated = before in WORDS["dating"] and FIRST_YEAR <= number.value <= LAST_YEAR
        owner = span.start - 1 - (before in WORDS["of"])
        is_owned = owner >= 0 and question.tokens[owner].lemma in self._amounts
        return number.op not in ("", "=") or is_dated or is_said or is_owned

    def _entity_links(self, span: _NameSpan, question: Question, is_numeric: bool) -> Iterator[Link]:
        """One link for each class of things with the name."""
        things: dict[int, list[LexiconEntry]] = defaultdict(list)
        for name in span.names:
            nodes = self.graph.nodes_of_relation.get(name.relation, ()) if name.kind == "entity" else ()
            if nodes and not (is_numeric and name.weight < 0):
                things[min(nodes, key=lambda i: (self.graph.nodes[i].count, i))].append(name)
        words = question.tokens
        for node, names in things.items():
            keys = tuple(sorted({n.target for n in names}))[:MAX_KEYS]
            label = names[0].label
            if len(keys) == 1 and not is_numeric and is_number_name(label, keys):
                # The thing is known by a name other than its first one.
                label = question.text[words[span.start].start : words[span.end - 1].end]
            if len(things) > 1:
                variable = Variable("x", self.graph.nodes[node].classes, self.graph.nodes[node].without)
                label = f"{label} ({class_noun(variable, self.lexicon.schema)})"
            mask, ends = token_mask(span.start, span.end), self.lexicon.leading_to(names)
            yield Link(
                span.start, span.end, "entity", (Ref(node),), span.score, mask, span.score == 1.0, "", keys, label,
                "whole", ends,
            )  # fmt: skip

    def _value_links(self, span: _NameSpan) -> Iterator[Link]:
        """One link for each class and property with the value."""
        values: dict[tuple[int, str], list[LexiconEntry]] = defaultdict(list)
        for name in span.names:
            about = self.graph.schema.predicate_of.get(name.predicate) if name.kind == "value" else None
            if about is not None and about.has_literals:
                for node in self.graph.property_nodes(name.predicate):
                    values[node, name.predicate].append(name)
        for (node, predicate), names in values.items():
            best, *others = sorted(names, key=lambda each: -each.weight)
            # of several values with a part that is said any is meant
            alike = tuple(each.target for each in others if best.weight < 1.0)
            ref, mask, score = Ref(node, predicate), token_mask(span.start, span.end), span.score * best.weight
            yield Link(
                span.start, span.end, "value", (ref,), score, mask, score == 1.0,
                self._typed_value(predicate, best.target), alike, best.target, "whole",
            )  # fmt: skip

    def _typed_value(self, predicate: str, text: str) -> str | float:
        if self.graph.is_numeric(predicate) and self.graph.about(predicate).datatype != "text":
            try:
                return float(text)
            except ValueError:
                return text
        return text

    def _candidate_links(self, candidate: NameCandidate, question: Question) -> Iterator[Link]:
        """The link of a name of which the question contains a part."""
        nodes = (i for r in candidate.relations for i in self.graph.nodes_of_relation.get(r, ()))
        node = min(nodes, key=lambda i: self.graph.nodes[i].count, default=None)
        if node is None:
            return
        start, end = candidate.start, candidate.end
        score = candidate.score if candidate.exact else candidate.score * PARTIAL_SCORE
        if all(t.norm[:1].isdigit() for t in question.tokens[start:end]):
            if "=" in candidate.label and is_number_name(candidate.label, candidate.keys):
                # a number alone is not that of a row without a name
                return
            score *= NUMERIC_SCORE
        covered = sum(1 << i for i in candidate.covered)
        match = "nearly whole" if candidate.exact else "part"
        yield Link(
            start, end, "entity", (Ref(node),), score, covered, candidate.exact, "", candidate.keys, candidate.label,
            match, candidate.ends,
        )  # fmt: skip

    def _code_links(self, question: Question) -> Iterator[Link]:
        """The values whose code has a name that the question contains in full."""
        norms = [t.norm for t in question.tokens]
        for start in range(len(norms) if self._values_of_name else 0):
            for end in range(start + 1, min(len(norms), start + MAX_NAME_TOKENS) + 1):
                for ref, value in self._values_of_name.get(tuple(norms[start:end]), ()):
                    label = question.text[question.tokens[start].start : question.tokens[end - 1].end]
                    mask = token_mask(start, end)
                    yield Link(start, end, "value", (ref,), 1.0, mask, True, value, (), label, "whole")


def previous_conjunct_end(question: Question, start: int) -> int:
    """Where the words end that a conjunction or a comma joins to the name at `start`. 0 if nothing is joined to it."""
    words = question.tokens
    if start > 1 and words[start - 1].norm in word_list("wording", "joining"):
        return start - 1
    between = question.text[words[start - 1].end : words[start].start] if start else ""
    return start if between.strip() == "," else 0


def _mark(text: str) -> str:
    """The signs at the end of a text."""
    return text[len(text.rstrip("+-#*")) :]


def _things_and_values(names: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    """The names of things and values, without parts of values if something is called so as a whole."""
    found = [name for name in names if name.kind in ("entity", "value")]
    return [name for name in found if name.kind == "entity" or name.weight == 1.0] or found


def _may_be_name(question: Question, start: int, end: int) -> bool:
    """Whether a span may be a name. Function words are if they are quoted, or capitalised inside a sentence."""
    if any(a <= start and end <= b for a, b in question.quoted):
        return True
    own = question.tokens[start:end]
    has_letter = any(len(t.norm) == 1 and i not in question.stopwords for i, t in enumerate(own, start))
    says_state = any(is_state(question.tokens, i) for i in range(start, end))
    if has_letter or says_state or any(t.norm not in function_words() for t in own):
        return True
    return start > 0 and all(t.text[0].isupper() for t in own)


MAX_NAME_TOKENS = 4  # Words of the longest name that is looked up.

CODES_FILE, MAX_CODE_LETTERS = "resources/codes.yaml", 3


def _values_of_name(graph: SchemaGraph) -> Mapping[tuple[str, ...], Sequence[tuple[Ref, str]]]:
    """The properties and values by the name of a code. Properties with other values than codes are left out."""
    found: dict[tuple[str, ...], list[tuple[Ref, str]]] = defaultdict(list)
    for kind, each in load_language_data(CODES_FILE).items():
        for about in graph.schema.predicates:
            if set(graph.words[about.iri]).isdisjoint(each["called"]) or not about.values:
                continue
            known, codes = _names()[kind], [fold(value) for value in about.values]
            # a longer word beside codes names itself: "mixed" beside "f" and "m"
            bases = ((code, code.partition("-")[0].partition("_")[0].strip()) for code in codes)
            names = [known.get(code, known.get(base, () if base[MAX_CODE_LETTERS:] else None)) for code, base in bases]
            if None in names:
                continue
            for value, every in zip(about.values, names, strict=True):
                for name in every or ():
                    found[name] += [(Ref(node, about.iri), value) for node in graph.property_nodes(about.iri)]
    return dict(found)


@cache
def _names() -> Mapping[str, Mapping[str, Sequence[tuple[str, ...]]]]:
    """The words of the names of each code, by kind of code."""
    return {
        kind: {
            fold(code): [
                tuple(t.norm for t in tokenize(name)) for name in ([names] if isinstance(names, str) else names)
            ]
            for code, names in each["names"].items()
        }
        for kind, each in load_language_data(CODES_FILE).items()
    }
