"""The names that a question may mean, looked up where they lie: question + endpoint -> a Lexicon for that question."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from urllib.parse import quote, unquote

from rapidfuzz.distance import OSA

from nacre.records.endpoint import Endpoint
from nacre.records.errors import ToolError
from nacre.records.schema import Schema
from nacre.semantics.english import function_words
from nacre.semantics.sparql_terms import constant, iri
from nacre.semantics.words import Token, code_parts, fold, lemma, name_tokens, split_name, tokens
from nacre.stores.lexicon import Lexicon, Name, Thing, Word
from nacre.stores.sparql_source import SparqlSource, Term
from nacre.stores.text_search import holding_pattern
from nacre.stores.triples import TYPE

# seconds that looking for names may take in all, things that may be found, and names of one thing read
SECONDS, MOST_THINGS, MOST_ROWS = 4.0, 600, 6000
# where there are more things, and no search for words, whole names alone are found
MANY = 200_000
# the longest name that is looked up whole, predicates that are asked, and words of a question
LONGEST, MOST_PREDICATES, MOST_WORDS = 7, 6, 24
SLIPS = 2
# things whose names are asked for in one query
AT_ONCE, MOST_KEPT = 500, 20_000
_REMEMBERED = 256

Facts = Mapping[str, tuple[tuple[str, Term], ...]]


class EndpointNames:
    """Looks up the names of things at an endpoint: one query a question, kept for the next one with the same words."""

    def __init__(self, lexicon: Lexicon, endpoint: Endpoint, source: SparqlSource) -> None:
        self.lexicon, self.endpoint, self._source = lexicon, endpoint, source
        self._names = endpoint.names[:MOST_PREDICATES]
        self._group_of = {frozenset(g.classes): g.relation for g in lexicon.schema.groups}
        self._called: Mapping[str, str] = {}
        self.about = lru_cache(_REMEMBERED)(self._about)
        self.thing = lru_cache(_REMEMBERED * 16)(self._thing)

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """What things are called, those that have a name; raises ToolError."""
        found = {key: label for key in iris if (label := self._called.get(key))}
        every = sorted(key for key in iris if ":" in key and key not in found)
        for start in range(0, len(every), AT_ONCE):
            things = " ".join(map(iri, every[start : start + AT_ONCE]))
            facts = self._facts(f"VALUES ?s {{ {things} }}", 0)
            found |= {key: self._label(key, said) for key, said in facts.items()}
        self._remember(found)
        return found

    def _remember(self, labels: Mapping[str, str]) -> None:
        """Keep labels for the queries of the same turn, and forget all where there are many."""
        if len(self._called) > MOST_KEPT:
            self._called = {}
        self._called = {**self._called, **labels}

    def _about(self, text: str) -> Lexicon:
        """The graph's names with those of the things that a text may name; without these where none can be had."""
        words = tokens(text)
        for pattern in self._patterns(text, words):
            if not pattern:
                continue
            try:
                facts = self._facts(pattern, MOST_THINGS)
                if len(facts) >= MOST_THINGS and (narrow := _union([*self._whole(text, words), self._pairs(words)])):
                    # so many hold one of the words that those that hold more of them may be left out
                    facts = {**facts, **self._facts(narrow, MOST_THINGS)}
                names = tuple(self._named(facts))
                self._remember({name.target: name.label for name in names})
                return FoundNames(self.lexicon, names, self.endpoint.frequent, self.thing)
            except ToolError as error:
                if error.kind not in ("timeout", "too_large"):
                    raise
        return FoundNames(self.lexicon, (), self.endpoint.frequent, self.thing)

    def _thing(self, key: str) -> Thing | None:
        if ":" not in key:
            return None
        found = self._facts(f"VALUES ?s {{ {iri(key)} }}", 0).get(key)
        return Thing(self._label(key, found), self._home(found)) if found else None

    def _patterns(self, text: str, words: Sequence[Token]) -> Iterator[str]:
        """What may be asked, the widest first; the next one is for where that takes too long."""
        exact = self._whole(text, words)
        searched = bool(self.endpoint.search) or self.lexicon.schema.entities <= MANY
        if searched and (holding := self._holding(words)):
            yield _union([holding, *(exact if self.endpoint.search else exact[1:])])
        yield _union(exact)

    def _whole(self, text: str, words: Sequence[Token]) -> list[str]:
        return [self._exactly(text, words), self._by_iri(text, words)]

    def _pairs(self, words: Sequence[Token]) -> str:
        """Names that hold two neighbouring words of the question, where that can be asked."""
        between = {"": "[^a-z0-9]+", "virtuoso": " "}.get(self.endpoint.search)
        pairs = [
            f"{one.norm}{between}{other.norm}"
            for one, other in pairwise(words)
            if one.norm.isalnum() and other.norm.isalnum() and not {one.norm, other.norm} & function_words()
        ]
        if between is None or not pairs or not self._names:
            return ""
        return holding_pattern(self.endpoint.search, self._names, list(dict.fromkeys(pairs))[:MOST_WORDS])

    def _holding(self, words: Sequence[Token]) -> str:
        """Names that hold a word of the question, as it stands there or in its dictionary form."""
        known = self.endpoint.search and {w for n in self.lexicon.described if n.kind != "value" for w in n.tokens}
        forms = dict.fromkeys(
            form
            for token in words
            if token.norm not in function_words() and token.lemma not in function_words()
            for form in (token.norm, token.lemma)
            # of the words that classes and properties have too, whole names alone are found in a large graph
            if form.isalnum() and not (known and form in known)
        )
        asked = list(forms)[:MOST_WORDS]
        if not asked or not self._names:
            return ""
        if not self.endpoint.search:
            # people say a part of a code
            asked = [f"[a-z0-9]*{word}[a-z0-9]*" if any(map(str.isdigit, word)) else word for word in asked]
        return holding_pattern(self.endpoint.search, self._names, asked)

    def _exactly(self, text: str, words: Sequence[Token]) -> str:
        """Names that are a stretch of the question, in usual capitals, with the usual tags of languages."""
        said = dict.fromkeys(chain.from_iterable(_cases(span) for span in _spans(text, words, LONGEST)))
        if not said or not self._names:
            return ""
        literals = " ".join(f"{constant(each)} {constant(each)}@en" for each in said)
        return f"VALUES ?l {{ {literals} }} VALUES ?p {{ {' '.join(map(iri, self._names))} }} ?s ?p ?l ."

    def _by_iri(self, text: str, words: Sequence[Token]) -> str:
        """Things whose IRI ends with a stretch of the question."""
        ends = dict.fromkeys(
            form
            for span in _spans(text, words, LONGEST - 2)
            for case in _cases(span)
            for form in (case.replace(" ", "_"), case.replace(" ", "-"), case.replace(" ", ""), quote(case))
        )
        things = " ".join(iri(space + end) for space in self.endpoint.spaces for end in ends)
        return f"VALUES ?s {{ {things} }} ?s a ?kind ." if things else ""

    def _facts(self, pattern: str, most: int) -> Facts:
        """The classes and names of the things that a pattern of ?s finds."""
        limited = f"{{ SELECT DISTINCT ?s WHERE {{ {pattern} }} LIMIT {most} }}" if most else pattern
        wanted = " ".join(map(iri, (TYPE, *self._names)))
        query = f"SELECT ?s ?q ?o WHERE {{ {limited} VALUES ?q {{ {wanted} }} ?s ?q ?o }} LIMIT {MOST_ROWS}"
        found: dict[str, list[tuple[str, Term]]] = defaultdict(list)
        for subject, predicate, value in self._source.select(query, limit=MOST_ROWS, seconds=SECONDS).rows:
            if subject and predicate and value and subject.kind == "iri":
                found[subject.value].append((predicate.value, value))
        return {key: tuple(sorted(said)) for key, said in sorted(found.items())}

    def _named(self, facts: Facts) -> Iterator[Name]:
        """Every name of every thing whose kind is known, as the lexicon of an ingested graph has them."""
        for key, said in facts.items():
            relation = self._home(said)
            if not relation:
                continue
            label = self._label(key, said)
            names = {name_tokens(term.value) for predicate, term in said if predicate in self._names}
            end = _end(key)
            called = bool(names)
            names |= {name_tokens(label), name_tokens(split_name(end))}
            for each in sorted(names - {()}):
                yield Name(each, "entity", key, "", label, relation, 1.0 if called else -1.0)

    def _home(self, said: Sequence[tuple[str, Term]]) -> str:
        """The group with these types, or the smallest of those whose types are among them."""
        types = frozenset(term.value for predicate, term in said if predicate == TYPE)
        if types in self._group_of:
            return self._group_of[types]
        counts = {group.relation: group.count for group in self.lexicon.schema.groups}
        within = [(-len(own), counts[r], r) for own, r in self._group_of.items() if own <= types]
        return min(within)[2] if within else ""

    def _label(self, key: str, said: Sequence[tuple[str, Term]]) -> str:
        """The best name: by predicate, in English, then in no language; else the end of the IRI in words."""
        ranks = {predicate: rank for rank, predicate in enumerate(self._names)}
        named = [(ranks[p], _order(term.language), term.value) for p, term in said if p in ranks]
        return min(named)[2] if named else _end(key).replace("_", " ")


