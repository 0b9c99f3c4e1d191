"""Describe the graph of an endpoint by samples: ProbeResult -> EndpointDescription.

Predicates get units by the samples of their literals. What the endpoint declares about classes and predicates (labels,
comments, superclasses) is asked for last.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from ingestion.induce.build_schema import LONG_TEXT, MAX_LISTED_VALUES, MAX_SAMPLE_LENGTH, SAMPLES
from ingestion.induce.cells import TypedCells, infer_cells, written_form
from ingestion.induce.classes import distinctive_segments, is_redundant_word, strip_table_affix
from ingestion.induce.declarations import MAX_COMMENT, MAX_LABEL, limit_schema, other_labels
from ingestion.induce.names import (
    PredicateRole,
    ReadableLabel,
    column_name,
    lowercase_name,
    readable_labels,
    readable_name,
)
from ingestion.induce.quantities import add_name_units, parse_quantity, stated_unit, unit_conversion
from ingestion.read.facts import TermSort
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT,
    COMMENT_PREDICATES,
    EMPTY_TYPES,
    INVERSE,
    LABEL,
    LAYER_NAME,
    OWL,
    PREFERRED,
    SCHEMA_PREDICATES,
    SKOS,
    SUBCLASS,
    language_rank,
    local_name,
    name_rank,
    vocabulary_labels,
)
from nacre.extensions.endpoints.probe import LiteralSample, ProbeResult, TypeSetSample, distinguishing_classes
from nacre.language.data import word_list
from nacre.language.labels import has_boolean_values
from nacre.plans.selects import free_name
from nacre.records.schema import Class, Group, Predicate, Schema
from nacre.stores.sparql_source import SparqlTerm
from nacre.stores.sqlite.lexicon import TableLink

# the samples of type sets, each with the classes of its things and all their ancestors
Kinds = Sequence[tuple[TypeSetSample, frozenset[str]]]

# the relation of the things of exactly these classes
RelationNames = dict[frozenset[str], str]

# maximum number of namespaces of each type set
MAX_NAMESPACES = 4


class EndpointDescription(NamedTuple):
    """The schema; `facts` as (group, predicate, number of things); links between groups; predicates that name things,
    best first; groups of mostly unnamed things, and the namespaces of these; by predicate, other units and the factors
    that convert them to its usual one."""

    schema: Schema
    facts: list[tuple[str, str, int]]
    links: list[TableLink]
    names: tuple[str, ...]
    unnamed: tuple[str, ...]
    spaces: tuple[str, ...]
    factors: dict[str, dict[str, float]]


def describe_endpoint(
    probed: ProbeResult, naming: Sequence[str] = (), derived: Collection[str] = ()
) -> EndpointDescription:
    """Describe the graph by the results of the queries. `naming` predicates name things before all others; `derived`
    ones are stored nowhere, and name things only if they are among these."""
    said = DeclaredSchema(probed.said)
    kinds = [(kind, said.closed(kind.types)) for kind in probed.kinds]
    relations = _relations(kinds, said)
    classes = _classes(probed, kinds, relations, said)
    spoken = readable_labels(probed.predicates, _roles(probed, kinds, {c.iri: c.label for c in classes}))
    named = [build_predicate(iri, probed, kinds, said, spoken[iri]) for iri in sorted(probed.predicates)]
    predicates = add_name_units(named, [c.label for c in classes])
    groups = _groups(probed, kinds, relations, said)
    schema = Schema(
        classes=classes,
        groups=groups,
        predicates=predicates,
        relations=(),
        junctions={},
        triples=probed.triples,
        entities=probed.things,
    )
    names = [p.iri for p in predicates if p.role in ("name", "identifier") and p.iri not in {*naming, *derived}]
    names.sort(key=lambda iri: (9 if (rank := name_rank(iri)) is None else rank, -probed.predicates[iri], iri))
    given = [iri for iri in naming if iri in probed.predicates]
    # the names that a layer gives to single things come after their own
    own, last = [iri for iri in given if iri != LAYER_NAME], [iri for iri in given if iri == LAYER_NAME]
    names = [*own, *(iri for iri in names if iri != LAYER_NAME), *last]
    facts = [
        (relations[closed], iri, round(n * kind.scale))
        for kind, closed in kinds
        for iri, n in kind.subjects.items()
        if iri in probed.predicates
    ]
    unnamed = [
        relations[closed]
        for kind, closed in kinds
        if sum(kind.subjects.get(iri, 0) for iri in names) < kind.looked_at / 2
    ]
    spaces = [space for kind, closed in kinds if relations[closed] in unnamed for space in _namespaces(kind.iris)]
    links = _links(kinds, relations, probed)
    factors = {
        p.iri: found
        for p in predicates
        if p.unit and p.iri in probed.literals and (found := unit_factors(p, probed.literals[p.iri]))
    }
    unnamed.sort()
    return EndpointDescription(
        limit_schema(schema), sorted(facts), links, tuple(names), tuple(unnamed), tuple(dict.fromkeys(spaces)), factors
    )


def _roles(probed: ProbeResult, kinds: Kinds, label: Mapping[str, str]) -> dict[str, PredicateRole]:
    """The role of each predicate, which its name may repeat."""
    owners: dict[str, dict[str, None]] = defaultdict(dict)
    ends: dict[str, dict[str, None]] = defaultdict(dict)
    for kind, closed in kinds:
        for iri in kind.subjects:
            owners[iri] |= dict.fromkeys(label[c] for c in sorted(closed) if c in label)
        for iri, c in kind.ends:
            ends[iri] |= dict.fromkeys([label[c]] if c in label else [])
    found = {}
    for iri in probed.predicates:
        literals = probed.literals.get(iri)
        values = {term.value for term, _ in literals.counts} if literals is not None and literals.whole else set()
        flag = not ends[iri] and has_boolean_values(values, local_name(iri))
        found[iri] = PredicateRole(tuple(owners[iri]), tuple(ends[iri]), flag)
    return found


def _namespaces(iris: Sequence[str]) -> list[str]:
    """The namespaces of IRIs whose local names are words, most frequent first."""
    ends = [(iri, local_name(iri)) for iri in iris]
    counts = Counter(
        iri.removesuffix(end) for iri, end in ends if iri.endswith(end) and any(map(str.isalpha, unquote(end)))
    )
    return [space for space, _ in counts.most_common(MAX_NAMESPACES)]


def _most_specific(closed: frozenset[str], counts: dict[str, int]) -> str:
    """The most specific of these classes."""
    return min(closed, key=lambda iri: (iri in EMPTY_TYPES, iri not in counts, counts.get(iri, 0), iri))


class DeclaredSchema:
    """The declarations of classes and predicates, by (term, predicate)."""

    def __init__(self, declared: dict[tuple[str, str], tuple[SparqlTerm, ...]]) -> None:
        self._declared = declared
        self.ancestors = lru_cache(maxsize=None)(self._ancestors)

    def label(self, iri: str) -> str:
        found = self._texts(iri, PREFERRED) or self._texts(iri, LABEL)
        return found[0][:MAX_LABEL] if found else ""

    def name(self, iri: str) -> str:
        return self.label(iri) or lowercase_name(strip_table_affix(local_name(iri)))[:MAX_LABEL] or iri[:MAX_LABEL]

    def others(self, iri: str) -> tuple[str, ...]:
        named = [text for p in (PREFERRED, LABEL, ALTERNATIVE) for text in self._texts(iri, p)]
        return other_labels(text for text in named if text[:MAX_LABEL] != self.label(iri))

    def comment(self, iri: str) -> str:
        found = self._texts(iri, COMMENT)
        return found[0][:MAX_COMMENT] if found else ""

    def linked(self, iri: str, predicate: str) -> tuple[str, ...]:
        return tuple(term.value for term in self._declared.get((iri, predicate), ()) if term.kind == "iri")

    def closed(self, types: Iterable[str]) -> frozenset[str]:
        """The classes with all their ancestors."""
        return frozenset().union(*(self.ancestors(iri) for iri in types))

    def _ancestors(self, iri: str) -> frozenset[str]:
        found, open_ = {iri}, [iri]
        while open_:
            new = [up for up in self.linked(open_.pop(), SUBCLASS) if up not in found and up not in EMPTY_TYPES]
            found.update(new)
            open_ += new
        return frozenset(found)

    def _texts(self, iri: str, predicate: str) -> list[str]:
        """Texts in English, else untagged, else in other languages."""
        terms = [term for term in self._declared.get((iri, predicate), ()) if term.kind == "literal" and term.value]
        ranked = sorted(terms, key=lambda term: (language_rank(term.language), term.value))
        best = [language_rank(term.language)[0] for term in ranked[:1]]
        return [term.value for term in ranked if language_rank(term.language)[0] <= max(2, *best)]


def _relations(kinds: Kinds, said: DeclaredSchema) -> RelationNames:
    """A relation name for each set of classes."""
    counts: Counter[str] = Counter()
    for kind, closed in kinds:
        counts.update(dict.fromkeys(closed, kind.count))
    found: RelationNames = {}
    for _, closed in kinds:
        if closed not in found:
            found[closed] = free_name(column_name(said.name(_most_specific(closed, counts))), found.values())
    return found


def _classes(probed: ProbeResult, kinds: Kinds, relations: RelationNames, said: DeclaredSchema) -> tuple[Class, ...]:
    holding: dict[str, list[frozenset[str]]] = defaultdict(list)
    members: Counter[str] = Counter()
    for kind, closed in kinds:
        for iri in closed:
            holding[iri].append(closed)
            members[iri] += kind.count
    taken = set(relations.values())
    found = []
    for iri in sorted(holding, key=lambda iri: (-members[iri], iri)):
        own = {relations[closed] for closed in holding[iri]}
        relation = own.pop() if len(own) == 1 else free_name(column_name(said.name(iri)), taken)
        taken.add(relation)
        # if type sets overlap, the endpoint's own count is used
        count = members[iri] if all(kind.exact for kind, _ in kinds) else probed.classes.get(iri, members[iri])
        above = tuple(sorted(set(said.linked(iri, SUBCLASS)) & holding.keys()))
        found.append(Class(iri, said.name(iri), count, relation, said.comment(iri), said.others(iri), above))
    return tuple(found)


def _groups(probed: ProbeResult, kinds: Kinds, relations: RelationNames, said: DeclaredSchema) -> tuple[Group, ...]:
    """A group for each set of classes, with the distinctive words of its things' IRIs."""
    iris = [iri for kind, _ in kinds for iri in kind.iris]
    home = np.repeat(np.arange(len(kinds), dtype=np.int32), [len(kind.iris) for kind, _ in kinds])
    segments = distinctive_segments(iris, home, len(kinds))
    sets = [closed for _, closed in kinds]
    found = []
    for index, (kind, closed) in enumerate(kinds):
        telling = _most_specific(closed, probed.classes)
        name = said.name(telling)
        words = [word for word in segments[index] if not is_redundant_word(column_name(word), column_name(name))]
        label = name
        if sum(telling in other for other in sets) > 1:
            elsewhere = {word for other, those in segments.items() if other != index for word in those}
            unique = [word for word in words if word not in elsewhere] or words
            label = f"{name} {unique[0]}" if unique else f"other {name}"
        without = distinguishing_classes(closed, sets, probed.classes) if kind.exact else ()
        found.append(Group(relations[closed], label, tuple(sorted(kind.types)), kind.count, without, tuple(words)))
    return tuple(sorted(found, key=lambda g: (-g.count, g.relation)))


