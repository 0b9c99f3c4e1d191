"""The layers of an ingest: files, packs and Facts -> one resolved layer and the facts with derived triples.
`check`: LayerFiles + Facts -> reports. Layer files: names that people give, and entries -> YAML.
Names from the page have a file of their own, with who changed them and when."""

import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import yaml

from ingestion.layer.entries import ClassEntry, CodeEntry, Entry, Layer, Place, PropertyEntry, RuleEntry, ThingEntry
from ingestion.layer.layer_file import LayerFile, LayerFiles, read_layer
from ingestion.layer.resolve import (
    Problem,
    all_rewordings,
    last_of_each,
    packs_of,
    resolve_layer,
    terms_of_facts,
    without_taken_names,
)
from ingestion.read.facts import Facts
from ingestion.vocabulary import TYPE, local_name, name_rank
from nacre.errors import IngestionError
from nacre.extension import needed, services
from nacre.language.sanitize import strip_control_characters
from nacre.records.schema import Schema

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AppliedLayer:
    """The resolved layer of a graph, its derived triples, the packs that apply, and what is wrong with it. `counts` has
    how many values an entry gave, by its index in the layer."""

    facts: Facts
    layer: Layer
    counts: dict[int, int]
    packs: tuple[str, ...]
    problems: tuple[Problem, ...]


def apply_layers(facts: Facts, layers: Sequence[Layer], *, packs: bool = True) -> AppliedLayer:
    """Resolve and apply packs, then the given layers; of entries with one name the last one stays. A name that a given
    layer uses means only that: packs lose it."""
    shipped = packs_of(facts) if packs else []
    terms = terms_of_facts(facts)
    resolved: list[Layer] = []
    problems: list[Problem] = []
    for layer in layers:
        own, found = resolve_layer(layer, terms)
        resolved.append(own)
        problems += found
    own_entries = [entry for layer in resolved for entry in layer.entries]
    of_packs = [entry for layer in shipped for entry in resolve_layer(layer, terms)[0].entries]
    merged = Layer(
        "layers",
        last_of_each([*without_taken_names(of_packs, own_entries), *own_entries]),
        languages=next((layer.languages for layer in reversed((*shipped, *resolved)) if layer.languages), ()),
        rewordings=all_rewordings(resolved),
    )
    derived = _derive(facts, merged, {id(entry) for entry in own_entries})
    derived.facts.languages = merged.languages
    own_files = {entry.place.file for layer in layers for entry in layer.entries}
    for problem in derived.problems:
        if problem.place.file not in own_files:
            log.warning("%s", problem)
    problems += [problem for problem in derived.problems if problem.place.file in own_files]
    names = tuple(Path(layer.source).stem for layer in shipped)
    return AppliedLayer(derived.facts, merged, derived.counts, names, tuple(problems))


