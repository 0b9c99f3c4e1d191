"""Sample the graph of an endpoint by a limited number of queries: BudgetedEndpoint -> ProbeResult.

A query within the budget gives rows, or None if it failed. Besides samples: the text search that an endpoint supports
besides CONTAINS, and words that are too frequent in names to be distinctive.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple, get_args

from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT,
    EMPTY_TYPES,
    INVERSE,
    LABEL,
    PREFERRED,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    SUBCLASS,
    TYPE,
)
from nacre.errors import ToolError
from nacre.language.tokens import name_tokens, tokenize
from nacre.plans.sparql_vocabulary import write_membership
from nacre.records.schema import Schema, TextSearch
from nacre.stores.sparql_source import SparqlSource, SparqlTerm, text_search_pattern

# maximum number of classes and predicates, largest first; of type sets, above which each class counts alone
MOST_CLASSES, MOST_PREDICATES, MOST_SETS = 100, 120, 120

# sampled things of a type set, and triples of a predicate
SAMPLE, SAMPLED_VALUES, DISTINCT, SEEN = 1000, 20_000, 500, 300

# types of things that are sampled if an endpoint can't list its classes (given)
SAMPLED_TYPES = 20_000

# no store has so many triples (given)
MAX_COUNT = 10**15

# number of terms in one query
VALUES_PER_QUERY = 60

NO_PATTERNS: Mapping[str, str] = MappingProxyType({})

_VOID = "http://rdfs.org/ns/void#"

_DESCRIBING = (LABEL, PREFERRED, ALTERNATIVE, COMMENT, SUBCLASS, INVERSE)


@dataclass(frozen=True)
class TypeSetSample:
    """A sample of the things with exactly these types: their number; of the sampled ones, how many have each predicate,
    with how many triples and links, and how many links lead to each class and to how many things. `iris` are some of
    them."""

    types: frozenset[str]
    count: int
    exact: bool
    looked_at: int = 0
    subjects: dict[str, int] = field(default_factory=dict)
    triples: dict[str, int] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)
    targets: dict[tuple[str, str], int] = field(default_factory=dict)
    ends: dict[tuple[str, str], int] = field(default_factory=dict)
    iris: tuple[str, ...] = ()

    @property
    def scale(self) -> float:
        """The number of things that a sampled one represents."""
        return self.count / self.looked_at if self.looked_at else 1.0


@dataclass(frozen=True)
class LiteralSample:
    """Distinct literals of a predicate with their counts; `whole`: these are all."""

    counts: tuple[tuple[SparqlTerm, int], ...]
    whole: bool
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class ProbeResult:
    """All results. `said` has the texts and IRIs that describe classes and predicates, by (term, predicate). `sampled`:
    the endpoint could not list its classes in time, so that they are those of a sample of things."""

    triples: int
    things: int
    classes: dict[str, int]
    kinds: tuple[TypeSetSample, ...]
    predicates: dict[str, int]
    literals: dict[str, LiteralSample]
    said: dict[tuple[str, str], tuple[SparqlTerm, ...]]
    sampled: bool = False


# the budget of attaching (given), and the maximum time of one query
MAX_QUERIES = 300

MAX_SECONDS = 60.0

MAX_QUERY_SECONDS = 12.0

Row = tuple[SparqlTerm | None, ...]


class Budget(NamedTuple):
    """The maximum number of queries, and of seconds for all of them."""

    queries: int = MAX_QUERIES
    seconds: float = MAX_SECONDS


class BudgetedEndpoint:
    """An endpoint with the rest of a budget. Failed and slow queries return None and raise nothing."""

    def __init__(self, source: SparqlSource, budget: Budget = Budget()) -> None:  # noqa: B008 (immutable)
        self._source = source
        self._left = budget.queries
        self._start = time.monotonic()
        self._end = self._start + budget.seconds
        self.scan_seconds = min(MAX_QUERY_SECONDS, SCAN_SHARE * budget.seconds)
        self.asked = 0
        self.failed = 0

    @property
    def over(self) -> bool:
        return self._left <= self.asked or time.monotonic() >= self._end

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def rows(self, query: str, limit: int = 1000, seconds: float = MAX_QUERY_SECONDS) -> list[Row] | None:
        """The rows of a SELECT; None if it failed or the budget is used up."""
        if self.over:
            return None
        self.asked += 1
        try:
            left = min(seconds, self._end - time.monotonic())
            return self._source.select(query, limit=limit, seconds=left).rows
        except ToolError as error:
            self.failed += 1
            log.info("a probing query failed (%s): %s", error.kind, error)
            return None

    def texts(self, query: str, limit: int = 1000, seconds: float = MAX_QUERY_SECONDS) -> list[tuple[str, ...]] | None:
        """The rows of a SELECT as texts, "" for unbound variables."""
        found = self.rows(query, limit, seconds)
        return None if found is None else [tuple(term.value if term else "" for term in row) for row in found]


def probe_endpoint(asking: BudgetedEndpoint) -> ProbeResult:
    """Sample classes, type sets, predicates, values and their descriptions, largest first. Parts that exceed the
    budget, or for which the endpoint is too slow, are missing in the result."""
    listed = _classes(asking)
    sampled = not listed
    classes = {iri: n for iri, n in (listed or _sampled_classes(asking)).items() if iri not in SCHEMA_TYPES}
    # an endpoint that can't list its classes can count neither predicates nor sets of types
    predicates = {} if sampled else _predicates(asking)
    kinds = _single_kinds(classes) if sampled else _kinds(asking, classes)
    sets = [kind.types for kind in kinds]
    kinds = [
        sample_type_set(asking, kind, distinguishing_classes(kind.types, sets, classes) if kind.exact else ())
        for kind in kinds
    ]
    if not predicates:
        for kind in kinds:
            for predicate, n in kind.triples.items():
                predicates[predicate] = predicates.get(predicate, 0) + round(n * kind.scale)
    wanted = sorted(predicates, key=lambda iri: (-predicates[iri], iri))[:MOST_PREDICATES]
    said = _said(asking, [*classes, *wanted])
    with_literals = {p for kind in kinds for p, n in kind.triples.items() if n > kind.links.get(p, 0)}
    literals: dict[str, LiteralSample] = {}
    for iri in wanted:
        if iri in with_literals and iri not in SCHEMA_PREDICATES:
            found = sample_literals(asking, f"?s <{iri}> ?o", predicates[iri])
            literals |= {iri: found} if found is not None else {}
    things = sum(kind.count for kind in kinds)
    return ProbeResult(
        sum(predicates.values()),
        things,
        classes,
        tuple(kinds),
        {p: predicates[p] for p in wanted},
        literals,
        said,
        sampled,
    )


def _classes(asking: BudgetedEndpoint) -> dict[str, int]:
    """Classes with the number of their things; from the endpoint's own statistics if counting takes too long."""
    counting = "SELECT ?c (COUNT(?s) AS ?n) WHERE { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n)"
    stated = f"SELECT ?c ?n WHERE {{ ?d <{_VOID}classPartition> ?q . ?q <{_VOID}class> ?c ; <{_VOID}entities> ?n }}"
    return _counts(asking, counting, stated, "SELECT DISTINCT ?c WHERE { ?s a ?c }", MOST_CLASSES)


