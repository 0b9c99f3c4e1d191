"""Say what a graph behind an endpoint is about: Probed -> Described (its schema, and who has and links what)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import median
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from ingestion.attach.probe import Kind, Literals, Probed, beyond
from ingestion.induce.cells import Cells, typed_cells
from ingestion.induce.classes import says_less
from ingestion.induce.column_names import column_name, plain_words, words_of
from ingestion.induce.describe import FEW_VALUES, LONG_TEXT, LONGEST_SAMPLE, SAMPLES
from ingestion.induce.glued import unglued
from ingestion.induce.name_units import with_units
from ingestion.induce.quantities import conversion, quantity, stated_unit
from ingestion.induce.segments import telling_segments
from ingestion.read.capsules import Sort
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT,
    COMMENT_PREDICATES,
    EMPTY_TYPES,
    IDENTIFIER_WORDS,
    INVERSE,
    KNOWN_NAMES,
    LABEL,
    OWL,
    PREFERRED,
    SCHEMA_PREDICATES,
    SKOS,
    SUBCLASS,
    language_rank,
    local_name,
    name_rank,
)
from nacre.records.schema import Class, Group, Predicate, Schema
from nacre.stores.lexicon import Link
from nacre.stores.sparql_source import Term

# how many of its values a property that tells things apart has once (as for ingested graphs)
_UNIQUE = 0.8
# beginnings of IRIs that are remembered of each kind
MOST_SPACES = 4
_Role = str
_UNIT_AT_END = re.compile(r"\d\s*([^\d\s.,()]+)\s*$")


class Described(NamedTuple):
    """The schema; (group, predicate, things) for what groups have; links between groups; predicates that name things,
    the best first; groups most of whose things have no name, and the beginnings of these things' IRIs; by predicate,
    the units beside its usual one and what brings them to it."""

    schema: Schema
    facts: list[tuple[str, str, int]]
    links: list[Link]
    names: tuple[str, ...]
    unnamed: tuple[str, ...]
    spaces: tuple[str, ...]
    factors: dict[str, dict[str, float]]


def describe(probed: Probed) -> Described:
    """Put together what the queries gave."""
    said = _Said(probed.said)
    kinds = [(kind, said.closed(kind.types)) for kind in probed.kinds]
    relations = _relations(kinds, said)
    classes = _classes(probed, kinds, relations, said)
    words = {word for iri in probed.predicates for word in plain_words(local_name(iri)).split()}
    named = [_predicate(iri, probed, kinds, said, words) for iri in sorted(probed.predicates)]
    predicates = with_units(named, [c.label for c in classes])
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
    names = [p.iri for p in predicates if p.role in ("name", "identifier")]
    names.sort(key=lambda iri: (9 if (rank := name_rank(iri)) is None else rank, -probed.predicates[iri], iri))
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
    spaces = [space for kind, closed in kinds if relations[closed] in unnamed for space in _spaces(kind.iris)]
    links = _links(kinds, relations, probed)
    factors = {p.iri: found for p in predicates if p.unit and (found := _factors(p.unit, probed.literals.get(p.iri)))}
    unnamed.sort()
    return Described(schema, sorted(facts), links, tuple(names), tuple(unnamed), tuple(dict.fromkeys(spaces)), factors)


def _spaces(iris: Sequence[str]) -> list[str]:
    """The beginnings of IRIs whose ends are words, those of most things first."""
    ends = [(iri, local_name(iri)) for iri in iris]
    counts = Counter(
        iri.removesuffix(end) for iri, end in ends if iri.endswith(end) and any(map(str.isalpha, unquote(end)))
    )
    return [space for space, _ in counts.most_common(MOST_SPACES)]


def _factors(unit: str, literals: Literals | None) -> dict[str, float]:
    """What brings numbers in other units than the usual one to it, by the unit as literals end with it."""
    found: dict[str, float] = {}
    for text in (term.value for term, _ in literals.counts) if literals else ():
        read, ending = quantity(text), _UNIT_AT_END.search(text)
        way = conversion(read.unit, unit) if read and ending and read.unit != unit else None
        if way and ending and way[1] == 0 and way[0] != 1:
            found[ending[1]] = way[0]
    return dict(sorted(found.items()))


class _Said:
    """What the graph says of its classes and predicates."""

    def __init__(self, said: dict[tuple[str, str], tuple[Term, ...]]) -> None:
        self._said = said
        self.ancestors = lru_cache(maxsize=None)(self._ancestors)

    def label(self, iri: str) -> str:
        found = self._texts(iri, PREFERRED) or self._texts(iri, LABEL)
        return found[0] if found else ""

    def name(self, iri: str) -> str:
        return self.label(iri) or plain_words(local_name(iri)) or iri

    def others(self, iri: str) -> tuple[str, ...]:
        named = [text for p in (PREFERRED, LABEL, ALTERNATIVE) for text in self._texts(iri, p)]
        return tuple(text for text in dict.fromkeys(named) if text != self.label(iri))

    def comment(self, iri: str) -> str:
        found = self._texts(iri, COMMENT)
        return found[0] if found else ""

    def linked(self, iri: str, predicate: str) -> tuple[str, ...]:
        return tuple(term.value for term in self._said.get((iri, predicate), ()) if term.kind == "iri")

    def closed(self, types: Iterable[str]) -> frozenset[str]:
        """Classes with all above them."""
        return frozenset().union(*(self.ancestors(iri) for iri in types))

    def _ancestors(self, iri: str) -> frozenset[str]:
        found, open_ = {iri}, [iri]
        while open_:
            new = [up for up in self.linked(open_.pop(), SUBCLASS) if up not in found and up not in EMPTY_TYPES]
            found.update(new)
            open_ += new
        return frozenset(found)

    def _texts(self, iri: str, predicate: str) -> list[str]:
        """In English, else in no language, else in others."""
        terms = [term for term in self._said.get((iri, predicate), ()) if term.kind == "literal" and term.value]
        ranked = sorted(terms, key=lambda term: (language_rank(term.language), term.value))
        best = [language_rank(term.language)[0] for term in ranked[:1]]
        return [term.value for term in ranked if language_rank(term.language)[0] <= max(2, *best)]


def _telling(closed: frozenset[str], counts: dict[str, int]) -> str:
    """The class that says most of things that are in all of these."""
    return min(closed, key=lambda iri: (iri in EMPTY_TYPES, iri not in counts, counts.get(iri, 0), iri))


def _relations(kinds: Sequence[tuple[Kind, frozenset[str]]], said: _Said) -> dict[frozenset[str], str]:
    """A name for each set of classes."""
    counts: Counter[str] = Counter()
    for kind, closed in kinds:
        counts.update(dict.fromkeys(closed, kind.count))
    taken: set[str] = set()
    found: dict[frozenset[str], str] = {}
    for _, closed in kinds:
        if closed not in found:
            found[closed] = _free(column_name(said.name(_telling(closed, counts))), taken)
    return found


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _classes(
    probed: Probed, kinds: Sequence[tuple[Kind, frozenset[str]]], relations: dict[frozenset[str], str], said: _Said
) -> tuple[Class, ...]:
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
        relation = own.pop() if len(own) == 1 else _free(column_name(said.name(iri)), taken)
        # where kinds overlap, the endpoint's own count holds
        count = members[iri] if all(kind.exact for kind, _ in kinds) else probed.classes.get(iri, members[iri])
        above = tuple(sorted(set(said.linked(iri, SUBCLASS)) & holding.keys()))
        found.append(Class(iri, said.name(iri), count, relation, said.comment(iri), said.others(iri), above))
    return tuple(found)


def _groups(
    probed: Probed, kinds: Sequence[tuple[Kind, frozenset[str]]], relations: dict[frozenset[str], str], said: _Said
) -> tuple[Group, ...]:
    """A group a set of classes, with what the IRIs of its things have in common."""
    iris = [iri for kind, _ in kinds for iri in kind.iris]
    home = np.repeat(np.arange(len(kinds), dtype=np.int32), [len(kind.iris) for kind, _ in kinds])
    segments = telling_segments(iris, home, len(kinds))
    sets = [closed for _, closed in kinds]
    found = []
    for index, (kind, closed) in enumerate(kinds):
        telling = _telling(closed, probed.classes)
        name = said.name(telling)
        words = [word for word in segments[index] if not says_less(column_name(word), column_name(name))]
        label = name
        if sum(telling in other for other in sets) > 1:
            elsewhere = {word for other, those in segments.items() if other != index for word in those}
            unique = [word for word in words if word not in elsewhere] or words
            label = f"{name} {unique[0]}" if unique else f"other {name}"
        without = beyond(closed, sets, probed.classes) if kind.exact else ()
        found.append(Group(relations[closed], label, tuple(sorted(kind.types)), kind.count, without, tuple(words)))
    return tuple(sorted(found, key=lambda g: (-g.count, g.relation)))


def _links(
    kinds: Sequence[tuple[Kind, frozenset[str]]], relations: dict[frozenset[str], str], probed: Probed
) -> list[Link]:
    """How often predicates link groups: the classes that links lead to, told apart into the sets of types there are."""
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
    return [Link(*key, n) for key, n in sorted(found.items())]


def _predicate(
    iri: str, probed: Probed, kinds: Sequence[tuple[Kind, frozenset[str]]], said: _Said, words: set[str]
) -> Predicate:
    triples = probed.predicates[iri]
    named = unglued(plain_words(local_name(iri)), words)
    # people call these so where there is a thesaurus
    usual = KNOWN_NAMES.get(iri, ()) if SKOS + "Concept" in probed.classes else ()
    domains: Counter[str] = Counter()
    ranges: Counter[str] = Counter()
    subjects = 0
    for kind, closed in kinds:
        having = round(kind.subjects.get(iri, 0) * kind.scale)
        subjects += having
        domains.update({c: having for c in closed if having})
        for (p, c), n in kind.ends.items():
            if p == iri and c in probed.classes:
                # things of several kinds may link to the same
                ranges[c] = max(ranges[c], min(round(n * kind.scale), probed.classes[c]))
    literals = probed.literals.get(iri)
    cells = _cells(iri, literals) if literals else None
    texts = [term.value for term, _ in literals.counts] if literals else []
    few = literals is not None and literals.whole and len(texts) <= FEW_VALUES
    short = few and all(len(text) <= LONGEST_SAMPLE for text in texts)
    role = _role(iri, literals, cells, any(kind.links.get(iri) for kind, _ in kinds))
    return Predicate(
        iri=iri,
        label=said.label(iri) or next(iter(usual), "") or named or iri,
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
        minimum=_least(cells.minimum if cells else None, literals.minimum if literals else None),
        maximum=_most(cells.maximum if cells else None, literals.maximum if literals else None),
        comment=said.comment(iri),
        alt_labels=(*said.others(iri), *usual[1:]),
        values=tuple(dict.fromkeys(texts)) if short else (),
        samples=() if short else tuple(text[:LONGEST_SAMPLE] for text in texts[:SAMPLES]),
        inverses=said.linked(iri, INVERSE),
        role=role,  # type: ignore[arg-type]
    )


def _objects(triples: int, literals: Literals | None, ranges: Mapping[str, int]) -> int:
    """How many different objects there are: as many as were counted, else as there may be."""
    if literals is not None:
        return len(literals.counts) if literals.whole else triples
    return max(ranges.values(), default=triples)


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _least(a: float | None, b: float | None) -> float | None:
    return min(a, b) if a is not None and b is not None else a if b is None else b


def _most(a: float | None, b: float | None) -> float | None:
    return max(a, b) if a is not None and b is not None else a if b is None else b


def _cells(iri: str, literals: Literals) -> Cells:
    sorts: list[Sort] = [("literal", term.datatype, term.language) for term, _ in literals.counts]
    frequency: Counter[Sort] = Counter()
    for sort, (_, n) in zip(sorts, literals.counts, strict=True):
        frequency[sort] += n
    return typed_cells(iri, [term.value for term, _ in literals.counts], sorts, dict(frequency))


def _unit(cells: Cells | None, *said: str) -> str:
    if cells is None or cells.unit or cells.datatype not in ("integer", "real"):
        return cells.unit if cells else ""
    return next((unit for text in said if (unit := stated_unit(words_of(text)))), "")


def _role(iri: str, literals: Literals | None, cells: Cells | None, has_links: bool) -> _Role:
    """As for ingested graphs, by the literals that were seen."""
    if iri in SCHEMA_PREDICATES or iri == OWL + "sameAs":
        return "schema"
    if literals is None or cells is None or has_links:
        return "fact"
    words = words_of(local_name(iri)).lower().split()
    if name_rank(iri) is not None or iri == ALTERNATIVE:
        return "name"
    if cells.datatype not in ("text", "integer") or cells.unit:
        return "fact"
    seen = sum(n for _, n in literals.counts)
    unique = len(literals.counts) > _UNIQUE * seen
    if set(words) & IDENTIFIER_WORDS and unique:
        return "identifier"
    if cells.datatype != "text":
        return "fact"
    if iri in COMMENT_PREDICATES or median(len(term.value) for term, _ in literals.counts) > LONG_TEXT:
        return "text"
    return "name" if unique and words[-1:] in (["name"], ["title"]) else "fact"