def _links(kinds: Kinds, relations: RelationNames, probed: ProbeResult) -> list[TableLink]:
    """The number of links between groups; the classes that links lead to are distributed over the sets of types."""
    targets = [(kind.types, relations[closed]) for kind, closed in kinds]
    targets.sort(key=lambda each: (-len(each[0]), each[1]))
    found: Counter[tuple[str, str, str]] = Counter()
    for kind, closed in kinds:
        left: dict[str, Counter[str]] = defaultdict(Counter)
        for (predicate, iri), n in kind.targets.items():
            left[predicate][iri] += n
        for predicate, counts in left.items():
            for types, relation in targets:
                n = min(counts[iri] for iri in types)
                if n > 0 and predicate in probed.predicates:
                    counts.subtract(dict.fromkeys(types, n))
                    found[predicate, relations[closed], relation] += round(n * kind.scale)
    return [TableLink(*key, n) for key, n in sorted(found.items())]


# minimum share of unique values of an identifying property (as for ingested graphs)
_UNIQUE = 0.8

_UNIT_AT_END = re.compile(r"\d\s*([^\d\s.,()]+)\s*$")


def build_predicate(
    iri: str, probed: ProbeResult, kinds: Kinds, said: DeclaredSchema, spoken: ReadableLabel
) -> Predicate:
    """Build a predicate from all samples; `spoken` is its readable label."""
    triples = probed.predicates[iri]
    # usual labels in graphs with a thesaurus
    usual = vocabulary_labels().get(iri, ()) if SKOS + "Concept" in probed.classes else ()
    domains: Counter[str] = Counter()
    ranges: Counter[str] = Counter()
    subjects = 0
    for kind, closed in kinds:
        having = round(kind.subjects.get(iri, 0) * kind.scale)
        subjects += having
        domains.update({c: having for c in closed if having})
        for (p, c), n in kind.ends.items():
            if p == iri and c in probed.classes:
                # things of several type sets may link to the same object
                ranges[c] = max(ranges[c], min(round(n * kind.scale), probed.classes[c]))
    literals = probed.literals.get(iri)
    cells = _cells(iri, literals) if literals else None
    counted = [each for each in (cells, literals) if each is not None]
    texts = [term.value for term, _ in literals.counts] if literals else []
    few = literals is not None and literals.whole and len(texts) <= MAX_LISTED_VALUES
    short = few and all(len(text) <= MAX_SAMPLE_LENGTH for text in texts)
    role = _role(iri, literals, cells, any(kind.links.get(iri) for kind, _ in kinds))
    return Predicate(
        iri=iri,
        label=said.label(iri) or next(iter(usual), "") or spoken.label or iri,
        triples=triples,
        subjects=subjects or triples,
        objects=_objects(triples, literals, ranges),
        has_literals=literals is not None,
        has_links=any(kind.links.get(iri) for kind, _ in kinds),
        functional=all(kind.subjects[iri] == kind.triples[iri] for kind, _ in kinds if iri in kind.subjects),
        domains=_by_count(domains),
        ranges=_by_count(ranges),
        datatype=cells.datatype if cells else "text",
        shape=cells.shape if cells else "single",
        unit=_unit(cells, said.comment(iri), said.label(iri), local_name(iri)),
        minimum=min((each.minimum for each in counted if each.minimum is not None), default=None),
        maximum=max((each.maximum for each in counted if each.maximum is not None), default=None),
        comment=said.comment(iri),
        alt_labels=(*said.others(iri), *usual[1:], *spoken.others),
        values=tuple(dict.fromkeys(texts)) if short else (),
        samples=() if short else tuple(text[:MAX_SAMPLE_LENGTH] for text in texts[:SAMPLES]),
        inverses=said.linked(iri, INVERSE),
        role=role,  # type: ignore[arg-type]
        written=written_form(cells),
        unread=cells.unread([n for _, n in literals.counts]) if cells and literals else 0,
    )


