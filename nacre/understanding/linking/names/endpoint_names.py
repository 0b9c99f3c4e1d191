"""The names that a text may mean, looked up where they lie: text + endpoint -> a Lexicon for that text."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from rapidfuzz.distance import OSA

from nacre.errors import ToolError
from nacre.language.tokens import Token, fold, lemma, name_tokens, split_name, tokenize
from nacre.plans.sparql.terms import format_iri
from nacre.records.endpoint import Endpoint
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry, LexiconThing
from nacre.stores.sqlite.triples import TYPE
from nacre.understanding.linking.names.name_patterns import NamePatterns, may_be_misspelt
from nacre.understanding.linking.names.question_lexicon import MAX_EDITS, QuestionLexicon

# seconds that looking for names may take in all, things that may be found, and names of one thing read
LOOKUP_SECONDS, MAX_THINGS, MAX_ROWS = 4.0, 600, 6000
# where there are more things, and no search for words, whole names alone are found
MANY_THINGS = 200_000
# things whose names are asked for in one query, and things that are remembered
LABEL_BATCH_SIZE, MAX_CACHED_THINGS = 500, 20_000
_REMEMBERED = 256
# a name of so many words says which thing is meant; names of more than the longest are found by a part
MIN_LONG_NAME_TOKENS, MAX_LONG_NAME_TOKENS = 3, 16

# the classes and names of things
EndpointFacts = Mapping[str, tuple[tuple[str, SparqlTerm], ...]]


class EndpointNames:
    """Looks up the names of things at an endpoint: one query for the words that were not looked up before."""

    def __init__(self, lexicon: Lexicon, endpoint: Endpoint, source: SparqlSource, most: int = MAX_THINGS) -> None:
        self.lexicon, self.endpoint, self._source, self._most = lexicon, endpoint, source, most
        described = {word for n in lexicon.schema_entries if n.kind != "value" for word in n.tokens}
        searched = bool(endpoint.search) or lexicon.schema.entities <= MANY_THINGS
        self._patterns = NamePatterns(endpoint, described | set(map(lemma, described)), searched=searched)
        self._names = self._patterns.names
        self._group_of = {frozenset(g.classes): g.relation for g in lexicon.schema.groups}
        self._known: EndpointFacts = {}
        self._looked_up: Mapping[str, Collection[str]] = {}
        self._long: Mapping[tuple[str, ...], Collection[str]] = {}
        self.about = lru_cache(_REMEMBERED)(self._about)

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """What things are called, those that have a name; raises ToolError."""
        known = self._known
        unknown = sorted(key for key in iris if ":" in key and key not in known)
        found = {key: known[key] for key in iris if key in known}
        for start in range(0, len(unknown), LABEL_BATCH_SIZE):
            things = " ".join(map(format_iri, unknown[start : start + LABEL_BATCH_SIZE]))
            found |= self._facts(f"VALUES ?s {{ {things} }}", 0)
        return {key: self._label(key, said) for key, said in found.items()}

    def thing(self, key: str) -> LexiconThing | None:
        """A thing by its IRI; None where the endpoint says nothing of it."""
        if ":" not in key:
            return None
        said = self._known.get(key) or self._facts(f"VALUES ?s {{ {format_iri(key)} }}", 0).get(key)
        return LexiconThing(self._label(key, said), self._home(said)) if said else None

    def _about(self, text: str) -> Lexicon:
        """The graph's names with those of the things that a text may name; without these where none can be had."""
        words = tokenize(text)
        known, looked_up = self._known, self._looked_up
        told = {place: key for place, key in self._told(words) if key in known}
        open_ = [token for place, token in enumerate(words) if place not in told]
        forms = self._patterns.forms(open_)
        facts = {key: known[key] for key in told.values()} | {
            key: known[key]
            for form in forms
            for key in looked_up.get(form, ())
            if key in known and self._is_near(known[key], key, forms)
        }
        # what classes and properties account for is looked up beside other words alone
        asks = any(form not in looked_up for form in self._patterns.forms(open_, unaccounted=True))
        new = [form for form in forms if asks and form not in looked_up]
        for pattern in self._patterns.widest_first(text, words, new) if new else ():
            if not pattern:
                continue
            try:
                found = self._facts(pattern, self._most)
                if len(found) >= self._most and (narrow := self._patterns.narrowest(text, words, new)):
                    # so many hold one of the words that those that hold more of them may be left out
                    found = {**found, **self._facts(narrow, self._most)}
                else:
                    self._looked_up = {**looked_up, **dict.fromkeys(new, tuple(found))}
                facts |= found
                break
            except ToolError as error:
                if error.kind not in ("timeout", "too_large"):
                    raise
        names = tuple(self._named(dict(sorted(facts.items()))))
        return QuestionLexicon(self.lexicon, names, self.endpoint.frequent, self.thing)

    def _told(self, words: Sequence[Token]) -> Iterator[tuple[int, str]]:
        """The places of words that are the whole long name of a thing that was seen, and that thing."""
        norms = tuple(token.norm for token in words)
        for size in range(min(MAX_LONG_NAME_TOKENS, len(norms)), MIN_LONG_NAME_TOKENS - 1, -1):
            for start in range(len(norms) - size + 1):
                for key in self._long.get(norms[start : start + size], ()):
                    yield from ((place, key) for place in range(start, start + size))

    def _is_near(self, said: Sequence[tuple[str, SparqlTerm]], key: str, forms: Sequence[str]) -> bool:
        """Whether a name of a thing holds one of the words, as part of a code or with a slip too."""
        held = {word for each in self._names_of(key, said) for word in each}
        held |= {lemma(word) for word in held}
        return any(
            form in held
            or (any(map(str.isdigit, form)) and any(form in word for word in held))
            or (may_be_misspelt(form) and any(OSA.distance(form, w, score_cutoff=MAX_EDITS) <= MAX_EDITS for w in held))
            for form in forms
        )

    def _facts(self, pattern: str, most: int) -> EndpointFacts:
        """The classes and names of the things that a pattern of ?s finds; they are remembered."""
        limited = f"{{ SELECT DISTINCT ?s WHERE {{ {pattern} }} LIMIT {most} }}" if most else pattern
        wanted = ", ".join(map(format_iri, (TYPE, *self._names)))
        # with VALUES of predicates some stores look at all their triples
        query = f"SELECT ?s ?q ?o WHERE {{ {limited} ?s ?q ?o FILTER(?q IN ({wanted})) }} LIMIT {MAX_ROWS}"
        found: dict[str, list[tuple[str, SparqlTerm]]] = defaultdict(list)
        for subject, predicate, value in self._source.select(query, limit=MAX_ROWS, seconds=LOOKUP_SECONDS).rows:
            if subject and predicate and value and subject.kind == "iri":
                found[subject.value].append((predicate.value, value))
        facts = {key: tuple(sorted(said)) for key, said in sorted(found.items())}
        if len(self._known) > MAX_CACHED_THINGS:
            self._looked_up, self._known, self._long = {}, {}, {}
        self._known = {**self._known, **facts}
        long = {
            n: (*self._long.get(n, ()), key)
            for key, s in facts.items()
            for n in self._names_of(key, s)
            if len(n) >= MIN_LONG_NAME_TOKENS
        }
        self._long = {**self._long, **long}
        return facts

    def _named(self, facts: EndpointFacts) -> Iterator[LexiconEntry]:
        """Every name of every thing whose kind is known, as the lexicon of an ingested graph has them."""
        for key, said in facts.items():
            relation = self._home(said)
            if not relation:
                continue
            label = self._label(key, said)
            called = any(predicate in self._names for predicate, _ in said)
            for each in self._names_of(key, said):
                yield LexiconEntry(each, "entity", key, "", label, relation, 1.0 if called else -1.0)

    def _names_of(self, key: str, said: Sequence[tuple[str, SparqlTerm]]) -> list[tuple[str, ...]]:
        names = {name_tokens(term.value) for predicate, term in said if predicate in self._names}
        return sorted((names | {name_tokens(self._label(key, said)), name_tokens(split_name(_end(key)))}) - {()})

    def _home(self, said: Sequence[tuple[str, SparqlTerm]]) -> str:
        """The group with these types, or the smallest of those whose types are among them."""
        types = frozenset(term.value for predicate, term in said if predicate == TYPE)
        if types in self._group_of:
            return self._group_of[types]
        counts = {group.relation: group.count for group in self.lexicon.schema.groups}
        within = [(-len(own), counts[r], r) for own, r in self._group_of.items() if own <= types]
        return min(within)[2] if within else ""

    def _label(self, key: str, said: Sequence[tuple[str, SparqlTerm]]) -> str:
        """The best name: by predicate, in English, then in no language; else the end of the IRI in words."""
        ranks = {predicate: rank for rank, predicate in enumerate(self._names)}
        named = [(ranks[p], _order(term.language), term.value) for p, term in said if p in ranks]
        return min(named)[2] if named else _end(key).replace("_", " ")


def _end(key: str) -> str:
    """The last segment of an IRI, decoded."""
    end = key.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
    return unquote(end) if "%" in end else end


def _order(language: str) -> tuple[int, str]:
    tag = fold(language)
    return (0, "") if tag == "en" else (1, tag) if tag.startswith("en-") else (2, "") if not tag else (3, tag)
