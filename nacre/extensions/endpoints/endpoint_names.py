"""Look up the names that a text may mean at an endpoint: text + Endpoint -> Lexicon for that text.

In order: the look-up with its cache, the lexicon of an attached graph with the things of one question, and the
SPARQL patterns that bind ?s.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from urllib.parse import quote, unquote

from rapidfuzz.distance import OSA

from ingestion.vocabulary import language_rank
from nacre.errors import ToolError
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, code_parts, is_known, lemma, lexicon_tokens, split_name, tokenize
from nacre.plans.sparql_vocabulary import (
    class_pattern,
    derived_patterns,
    format_iri,
    format_literal,
    write_membership,
    write_statement,
)
from nacre.records.schema import Endpoint, Schema
from nacre.stores.addresses import EndpointLimits
from nacre.stores.sparql_source import SparqlTerm, text_search_pattern
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry, LexiconThing, LexiconWord
from nacre.stores.sqlite.triples import TYPE

# The time for looking up names in seconds, and rows that are read, at most.
LOOKUP_SECONDS, MAX_NAME_ROWS = 4.0, 6000

MANY_THINGS = 200_000  # With more things and no text search, only complete names are found.

# Things in one query for labels, things in the cache, and texts in the cache.
LABEL_BATCH_SIZE, MAX_CACHED_THINGS, MAX_CACHED_TEXTS = 500, 20_000, 256

# Words of a name that identifies a thing, at least; words of a name that is compared as a whole, at most.
MIN_LONG_NAME_TOKENS, MAX_LONG_NAME_TOKENS = 3, 16

# The classes and names of things, as (predicate, value), by IRI.
EndpointFacts = Mapping[str, tuple[tuple[str, SparqlTerm], ...]]


class _Incomplete(Exception):
    """The names of a text could not be looked up in time; `lexicon` lacks them. It is not cached."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__()
        self.lexicon = lexicon