def _objects(triples: int, literals: LiteralSample | None, ranges: Mapping[str, int]) -> int:
    """The number of distinct objects: counted, else estimated."""
    if literals is not None:
        return len(literals.counts) if literals.whole else triples
    return max(ranges.values(), default=triples)


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _cells(iri: str, literals: LiteralSample) -> TypedCells:
    sorts: list[TermSort] = [("literal", term.datatype, term.language) for term, _ in literals.counts]
    cells = infer_cells(iri, [term.value for term, _ in literals.counts], sorts, [n for _, n in literals.counts])
    # an endpoint has no possible days beside its literals
    return replace(cells, shape="single", datatype="text") if cells.shape == "period" else cells


def _unit(cells: TypedCells | None, *said: str) -> str:
    if cells is None or cells.unit or cells.datatype not in ("integer", "real"):
        return cells.unit if cells else ""
    return next((unit for text in said if (unit := stated_unit(readable_name(text)))), "")


def _role(iri: str, literals: LiteralSample | None, cells: TypedCells | None, has_links: bool) -> str:
    """The role of a predicate, as for ingested graphs, by the sampled literals."""
    if iri in SCHEMA_PREDICATES or iri == OWL + "sameAs":
        return "schema"
    if literals is None or cells is None or has_links:
        return "fact"
    words = readable_name(local_name(iri)).lower().split()
    if name_rank(iri) is not None or iri == ALTERNATIVE:
        return "name"
    if cells.datatype not in ("text", "integer") or cells.unit:
        return "fact"
    seen = sum(n for _, n in literals.counts)
    unique = len(literals.counts) > _UNIQUE * seen
    if set(words) & word_list("ingestion", "identifier_words") and unique:
        return "identifier"
    if cells.datatype != "text":
        return "fact"
    if iri in COMMENT_PREDICATES or median(len(term.value) for term, _ in literals.counts) > LONG_TEXT:
        return "text"
    return "name" if unique and words[-1:] in (["name"], ["title"]) else "fact"


def unit_factors(predicate: Predicate, literals: LiteralSample) -> dict[str, float]:
    """The factors that convert to the usual unit, by another unit or word for it at the end of literals."""
    found: dict[str, float] = {}
    for cell, (term, _) in zip(_cells(predicate.iri, literals).value, literals.counts, strict=True):
        read, ending = parse_quantity(term.value), _UNIT_AT_END.search(term.value)
        way = unit_conversion(read.unit or predicate.unit, predicate.unit) if read else (1.0, 0.0)
        if cell is not None and ending and ending[1] != predicate.unit and way and way[1] == 0:
            found[ending[1]] = way[0]
    return dict(sorted(found.items()))
