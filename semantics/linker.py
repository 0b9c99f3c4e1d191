"""Link spans of a question to the names of a graph: tokens -> candidates with scores (schema and value linking)."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import simplemma
from rapidfuzz import fuzz, process

from records.schema import Schema
from semantics.english import function_words, measure, synonyms
from semantics.meaning import Meaning
from semantics.words import Token, lemma
from stores.lexicon import Lexicon, Name

Kind = Literal["entity", "class", "predicate", "value", "flag"]

# an entity named by a part of its name only, when that part names many others, is a family of things
_FAMILY_LIMIT = 400
_GLUE = frozenset("the of a an and de la".split())


@dataclass(frozen=True)
class Candidate:
    """What tokens `start` to `end` (exclusive) may name. `score` is 0..1; `exact` says that the whole name was said.

    `relations` are the tables of an entity's or class's things; `classes` and `without` say a class in graph terms.
    """

    kind: Kind
    start: int
    end: int
    score: float
    label: str
    exact: bool = False
    relations: frozenset[str] = frozenset()
    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    predicate: str = ""
    value: str = ""
    covered: frozenset[int] = field(default=frozenset(), compare=False)


class Linker:
    """The indexes over one lexicon that linking needs; built once a version, then only read."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.entity_tokens: dict[str, set[int]] = defaultdict(set)
        self.schema_lemmas: dict[str, list[int]] = defaultdict(list)
        self.lemmas: dict[int, tuple[str, ...]] = {}
        count = 0
        for index, name in enumerate(lexicon.names):
            if name.kind == "entity":
                count += 1
                for token in name.tokens:
                    self.entity_tokens[token].add(index)
            else:
                self.lemmas[index] = tuple(lemma(t) for t in name.tokens)
                for word in set(self.lemmas[index]):
                    self.schema_lemmas[word].append(index)
        top = math.log(count + 2)
        # a token that nearly every name has says nothing
        self.idf = {t: max(0.02, math.log((count + 2) / (len(n) + 1)) / top) for t, n in self.entity_tokens.items()}
        self.by_lemma: dict[str, set[str]] = defaultdict(set)
        self.affixes: dict[str, set[str]] = defaultdict(set)
        for token in self.entity_tokens:
            self.by_lemma[lemma(token)].add(token)
            for affix in _affixes(token):
                self.affixes[affix].add(token)
        # what a fifth of all names say names nothing ("Ltd" in a list of companies)
        self.common = {t for t, n in self.entity_tokens.items() if count >= 20 and len(n) > count / 5}
        self.light = function_words() | self.common
        self.idf.update(dict.fromkeys(self.common, 0.02))
        self.single = {n.tokens[0] for n in lexicon.names if n.kind == "entity" and len(n.tokens) == 1}
        self.fuzzy = [t for t in self.entity_tokens if len(t) >= 4 and not any(c.isdigit() for c in t)]
        # words run together in a name ("sizetotal"): their halves may be said alone; a dictionary word stays whole
        self.glued = {t for t in self.schema_lemmas if len(t) >= 6 and not simplemma.is_known(t, lang="en")}
        self.fuzzy_schema = [t for t in self.schema_lemmas if len(t) >= 4]
        self.groups_of_class = _groups_of_class(self.schema)
        self.terms = sorted(i for i in self.lemmas if lexicon.names[i].kind in ("class", "group", "predicate"))
        said = [" ".join(lexicon.names[i].tokens) for i in self.terms]
        self.meaning = Meaning(said, lexicon.embedder) if lexicon.embedder is not None else None

    def link(self, tokens: Sequence[Token]) -> list[Candidate]:
        """All candidates of all spans, best first within a span."""
        found = [*self._entities(tokens), *self._schema_terms(tokens)]
        # a whole name of a class leaves no room for a part of a property's name
        whole = [c for c in found if c.kind == "class" and c.exact]
        classes = [c for c in found if c.kind == "class"]
        said = {c.covered for c in found if c.exact and c.kind in ("class", "predicate")}
        found = [c for c in found if c.exact or c.kind not in ("value", "predicate") or c.covered not in said]
        found = [
            c
            for c in found
            if c.kind != "entity" or c.exact or not any(c.covered <= w.covered and c.score < w.score for w in classes)
        ]
        found = [
            c
            for c in found
            if c.kind not in ("predicate", "value")
            or c.exact
            or not any(c.covered <= w.covered | self._light(tokens) and c.score < w.score for w in whole)
        ]
        return sorted(found, key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label))

    def _light(self, tokens: Sequence[Token]) -> set[int]:
        return {i for i, t in enumerate(tokens) if t.norm in self.light}

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

    # entities

    def _tokens_like(self, token: Token) -> dict[str, float]:
        """Tokens of entity names that a token of the question may stand for, with how well."""
        said = measure(token)
        if said is not None and said.degree != "positive":
            return {token.norm: 1.0} if token.norm in self.entity_tokens else {}
        if token.norm in self.entity_tokens:
            return {token.norm: 1.0} | {t: 0.97 for t in self.by_lemma.get(token.lemma, ()) if t != token.norm}
        if token.lemma in self.entity_tokens or token.lemma in self.by_lemma:
            return dict.fromkeys(self.by_lemma.get(token.lemma, {token.lemma}), 0.97)
        if token.norm in self.affixes or token.lemma in self.affixes:
            return dict.fromkeys(self.affixes.get(token.norm) or self.affixes[token.lemma], 0.9)
        if token.norm.endswith("ly"):
            for form in (token.norm[:-2], token.norm[:-1]):
                if form in self.entity_tokens:
                    return {form: 0.95}
        # another word for it counts only for things whose whole name it is
        same = [
            t
            for word in synonyms(token.lemma)
            if word != token.lemma
            for t in self.by_lemma.get(word, ())
            if t in self.single
        ]
        if same:
            return dict.fromkeys(same, 0.85)
        if len(token.norm) >= 4 and token.norm.isalpha() and not _known(token):
            near = process.extract(token.norm, self.fuzzy, scorer=fuzz.ratio, limit=4, score_cutoff=79)
            best = near[0][1] if near else 0
            return {t: s / 110 for t, s, _ in near if s >= best - 4}
        return {}

    def _entities(self, tokens: Sequence[Token]) -> Iterator[Candidate]:
        done = 0
        for start, token in enumerate(tokens):
            if token.norm in function_words():
                continue
            run = self._run(tokens, start)
            if run is None:
                continue
            end, names, quality, matched = run
            if end <= done:
                continue
            yield from self._named(tokens, start, end, names, quality, matched)
            done = end

    def _run(
        self, tokens: Sequence[Token], start: int
    ) -> tuple[int, set[int], float, dict[int, dict[str, float]]] | None:
        """The longest span from `start` whose words all belong to one name, in any order."""
        names: set[int] | None = None
        matched: dict[int, dict[str, float]] = {}
        position, end = start, start
        while position < len(tokens):
            step, like = 1, self._tokens_like(tokens[position])
            found = self._having(like)
            if names is not None:
                found &= names
                if not found:
                    like = self._misspelt(tokens[position], names)
                    found = self._having(like) & names
            if not found and position + 1 < len(tokens):
                joined = tokens[position].norm + tokens[position + 1].norm
                like = (
                    self._tokens_like(tokens[position]._replace(norm=joined, lemma=joined))
                    if any(c.isdigit() for c in joined)
                    else {}
                )
                found = self._having(like) & names if names is not None else self._having(like)
                step = 2
            if found:
                names, matched[position] = found, like
                position += step
                end = position
            elif (
                names is not None
                and (tokens[position].norm in _GLUE or tokens[position].norm in self.common)
                and position - end < 2
            ):
                position += 1
            else:
                break
        if not names:
            return None
        qualities = [max(like.values()) for like in matched.values()]
        return end, names, sum(qualities) / len(qualities), matched

    def _misspelt(self, token: Token, names: set[int]) -> dict[str, float]:
        """A word spelt almost as one of the names that are still possible."""
        if len(token.norm) < 5 or not token.norm.isalpha() or token.norm in self.light:
            return {}
        near = sorted({t for i in names for t in self.lexicon.names[i].tokens}) if len(names) <= 200 else []
        return {
            t: s / 110 for t, s, _ in process.extract(token.norm, near, scorer=fuzz.ratio, limit=1, score_cutoff=82)
        }

    def _having(self, like: dict[str, float]) -> set[int]:
        found: set[int] = set()
        for token in like:
            found |= self.entity_tokens[token]
        return found

    def _named(
        self,
        tokens: Sequence[Token],
        start: int,
        end: int,
        names: set[int],
        quality: float,
        matched: dict[int, dict[str, float]],
    ) -> Iterator[Candidate]:
        said = set().union(*(set(like) for like in matched.values()))
        if sum(max(self.idf[t] for t in like) for like in matched.values()) < 0.12:
            return
        coverage: dict[str, dict[str, float]] = defaultdict(dict)
        labels: dict[str, Name] = {}
        for index in names:
            name = self.lexicon.names[index]
            whole = sum(self.idf[t] for t in name.tokens)
            share = sum(self.idf[t] for t in name.tokens if t in said) / whole if whole else 0.0
            if share > coverage[name.relation].get(name.target, 0.0):
                coverage[name.relation][name.target] = share
            labels.setdefault(name.target, name)
        covered = frozenset(matched) | frozenset(range(start, end))
        top_weight = max(labels[t].weight for found in coverage.values() for t in found) + 1
        top_weight = max(1.0, top_weight)
        for relation, found in coverage.items():
            best = max(found.values())
            near = sorted((t for t, share in found.items() if share >= best - 0.02), key=lambda t: (-found[t], t))
            # a part of many names names them all, unless one of them is little more than what was said
            if best < 0.97 and len(near) < len(found) and sorted(found.values())[-len(near) - 1] > best - 0.25:
                near = list(found)
            keys = tuple(sorted(near))
            weight = max(labels[k].weight for k in keys)
            group = next(g for g in self.schema.groups if g.relation == relation)
            label = labels[keys[0]].label if len(keys) == 1 else " ".join(t.text for t in tokens[start:end])
            prominence = 0.04 * math.log(1 + max(0.0, weight)) / math.log(1 + top_weight) if top_weight > 1 else 0.0
            if weight < 0:
                prominence = -0.15
            if best < 0.34 and len(matched) == 1 and _known(tokens[start]) and tokens[start].norm.isalpha():
                # an everyday word inside a long name does not name it
                continue
            exact = best >= 0.97
            score = quality * (0.95 if exact else 0.35 + 0.55 * best) + prominence
            common = {"start": start, "end": end, "relations": frozenset((relation,)), "covered": covered}
            if len(keys) <= _FAMILY_LIMIT:
                yield Candidate(
                    "entity",
                    score=score,
                    label=label,
                    exact=exact,
                    classes=group.classes,
                    without=group.without,
                    keys=keys,
                    **common,  # type: ignore[arg-type]
                )
            if len(keys) < len(found) <= _FAMILY_LIMIT:
                label = " ".join(t.text for t in tokens[start:end])
                yield Candidate(
                    "entity",
                    score=quality * 0.5,
                    label=label,
                    classes=group.classes,
                    without=group.without,
                    keys=tuple(sorted(found)),
                    **common,  # type: ignore[arg-type]
                )

    # classes, predicates, values

    def _schema_terms(self, tokens: Sequence[Token]) -> Iterator[Candidate]:
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
        if not like and len(token.norm) >= 5 and token.norm.isalpha() and not _known(token):
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


def _affixes(token: str) -> list[str]:
    """Parts of a code that people say instead of the whole: "xdrive40d" -> "40d", "m135i" -> "m135".

    >>> _affixes("xdrive40d"), _affixes("m135i"), _affixes("word")
    (['40d', 'xdrive40'], ['135i', 'm135'], [])
    """
    digits = [i for i, c in enumerate(token) if c.isdigit()]
    if not digits:
        return []
    found = {token[digits[0] :], token[: digits[-1] + 1]} - {token}
    return sorted(f for f in found if len(f) >= 2)


def _text(tokens: Sequence[Token], span: tuple[int, int]) -> str:
    return " ".join(t.norm for t in tokens[span[0] : span[1]])


def _shared_start(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _known(token: Token) -> bool:
    return bool(simplemma.is_known(token.norm, lang="en"))


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
