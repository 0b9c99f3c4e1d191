"""Sample what a layer derives as if it were stored: pattern + ProbeResult -> ProbeResult with a class or predicate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.attach.budget import BudgetedEndpoint
from ingestion.attach.probe import (
    SAMPLED_VALUES,
    ProbeResult,
    TypeSetSample,
    distinguishing_classes,
    sample_literals,
    sample_type_set,
)
from ingestion.vocabulary import EMPTY_TYPES, SCHEMA_TYPES, SUBCLASS
from nacre.plans.sparql.derived import write_pattern
from nacre.stores.sparql.sparql_source import SparqlTerm

# type sets of a derived class that are sampled, largest first
MOST_SPLIT = 10


@dataclass(frozen=True)
class DerivedClass:
    """A derived class, its pattern over ?this, and its number among the derived classes."""

    iri: str
    pattern: str
    number: int

    def of(self, variable: str) -> str:
        """The pattern over another variable."""
        return write_pattern(self.pattern, variable, "", f"?k{self.number}_")


def sample_class(
    asking: BudgetedEndpoint, probed: ProbeResult, own: DerivedClass, derived: Sequence[DerivedClass]
) -> tuple[ProbeResult, int] | None:
    """The result with a derived class: the type sets of its members are split from those of other things. Also the
    number of members; None if the endpoint did not answer."""
    rows = asking.texts(
        "SELECT ?all (COUNT(?this) AS ?n) WHERE { SELECT ?this"
        ' (GROUP_CONCAT(COALESCE(STR(?type), ""); separator=" ") AS ?all) WHERE {'
        f" {{ SELECT DISTINCT ?this WHERE {{ {own.of('?this')} FILTER(!isLiteral(?this)) }} }}"
        f" OPTIONAL {{ {_types(derived)} }} }} GROUP BY ?this }} GROUP BY ?all"
    )
    if rows is None:
        return None
    inside: Counter[frozenset[str]] = Counter()
    for types, n in rows:
        inside[_type_set(types, probed)] += int(n)
    count = sum(inside.values())
    if not count:
        return probed, 0
    is_exact = all(kind.exact for kind in probed.kinds)
    if is_exact:
        kinds = _split(asking, probed, inside, own, derived)
    else:
        alone = TypeSetSample(frozenset((own.iri,)), count, False)
        kinds = [*probed.kinds, sample_type_set(asking, alone, (), {own.iri: own.of("?s")})]
    said = dict(probed.said) | (_containments(probed, inside, own.iri, count) if is_exact else {})
    things = probed.things + (inside[frozenset()] if is_exact else 0)
    classes = {**probed.classes, own.iri: count}
    return replace(probed, classes=classes, kinds=tuple(kinds), said=said, things=things), count


def _split(
    asking: BudgetedEndpoint,
    probed: ProbeResult,
    inside: Mapping[frozenset[str], int],
    own: DerivedClass,
    derived: Sequence[DerivedClass],
) -> list[TypeSetSample]:
    """The type sets, those with members of a derived class in two: with it and without it."""
    patterns = {each.iri: each.of("?s") for each in (*derived, own)}
    counts = {**probed.classes, own.iri: sum(inside.values())}
    kinds: list[TypeSetSample] = []
    split: list[TypeSetSample] = []
    for kind in probed.kinds:
        n = inside.get(kind.types, 0)
        if n >= kind.count:
            kinds.append(replace(kind, types=kind.types | {own.iri}))
        elif n and len(split) < 2 * MOST_SPLIT:
            split += [replace(kind, types=kind.types | {own.iri}, count=n), replace(kind, count=kind.count - n)]
        else:
            kinds.append(kind)
    if inside.get(frozenset()):
        split.append(TypeSetSample(frozenset((own.iri,)), inside[frozenset()], True))
    sets = [kind.types for kind in (*kinds, *split)]
    kinds += [sample_type_set(asking, k, distinguishing_classes(k.types, sets, counts), patterns) for k in split]
    return sorted(kinds, key=lambda kind: (-kind.count, sorted(kind.types)))


def _containments(
    probed: ProbeResult, inside: Mapping[frozenset[str], int], iri: str, count: int
) -> dict[tuple[str, str], tuple[SparqlTerm, ...]]:
    """The superclasses of a derived class, and its subclasses, by their members."""
    shared: Counter[str] = Counter()
    for types, n in inside.items():
        shared.update(dict.fromkeys(types, n))
    wide = sorted(c for c, n in shared.items() if n == count < probed.classes.get(c, 0))
    smallest = min((probed.classes[c] for c in wide), default=0)
    found = {(iri, SUBCLASS): tuple(SparqlTerm("iri", c) for c in wide if probed.classes[c] == smallest)}
    for c, n in shared.items():
        if n == probed.classes.get(c, 0) < count:
            found[c, SUBCLASS] = (*probed.said.get((c, SUBCLASS), ()), SparqlTerm("iri", iri))
    return {key: terms for key, terms in found.items() if terms}


def sample_property(
    asking: BudgetedEndpoint, probed: ProbeResult, iri: str, patterns: Sequence[str], derived: Sequence[DerivedClass]
) -> tuple[ProbeResult, int] | None:
    """The result with a derived predicate, and the number of its values; None if the endpoint did not answer."""
    written = [f"{{ {write_pattern(each, '?this', '?o', f'?i{i}_')} }}" for i, each in enumerate(patterns)]
    every = f"SELECT DISTINCT ?this ?o WHERE {{ {' UNION '.join(written)} FILTER(BOUND(?o) && !isLiteral(?this)) }}"
    pairs = f"{{ {every} LIMIT {SAMPLED_VALUES} }}"
    rows = asking.texts(
        "SELECT ?all (COUNT(?this) AS ?n) (SUM(?v) AS ?t) (SUM(?w) AS ?l) WHERE { SELECT ?this ?v ?w"
        ' (GROUP_CONCAT(STR(?type); separator=" ") AS ?all) WHERE { { SELECT ?this (COUNT(?o) AS ?v)'
        f" (SUM(IF(isLiteral(?o), 0, 1)) AS ?w) WHERE {{ {pairs} }} GROUP BY ?this }} {_typed(derived)} }}"
        " GROUP BY ?this ?v ?w } GROUP BY ?all"
    )
    if rows is None:
        return None
    counts = [(_type_set(types, probed), int(n), round(float(t)), round(float(w))) for types, n, t, w in rows if t]
    values, links = sum(t for _, _, t, _ in counts), sum(w for _, _, _, w in counts)
    if not values:
        return probed, 0
    factor = 1.0
    if values >= SAMPLED_VALUES:
        total = asking.texts(f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {every} }} }}", 1)
        factor = max(1.0, int(total[0][0]) / values) if total and total[0][0] else 1.0
    targets = _targets(asking, pairs, derived, probed) if links else {}
    kinds = tuple(_with_property(kind, iri, counts, targets, factor) for kind in probed.kinds)
    literals = dict(probed.literals)
    literals.pop(iri, None)
    whole = round(values * factor)
    sampled = sample_literals(asking, f"{{ {every} }}", whole) if links < values else None
    if sampled is not None:
        literals[iri] = sampled
    return replace(probed, kinds=kinds, literals=literals, predicates={**probed.predicates, iri: whole}), whole


_Targets = dict[tuple[frozenset[str], str], tuple[int, int]]


def _targets(asking: BudgetedEndpoint, pairs: str, derived: Sequence[DerivedClass], probed: ProbeResult) -> _Targets:
    """How many links of a type set lead to each class, and to how many things."""
    rows = asking.texts(
        "SELECT ?all ?c (COUNT(?o) AS ?n) (COUNT(DISTINCT ?o) AS ?m) WHERE {"
        ' { SELECT ?this ?o (GROUP_CONCAT(STR(?type); separator=" ") AS ?all) WHERE {'
        f" {pairs} {_typed(derived)} }} GROUP BY ?this ?o }}"
        f" {_typed(derived, '?o', '?c')} }} GROUP BY ?all ?c LIMIT 2000",
        2000,
    )
    found: _Targets = {}
    for types, class_, n, m in rows or ():
        key = _type_set(types, probed), class_
        before = found.get(key, (0, 0))
        found[key] = before[0] + int(n), before[1] + int(m)
    return found


def _with_property(
    kind: TypeSetSample,
    iri: str,
    counts: Sequence[tuple[frozenset[str], int, int, int]],
    targets: _Targets,
    factor: float,
) -> TypeSetSample:
    """A sample with a derived predicate, in numbers of sampled things."""

    def is_of(types: frozenset[str]) -> bool:
        return types == kind.types if kind.exact else kind.types <= types

    scale = kind.scale / factor
    own = [each for each in counts if is_of(each[0])]
    n, t, w = sum(each[1] for each in own), sum(each[2] for each in own), sum(each[3] for each in own)
    subjects, triples, links = (dict(each) for each in (kind.subjects, kind.triples, kind.links))
    ends = {key: m for key, m in kind.ends.items() if key[0] != iri}
    leading = {key: m for key, m in kind.targets.items() if key[0] != iri}
    for each in (subjects, triples, links):
        each.pop(iri, None)
    if n:
        subjects[iri] = min(max(1, round(n / scale)), kind.looked_at or kind.count)
        triples[iri] = subjects[iri] if t == n else max(subjects[iri] + 1, round(t / scale))
        if w:
            links[iri] = triples[iri] if w == t else max(1, min(triples[iri] - 1, round(w / scale)))
    for (types, class_), (number, things) in targets.items():
        if is_of(types):
            leading[iri, class_] = leading.get((iri, class_), 0) + max(1, round(number / scale))
            ends[iri, class_] = ends.get((iri, class_), 0) + max(1, round(things / scale))
    return replace(kind, subjects=subjects, triples=triples, links=links, targets=leading, ends=ends)


def _types(derived: Sequence[DerivedClass], thing: str = "?this", type_: str = "?type") -> str:
    """The types of a thing, with derived ones."""
    parts = [f"{thing} a {type_}", *(f"{each.of(thing)} BIND(<{each.iri}> AS {type_})" for each in derived)]
    return parts[0] if len(parts) == 1 else " UNION ".join(f"{{ {part} }}" for part in parts)


def _typed(derived: Sequence[DerivedClass], thing: str = "?this", type_: str = "?type") -> str:
    return f"{{ {_types(derived, thing, type_)} }}" if derived else f"{thing} a {type_}"


def _type_set(types: str, probed: ProbeResult) -> frozenset[str]:
    """The known types in a list, without those that mean nothing."""
    known = frozenset(types.split()).intersection(probed.classes)
    return frozenset() if known & SCHEMA_TYPES else known - EMPTY_TYPES or known
