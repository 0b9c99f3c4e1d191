"""Link spans of a question to classes, predicates and values: tokens -> candidates (schema linking)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import simplemma
from rapidfuzz import process

from records.schema import Schema
from semantics.candidates import Candidate, Kind
from semantics.english import function_words, measure, synonyms
from semantics.entity_names import known
from semantics.meaning import Meaning
from semantics.words import Token, lemma
from stores.lexicon import Lexicon, Name


class SchemaTerms:
    """The names of classes, predicates and categorical values by their lemmas, and by their meaning."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.schema_lemmas: dict[str, list[int]] = defaultdict(list)
        self.lemmas: dict[int, tuple[str, ...]] = {}
        for index, name in enumerate(lexicon.names):
            if name.kind != "entity":
                self.lemmas[index] = tuple(lemma(t) for t in name.tokens)
                for word in set(self.lemmas[index]):
                    self.schema_lemmas[word].append(index)
        # words run together in a name ("sizetotal"): their halves may be said alone; a dictionary word stays whole
        self.glued = {t for t in self.schema_lemmas if len(t) >= 6 and not simplemma.is_known(t, lang="en")}
        self.fuzzy_schema = [t for t in self.schema_lemmas if len(t) >= 4]
        self.groups_of_class = _groups_of_class(self.schema)
        self.terms = sorted(i for i in self.lemmas if lexicon.names[i].kind in ("class", "group", "predicate"))
        said = [" ".join(lexicon.names[i].tokens) for i in self.terms]
        self.meaning = Meaning(said, lexicon.embedder) if lexicon.embedder is not None else None

    def candidates(self, tokens: Sequence[Token]) -> Iterator[Candidate]:
        matches: dict[int, dict[int, tuple[int, float]]] = defaultdict(dict)
        for position, token in enumerate(tokens):
            for word, quality in self._lemmas_like(token).items():
                for index in self.schema_lemmas[word]:
                    for place, own in enumerate(self.lemmas[index]):
                        if own == word and quality > matches[index].get(position, (0, 0.0))[1]:
                            matches[index][position] = (place, quality)
            if position + 1 < len(tokens):
                joined = token.norm + tokens[position + 1].norm
                for index in self.schema_lemmas.get(joined, ()):
                    for place, own in enumerate(self.lemmas[index]):
                        if own == joined:
                            matches[index][position] = (place, 1.0)
                            matches[index][position + 1] = (place, 1.0)
        for index, found in matches.items():
            yield from self._term(tokens, index, found)

    def near(self, tokens: Sequence[Token], unexplained: Sequence[int]) -> list[Candidate]:
        """Classes and predicates that unexplained words, or two of them side by side, mean in other words."""
        if self.meaning is None or not unexplained:
            return []
        spans = [(i, i + 1) for i in unexplained] + [(i, i + 2) for i in unexplained if i + 1 in unexplained]
        found: list[Candidate] = []
        for span, terms in zip(spans, self.meaning.near([_text(tokens, s) for s in spans]), strict=True):
            for term, likeness in terms:
                name = self.lexicon.names[self.terms[term]]
                found += self._candidate(name, list(range(*span)), 0.95 * likeness, frozenset(range(*span)))
        return found

    def _lemmas_like(self, token: Token) -> dict[str, float]:
        like: dict[str, float] = {}
        for word, quality in ((token.norm, 1.0), (token.lemma, 1.0)):
            if word in self.schema_lemmas:
                like[word] = quality
        # a comparative says more than its property: "longest" is no mere mention of a length
        said = measure(token)
        if said is None or said.degree == "positive":
            for word in synonyms(token.lemma):
                if word in self.schema_lemmas and word not in like:
                    like[word] = 0.85
        if token.norm in function_words() and not like:
            return {}
        for part in {token.norm, token.lemma}:
            for word in self.glued if len(part) >= 3 else ():
                if word not in like and len(word) >= len(part) + 3 and (word.startswith(part) or word.endswith(part)):
                    like[word] = 0.8
        if not like and len(token.lemma) >= 6:
            # one root in another form: "accelerate", "acceleration"
            for word in self.schema_lemmas:
                same = _shared_start(word, token.lemma)
                if same >= 5 and same >= 0.65 * max(len(word), len(token.lemma)):
                    like[word] = 0.8
        if not like and len(token.norm) >= 5 and token.norm.isalpha() and not known(token):
            for word, score, _ in process.extract(token.norm, self.fuzzy_schema, limit=2, score_cutoff=80):
                like[word] = score / 115
        return like

    def _term(self, tokens: Sequence[Token], index: int, found: dict[int, tuple[int, float]]) -> Iterator[Candidate]:
        name, words = self.lexicon.names[index], self.lemmas[index]
        light = function_words()
        weights = [0.15 if w in light and len(words) > 1 else 1.0 for w in words]
        positions = sorted(found)
        used: set[int] = set()
        for first in positions:
            if first in used:
                continue
            span, places = [first], {found[first][0]: found[first][1]}
            # "which year was X born": the two halves of "year of birth" stand apart
            apart = first > 0 and tokens[first - 1].norm in ("which", "what") and name.kind == "predicate"
            for position in positions:
                if (
                    position <= first
                    or (position - span[-1] > 2 and not apart)
                    or (found[position][0] in places and (weights[found[position][0]] < 1 or position - span[-1] > 1))
                ):
                    continue
                span.append(position)
                places.setdefault(*found[position])
            share = sum(weights[p] * q for p, q in places.items()) / sum(weights)
            content = [p for p in span if tokens[p].norm not in light]
            if not content and share < 0.99:
                continue
            used.update(span)
            if name.kind in ("class", "group") and len(words) > 1 and len(words) - 1 in places:
                # the head of a compound says most of it: "models" for "car model"
                share = max(share, 0.8 * places[len(words) - 1])
            yield from self._candidate(name, span, share, frozenset(span))

    def _candidate(self, name: Name, span: list[int], share: float, covered: frozenset[int]) -> Iterator[Candidate]:
        start = end = span[0]
        while end in covered:
            end += 1
        common = {"start": start, "end": end, "label": name.label, "exact": share > 0.97, "covered": covered}
        if name.kind == "class" and share >= 0.45:
            relations = self.groups_of_class.get(name.target, frozenset())
            yield Candidate("class", score=share * 0.95, relations=relations, classes=(name.target,), **common)  # type: ignore[arg-type]
        elif name.kind == "group" and share >= 0.45:
            group = next(g for g in self.schema.groups if g.relation == name.target)
            yield Candidate(
                "class",
                score=share * 0.94,
                relations=frozenset((name.target,)),
                classes=group.classes,
                without=group.without,
                **common,  # type: ignore[arg-type]
            )
        elif name.kind == "predicate" and share >= 0.39:
            predicate = self.schema.predicate_of[name.target]
            kind: Kind = "flag" if predicate.datatype == "boolean" else "predicate"
            yield Candidate(kind, score=share * 0.93, predicate=name.target, **common)  # type: ignore[arg-type]
        elif name.kind == "value" and share >= 0.5:
            yield Candidate("value", score=share * 0.93, predicate=name.predicate, value=name.target, **common)  # type: ignore[arg-type]


def _groups_of_class(schema: Schema) -> dict[str, frozenset[str]]:
    """For each class the tables whose members are in it, by type or by a subclass."""
    ancestors: dict[str, set[str]] = {}

    def above(iri: str) -> set[str]:
        if iri not in ancestors:
            ancestors[iri] = {iri}
            for parent in schema.class_of[iri].parents if iri in schema.class_of else ():
                ancestors[iri] |= above(parent)
        return ancestors[iri]

    found: dict[str, set[str]] = defaultdict(set)
    for group in schema.groups:
        for iri in group.classes:
            for ancestor in above(iri):
                found[ancestor].add(group.relation)
    return {iri: frozenset(relations) for iri, relations in found.items()}


def _text(tokens: Sequence[Token], span: tuple[int, int]) -> str:
    return " ".join(t.norm for t in tokens[span[0] : span[1]])


def _shared_start(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