@dataclass
class Derived:
    """The facts with derived triples, how many values or members each entry gave (by its index), and what failed."""

    facts: Facts
    counts: dict[int, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def is_deriving(entry: Entry) -> bool:
    """Whether an entry gives triples, and not only names."""
    if isinstance(entry, ClassEntry):
        return entry.is_derived
    return not isinstance(entry, PropertyEntry) or entry.is_derived or bool(entry.kind)


def _derive(facts: Facts, layer: Layer, given: Collection[int]) -> Derived:
    """What the entries of a layer derive. Raises ConfigError if one that is given derives, and nothing does that."""
    if any(id(each) in given and is_deriving(each) for each in layer.entries):
        needed("layer_patterns", "The layer")
    for derive in services("derive_layer"):
        derived: Derived = derive(facts, layer)
        return derived
    return Derived(facts)


def layer_facts(facts: Facts, files: LayerFiles) -> AppliedLayer:
    """Apply the files of an ingest. Raises IngestionError for an entry that can't be applied; warnings are logged."""
    applied = apply_layers(facts, files.layers(), packs=files.packs)
    strict = {each.name for each in files.files if each.strict}
    for problem in applied.problems:
        if problem.is_error or problem.place.file in strict:
            raise IngestionError(f"{problem} Run: nacre report --graph NAME" if not problem.is_error else str(problem))
        log.warning("%s", problem)
    return applied


EXAMPLES = 3

# share of things with several values above which a property does not look like one value a thing (given)
SEVERAL = 0.1

_UNIT_BEHIND = re.compile(r"^\s*[-+]?[\d.,]+\s*([^\W\d_]{1,4}|[%°]\w?)\s*$")


@dataclass(frozen=True)
class EntryReport:
    """What an entry gives: the number of values, members or names; examples; None for one that only names."""

    place: Place
    key: str
    count: int | None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class LayerReport:
    """The entries of the given files, in order, and the problems, those of an entry in a row."""

    entries: tuple[EntryReport, ...]
    problems: tuple[Problem, ...]

    @property
    def is_applicable(self) -> bool:
        """Whether no entry failed."""
        return not any(problem.is_error for problem in self.problems)


def check_layers(facts: Facts, files: LayerFiles) -> LayerReport:
    """Apply the layers in memory and report; nothing is written. Raises IngestionError for an unreadable file."""
    layers = files.layers()
    applied = apply_layers(facts, layers, packs=files.packs)
    own = {each.name for each in files.files}
    given = [(i, entry) for i, entry in enumerate(applied.layer.entries) if entry.place.file in own]
    values = _DerivedValues(applied.facts)
    reports, problems = [], list(applied.problems)
    for index, entry in given:
        count = applied.counts.get(index)
        reports.append(EntryReport(entry.place, entry_name(entry), count, values.examples(entry) if count else ()))
        problems += _entry_problems(entry, count, values)
    problems += shared_names([entry for _, entry in given])
    problems += _overridden([entry for layer in layers for entry in layer.entries], applied)
    return LayerReport(tuple(reports), tuple(sorted(problems, key=lambda p: p.place)))


def entry_name(entry: Entry) -> str:
    """The key of an entry, or the beginning of a rule."""
    return " ".join(entry.text.split())[:60] if isinstance(entry, RuleEntry) else entry.key


def _entry_problems(entry: Entry, count: int | None, values: "_DerivedValues") -> Iterator[Problem]:
    if count == 0:
        yield Problem(entry.place, f"'{entry_name(entry)}' gives nothing in this graph.")
    if not isinstance(entry, PropertyEntry) or not entry.is_derived or not count:
        return
    subjects, several = values.subjects(entry.iri)
    if entry.kind and several:
        yield Problem(entry.place, f"'{entry.key}': {several:,} of {subjects:,} things get several names.")
    elif 0 < several <= SEVERAL * subjects or (several and entry.unit):
        yield Problem(entry.place, f"'{entry.key}': {several:,} of {subjects:,} things have several values.")
    if entry.unit:
        units = Counter(match[1] for text in values.texts(entry.iri) if (match := _UNIT_BEHIND.match(text)))
        if units and (unit := units.most_common(1)[0][0]) != entry.unit:
            yield Problem(entry.place, f"'{entry.key}' has the unit {entry.unit}, and its values have {unit}.")


def shared_names(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Names that two classes have, or two properties of one class."""
    taken: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        if not isinstance(entry, ClassEntry | PropertyEntry):
            continue
        kind = "class" if isinstance(entry, ClassEntry) else " ".join(sorted(getattr(entry, "of", ()))) or "property"
        for name in dict.fromkeys((entry.name.lower(), *(each.lower() for each in entry.also))):
            other = taken.setdefault((kind, name), entry) if name else entry
            if isinstance(other, ClassEntry | PropertyEntry) and other.iri != entry.iri:
                yield Problem(entry.place, f"'{entry.key}' has the name '{name}' of '{other.key}' ({other.place}).")


def _overridden(entries: Sequence[Entry], applied: AppliedLayer) -> Iterator[Problem]:
    stay = {entry.place for entry in applied.layer.entries}
    left_out = {problem.place for problem in applied.problems}
    for entry in entries:
        derived = isinstance(entry, ClassEntry | PropertyEntry) and entry.is_derived
        if derived and entry.place not in stay and entry.place not in left_out:
            yield Problem(entry.place, f"'{entry_name(entry)}' is replaced by a later entry of the same name.")


class _DerivedValues:
    """Values of properties and members of classes, with the labels of things."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._numbers = {facts.texts[n]: n for n in facts.predicates}

    def subjects(self, iri: str) -> tuple[int, int]:
        """How many things have a property, and how many have several values."""
        subjects = self._facts.subject[self._rows(iri)]
        counts = np.unique(subjects, return_counts=True)[1]
        return len(counts), int((counts > 1).sum())

    def texts(self, iri: str) -> list[str]:
        """The literals of a property."""
        facts = self._facts
        return [facts.texts[o] for o in facts.object[self._rows(iri)].tolist() if facts.is_literal[o]]

    def examples(self, entry: Entry) -> tuple[str, ...]:
        """Three examples."""
        facts = self._facts
        if isinstance(entry, ClassEntry):
            members = [r for r in self._rows(TYPE).tolist() if facts.texts[facts.object[r]] == entry.iri]
            return tuple(self._label(int(facts.subject[r])) for r in members[:EXAMPLES])
        if isinstance(entry, PropertyEntry):
            rows = self._rows(entry.iri)[:EXAMPLES].tolist()
            return tuple(f"{self._label(int(facts.subject[r]))}: {self._label(int(facts.object[r]))}" for r in rows)
        return (entry.name, *entry.also)[:EXAMPLES] if isinstance(entry, ThingEntry) else ()

    def _rows(self, iri: str) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
        return np.flatnonzero(self._facts.predicate == self._numbers.get(iri, -1))

    def _label(self, number: int) -> str:
        facts = self._facts
        if facts.is_literal[number]:
            return facts.texts[number][:80]
        low, high = np.searchsorted(facts.subject, (number, number + 1)).tolist()
        names = [
            (rank, facts.texts[facts.object[row]])
            for row in range(low, high)
            if (rank := name_rank(facts.texts[facts.predicate[row]])) is not None
            and facts.is_literal[facts.object[row]]
        ]
        return min(names)[1][:80] if names else local_name(facts.texts[number])


PEOPLE = "people.yaml"

# changes that the file lists, the last ones, and names of one class or property (given)
MAX_CHANGES, MAX_NAMES = 200, 30

NamedKind = Literal["class", "property", "thing", "value", "rewording"]

_KINDS: Mapping[type, NamedKind] = {ClassEntry: "class", PropertyEntry: "property", ThingEntry: "thing"}
_SECTIONS: Mapping[NamedKind, str] = {
    "class": "classes",
    "property": "properties",
    "thing": "things",
    "value": "codes",
    "rewording": "rewordings",
}


class Named(NamedTuple):
    """What people give other names: a value is one of the property `iri`; a rewording has the text in place of an
    IRI."""

    kind: NamedKind
    iri: str
    value: str = ""


# of a name that is taught: words, and characters (given)
MAX_WORDS, MAX_NAME = 4, 100


@dataclass(frozen=True)
class Meaning:
    """What a word may mean, as `Named`. `answer`: what the question would give then, "" for
    nothing; without a question some values of a property, or the number of things of a class. `of` is the property of a
    value, or the class of a thing."""

    kind: NamedKind
    iri: str
    name: str
    answer: str = ""
    value: str = ""
    of: str = ""


def names_from_people(layers: LayerFiles) -> Mapping[Named, tuple[str, ...]]:
    """The other names that people gave."""
    names: dict[Named, tuple[str, ...]] = {}
    people = [_people(each.text) for each in layers.files if each.name == PEOPLE]
    for word, text in (item for each in people for item in each.rewordings.items()):
        of = Named("rewording", text)
        names[of] = (*names.get(of, ()), word)
    for entry in (entry for each in people for entry in each.entries):
        if isinstance(entry, CodeEntry):
            for name, value in entry.meanings.items():
                of = Named("value", entry.key, value)
                names[of] = (*names.get(of, ()), name)
        elif not isinstance(entry, RuleEntry):
            names[Named(_KINDS[type(entry)], entry.key)] = entry.also
    return names


def with_names(layers: LayerFiles, of: Named, also: Sequence[str], *, who: str, when: str) -> LayerFile:
    """The file with other names for one class, property, value or thing instead of those that it had; none removes the
    entry. Raises IngestionError for names that no layer may have."""
    present = next((each.text for each in layers.files if each.name == PEOPLE), "")
    changes = [line for line in present.splitlines() if line.startswith("# ")]
    sections: dict[str, Any] = yaml.safe_load(present) or {}
    # those files are stored before this one
    sections.pop("extends", None)
    entries = dict(sections.get(_SECTIONS[of.kind]) or {})
    names = list(dict.fromkeys(name for each in also if (name := strip_control_characters(each).strip())))
    entry: dict[str, Any] = {"also": names} if names else {}
    if of.kind == "value":
        entry = _with_words(entries.get(of.iri, {}), names, of.value)
    if of.kind == "rewording":
        entries = _with_words(entries, names, of.iri)
    else:
        entries[of.iri] = entry
    sections[_SECTIONS[of.kind]] = {key: each for key, each in entries.items() if each}
    changes.append(f"# {when} {who}: {' '.join(strip_control_characters(of.iri).split())}")
    text = "\n".join(changes[-MAX_CHANGES:]) + "\n" + layer_text(sections)
    _people(text)
    return LayerFile(PEOPLE, text)


def _with_words(given: Mapping[str, str], words: Sequence[str], meant: str) -> dict[str, str]:
    """What words mean, with just these for one meaning."""
    return {word: each for word, each in given.items() if each != meant} | dict.fromkeys(words, meant)


def with_further_name(layers: LayerFiles, of: Named, name: str, *, who: str, when: str) -> LayerFile:
    """The file with one more name. Raises IngestionError as `with_names`, or for too many."""
    given = names_from_people(layers).get(of, ())
    if len(given) >= MAX_NAMES:
        raise IngestionError(f"It has {len(given)} other names already. Remove one first.")
    return with_names(layers, of, (*given, name), who=who, when=when)


def _people(text: str) -> Layer:
    return read_layer(Path(PEOPLE), text)


Sections = Mapping[str, Any]

# sections of a layer in the order in which they are written
ORDER = ("prefixes", "classes", "properties", "things", "codes", "rewordings", "rules")


def layer_text(sections: Sections) -> str:
    """A file with these sections, an entry a line where it fits."""
    return "".join(f"{name}:\n{format_entries(sections[name], 2)}" for name in ORDER if sections.get(name))


def format_entries(entries: Any, indent: int) -> str:
    """The entries of a section, one a line."""
    if isinstance(entries, list):
        return "".join(f"{' ' * indent}- {_flow(entry)}\n" for entry in entries)
    return "".join(f"{' ' * indent}{_flow(key)}: {_flow(value)}\n" for key, value in entries.items())


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=100_000, allow_unicode=True, sort_keys=False)
    return " ".join(text.removesuffix("\n...\n").split("\n")).strip()


def suggest_annotations(schema: Schema) -> str:
    """A template in YAML: every class and predicate with its properties, all commented out."""
    lines = ["# Take away the '#' of what you want to change; see docs for the keys.", "classes:"]
    for shown in schema.classes:
        lines += [f"  # {_yaml(shown.iri)}:", f"  #   name: {_yaml(shown.label)}"]
        lines += [f"  #   comment: {_yaml(shown.comment)}", "  #   hidden: false"]
    lines.append("properties:")
    for predicate in schema.predicates:
        lines += [f"  # {_yaml(predicate.iri)}:", f"  #   name: {_yaml(predicate.label)}"]
        lines += [
            f"  #   comment: {_yaml(predicate.comment)}",
            f"  #   unit: {_yaml(predicate.unit)}",
            "  #   hidden: false",
        ]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