class EndpointNames:
    """The `RemoteGraph` of an endpoint, with a cache of the names of its things. A text costs one query for the words
    that are not in it; nothing is sent before."""

    def __init__(self, lexicon: Lexicon, endpoint: Endpoint, limits: EndpointLimits) -> None:
        self.lexicon, self.endpoint, self._most = lexicon, endpoint, limits.things
        self.source = EndpointSource(endpoint.url, endpoint.graphs, limits, endpoint.dialect)
        described = {word for n in lexicon.schema_entries if n.kind != "value" for word in n.tokens}
        searched = bool(endpoint.search) or lexicon.schema.entities <= MANY_THINGS
        self._patterns = NamePatterns(
            endpoint, lexicon.schema, described | set(map(lemma, described)), searched=searched
        )
        self._naming_predicates = (*self._patterns.derived, *self._patterns.names)
        self._relation_of_types = {frozenset(g.classes): g.relation for g in lexicon.schema.groups}
        # derived names and classes of ?s: the property, the class ("" for a name), and a pattern of ?k0, ?k1
        schema = lexicon.schema
        names = tuple(self._patterns.derived)
        found = [(iri, "", write_statement(schema, iri, "?s", f"?k{i}", f"?k{i}_")) for i, iri in enumerate(names)]
        for i, iri in enumerate((c.iri for c in schema.classes if class_pattern(schema, c.iri)), len(names)):
            found.append((TYPE, iri, f"{write_membership(schema, iri, '?s', f'?k{i}')} BIND(1 AS ?k{i})"))
        self._derived = found
        self._facts: EndpointFacts = {}
        self._things_of_word: Mapping[str, Collection[str]] = {}
        self._things_of_long_name: Mapping[tuple[str, ...], Collection[str]] = {}
        self._complete = lru_cache(MAX_CACHED_TEXTS)(self._about)

    def about(self, text: str) -> Lexicon:
        """The graph's lexicon with the things that a text may name. Without these, until it is asked again, if the
        endpoint takes too long."""
        try:
            return self._complete(text)
        except _Incomplete as error:
            return error.lexicon

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """The names of the things that have one. Raises ToolError."""
        cached = self._facts
        unknown = sorted(key for key in iris if ":" in key and key not in cached)
        found = {key: cached[key] for key in iris if key in cached}
        for start in range(0, len(unknown), LABEL_BATCH_SIZE):
            things = " ".join(map(format_iri, unknown[start : start + LABEL_BATCH_SIZE]))
            found |= self._query_facts(f"VALUES ?s {{ {things} }}", 0)
        return {key: self._label(key, facts) for key, facts in found.items()}

    def close(self) -> None:
        self.source.close()

    def thing(self, key: str) -> LexiconThing | None:
        """A thing by its IRI. None if the endpoint has no facts about it."""
        if ":" not in key:
            return None
        facts = self._facts.get(key) or self._query_facts(f"VALUES ?s {{ {format_iri(key)} }}", 0).get(key)
        return LexiconThing(self._label(key, facts), self._relation(facts)) if facts else None

    def _about(self, text: str) -> Lexicon:
        """As `about`; raises _Incomplete if the endpoint takes too long."""
        words = tokenize(text)
        is_complete = True
        cached, things_of_word = self._facts, self._things_of_word
        named = {place: key for place, key in self._long_names(words) if key in cached}
        unnamed = [token for place, token in enumerate(words) if place not in named]
        forms = self._patterns.forms(unnamed)
        facts = {key: cached[key] for key in named.values()} | {
            key: cached[key]
            for form in forms
            for key in things_of_word.get(form, ())
            if key in cached and self._is_similar(cached[key], key, forms)
        }
        # Words of classes and properties alone cause no query.
        has_new = any(form not in things_of_word for form in self._patterns.forms(unnamed, unaccounted=True))
        new = [form for form in forms if has_new and form not in things_of_word]
        for pattern in self._patterns.widest_first(text, words, new) if new else ():
            if not pattern:
                continue
            try:
                facts |= self._query_words(pattern, text, words, new)
                is_complete = True
                break
            except ToolError as error:
                if error.kind not in ("timeout", "too_large"):
                    raise
                is_complete = False
        names = tuple(self._entries(dict(sorted(facts.items()))))
        lexicon = QuestionLexicon(self.lexicon, names, self.endpoint.frequent, self.thing)
        if not is_complete:
            lexicon.is_complete = False
            raise _Incomplete(lexicon)
        return lexicon

    def _query_words(self, pattern: str, text: str, words: Sequence[Token], new: Sequence[str]) -> EndpointFacts:
        """The things that a pattern for new words finds. If there are too many, those with several of the words are
        looked up as well, since the first answer may lack them."""
        things_of_word = self._things_of_word
        found = self._query_facts(pattern, self._most)
        if len(found) >= self._most and (narrow := self._patterns.narrowest(text, words, new)):
            return {**found, **self._query_facts(narrow, self._most)}
        self._things_of_word = {**things_of_word, **dict.fromkeys(new, tuple(found))}
        return found

    def _long_names(self, words: Sequence[Token]) -> Iterator[tuple[int, str]]:
        """The positions of words in complete long names of cached things, with these things."""
        norms = tuple(token.norm for token in words)
        for size in range(min(MAX_LONG_NAME_TOKENS, len(norms)), MIN_LONG_NAME_TOKENS - 1, -1):
            for start in range(len(norms) - size + 1):
                for key in self._things_of_long_name.get(norms[start : start + size], ()):
                    yield from ((place, key) for place in range(start, start + size))

    def _is_similar(self, facts: Sequence[tuple[str, SparqlTerm]], key: str, forms: Sequence[str]) -> bool:
        """Whether a name of a thing contains one of the words, also as part of a code or misspelt."""
        words = {word for name in self._names(key, facts) for word in name}
        words |= {lemma(word) for word in words}
        return any(
            form in words
            or (any(map(str.isdigit, form)) and any(form in word for word in words))
            or (
                may_be_misspelt(form)
                and any(OSA.distance(form, w, score_cutoff=MAX_NAME_EDITS) <= MAX_NAME_EDITS for w in words)
            )
            for form in forms
        )

    def _query_facts(self, pattern: str, most: int) -> EndpointFacts:
        """The classes and names of the things ?s of a pattern. They are added to the cache."""
        limited = f"{{ SELECT DISTINCT ?s WHERE {{ {pattern} }} LIMIT {most} }}" if most else pattern
        wanted = ", ".join(map(format_iri, (TYPE, *self._patterns.names)))
        # With VALUES for the predicates, some stores read all their triples.
        derived, marks = self._derived, "".join(f" ?k{i}" for i in range(len(self._derived)))
        also = "".join(f" OPTIONAL {{ {pattern} }}" for _, _, pattern in derived)
        facts_pattern = f"{limited} ?s ?q ?o{also} FILTER(?q IN ({wanted}))"
        query = f"SELECT ?s ?q ?o{marks} WHERE {{ {facts_pattern} }} LIMIT {MAX_NAME_ROWS}"
        found: dict[str, list[tuple[str, SparqlTerm]]] = defaultdict(list)
        rows = self.source.select(query, limit=MAX_NAME_ROWS, seconds=LOOKUP_SECONDS).rows
        for subject, predicate, value, *marked in rows:
            if subject and predicate and value and subject.kind == "iri":
                found[subject.value].append((predicate.value, value))
                for (property_, type_, _), term in zip(derived, marked, strict=True):
                    if term:
                        found[subject.value].append((property_, SparqlTerm("iri", type_) if type_ else term))
        facts = {key: tuple(sorted(set(of_thing))) for key, of_thing in sorted(found.items())}
        self._add_to_cache(facts)
        return facts

    def _add_to_cache(self, facts: EndpointFacts) -> None:
        if len(self._facts) > MAX_CACHED_THINGS:
            self._things_of_word, self._facts, self._things_of_long_name = {}, {}, {}
        self._facts = {**self._facts, **facts}
        long_names = {
            name: (*self._things_of_long_name.get(name, ()), key)
            for key, of_thing in facts.items()
            for name in self._names(key, of_thing)
            if len(name) >= MIN_LONG_NAME_TOKENS
        }
        self._things_of_long_name = {**self._things_of_long_name, **long_names}

    def _entries(self, facts: EndpointFacts) -> Iterator[LexiconEntry]:
        """Every name of every thing with a known class, as in the lexicon of an ingested graph."""
        for key, of_thing in facts.items():
            relation = self._relation(of_thing)
            if not relation:
                continue
            label = self._label(key, of_thing)
            has_name = any(predicate in self._naming_predicates for predicate, _ in of_thing)
            for name in self._names(key, of_thing):
                yield LexiconEntry(name, "entity", key, "", label, relation, 1.0 if has_name else -1.0)

    def _names(self, key: str, facts: Sequence[tuple[str, SparqlTerm]]) -> list[tuple[str, ...]]:
        """The names of a thing as tokens. The end of its IRI is one of them."""
        names = {lexicon_tokens(term.value) for predicate, term in facts if predicate in self._naming_predicates}
        names |= {lexicon_tokens(self._label(key, facts)), lexicon_tokens(split_name(_iri_end(key)))}
        return sorted(names - {()})

    def _relation(self, facts: Sequence[tuple[str, SparqlTerm]]) -> str:
        """The group with exactly these types, or the smallest group whose types the thing has."""
        types = frozenset(term.value for predicate, term in facts if predicate == TYPE)
        if types in self._relation_of_types:
            return self._relation_of_types[types]
        counts = {group.relation: group.count for group in self.lexicon.schema.groups}
        within = [(-len(own), counts[r], r) for own, r in self._relation_of_types.items() if own <= types]
        return min(within)[2] if within else ""

    def _label(self, key: str, facts: Sequence[tuple[str, SparqlTerm]]) -> str:
        """The best name: by predicate, then in English, then without a language. Else the end of the IRI."""
        ranks = {predicate: rank for rank, predicate in enumerate(self._naming_predicates)}
        named = [(ranks[p], language_rank(term.language), term.value) for p, term in facts if p in ranks]
        return min(named)[2] if named else _iri_end(key).replace("_", " ")


