"""Describe the graph of an endpoint by samples: ProbeResult -> EndpointDescription."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from ingestion.attach.declared_schema import DeclaredSchema
from ingestion.attach.predicates import build_predicate, unit_factors
from ingestion.attach.probe import ProbeResult, TypeSetSample, distinguishing_classes
from ingestion.induce.names.class_names import is_redundant_word
from ingestion.induce.names.column_names import column_name
from ingestion.induce.names.iri_segments import distinctive_segments
from ingestion.induce.names.predicate_names import PredicateRole, readable_labels
from ingestion.induce.schema_limits import limit_schema
from ingestion.induce.values.name_units import add_name_units
from ingestion.vocabulary import (
    EMPTY_TYPES,
    LAYER_NAME,
    SUBCLASS,
    local_name,
    name_rank,
)
from nacre.language.booleans import has_boolean_values
from nacre.records.schema import Class, Group, Schema
from nacre.stores.sqlite.lexicon import TableLink

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
        p.iri: found for p in predicates if p.unit and (found := unit_factors(p.unit, probed.literals.get(p.iri)))
    }
    unnamed.sort()
    return EndpointDescription(
        limit_schema(schema), sorted(facts), links, tuple(names), tuple(unnamed), tuple(dict.fromkeys(spaces)), factors
    )


def _roles(
    probed: ProbeResult, kinds: Sequence[tuple[TypeSetSample, frozenset[str]]], label: Mapping[str, str]
) -> dict[str, PredicateRole]:
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


def _relations(
    kinds: Sequence[tuple[TypeSetSample, frozenset[str]]], said: DeclaredSchema
) -> dict[frozenset[str], str]:
    """A relation name for each set of classes."""
    counts: Counter[str] = Counter()
    for kind, closed in kinds:
        counts.update(dict.fromkeys(closed, kind.count))
    taken: set[str] = set()
    found: dict[frozenset[str], str] = {}
    for _, closed in kinds:
        if closed not in found:
            found[closed] = _free(column_name(said.name(_most_specific(closed, counts))), taken)
    return found


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _classes(
    probed: ProbeResult,
    kinds: Sequence[tuple[TypeSetSample, frozenset[str]]],
    relations: dict[frozenset[str], str],
    said: DeclaredSchema,
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
        # if type sets overlap, the endpoint's own count is used
        count = members[iri] if all(kind.exact for kind, _ in kinds) else probed.classes.get(iri, members[iri])
        above = tuple(sorted(set(said.linked(iri, SUBCLASS)) & holding.keys()))
        found.append(Class(iri, said.name(iri), count, relation, said.comment(iri), said.others(iri), above))
    return tuple(found)


def _groups(
    probed: ProbeResult,
    kinds: Sequence[tuple[TypeSetSample, frozenset[str]]],
    relations: dict[frozenset[str], str],
    said: DeclaredSchema,
) -> tuple[Group, ...]:
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


def _links(
    kinds: Sequence[tuple[TypeSetSample, frozenset[str]]], relations: dict[frozenset[str], str], probed: ProbeResult
) -> list[TableLink]:
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
