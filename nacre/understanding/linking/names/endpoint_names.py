"""Look up the names that a text may mean at an endpoint: text + Endpoint -> Lexicon for that text."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from rapidfuzz.distance import OSA

from nacre.errors import ToolError
from nacre.language.tokens import Token, fold, lemma, lexicon_tokens, split_name, tokenize
from nacre.plans.sparql.derived import class_pattern, write_membership, write_statement
from nacre.plans.sparql.terms import format_iri
from nacre.records.endpoint import Endpoint
from nacre.records.schema import Schema
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry, LexiconThing
from nacre.stores.sqlite.triples import TYPE
from nacre.understanding.linking.names.name_patterns import NamePatterns, may_be_misspelt
from nacre.understanding.linking.names.question_lexicon import MAX_NAME_EDITS, QuestionLexicon

# The time for looking up names in seconds, things that are found, and rows that are read, at most.
LOOKUP_SECONDS, MAX_THINGS_FOUND, MAX_NAME_ROWS = 4.0, 600, 6000
# With more things and no text search, only complete names are found.
MANY_THINGS = 200_000
# Things in one query for labels, things in the cache, and texts in the cache.
LABEL_BATCH_SIZE, MAX_CACHED_THINGS, MAX_CACHED_TEXTS = 500, 20_000, 256
# Words of a name that identifies a thing, at least; words of a name that is compared as a whole, at most.
MIN_LONG_NAME_TOKENS, MAX_LONG_NAME_TOKENS = 3, 16

# The classes and names of things, as (predicate, value), by IRI.
EndpointFacts = Mapping[str, tuple[tuple[str, SparqlTerm], ...]]


class EndpointNames:
    """A cache of the names of things at an endpoint. A text costs one query for the words that are not in it."""

    def __init__(
        self, lexicon: Lexicon, endpoint: Endpoint, source: SparqlSource, most: int = MAX_THINGS_FOUND
    ) -> None:
        self.lexicon, self.endpoint, self._source, self._most = lexicon, endpoint, source, most
        described = {word for n in lexicon.schema_entries if n.kind != "value" for word in n.tokens}
        searched = bool(endpoint.search) or lexicon.schema.entities <= MANY_THINGS
        self._patterns = NamePatterns(
            endpoint, lexicon.schema, described | set(map(lemma, described)), searched=searched
        )
        self._naming_predicates = (*self._patterns.derived, *self._patterns.names)
        self._relation_of_types = {frozenset(g.classes): g.relation for g in lexicon.schema.groups}
        self._derived = _derived_facts(lexicon.schema, tuple(self._patterns.derived))
        self._facts: EndpointFacts = {}
        self._things_of_word: Mapping[str, Collection[str]] = {}
        self._things_of_long_name: Mapping[tuple[str, ...], Collection[str]] = {}
        self.about = lru_cache(MAX_CACHED_TEXTS)(self._about)

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """The names of the things that have one. Raises ToolError."""
        cached = self._facts
        unknown = sorted(key for key in iris if ":" in key and key not in cached)
        found = {key: cached[key] for key in iris if key in cached}
        for start in range(0, len(unknown), LABEL_BATCH_SIZE):
            things = " ".join(map(format_iri, unknown[start : start + LABEL_BATCH_SIZE]))
            found |= self._query_facts(f"VALUES ?s {{ {things} }}", 0)
        return {key: self._label(key, facts) for key, facts in found.items()}

    def thing(self, key: str) -> LexiconThing | None:
        """A thing by its IRI. None if the endpoint has no facts about it."""
        if ":" not in key:
            return None
        facts = self._facts.get(key) or self._query_facts(f"VALUES ?s {{ {format_iri(key)} }}", 0).get(key)
        return LexiconThing(self._label(key, facts), self._relation(facts)) if facts else None

    def _about(self, text: str) -> Lexicon:
        """The graph's lexicon with the things that a text may name. Without these if the endpoint takes too long."""
        words = tokenize(text)
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
                break
            except ToolError as error:
                if error.kind not in ("timeout", "too_large"):
                    raise
        names = tuple(self._entries(dict(sorted(facts.items()))))
        return QuestionLexicon(self.lexicon, names, self.endpoint.frequent, self.thing)

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
        rows = self._source.select(query, limit=MAX_NAME_ROWS, seconds=LOOKUP_SECONDS).rows
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
        named = [(ranks[p], _language_rank(term.language), term.value) for p, term in facts if p in ranks]
        return min(named)[2] if named else _iri_end(key).replace("_", " ")


def _derived_facts(schema: Schema, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Derived names and classes of ?s: the property, the class ("" for a name), and a pattern of ?k0, ?k1 ..."""
    found = [(iri, "", write_statement(schema, iri, "?s", f"?k{i}", f"?k{i}_")) for i, iri in enumerate(names)]
    for i, iri in enumerate((c.iri for c in schema.classes if class_pattern(schema, c.iri)), len(names)):
        found.append((TYPE, iri, f"{write_membership(schema, iri, '?s', f'?k{i}')} BIND(1 AS ?k{i})"))
    return found


def _iri_end(key: str) -> str:
    """The last segment of an IRI, decoded."""
    end = key.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
    return unquote(end) if "%" in end else end


def _language_rank(language: str) -> tuple[int, str]:
    tag = fold(language)
    return (0, "") if tag == "en" else (1, tag) if tag.startswith("en-") else (2, "") if not tag else (3, tag)
