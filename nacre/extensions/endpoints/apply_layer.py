"""Apply packs and layers to the samples of an endpoint: LayerFiles + ProbeResult -> samples with what they derive.

Nothing can be materialised at an endpoint, so what a layer derives is sampled as if it were stored, and its names are
added as declarations. `check` says for each entry what it gives and what is wrong.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ingestion.induce.names import readable_name
from ingestion.layer.apply import EXAMPLES, EntryReport, LayerReport, entry_name, shared_names
from ingestion.layer.entries import ClassEntry, CodeEntry, Entry, Layer, PropertyEntry, RuleEntry, ThingEntry
from ingestion.layer.layer_file import LayerFiles, iri_variants
from ingestion.layer.resolve import (
    GraphTerms,
    Problem,
    all_rewordings,
    last_of_each,
    mark_schema,
    packs_for,
    resolve_layer,
    without_removed,
)
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT,
    EMPTY_TYPES,
    LABEL,
    LAYER_NAME,
    PREFERRED,
    SCHEMA_TYPES,
    SUBCLASS,
    local_name,
)
from nacre.errors import IngestionError, ToolError
from nacre.extensions.endpoints.describe_endpoint import DeclaredSchema
from nacre.extensions.endpoints.layer_patterns import MAX_GIVEN, DerivedPatterns, GivesNothing, single_property
from nacre.extensions.endpoints.probe import (
    SAMPLED_VALUES,
    BudgetedEndpoint,
    ProbeResult,
    TypeSetSample,
    distinguishing_classes,
    probe_endpoint,
    sample_literals,
    sample_type_set,
)
from nacre.plans.sparql_vocabulary import write_pattern
from nacre.records.schema import Schema
from nacre.stores.sparql_source import SparqlTerm

NO_ANSWER = "the endpoint did not answer in time."

# with more things, names are not looked up by patterns, which may read all of them
MANY_THINGS = 200_000

NOT_STORED = "its triples are behind the endpoint, and nothing can be added to them."


def apply_endpoint_layers(asking: BudgetedEndpoint, probed: ProbeResult, files: LayerFiles) -> "EndpointLayer":
    """Resolve packs and files against the samples, and sample what they derive within the rest of the budget. An entry
    that an endpoint can't do, or that it doesn't answer in time, is left out; `problems` has those of files."""
    terms = _terms(probed)
    packs = packs_for([*probed.classes, *probed.predicates]) if files.packs else []
    resolved = [resolve_layer(layer, terms)[0] for layer in packs]
    problems: list[Problem] = []
    own_files = {each.name for each in files.files}
    for layer in files.layers():
        own, found = resolve_layer(layer, terms)
        resolved.append(own)
        problems += found
    merged = Layer(
        "layers",
        last_of_each([entry for layer in resolved for entry in layer.entries]),
        rewordings=all_rewordings(resolved),
    )
    derived = EndpointLayer(asking, probed, merged)
    derived.derive()
    derived.problems = [*problems, *(problem for problem in derived.problems if problem.place.file in own_files)]
    derived.probed = declare_names(derived.probed, merged)
    return derived


def _terms(probed: ProbeResult) -> GraphTerms:
    said = DeclaredSchema(probed.said)

    def labels() -> Mapping[str, tuple[str, ...]]:
        every = (*probed.classes, *probed.predicates)
        return {iri: tuple(filter(None, (said.label(iri), *said.others(iri)))) for iri in every}

    return GraphTerms(probed.classes, probed.predicates, labels)


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


# how many links of a type set lead to each class, and to how many things
_Targets = dict[tuple[frozenset[str], str], tuple[int, int]]


class EndpointLayer:
    """The samples with what the entries of a layer derived so far, and how many values or members each entry gave, by
    its index. Classes are sampled before properties, which count their members."""

    def __init__(self, asking: BudgetedEndpoint, probed: ProbeResult, layer: Layer) -> None:
        self.probed, self.layer = probed, layer
        self.counts: dict[int, int] = {}
        self.problems: list[Problem] = []
        self._known = DerivedPatterns(probed)
        self._derived: list[DerivedClass] = []
        self._sampled = set[str]()
        self._naming: list[str] = []
        self._asking = asking
        self._entries = layer.entries

    @property
    def patterns(self) -> dict[str, tuple[str, ...]]:
        """Those of the derived properties that have values."""
        return {iri: tuple(self._known.properties[iri]) for iri in self._sampled}

    @property
    def naming(self) -> tuple[str, ...]:
        """The properties that name things, the best first."""
        return tuple(dict.fromkeys(reversed(self._naming)))

    def shown(self, schema: Schema) -> Schema:
        """The schema with units, patterns, and what is hidden; without what is removed."""
        marked, patterns = mark_schema(schema, self.layer), self.patterns
        members = {each.iri: each.pattern for each in self._derived}
        return without_removed(
            replace(
                marked,
                classes=tuple(replace(c, pattern=members.get(c.iri, "")) for c in marked.classes),
                predicates=tuple(replace(p, patterns=patterns.get(p.iri, ())) for p in marked.predicates),
            ),
            self.layer,
        )

    def derive(self) -> None:
        """Sample what the entries derive, in their order."""
        written: dict[str, list[int]] = {}
        for index, entry in enumerate(self._entries):
            with self._failures(index, entry):
                if iri := self._write(index, entry):
                    written.setdefault(iri, []).append(index)
        for iri, indexes in written.items():
            self._sample_property(iri, indexes)
        for index, entry in enumerate(self._entries):
            if isinstance(entry, CodeEntry):
                with self._failures(index, entry):
                    self._explain_codes(index, entry)
        self._name_things([entry for entry in self._entries if isinstance(entry, ThingEntry)])

    @contextmanager
    def _failures(self, index: int, entry: Entry) -> Iterator[None]:
        """Count an entry that gives nothing, and leave out one that is not possible at an endpoint."""
        try:
            yield
        except GivesNothing:
            self.counts[index] = 0
        except (IngestionError, ToolError) as error:
            self._leave_out(entry, str(error))

    def _write(self, index: int, entry: Entry) -> str:
        """Write the pattern of an entry; the IRI of a property that is to be sampled, or ""."""
        if isinstance(entry, RuleEntry):
            self._leave_out(entry, NOT_STORED)
        elif isinstance(entry, ClassEntry) and entry.is_derived:
            self._known.add_class(entry)
            self._sample_class(index, entry)
        elif isinstance(entry, PropertyEntry):
            if entry.kind:
                self._name_by(entry)
            if entry.is_derived:
                self._known.add_property(entry)
                return entry.iri
        return ""

    def _explain_codes(self, index: int, entry: CodeEntry) -> None:
        """Let the values of a property be what its codes mean."""
        if not _values_among(self.probed, entry.key, entry.meanings):
            raise GivesNothing("the graph has none of its codes.")
        patterns = self._known.code_patterns(entry)
        found = self._with_values(entry.key, patterns)
        if found is None:
            self._leave_out(entry, NO_ANSWER)
            return
        probed, count = found
        self.counts[index] = _values_among(probed, entry.key, set(entry.meanings.values()))
        if count and self.counts[index]:
            self.probed = probed
            self._sampled.add(entry.key)
            self._known.properties[entry.key] = patterns

    def _name_things(self, entries: Sequence[ThingEntry]) -> None:
        """Let single things be found by the names that the layer gives them."""
        named: dict[tuple[str, str], None] = {}
        # later entries first: those of the graph's own layers come after those of packs
        for entry in reversed(entries):
            own = [(iri, name) for iri in iri_variants(entry.key) for name in (entry.name, *entry.also) if name]
            if len(named) + len(own) <= MAX_GIVEN:
                named |= dict.fromkeys(own)
            else:
                self._leave_out(entry, f"over an endpoint a layer gives at most {MAX_GIVEN} names to things.")
        if named:
            self._known.add_names(named)
            self._sample_property(LAYER_NAME, [])
            # the first one is the last to be asked for
            self._naming.insert(0, LAYER_NAME)

    def _name_by(self, entry: PropertyEntry) -> None:
        """Let things be called by a property: by a stored one if it is all of the path, else by the pattern."""
        iri = single_property(entry.path) if entry.path else "" if entry.where else entry.iri
        if iri in self.probed.predicates:
            self._naming.append(iri)
        elif entry.path or self.probed.things <= MANY_THINGS:
            self._naming.append(entry.iri)
        else:
            self.problems.append(
                Problem(
                    entry.place,
                    f"'{entry.key}' does not name things: in a graph of more than {MANY_THINGS:,} things names can't be"
                    " looked up by a pattern. It can be asked for like other properties.",
                )
            )

    def _sample_class(self, index: int, entry: ClassEntry) -> None:
        own = DerivedClass(entry.iri, self._known.classes[entry.iri], len(self._derived))
        found = self._with_members(own)
        if found is None:
            self._known.classes.pop(entry.iri)
            self._leave_out(entry, NO_ANSWER)
            return
        self.probed, self.counts[index] = found
        if self.counts[index]:
            self._derived.append(own)
        else:
            self._known.classes.pop(entry.iri)

    def _sample_property(self, iri: str, indexes: list[int]) -> None:
        found = self._with_values(iri, self._known.properties[iri])
        if found is None:
            for index in indexes:
                self._leave_out(self._entries[index], NO_ANSWER)
            return
        self.probed, count = found
        for index in indexes:
            self.counts[index] = count
        if count:
            self._sampled.add(iri)

    def _leave_out(self, entry: Entry, reason: str) -> None:
        name = "the rule" if isinstance(entry, RuleEntry) else f"'{entry.key}'"
        self.problems.append(Problem(entry.place, f"{name} was left out: {reason}"))

    def _with_members(self, own: DerivedClass) -> tuple[ProbeResult, int] | None:
        """The result with a derived class: the type sets of its members are split from those of other things. Also the
        number of members; None if the endpoint did not answer."""
        probed = self.probed
        rows = self._asking.texts(
            "SELECT ?all (COUNT(?this) AS ?n) WHERE { SELECT ?this"
            ' (GROUP_CONCAT(COALESCE(STR(?type), ""); separator=" ") AS ?all) WHERE {'
            f" {{ SELECT DISTINCT ?this WHERE {{ {own.of('?this')} FILTER(!isLiteral(?this)) }} }}"
            f" OPTIONAL {{ {self._types()} }} }} GROUP BY ?this }} GROUP BY ?all"
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
            kinds = self._split(inside, own)
        else:
            alone = TypeSetSample(frozenset((own.iri,)), count, False)
            kinds = [*probed.kinds, sample_type_set(self._asking, alone, (), {own.iri: own.of("?s")})]
        said = dict(probed.said) | (_containments(probed, inside, own.iri, count) if is_exact else {})
        things = probed.things + (inside[frozenset()] if is_exact else 0)
        classes = {**probed.classes, own.iri: count}
        return replace(probed, classes=classes, kinds=tuple(kinds), said=said, things=things), count

    def _split(self, inside: Mapping[frozenset[str], int], own: DerivedClass) -> list[TypeSetSample]:
        """The type sets, those with members of a derived class in two: with it and without it."""
        patterns = {each.iri: each.of("?s") for each in (*self._derived, own)}
        counts = {**self.probed.classes, own.iri: sum(inside.values())}
        kinds: list[TypeSetSample] = []
        split: list[TypeSetSample] = []
        for kind in self.probed.kinds:
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
        for kind in split:
            without = distinguishing_classes(kind.types, sets, counts)
            kinds.append(sample_type_set(self._asking, kind, without, patterns))
        return sorted(kinds, key=lambda kind: (-kind.count, sorted(kind.types)))

    def _with_values(self, iri: str, patterns: Sequence[str]) -> tuple[ProbeResult, int] | None:
        """The result with a derived predicate, and the number of its values; None if the endpoint did not answer."""
        written = [f"{{ {write_pattern(each, '?this', '?o', f'?i{i}_')} }}" for i, each in enumerate(patterns)]
        every = f"SELECT DISTINCT ?this ?o WHERE {{ {' UNION '.join(written)} FILTER(BOUND(?o) && !isLiteral(?this)) }}"
        pairs = f"{{ {every} LIMIT {SAMPLED_VALUES} }}"
        probed = self.probed
        rows = self._asking.texts(
            "SELECT ?all (COUNT(?this) AS ?n) (SUM(?v) AS ?t) (SUM(?w) AS ?l) WHERE { SELECT ?this ?v ?w"
            ' (GROUP_CONCAT(STR(?type); separator=" ") AS ?all) WHERE { { SELECT ?this (COUNT(?o) AS ?v)'
            f" (SUM(IF(isLiteral(?o), 0, 1)) AS ?w) WHERE {{ {pairs} }} GROUP BY ?this }} {self._typed()} }}"
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
            total = self._asking.texts(f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {every} }} }}", 1)
            factor = max(1.0, int(total[0][0]) / values) if total and total[0][0] else 1.0
        targets = self._targets(pairs) if links else {}
        kinds = tuple(_with_property(kind, iri, counts, targets, factor) for kind in probed.kinds)
        literals = dict(probed.literals)
        literals.pop(iri, None)
        whole = round(values * factor)
        sampled = sample_literals(self._asking, f"{{ {every} }}", whole) if links < values else None
        if sampled is not None:
            literals[iri] = sampled
        return replace(probed, kinds=kinds, literals=literals, predicates={**probed.predicates, iri: whole}), whole

    def _targets(self, pairs: str) -> _Targets:
        """How many links of a type set lead to each class, and to how many things."""
        rows = self._asking.texts(
            "SELECT ?all ?c (COUNT(?o) AS ?n) (COUNT(DISTINCT ?o) AS ?m) WHERE {"
            ' { SELECT ?this ?o (GROUP_CONCAT(STR(?type); separator=" ") AS ?all) WHERE {'
            f" {pairs} {self._typed()} }} GROUP BY ?this ?o }}"
            f" {self._typed('?o', '?c')} }} GROUP BY ?all ?c LIMIT 2000",
            2000,
        )
        found: _Targets = {}
        for types, class_, n, m in rows or ():
            key = _type_set(types, self.probed), class_
            before = found.get(key, (0, 0))
            found[key] = before[0] + int(n), before[1] + int(m)
        return found

    def _types(self, thing: str = "?this", type_: str = "?type") -> str:
        """The types of a thing, with derived ones."""
        parts = [f"{thing} a {type_}", *(f"{each.of(thing)} BIND(<{each.iri}> AS {type_})" for each in self._derived)]
        return parts[0] if len(parts) == 1 else " UNION ".join(f"{{ {part} }}" for part in parts)

    def _typed(self, thing: str = "?this", type_: str = "?type") -> str:
        return f"{{ {self._types(thing, type_)} }}" if self._derived else f"{thing} a {type_}"


def _values_among(probed: ProbeResult, iri: str, texts: Collection[str]) -> int:
    """How many values of a property are one of these texts."""
    literals = probed.literals.get(iri)
    return sum(n for term, n in literals.counts if term.value in texts) if literals is not None else 0


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


def _type_set(types: str, probed: ProbeResult) -> frozenset[str]:
    """The known types in a list, without those that mean nothing."""
    known = frozenset(types.split()).intersection(probed.classes)
    return frozenset() if known & SCHEMA_TYPES else known - EMPTY_TYPES or known


def declare_names(probed: ProbeResult, layer: Layer) -> ProbeResult:
    """The result with the names of a layer before those that the endpoint declares. Later entries come first."""
    said = dict(probed.said)
    for entry in layer.entries:
        if not isinstance(entry, ClassEntry | PropertyEntry) or not entry.iri:
            continue
        iri = entry.iri
        others = list(said.get((iri, ALTERNATIVE), ()))
        if entry.name:
            previous = said.get((iri, PREFERRED), ())
            # a name from an IRI stays an alternative
            named = previous or said.get((iri, LABEL), ())
            others = [*previous, *others] if named else [_text(readable_name(local_name(iri)).lower()), *others]
            said[iri, PREFERRED] = (_text(entry.name),)
        also = (*entry.also, *(entry.inverse if isinstance(entry, PropertyEntry) else ()))
        said[iri, ALTERNATIVE] = tuple(dict.fromkeys((*map(_text, also), *others)))
        if entry.comment:
            said[iri, COMMENT] = (_text(entry.comment),)
    return replace(probed, said={key: terms for key, terms in said.items() if terms})


def _text(text: str) -> SparqlTerm:
    return SparqlTerm("literal", text)


def check_endpoint_layers(asking: BudgetedEndpoint, files: LayerFiles) -> LayerReport:
    """Apply the layers to samples of the endpoint and report; nothing is written."""
    applied = apply_endpoint_layers(asking, probe_endpoint(asking), files)
    own = {each.name for each in files.files}
    given = [(i, entry) for i, entry in enumerate(applied.layer.entries) if entry.place.file in own]
    literals = {iri: applied.probed.literals[iri] for iri in applied.patterns if iri in applied.probed.literals}
    reports = []
    for i, entry in given:
        # some literals of a derived property
        found = literals.get(entry.iri) if isinstance(entry, PropertyEntry) else None
        examples = tuple(term.value[:80] for term, _ in found.counts[:EXAMPLES]) if found is not None else ()
        reports.append(EntryReport(entry.place, entry_name(entry), applied.counts.get(i), examples))
    problems = [*applied.problems, *shared_names([entry for _, entry in given])]
    for i, entry in given:
        if applied.counts.get(i) == 0:
            problems.append(Problem(entry.place, f"'{entry_name(entry)}' gives nothing in this graph."))
    return LayerReport(tuple(reports), tuple(sorted(problems, key=lambda p: p.place)))
