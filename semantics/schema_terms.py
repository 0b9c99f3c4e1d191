"""Link spans of a question to classes, predicates and values: tokens -> candidates (schema linking)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import simplemma
from rapidfuzz import process

from records.schema import Predicate, Schema
from semantics.candidates import Candidate, Kind
from semantics.english import function_words, measure, synonyms
from semantics.entity_names import known
from semantics.meaning import Meaning
from semantics.said_otherwise import BACKWARD, acts, ending, nouns_of, phrases_from, said_otherwise
from semantics.words import Token, lemma
from semantics.words import tokens as words_of
from stores.lexicon import Lexicon, Name

_BEFORE_VERB = frozenset("who did does do to can could will would i we you they".split())
# two kinds of things of one world are nearer than a property and its other name: "driver" is no "vehicle"
_NEAR_CLASS = 0.68
_KINDS = frozenset("type kind category class sort".split())
_DERIVED = 0.9
_ASKING = frozenset("which what whats many all every list show".split())


class SchemaTerms:
    """The names of classes, predicates and categorical values by their lemmas, and by their meaning."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.schema_lemmas: dict[str, list[int]] = defaultdict(list)
        self.lemmas: dict[int, tuple[str, ...]] = {}
        self.names = [*lexicon.names, *said_otherwise(lexicon.names)]
        for index, name in enumerate(self.names):
            if name.kind != "entity":
                self.lemmas[index] = tuple(lemma(t) for t in name.tokens)
                for word in set(self.lemmas[index]):
                    self.schema_lemmas[word].append(index)
        # words run together in a name ("sizetotal"): their halves may be said alone; a dictionary word stays whole
        self.glued = {t for t in self.schema_lemmas if len(t) >= 6 and not simplemma.is_known(t, lang="en")}
        # "artwork" for "art work"
        self.joined = {"".join(words): i for i, words in self.lemmas.items() if len(words) == 2}
        self.owners = {p.iri: self._owner_words(p) for p in self.schema.predicates}
        self.fuzzy_schema = [t for t in self.schema_lemmas if len(t) >= 4]
        self.groups_of_class = _groups_of_class(self.schema)
        light = function_words()
        telling = {p.iri for p in self.schema.predicates if p.role != "name"}
        self.terms = sorted(
            i
            for i, name in enumerate(self.names)
            if name.kind in ("class", "group") or (name.kind == "predicate" and name.target in telling)
        )
        said = [" ".join(self.names[i].tokens) for i in self.terms]
        self.comments = {
            p.iri: {t.lemma for t in words_of(p.comment)} - light for p in self.schema.predicates if p.comment
        }
        counts = Counter(w for words in self.comments.values() for w in words)
        # a word of one comment tells most, one of every comment nothing
        self.telling = {w: 1 - (n - 1) / max(3, len(self.comments)) for w, n in counts.items()}
        self.meaning = Meaning(said, lexicon.embedder) if lexicon.embedder is not None else None

    def _owner_words(self, predicate: Predicate) -> frozenset[str]:
        """The words of the kinds of things that have a property."""
        labels = [self.schema.class_of[c].label for c in predicate.domains if c in self.schema.class_of]
        return frozenset(t.lemma for label in labels for t in words_of(label))

    def candidates(self, tokens: Sequence[Token]) -> Iterator[Candidate]:
        matches: dict[int, dict[int, tuple[int, float]]] = defaultdict(dict)
        for position, token in enumerate(tokens):
            verb = token.norm != token.lemma or (position > 0 and tokens[position - 1].norm in _BEFORE_VERB)
            for word, quality in self._lemmas_like(token, verb).items():
                for index in self.schema_lemmas[word]:
                    for place, own in enumerate(self.lemmas[index]):
                        as_written = self.names[index].tokens[place]
                        # "planting" and "plant" share a dictionary form, and are two things
                        other = quality == 1.0 and not verb and ending(as_written) != ending(token.norm)
                        # a verb says what is done, and hardly ever who does it: "plays" is no mention of players
                        kind = self.names[index].kind
                        doer = kind != "predicate" and (quality == _DERIVED or (quality < 1 and acts(tokens, position)))
                        doer = doer or (kind in ("class", "group") and ending(token.norm) == "ed" and as_written == own)
                        fit = (0.85 if other else 1.0 if not doer else 0.4 if quality == 1.0 else 0.6) * quality
                        if own == word and fit > matches[index].get(position, (0, 0.0))[1]:
                            matches[index][position] = (place, fit)
            if token.lemma in self.joined:
                yield from self._candidate(
                    self.names[self.joined[token.lemma]], [position], 1.0, frozenset((position,))
                )
            for span, word, quality in self._phrase(tokens, position):
                for index in self.schema_lemmas[word]:
                    if self.names[index].kind != "predicate":
                        continue
                    place = self.lemmas[index].index(word)
                    for at in range(position, position + span):
                        if quality > matches[index].get(at, (0, 0.0))[1]:
                            matches[index][at] = (place, quality)
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
                name = self.names[self.terms[term]]
                if name.kind != "predicate" and likeness < _NEAR_CLASS:
                    continue
                found += self._candidate(name, list(range(*span)), 0.95 * likeness, frozenset(range(*span)))
        return [*found, *self._by_comment(tokens, unexplained)]

    def _by_comment(self, tokens: Sequence[Token], unexplained: Sequence[int]) -> Iterator[Candidate]:
        """Properties whose comments hold the unexplained words: "where the vehicle is parked overnight"."""
        runs: list[list[int]] = []
        for i in unexplained:
            if runs and all(tokens[k].norm in function_words() for k in range(runs[-1][-1] + 1, i)):
                runs[-1].append(i)
            else:
                runs.append([i])
        for run in runs:
            asked = run[0] > 0 and tokens[run[0] - 1].norm in ("which", "what", "many")
            said = {tokens[i].lemma for i in run}
            shares = {iri: sum(self.telling.get(w, 0.0) for w in said & words) for iri, words in self.comments.items()}
            best = max(shares.values(), default=0.0)
            whole = sum(self.telling.get(w, 1.0) for w in said)
            if best < 0.5 or best < 0.5 * whole:
                continue
            for iri in sorted(i for i, share in shares.items() if share >= best - 0.01)[:2]:
                predicate = self.schema.predicate_of[iri]
                kind: Kind = "flag" if predicate.datatype == "boolean" else "predicate"
                if kind == "flag" and asked:
                    # what is asked for is a thing
                    continue
                score = 0.5 + 0.3 * best / whole
                span = frozenset(run)
                yield Candidate(kind, run[0], run[-1] + 1, score, predicate.label, predicate=iri, covered=span)

    def _phrase(self, tokens: Sequence[Token], start: int) -> Iterator[tuple[int, str, float]]:
        """What an expression of several words asks for, "in charge of": (its words, a lemma of a name, quality)."""
        for words, concepts in phrases_from().get(tokens[start].lemma, ()):
            if tuple(t.lemma for t in tokens[start : start + len(words)]) == words:
                for rank, concept in enumerate(concepts):
                    if concept in self.schema_lemmas:
                        yield len(words), concept, 0.88 - 0.02 * rank

    def _lemmas_like(self, token: Token, verb: bool) -> dict[str, float]:
        like: dict[str, float] = {w: 1.0 for w in (token.norm, token.lemma) if w in self.schema_lemmas}
        if verb and len(token.lemma) >= 3 and token.norm not in function_words():
            # "who lent it": the lender
            for word in nouns_of(token.lemma):
                if word in self.schema_lemmas and word not in like:
                    like[word] = _DERIVED
        # a comparative says more than its property: "longest" is no mere mention of a length
        said = measure(token)
        named = any(self.lemmas[i] == (token.lemma,) for i in self.schema_lemmas.get(token.lemma, ()))
        if not named and (said is None or said.degree == "positive"):
            for word in sorted(synonyms(token.lemma)):
                # a name's "recording" lies under "record"
                for form in (word, lemma(word)):
                    if form in self.schema_lemmas and form not in like:
                        like[form] = 0.85
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
        name, words = self.names[index], self.lemmas[index]
        light = function_words()
        # "runs on" is not said by "runs" alone, "in album" is by "album"
        weights = [0.15 if w in light and len(words) > 1 else 1.0 for w in words]
        if len(words) > 1 and words[-1] in light:
            weights[-1] = 0.35
        # "line length" of a line, "head of department" of a department
        own = self.owners.get(name.target, frozenset())
        if not set(words) <= own | light:
            weights = [0.15 if w in own else weight for w, weight in zip(words, weights, strict=True)]
        positions = sorted(found)
        used: set[int] = set()
        for first in positions:
            if first in used or (tokens[first].norm in light and found[first][0] and len(positions) > 1):
                continue
            span, places = [first], {found[first][0]: found[first][1]}
            # "which year was X born": the two halves of "year of birth" stand apart
            apart = first > 0 and tokens[first - 1].norm in ("which", "what") and name.kind == "predicate"
            does = any(t.norm in ("do", "does", "did") for t in tokens[first:])
            apart = apart and (does or self.schema.predicate_of[name.target].has_literals)
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
            if not content and share < 0.99 and len(span) < 2:
                continue
            used.update(span)
            # "aircraft type": what it is a type of is the noun
            last = len(words) - (2 if words[-1] in _KINDS and len(words) > 1 else 1)
            if name.kind in ("class", "group") and len(words) > 1 and last in places and words[0] != "other":
                # the head of a compound says most of it: "models" for "car model", the more so where it is asked for
                asked = first > 0 and tokens[first - 1].norm in _ASKING
                share = max(share, (0.9 if asked else 0.8) * places[last])
                share += 0.01 * len(self.groups_of_class.get(name.target, ())) if name.kind == "class" else 0.0
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
            if kind == "flag" and share < 0.6:
                return
            backward = name.relation == BACKWARD
            if backward and not predicate.has_links:
                return
            yield Candidate(kind, score=share * 0.93, predicate=name.target, backward=backward, **common)  # type: ignore[arg-type]
        elif name.kind == "value" and share >= (0.5 if len(name.tokens) == 1 else 0.6):
            score = share * (0.93 if share > 0.97 else 0.85)
            yield Candidate("value", score=score, predicate=name.predicate, value=name.target, **common)  # type: ignore[arg-type]


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