def _sampled_classes(asking: BudgetedEndpoint) -> dict[str, int]:
    """The classes of some things, with the number of these."""
    some = f"{{ SELECT ?s ?c WHERE {{ ?s a ?c }} LIMIT {SAMPLED_TYPES} }}"
    found = asking.texts(
        f"SELECT ?c (COUNT(?s) AS ?n) WHERE {{ {some} }} GROUP BY ?c ORDER BY DESC(?n) LIMIT {MOST_CLASSES}",
        MOST_CLASSES,
    )
    return {iri: count for iri, n in found or () if ":" in iri and (count := read_count(n))}


def _predicates(asking: BudgetedEndpoint) -> dict[str, int]:
    counting = "SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n)"
    partition = f"?d <{_VOID}propertyPartition> ?q . ?q <{_VOID}property> ?p ; <{_VOID}triples> ?n"
    found = _counts(asking, counting, f"SELECT ?p ?n WHERE {{ {partition} }}", "", MOST_PREDICATES)
    found.pop(TYPE, None)
    return found


def _counts(asking: BudgetedEndpoint, counting: str, stated: str, named: str, most: int) -> dict[str, int]:
    for query in (counting, stated):
        found = asking.texts(f"{query} LIMIT {2 * most}", 2 * most, asking.scan_seconds)
        if found:
            counts = [(iri, read_count(n)) for iri, n in found if ":" in iri]
            pairs = [(iri, n) for iri, n in counts if n is not None]
            return dict(sorted(pairs, key=lambda each: (-each[1], each[0]))[:most])
    listed = asking.texts(f"{named} LIMIT {most}", most, asking.scan_seconds) if named else None
    return dict.fromkeys(sorted(iri for (iri,) in listed if ":" in iri), 1) if listed else {}


