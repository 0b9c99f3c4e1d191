"""Link words of a question to things and values by their names: Question -> Links with scores, no decision."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.records.plan import Variable
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.names.code_linker import CodeLinker
from nacre.understanding.linking.names.entities import EntityNames
from nacre.understanding.question.types import Link, Question, Ref
from nacre.wording.labels.class_nouns import class_noun

MAX_VALUE_TOKENS = 9
# a name said in other word forms; one said in part
INFLECTED_SCORE, PARTIAL_SCORE, NUMERIC_SCORE = 0.9, 0.6, 0.3
MAX_LINKS_PER_SPAN = 8
# letters of a name that is said in two words
MIN_JOINED_LETTERS = 6
# words of a name before its last one, where another name gives that
MAX_MODIFIERS = 3
# things of one name
MAX_KEYS = 400


class ValueLinker:
    """The names of things and the values of properties; built once a version, then only read."""

    def __init__(self, lexicon: Lexicon, graph: SchemaGraph) -> None:
        self.graph = graph
        self.lexicon = lexicon
        self.entities = EntityNames(lexicon)
        self.codes = CodeLinker(graph)

    def links(self, question: Question) -> list[Link]:
        """The things and values that stretches of the question may name."""
        words = question.tokens
        norms, lemmas = tuple(t.norm for t in words), tuple(t.lemma for t in words)
        found: list[Link] = []
        whole: set[tuple[int, int]] = set()
        for start in range(len(words)):
            for end in range(min(len(words), start + self._longest(words[start])), start, -1):
                names, score = self._named(self.lexicon.exact(norms[start:end])), 1.0
                if not names:
                    names = self._named(self.lexicon.exact(lemmas[start:end]))
                    names = names or self._named(self.lexicon.inflected(lemmas[start:end]))
                    score = INFLECTED_SCORE
                if names and (self._may_name(question, start, end) or self._follows(names, question, start)):
                    whole.add((start, end))
                    found += self._of(names, start, end, score, question)
        found += self._shared_head(question, whole)
        for start, name in enumerate(map("".join, pairwise(norms))):
            names = (
                self._named(self.lexicon.exact((name,))) if len(name) >= MIN_JOINED_LETTERS and name.isalpha() else []
            )
            if names and not any(a <= start and start + 2 <= b for a, b in whole):
                # "Sun Flower" is Sunflower
                whole.add((start, start + 2))
                found += self._of(names, start, start + 2, INFLECTED_SCORE, question)
        for candidate in self.entities.candidates(words):
            span = (candidate.start, candidate.end)
            if any(a <= span[0] and span[1] <= b for a, b in whole):
                continue
            node = min(
                (i for r in candidate.relations for i in self.graph.nodes_of_relation.get(r, ())),
                key=lambda i: self.graph.nodes[i].count,
                default=None,
            )
            if node is not None:
                mask = sum(1 << i for i in candidate.covered)
                score = candidate.score if candidate.exact else candidate.score * PARTIAL_SCORE
                if all(t.norm[:1].isdigit() for t in words[span[0] : span[1]]):
                    score *= NUMERIC_SCORE
                how = "nearly whole" if candidate.exact else "part"
                found.append(
                    Link(*span, "entity", (Ref(node),), score, mask, candidate.exact, "", candidate.keys,
                         candidate.label, how, candidate.ends)
                )  # fmt: skip
        return [*found, *self.codes.links(question)]

    def _shared_head(self, question: Question, whole: set[tuple[int, int]]) -> list[Link]:
        """The names whose last word stands only once, after another name: the "sour" of "sour or sweet cherries"."""
        words = question.tokens
        found: list[Link] = []
        open_ = [(start, words[end - 1].lemma) for start, end in sorted(whole) if end - start > 1]
        while open_:
            start, head = open_.pop()
            end = previous_conjunct_end(question, start)
            for first in range(max(0, end - MAX_MODIFIERS), end):
                plain = (*(t.norm for t in words[first:end]), head)
                said = (*(t.lemma for t in words[first:end]), head)
                names = self._named(self.lexicon.exact(plain)) or self._named(self.lexicon.inflected(said))
                if names and not any(a < end and first < b for a, b in whole):
                    whole.add((first, end))
                    found += self._of(names, first, end, INFLECTED_SCORE, question)
                    open_.append((first, head))
                    break
        return found

    def _longest(self, first: Token) -> int:
        """How many words a name has at most that begins with a word."""
        known = [self.lexicon.word(form) for form in {first.norm, first.lemma}]
        return min(MAX_VALUE_TOKENS, max((word.longest for word in known if word is not None), default=0))

    def _named(self, names: Sequence[LexiconEntry]) -> list[LexiconEntry]:
        """The names of things and values alone."""
        return [name for name in names if name.kind in ("entity", "value")]

    def _may_name(self, question: Question, start: int, end: int) -> bool:
        """Words that mean nothing alone name something only in quotation marks or with a capital inside a sentence."""
        if any(a <= start and end <= b for a, b in question.quoted):
            return True
        light = function_words()
        own = question.tokens[start:end]
        letters = any(len(t.norm) == 1 and i not in question.stopwords for i, t in enumerate(own, start))
        if letters or any(t.norm not in light for t in own):
            return True
        return start > 0 and all(t.text[0].isupper() for t in own)

    def _follows(self, names: Sequence[LexiconEntry], question: Question, start: int) -> bool:
        """Whether the last word before a value is that of its property's name: "the status done"."""
        before = question.tokens[start - 1].lemma if start else ""
        told = {name.predicate for name in names if name.kind == "value"}
        kinds = {n for name in names if not name.predicate for n in self.graph.nodes_of_relation.get(name.relation, ())}
        codes = {p for n in kinds for p in self.graph.literals[n] if self.graph.about(p).role == "identifier"}
        return any(self.graph.words[p][-1:] == (before,) for p in told | codes if p in self.graph.words)

    def _of(self, names: Sequence[LexiconEntry], start: int, end: int, score: float, question: Question) -> list[Link]:
        mask = ((1 << (end - start)) - 1) << start
        things: dict[int, list[LexiconEntry]] = defaultdict(list)
        values: dict[tuple[int, str], list[LexiconEntry]] = defaultdict(list)
        own = question.tokens[start:end]
        numeric = all(t.norm[0].isdigit() for t in own)
        for name in names:
            if name.kind == "entity":
                nodes = self.graph.nodes_of_relation.get(name.relation, ())
                if not nodes or (numeric and name.weight < 0):
                    continue
                things[min(nodes, key=lambda i: (self.graph.nodes[i].count, i))].append(name)
            else:
                about = self.graph.schema.predicate_of.get(name.predicate)
                if about is None:
                    continue
                if about.has_literals:
                    for node in self.graph.property_nodes(name.predicate):
                        values[node, name.predicate].append(name)
        found = []
        for node, group in things.items():
            keys = tuple(sorted({n.target for n in group}))[:MAX_KEYS]
            label = group[0].label
            if len(keys) == 1 and not numeric and is_number_name(label, keys):
                # it is called by a name that is not its first
                label = question.text[own[0].start : own[-1].end]
            if len(things) > 1:
                # things of several kinds are called so
                kind = self.graph.nodes[node]
                of_kind = class_noun(Variable("x", kind.classes, kind.without), self.lexicon.schema)
                label = f"{label} ({of_kind})"
            ends = self.lexicon.leading_to(group)
            found.append(
                Link(start, end, "entity", (Ref(node),), score, mask, score == 1.0, "", keys, label, "whole", ends)
            )
        for (node, predicate), group in values.items():
            text = group[0].target
            value: str | float = text
            if self.graph.is_numeric(predicate) and self.graph.about(predicate).datatype != "text":
                try:
                    value = float(text)
                except ValueError:
                    value = text
            found.append(
                Link(start, end, "value", (Ref(node, predicate),), score, mask, score == 1.0, value, (), text, "whole")
            )
        if numeric and not any(a <= start and end <= b for a, b in question.quoted):
            # a bare number is more often an amount than a name
            found = [
                x._replace(score=x.score * (NUMERIC_SCORE if x.kind == "entity" else PARTIAL_SCORE)) for x in found
            ]
        found.sort(key=lambda x: (-x.score, x.kind, x.refs))
        return found[: 2 * MAX_LINKS_PER_SPAN]


def previous_conjunct_end(question: Question, start: int) -> int:
    """Where what a word or a comma joins to the name at `start` ends; 0 where nothing does."""
    words = question.tokens
    if start > 1 and words[start - 1].norm in wording_entry("joining"):
        return start - 1
    between = question.text[words[start - 1].end : words[start].start] if start else ""
    return start if between.strip() == "," else 0