class FoundNames(Lexicon):
    """The lexicon of an attached graph with the things that one question may name. It shares the files and whatever
    depends on the schema alone with `of_schema`, the lexicon of the graph, and owns nothing to close."""

    def __init__(
        self,
        of_schema: Lexicon,
        found: Sequence[Name],
        shares: Mapping[str, float],
        thing: Callable[[str], Thing | None],
    ) -> None:
        self.schema: Schema = of_schema.schema
        self.embedder = of_schema.embedder
        self.described, self.homes = of_schema.described, of_schema.homes
        self.facts, self.links = of_schema.facts, of_schema.links
        self.said = max(of_schema.schema.entities, len(found))
        self._of_schema = of_schema
        self._found = sorted(found, key=lambda name: (len(name.tokens), name.tokens, name))
        self._asked_thing = thing
        # how many things a word names where that is more than were found
        self._things = {word: round(share * self.said) for word, share in shares.items()}
        self._by_tokens: dict[tuple[str, ...], list[Name]] = defaultdict(list)
        self._by_lemmas: dict[tuple[str, ...], list[Name]] = defaultdict(list)
        self._by_word: dict[str, set[int]] = defaultdict(set)
        self._longest: dict[str, int] = defaultdict(int)
        for number, name in enumerate(self._found):
            lemmas = tuple(map(lemma, name.tokens))
            self._by_tokens[name.tokens].append(name)
            if lemmas != name.tokens:
                self._by_lemmas[lemmas].append(name)
            for word in name.tokens:
                self._by_word[word].add(number)
            for opening in {name.tokens[0], lemmas[0]}:
                self._longest[opening] = max(self._longest[opening], len(name.tokens))
        self.word = lru_cache(None)(self._word)
        self.near = lru_cache(None)(self._near)

    @property
    def of_schema(self) -> Lexicon:
        return self._of_schema

    def each(self) -> Iterator[Name]:
        yield from sorted((*self.described, *self._found), key=lambda name: len(name.tokens))

    def exact(self, tokens: Sequence[str]) -> list[Name]:
        return [*self._of_schema.exact(tokens), *self._by_tokens.get(tuple(tokens), ())]

    def inflected(self, lemmas: Sequence[str]) -> list[Name]:
        return [*self._of_schema.inflected(lemmas), *self._by_lemmas.get(tuple(lemmas), ())]

    def of_lemma(self, lemma_: str) -> list[str]:
        return sorted(word for word in self._by_word if lemma(word) == lemma_)

    def of_part(self, part: str) -> list[str]:
        return sorted(word for word in self._by_word if part in code_parts(word))

    def frequent(self, more_than: float) -> frozenset[str]:
        least = max(4, more_than)
        return frozenset(word for word in {*self._by_word, *self._things} if self._naming(word) > least)

    def holding(self, words: Sequence[Collection[str]], most: int) -> list[Name]:
        return [self._found[number] for number in sorted(self._holding(words))[:most]]

    def is_held(self, words: Sequence[Collection[str]]) -> bool:
        return bool(self._holding(words))

    def thing(self, iri: str) -> Thing | None:
        return self._asked_thing(iri)

    def close(self) -> None:
        """Nothing is its own."""

    def _naming(self, word: str) -> int:
        """How many things a word names."""
        return max(len(self._by_word.get(word, ())), self._things.get(word, 0))

    def _holding(self, words: Sequence[Collection[str]]) -> set[int]:
        having = [set().union(*(self._by_word.get(word, ()) for word in each)) for each in words]
        return set.intersection(*having) if having else set()

    def _word(self, text: str) -> Word | None:
        described, names = self._of_schema.word(text), self._by_word.get(text, set())
        longest = max(self._longest.get(text, 0), described.longest if described else 0)
        if not names and not longest and described is None:
            return None
        alone = (text,) in self._by_tokens
        number = self._naming(text) if names else 0
        said = number + (described.names if described else 0)
        return Word(0, text, lemma(text), said, number, alone, longest)

    def _near(self, text: str, edits: int = SLIPS) -> tuple[str, ...]:
        own = (word for word in self._by_word if OSA.distance(text, word, score_cutoff=edits) <= edits)
        return tuple(sorted({*own, *self._of_schema.near(text, edits)}))


def _spans(text: str, words: Sequence[Token], most: int) -> Iterator[str]:
    """The stretches of a text that may be a name."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + most) + 1):
            if any(token.norm not in function_words() for token in words[start:end]):
                yield text[words[start].start : words[end - 1].end]


def _cases(said: str) -> Iterator[str]:
    """A name as it stands, and in the capitals that names have."""
    yield said
    if said == said.lower():
        yield " ".join(word if word in function_words() else word.capitalize() for word in said.split(" "))
        yield said.title()
        yield said.capitalize()
        if len(said) <= 4:
            yield said.upper()
    else:
        yield said.lower()


def _union(patterns: Sequence[str]) -> str:
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns if pattern)


def _end(key: str) -> str:
    """The last segment of an IRI, decoded."""
    end = key.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
    return unquote(end) if "%" in end else end


def _order(language: str) -> tuple[int, str]:
    tag = fold(language)
    return (0, "") if tag == "en" else (1, tag) if tag.startswith("en-") else (2, "") if not tag else (3, tag)
