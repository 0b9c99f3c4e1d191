"""Apply packs and layers to the samples of an endpoint: LayerFiles + ProbeResult -> samples with what they derive."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingestion.attach.budget import BudgetedEndpoint
from ingestion.attach.declared_schema import DeclaredSchema
from ingestion.attach.layer.declare import declare_names
from ingestion.attach.layer.patterns import MAX_GIVEN, DerivedPatterns, GivesNothing, single_property
from ingestion.attach.layer.sample import DerivedClass, sample_class, sample_property
from ingestion.attach.probe import ProbeResult
from ingestion.layer.entries import ClassEntry, CodeEntry, Entry, Layer, PropertyEntry, RuleEntry, ThingEntry
from ingestion.layer.format.prefixes import iri_variants
from ingestion.layer.names import mark_schema, without_removed
from ingestion.layer.packs import packs_for
from ingestion.layer.resolve import GraphTerms, Problem, last_of_each, resolve_layer
from ingestion.layer.stored import LayerFiles
from ingestion.vocabulary import LAYER_NAME
from nacre.errors import IngestionError, ToolError
from nacre.records.schema import Schema

NO_ANSWER = "the endpoint did not answer in time."
# with more things, names are not looked up by patterns, which may read all of them
MANY_THINGS = 200_000
NOT_STORED = "its triples are behind the endpoint, and nothing can be added to them."


@dataclass
class EndpointLayer:
    """The samples with what a layer derives, and how many values or members each entry gave, by its index.

    `patterns` and `class_patterns` are those of what was found. `naming` are properties that name things.
    """

    probed: ProbeResult
    layer: Layer
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    class_patterns: dict[str, str] = field(default_factory=dict)
    naming: tuple[str, ...] = ()
    counts: dict[int, int] = field(default_factory=dict)
    packs: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def shown(self, schema: Schema) -> Schema:
        """The schema with units, patterns, and what is hidden; without what is removed."""
        marked = mark_schema(schema, self.layer)
        return without_removed(
            replace(
                marked,
                classes=tuple(replace(c, pattern=self.class_patterns.get(c.iri, "")) for c in marked.classes),
                predicates=tuple(replace(p, patterns=self.patterns.get(p.iri, ())) for p in marked.predicates),
            ),
            self.layer,
        )


def apply_endpoint_layers(asking: BudgetedEndpoint, probed: ProbeResult, files: LayerFiles) -> EndpointLayer:
    """Resolve packs and files against the samples, and sample what they derive within the rest of the budget.

    An entry that an endpoint can't do, or that it doesn't answer in time, is left out; `problems` has those of files.
    """
    terms = _terms(probed)
    packs = packs_for([*probed.classes, *probed.predicates]) if files.packs else []
    resolved = [resolve_layer(layer, terms)[0] for layer in packs]
    problems: list[Problem] = []
    own_files = {each.name for each in files.files}
    for layer in files.layers():
        own, found = resolve_layer(layer, terms)
        resolved.append(own)
        problems += found
    merged = Layer("layers", last_of_each([entry for layer in resolved for entry in layer.entries]))
    work = _EndpointDerivation(asking, probed, merged)
    work.derive()
    problems += [problem for problem in work.problems if problem.place.file in own_files]
    return EndpointLayer(
        declare_names(work.probed, merged),
        merged,
        {iri: tuple(work.known.properties[iri]) for iri in work.sampled},
        {each.iri: each.pattern for each in work.derived},
        tuple(dict.fromkeys(reversed(work.naming))),
        work.counts,
        tuple(Path(layer.source).stem for layer in packs),
        problems,
    )


def _terms(probed: ProbeResult) -> GraphTerms:
    said = DeclaredSchema(probed.said)

    def labels() -> Mapping[str, tuple[str, ...]]:
        every = (*probed.classes, *probed.predicates)
        return {iri: tuple(filter(None, (said.label(iri), *said.others(iri)))) for iri in every}

    return GraphTerms(probed.classes, probed.predicates, labels)


class _EndpointDerivation:
    """What the entries gave so far. Classes are sampled before properties, which count their members."""

    def __init__(self, asking: BudgetedEndpoint, probed: ProbeResult, layer: Layer) -> None:
        self.probed = probed
        self.known = DerivedPatterns(probed)
        self.derived: list[DerivedClass] = []
        self.sampled: dict[str, int] = {}
        self.naming: list[str] = []
        self.counts: dict[int, int] = {}
        self.problems: list[Problem] = []
        self._asking = asking
        self._entries = layer.entries

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
            self.known.add_class(entry)
            self._sample_class(index, entry)
        elif isinstance(entry, PropertyEntry):
            if entry.kind:
                self._name_by(entry)
            if entry.is_derived:
                self.known.add_property(entry)
                return entry.iri
        return ""

    def _explain_codes(self, index: int, entry: CodeEntry) -> None:
        """Let the values of a property be what its codes mean."""
        if not _values_among(self.probed, entry.key, entry.meanings):
            raise GivesNothing("the graph has none of its codes.")
        patterns = self.known.code_patterns(entry)
        found = sample_property(self._asking, self.probed, entry.key, patterns, self.derived)
        if found is None:
            self._leave_out(entry, NO_ANSWER)
            return
        probed, count = found
        self.counts[index] = _values_among(probed, entry.key, set(entry.meanings.values()))
        if count and self.counts[index]:
            self.probed, self.sampled[entry.key] = probed, count
            self.known.properties[entry.key] = patterns

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
            self.known.add_names(named)
            self._sample_property(LAYER_NAME, [])
            # the first one is the last to be asked for
            self.naming.insert(0, LAYER_NAME)

    def _name_by(self, entry: PropertyEntry) -> None:
        """Let things be called by a property: by a stored one if it is all of the path, else by the pattern."""
        iri = single_property(entry.path) if entry.path else "" if entry.where else entry.iri
        if iri in self.probed.predicates:
            self.naming.append(iri)
        elif entry.path or self.probed.things <= MANY_THINGS:
            self.naming.append(entry.iri)
        else:
            self.problems.append(
                Problem(
                    entry.place,
                    f"'{entry.key}' does not name things: in a graph of more than {MANY_THINGS:,} things names can't be"
                    " looked up by a pattern. It can be asked for like other properties.",
                )
            )

    def _sample_class(self, index: int, entry: ClassEntry) -> None:
        own = DerivedClass(entry.iri, self.known.classes[entry.iri], len(self.derived))
        found = sample_class(self._asking, self.probed, own, self.derived)
        if found is None:
            self.known.classes.pop(entry.iri)
            self._leave_out(entry, NO_ANSWER)
            return
        self.probed, self.counts[index] = found
        if self.counts[index]:
            self.derived.append(own)
        else:
            self.known.classes.pop(entry.iri)

    def _sample_property(self, iri: str, indexes: list[int]) -> None:
        found = sample_property(self._asking, self.probed, iri, self.known.properties[iri], self.derived)
        if found is None:
            for index in indexes:
                self._leave_out(self._entries[index], NO_ANSWER)
            return
        self.probed, count = found
        for index in indexes:
            self.counts[index] = count
        if count:
            self.sampled[iri] = count

    def _leave_out(self, entry: Entry, reason: str) -> None:
        name = "the rule" if isinstance(entry, RuleEntry) else f"'{entry.key}'"
        self.problems.append(Problem(entry.place, f"{name} was left out: {reason}"))


def _values_among(probed: ProbeResult, iri: str, texts: Collection[str]) -> int:
    """How many values of a property are one of these texts."""
    literals = probed.literals.get(iri)
    return sum(n for term, n in literals.counts if term.value in texts) if literals is not None else 0