def _kinds(asking: BudgetedEndpoint, classes: dict[str, int]) -> list[TypeSetSample]:
    """The sets of types that things have, if these can be counted, else each class alone."""
    sets = asking.texts(
        'SELECT ?all (COUNT(?s) AS ?n) WHERE { SELECT ?s (GROUP_CONCAT(STR(?t); separator=" ") AS ?all)'
        f" WHERE {{ ?s a ?t }} GROUP BY ?s }} GROUP BY ?all ORDER BY DESC(?n) LIMIT {20 * MOST_SETS}",
        20 * MOST_SETS,
        asking.scan_seconds,
    )
    counts: Counter[frozenset[str]] = Counter()
    for types, n in sets or ():
        known = frozenset(types.split()).intersection(classes)
        if not known & SCHEMA_TYPES and known:
            # types without meaning count only if there are no others
            counts[known - EMPTY_TYPES or known] += read_count(n) or 0
    if counts and len(counts) <= MOST_SETS:
        return [
            TypeSetSample(types, n, True) for types, n in sorted(counts.items(), key=lambda e: (-e[1], sorted(e[0])))
        ]
    return _single_kinds(classes)


def _single_kinds(classes: dict[str, int]) -> list[TypeSetSample]:
    """Each class alone, the largest first."""
    return [
        TypeSetSample(frozenset((iri,)), n, False) for iri, n in sorted(classes.items(), key=lambda e: (-e[1], e[0]))
    ]


def distinguishing_classes(
    types: frozenset[str], sets: Iterable[frozenset[str]], counts: Mapping[str, int]
) -> tuple[str, ...]:
    """The additional classes of larger sets: things in none of them have exactly these types."""
    found: list[str] = []
    for other in sorted((each for each in sets if each > types), key=lambda each: (len(each), sorted(each))):
        if not other & set(found):
            found.append(min(other - types, key=lambda iri: (-counts.get(iri, 0), iri)))
    return tuple(sorted(found))


def sample_type_set(
    asking: BudgetedEndpoint, kind: TypeSetSample, without: Sequence[str], patterns: Mapping[str, str] = NO_PATTERNS
) -> TypeSetSample:
    """The properties of the things of a type set and the targets of their links, by a sample. `patterns` are those of
    classes that are derived, over ?s."""
    types = " ".join(patterns.get(iri, f"?s a <{iri}> .") for iri in sorted(kind.types))
    others = " ".join(f"FILTER NOT EXISTS {{ {patterns.get(iri, f'?s a <{iri}>')} }}" for iri in without)
    some = f"{{ SELECT ?s WHERE {{ {types} {others} }} LIMIT {SAMPLE} }}"
    having = asking.texts(
        "SELECT ?p (COUNT(DISTINCT ?s) AS ?n) (COUNT(*) AS ?t) (SUM(IF(isLiteral(?o), 0, 1)) AS ?l)"
        f" WHERE {{ {some} ?s ?p ?o }} GROUP BY ?p"
    )
    if not having:
        return kind
    subjects = {p: read_count(n) or 0 for p, n, _, _ in having}
    links = {p: read_count(n) or 0 for p, _, _, n in having}
    targets = None
    if any(n for p, n in links.items() if p != TYPE):
        targets = asking.texts(
            f"SELECT ?p ?c (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?m) WHERE {{ {some} ?s ?p ?o . ?o a ?c"
            f" FILTER(?p != <{TYPE}>) }} GROUP BY ?p ?c LIMIT 2000",
            2000,
        )
    seen = asking.texts(f"SELECT ?s WHERE {{ {types} {others} FILTER(isIRI(?s)) }} LIMIT {SEEN}", SEEN)
    return TypeSetSample(
        kind.types,
        kind.count,
        kind.exact,
        subjects.get(TYPE, min(kind.count, SAMPLE)),
        {p: n for p, n in subjects.items() if p != TYPE},
        {p: read_count(n) or 0 for p, _, n, _ in having if p != TYPE},
        {p: n for p, n in links.items() if p != TYPE and n},
        {(p, c): read_count(n) or 0 for p, c, n, _ in targets or ()},
        {(p, c): read_count(m) or 0 for p, c, _, m in targets or ()},
        tuple(sorted(iri for (iri,) in seen or ())),
    )


def _said(asking: BudgetedEndpoint, about: Sequence[str]) -> dict[tuple[str, str], tuple[SparqlTerm, ...]]:
    """Labels, comments, superclasses and inverses of classes and predicates."""
    found: dict[tuple[str, str], list[SparqlTerm]] = defaultdict(list)
    describing = ", ".join(f"<{p}>" for p in _DESCRIBING)
    for start in range(0, len(about), VALUES_PER_QUERY):
        named = " ".join(f"<{iri}>" for iri in about[start : start + VALUES_PER_QUERY])
        rows = asking.rows(
            f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {named} }} ?s ?p ?o FILTER(?p IN ({describing})) }} LIMIT 5000",
            5000,
        )
        for subject, predicate, value in rows or ():
            if subject and predicate and value:
                found[subject.value, predicate.value].append(value)
    return {key: tuple(sorted(terms)) for key, terms in found.items()}