def _iri_end(key: str) -> str:
    """The last segment of an IRI, decoded."""
    end = key.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
    return unquote(end) if "%" in end else end


MAX_NAME_EDITS = 2  # Edits between a misspelt word and the right one, at most.


class QuestionLexicon(Lexicon):
    """A lexicon that adds the things of one question to `of_schema`, the lexicon of the graph. It shares the files and
    everything that depends only on the schema, and has nothing of its own to close."""

    def __init__(
        self,
        of_schema: Lexicon,
        found: Sequence[LexiconEntry],
        shares: Mapping[str, float],
        thing: Callable[[str], LexiconThing | None],
    ) -> None:
        self.schema: Schema = of_schema.schema
        self.embedder = of_schema.embedder
        self.schema_entries, self.table_counts = of_schema.schema_entries, of_schema.table_counts
        self.facts, self.links = of_schema.facts, of_schema.links
        self.thing_name_count = max(of_schema.schema.entities, len(found))
        self._of_schema = of_schema
        self._found = sorted(found, key=lambda name: (len(name.tokens), name.tokens, name))
        self._look_up_thing = thing
        # How many things a word names in the whole graph, as measured when it was attached.
        self._things_of_word = {word: round(share * self.thing_name_count) for word, share in shares.items()}
        self._by_tokens: dict[tuple[str, ...], list[LexiconEntry]] = defaultdict(list)
        self._by_lemmas: dict[tuple[str, ...], list[LexiconEntry]] = defaultdict(list)
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

    def each(self) -> Iterator[LexiconEntry]:
        yield from sorted((*self.schema_entries, *self._found), key=lambda name: len(name.tokens))

    def exact(self, tokens: Sequence[str]) -> list[LexiconEntry]:
        return [*self._of_schema.exact(tokens), *self._by_tokens.get(tuple(tokens), ())]

    def inflected(self, lemmas: Sequence[str]) -> list[LexiconEntry]:
        return [*self._of_schema.inflected(lemmas), *self._by_lemmas.get(tuple(lemmas), ())]

    def of_lemma(self, lemma_: str) -> list[str]:
        return sorted(word for word in self._by_word if lemma(word) == lemma_)

    def of_part(self, part: str) -> list[str]:
        return sorted(word for word in self._by_word if part in code_parts(word))

    def frequent(self, more_than: float) -> frozenset[str]:
        least = max(4, more_than)
        return frozenset(word for word in {*self._by_word, *self._things_of_word} if self._count_things(word) > least)

    def find_containing(self, words: Sequence[Collection[str]], most: int) -> list[LexiconEntry]:
        return [self._found[number] for number in sorted(self._names_with(words))[:most]]

    def has_containing(self, words: Sequence[Collection[str]]) -> bool:
        return bool(self._names_with(words))

    def thing(self, iri: str) -> LexiconThing | None:
        return self._look_up_thing(iri)

    def close(self) -> None:
        """Nothing: the files belong to the lexicon of the graph."""

    def _count_things(self, word: str) -> int:
        """How many things a word names."""
        return max(len(self._by_word.get(word, ())), self._things_of_word.get(word, 0))

    def _names_with(self, words: Sequence[Collection[str]]) -> set[int]:
        matching = [set().union(*(self._by_word.get(word, ()) for word in each)) for each in words]
        return set.intersection(*matching) if matching else set()

    def _word(self, text: str) -> LexiconWord | None:
        described, names = self._of_schema.word(text), self._by_word.get(text, set())
        longest = max(self._longest.get(text, 0), described.longest if described else 0)
        if not names and not longest and described is None:
            return None
        is_whole_name = (text,) in self._by_tokens
        things = self._count_things(text) if names else 0
        all_names = things + (described.names if described else 0)
        return LexiconWord(0, text, lemma(text), all_names, things, is_whole_name, longest)

    def _near(self, text: str, edits: int = MAX_NAME_EDITS) -> tuple[str, ...]:
        own = (word for word in self._by_word if OSA.distance(text, word, score_cutoff=edits) <= edits)
        return tuple(sorted({*own, *self._of_schema.near(text, edits)}))


# Words of a name that is looked up as a whole, predicates of names, and words of a text, at most.
MAX_SPAN_TOKENS, MAX_NAME_PREDICATES, MAX_SEARCH_WORDS = 7, 6, 24

MAX_DERIVED_NAMES = 8  # Derived properties that name things, at most.
MIN_MISSPELT_LETTERS = 5  # Letters of a word that may be a misspelt name, at least.


class NamePatterns:
    """The look-ups of one endpoint. `described` are the words of its classes and properties. `searched` says that words
    inside names can be searched. `names` are stored predicates, `derived` patterns of ?s and ?l by predicate."""

    def __init__(self, endpoint: Endpoint, schema: Schema, described: Collection[str], *, searched: bool) -> None:
        self.search, self.spaces = endpoint.search, endpoint.spaces
        stored = [iri for iri in endpoint.names if not derived_patterns(schema, iri)]
        derived = [iri for iri in endpoint.names if derived_patterns(schema, iri)][:MAX_DERIVED_NAMES]
        self.names = tuple(stored[:MAX_NAME_PREDICATES])
        self.derived = {iri: write_statement(schema, iri, "?s", "?l", f"?w{i}_") for i, iri in enumerate(derived)}
        self.described, self.searched = set(described), searched

    def forms(self, words: Sequence[Token], *, unaccounted: bool = False) -> list[str]:
        """The words of a text that names may contain, as written and as lemmas. With `unaccounted` only those that no
        class, property or gradable adjective explains."""
        wanted = [t for t in words if t.norm not in function_words() and t.lemma not in function_words()]
        if unaccounted:
            wanted = [t for t in wanted if not {t.norm, t.lemma} & self.described and gradable_adjective(t) is None]
        return list(dict.fromkeys(form for token in wanted for form in (token.norm, token.lemma)))

    def widest_first(self, text: str, words: Sequence[Token], forms: Collection[str]) -> Iterator[str]:
        """Look-ups of names with any of these words. Each is for when the one before takes too long."""
        exact = [self._complete_names(text, words, forms), self._by_iri(text, words, forms)]
        if self.searched and (containing := self._containing(forms)):
            yield union_pattern([containing, *(exact if self.search else exact[1:])])
        yield union_pattern(exact)

    def narrowest(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """A look-up of complete names, and of names with two neighbouring words, for words that many names contain."""
        return union_pattern(
            [self._complete_names(text, words, forms), self._by_iri(text, words, forms), self._pairs(words)]
        )

    def _pairs(self, words: Sequence[Token]) -> str:
        between = {"": "[^a-z0-9]+", "virtuoso": " "}.get(self.search)
        pairs = [
            f"{one.norm}{between}{other.norm}"
            for one, other in pairwise(words)
            if one.norm.isalnum() and other.norm.isalnum() and not {one.norm, other.norm} & function_words()
        ]
        if between is None or not pairs or not self.names:
            return ""
        return text_search_pattern(self.search, self.names, list(dict.fromkeys(pairs))[:MAX_SEARCH_WORDS])

    def _containing(self, forms: Collection[str]) -> str:
        """Names that contain one of the words, or a word that it may be a misspelling of."""
        # In a large graph, words of classes and properties are found only as complete names.
        wanted = [form for form in forms if form.isalnum() and not (self.search and form in self.described)]
        if not wanted or not (self.names or self.derived):
            return ""
        near = [word for word in wanted if may_be_misspelt(word)]
        if not self.search:
            # People often say a part of a code.
            wanted = [f"[a-z0-9]*{word}[a-z0-9]*" if any(map(str.isdigit, word)) else word for word in wanted]
        wanted, near = wanted[:MAX_SEARCH_WORDS], near[:MAX_SEARCH_WORDS]
        stored = text_search_pattern(self.search, self.names, wanted, near) if self.names else ""
        if not self.derived:
            return stored
        derived = [text_search_pattern(self.search, (), wanted, near, pattern) for pattern in self.derived.values()]
        return union_pattern([stored, *derived])

    def _complete_names(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Names that are a span of the text, in the usual capitalisation, without a language tag or in English."""
        names = dict.fromkeys(chain.from_iterable(_cases(span) for span in _spans(text, words, MAX_SPAN_TOKENS, forms)))
        if not names or not (self.names or self.derived):
            return ""
        literals = " ".join(f"{format_literal(each)} {format_literal(each)}@en" for each in names)
        # With VALUES for the predicates as well, some stores read all their triples.
        links = [*(f"?s {format_iri(name)} ?l ." for name in self.names), *self.derived.values()]
        return union_pattern([f"VALUES ?l {{ {literals} }} {link}" for link in links])

    def _by_iri(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Things whose IRI ends with a span of the text."""
        ends = dict.fromkeys(
            form
            for span in _spans(text, words, MAX_SPAN_TOKENS - 2, forms)
            for case in _cases(span)
            for form in (case.replace(" ", "_"), case.replace(" ", "-"), case.replace(" ", ""), quote(case))
        )
        things = " ".join(format_iri(space + end) for space in self.spaces for end in ends)
        return f"VALUES ?s {{ {things} }} ?s a ?kind ." if things else ""


def may_be_misspelt(word: str) -> bool:
    """Whether a word is not English, and long enough to be a misspelt name."""
    return len(word) >= MIN_MISSPELT_LETTERS and word.isalpha() and word.isascii() and not is_known(word, lang="en")


def union_pattern(patterns: Sequence[str]) -> str:
    """The patterns that are not empty, as a UNION."""
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns if pattern)


def _spans(text: str, words: Sequence[Token], most: int, forms: Collection[str]) -> Iterator[str]:
    """The spans of a text, up to some length, that contain one of the words."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + most) + 1):
            if any(token.norm in forms for token in words[start:end]):
                yield text[words[start].start : words[end - 1].end]


def _cases(name: str) -> Iterator[str]:
    """A name as it is written, and in the usual capitalisations of names."""
    yield name
    if name == name.lower():
        yield " ".join(word if word in function_words() else word.capitalize() for word in name.split(" "))
        yield name.title()
        yield name.capitalize()
        if len(name) <= 4:
            yield name.upper()
    else:
        yield name.lower()