def sample_literals(asking: BudgetedEndpoint, pattern: str, triples: int) -> LiteralSample | None:
    """The literals ?o of a pattern, most frequent first; of very many, those of a sample of triples."""
    few = triples <= SAMPLED_VALUES
    matching = f"{pattern} FILTER(isLiteral(?o))"
    some = matching if few else f"{{ SELECT ?o WHERE {{ {matching} }} LIMIT {SAMPLED_VALUES} }}"
    rows = asking.rows(
        f"SELECT ?o (COUNT(*) AS ?n) WHERE {{ {some} }} GROUP BY ?o ORDER BY DESC(?n) LIMIT {DISTINCT}", DISTINCT
    )
    seen = [(o, read_count(n.value) or 0) for o, n in rows or () if o and n]
    counts = tuple(sorted(seen, key=lambda each: (-each[1], each[0])))
    if not counts:
        return None
    whole = few and len(counts) < DISTINCT
    if whole or not any("#" in o.datatype and not o.datatype.endswith(("#string", "#langString")) for o, _ in counts):
        return LiteralSample(counts, whole)
    ends = asking.texts(f"SELECT (MIN(?o) AS ?a) (MAX(?o) AS ?b) WHERE {{ {pattern} FILTER(isNumeric(?o)) }}")
    try:
        low, high = (float(text) for text in (ends or [("", "")])[0])
    except ValueError:
        return LiteralSample(counts, whole)
    return LiteralSample(counts, whole, low, high) if isfinite(low) and isfinite(high) else LiteralSample(counts, whole)


def read_count(text: str) -> int | None:
    """A number that an endpoint counted; None for what is no count.

    >>> read_count("12"), read_count("1.2e1"), read_count("inf"), read_count("1e308"), read_count("-1"), read_count("")
    (12, 12, None, None, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if 0 <= number <= MAX_COUNT else None


log = logging.getLogger(__name__)

# share of the budget for one query that reads the whole graph, as counting does; the others need what is left (given)
SCAN_SHARE = 0.2

# minimum length of a tried word: stores do not index short words
LONG_ENOUGH = 4


def detect_text_search(asking: BudgetedEndpoint, names: tuple[str, ...]) -> TextSearch:
    """The first text search that finds a name by one of its words; "" if none does."""
    for predicate in names:
        named = asking.texts(f"SELECT ?l WHERE {{ ?s <{predicate}> ?l FILTER(isLiteral(?l)) }} LIMIT 20", 20) or []
        words = [t.norm for (text,) in named for t in tokenize(text) if len(t.norm) >= LONG_ENOUGH and t.norm.isalpha()]
        if not words:
            continue
        for kind in get_args(TextSearch):
            if kind:
                pattern = text_search_pattern(kind, (predicate,), words[:1])
                found = asking.texts(f"SELECT ?s WHERE {{ {pattern} }} LIMIT 1", 1)
                if found:
                    return kind  # type: ignore[no-any-return]
        return ""
    return ""


# number of type sets whose names are sampled, largest first, and number of names of each
MOST_KINDS, NAMES = 30, 500

# words of fewer things are distinctive
MIN_FREQUENT_SHARE = 0.005


def frequent_words(asking: BudgetedEndpoint, schema: Schema, names: Sequence[str]) -> dict[str, float]:
    """The words in the names of more than `MIN_FREQUENT_SHARE` of all things, by a sample of each type set."""
    if not names:
        return {}
    predicates = ", ".join(f"<{iri}>" for iri in names)
    shares: dict[str, float] = defaultdict(float)
    things = sum(group.count for group in schema.groups)
    for group in schema.groups[:MOST_KINDS]:
        types = " ".join(write_membership(schema, iri, "?s", f"?k{i}") for i, iri in enumerate(group.classes))
        some = f"{{ SELECT ?s WHERE {{ {types} }} LIMIT {NAMES} }}"
        rows = asking.texts(f"SELECT ?s ?l WHERE {{ {some} ?s ?p ?l FILTER(?p IN ({predicates})) }}", 4 * NAMES)
        said = {(thing, word) for thing, name in rows or () for word in name_tokens(name)}
        seen = len({thing for thing, _ in said})
        for word, n in Counter(word for _, word in said).items():
            shares[word] += n / seen * group.count / things
    return {word: round(share, 4) for word, share in sorted(shares.items()) if share > MIN_FREQUENT_SHARE}
