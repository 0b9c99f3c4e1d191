"""Find the classes and properties that a layer means: Layer + Facts -> the layer with IRIs, and what was not found."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Literal

from ingestion.induce.declarations import read_declarations
from ingestion.induce.names.column_names import readable_name
from ingestion.layer.entries import (
    LAYER_NAMESPACE,
    ClassEntry,
    CodeEntry,
    Entry,
    Layer,
    Place,
    PropertyEntry,
    RuleEntry,
    ThingEntry,
)
from ingestion.layer.format.prefixes import BOTH_SCHEMES, expand_name, iri_variants
from ingestion.read.capsules import Facts, unique_counts
from ingestion.vocabulary import SUBCLASS, TYPE, local_name

Kind = Literal["class", "property"]


@dataclass(frozen=True)
class Problem:
    """What is wrong with an entry. An error could not be applied; the rest are warnings. `is_unknown`: it is about
    nothing in this graph."""

    place: Place
    text: str
    is_error: bool = False
    is_unknown: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"

    @property
    def keeps_from_use(self) -> bool:
        """Whether the entry has no effect."""
        return self.is_error or self.is_unknown


class GraphTerms:
    """The classes and properties of a graph by IRI, local name and label. `labels` is called if a name is looked up."""

    def __init__(
        self,
        classes: Collection[str],
        properties: Collection[str],
        labels: Callable[[], Mapping[str, Iterable[str]]],
    ) -> None:
        self._known: Mapping[Kind, Collection[str]] = {"class": classes, "property": properties}
        self._labels = labels

    def has(self, kind: Kind, iri: str) -> bool:
        """Whether the graph uses it."""
        return iri in self._known[kind]

    def uses(self, scheme: str) -> bool:
        """Whether classes or properties are written with one of BOTH_SCHEMES."""
        return scheme in self._schemes

    @cached_property
    def _schemes(self) -> frozenset[str]:
        iris = [iri for known in self._known.values() for iri in known]
        return frozenset(scheme for scheme in BOTH_SCHEMES if any(iri.startswith(scheme) for iri in iris))

    def by_name(self, kind: Kind, name: str) -> list[str]:
        """The IRIs with a label or local name, in any case."""
        return sorted(self._by_name[kind].get(name.lower(), ()))

    def nearest(self, kind: Kind, name: str) -> str:
        """The nearest name or IRI; "" if none is near."""
        known = list(self._known[kind]) if "/" in name else list(self._by_name[kind])
        close = get_close_matches(name if "/" in name else name.lower(), known, 1)
        return close[0] if close else ""

    @cached_property
    def _by_name(self) -> Mapping[Kind, Mapping[str, set[str]]]:
        labels = self._labels()
        found: dict[Kind, dict[str, set[str]]] = {"class": {}, "property": {}}
        for kind, iris in self._known.items():
            for iri in iris:
                local = local_name(iri)
                for name in (*labels.get(iri, ()), local, readable_name(local)):
                    found[kind].setdefault(name.lower(), set()).add(iri)
        return found


def terms_of_facts(facts: Facts) -> GraphTerms:
    """The classes and properties that the triples use."""
    texts = facts.texts
    number_of = {texts[n]: n for n in facts.predicates}
    ends = [facts.object[facts.predicate == number_of.get(TYPE, -1)]]
    of_subclass = facts.predicate == number_of.get(SUBCLASS, -1)
    ends += [facts.subject[of_subclass], facts.object[of_subclass]]
    classes = {texts[n] for each in ends for n in unique_counts(each)[0].tolist()}

    def labels() -> Mapping[str, Iterable[str]]:
        found = read_declarations(facts)
        return {iri: [*found.labels.get(iri, ()), *found.alternatives.get(iri, ())] for iri in {*classes, *number_of}}

    return GraphTerms(classes, number_of.keys(), labels)


def resolve_layer(layer: Layer, terms: GraphTerms) -> tuple[Layer, list[Problem]]:
    """The layer with the IRIs of its classes and properties. Entries that mean nothing in this graph are left out, and
    of those with one name the last one stays."""
    problems: list[Problem] = []
    found: list[Entry] = []
    layer = replace(layer, entries=tuple(_in_used_scheme(entry, terms) for entry in layer.entries))
    derived = {made.iri for entry in layer.entries if (made := _with_new_iri(entry, layer.prefixes))}
    for entry in layer.entries:
        if isinstance(entry, ClassEntry | PropertyEntry | CodeEntry):
            kind: Kind = "class" if isinstance(entry, ClassEntry) else "property"
            made = _with_new_iri(entry, layer.prefixes)
            resolved = [made] if made else [_with_iri(entry, iri) for iri in _iris(entry, kind, layer, terms, problems)]
            for each in resolved:
                if isinstance(each, PropertyEntry) and each.of:
                    each = replace(each, of=_classes(each, layer, terms, derived, problems))
                    if not each.of:
                        continue
                found.append(each)
        elif isinstance(entry, ThingEntry):
            iri = expand_name(entry.key, layer.prefixes)
            if iri:
                found.append(replace(entry, key=iri))
            else:
                problems.append(Problem(entry.place, f"'{entry.key}' is no IRI. Write an IRI or a CURIE."))
        else:
            found.append(entry)
    return replace(layer, entries=last_of_each(found)), problems


def _in_used_scheme(entry: Entry, terms: GraphTerms) -> Entry:
    """The entry with its patterns in the scheme that the graph writes a namespace with, if it only uses one."""
    for one, other in (BOTH_SCHEMES, BOTH_SCHEMES[::-1]):
        if terms.uses(other) and not terms.uses(one):
            if isinstance(entry, RuleEntry):
                entry = replace(entry, text=entry.text.replace(f"<{one}", f"<{other}"))
            elif isinstance(entry, ClassEntry | PropertyEntry) and entry.where:
                entry = replace(entry, where=entry.where.replace(f"<{one}", f"<{other}"))
    return entry


def _with_iri(entry: "ClassEntry | PropertyEntry | CodeEntry", iri: str) -> Entry:
    return replace(entry, key=iri) if isinstance(entry, CodeEntry) else replace(entry, iri=iri)


def _with_new_iri(entry: Entry, prefixes: Mapping[str, str]) -> "ClassEntry | PropertyEntry | None":
    """A derived class or property with its IRI and name; None for other entries."""
    if not (isinstance(entry, ClassEntry | PropertyEntry) and entry.is_derived):
        return None
    iri = expand_name(entry.key, prefixes)
    if iri:
        return replace(entry, iri=iri)
    return replace(entry, iri=new_iri(entry.key), name=entry.name or " ".join(entry.key.split()))


def new_iri(name: str) -> str:
    """The IRI of something that a layer names itself.

    >>> new_iri("Year cast")
    'urn:nacre:layer:year_cast'
    """
    return LAYER_NAMESPACE + "_".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def _iris(
    entry: "ClassEntry | PropertyEntry | CodeEntry",
    kind: Kind,
    layer: Layer,
    terms: GraphTerms,
    problems: list[Problem],
) -> list[str]:
    """The IRIs of the graph that a key means."""
    iri = expand_name(entry.key, layer.prefixes)
    found = [each for each in iri_variants(iri) if terms.has(kind, each)] if iri else terms.by_name(kind, entry.key)
    if iri and not found and iri.startswith(LAYER_NAMESPACE):
        # made by a rule of this layer, or of another one
        return [iri]
    if len(found) > 1 and not iri:
        problems.append(
            Problem(entry.place, f"'{entry.key}' is the name of several: {', '.join(found)}. Write the IRI.")
        )
        return []
    if not found:
        problems.append(_unknown(entry.place, kind, entry.key, layer, terms))
    return found


def _classes(
    entry: PropertyEntry,
    layer: Layer,
    terms: GraphTerms,
    derived: Collection[str],
    problems: list[Problem],
) -> tuple[str, ...]:
    """The IRIs of the classes that a derived property belongs to."""
    found: list[str] = []
    for name in entry.of:
        iri = expand_name(name, layer.prefixes)
        if iri in derived or iri.startswith(LAYER_NAMESPACE) or (not iri and new_iri(name) in derived):
            found.append(iri or new_iri(name))
        else:
            found += (
                [each for each in iri_variants(iri) if terms.has("class", each)]
                if iri
                else terms.by_name("class", name)
            )
    if not found:
        problems.append(_unknown(entry.place, "class", entry.of[0], layer, terms, f"'{entry.key}': "))
    return tuple(dict.fromkeys(found))


def _unknown(place: Place, kind: Kind, name: str, layer: Layer, terms: GraphTerms, about: str = "") -> Problem:
    """The problem of a name that the graph lacks, with the nearest one; `about` begins the text."""
    near = terms.nearest(kind, expand_name(name, layer.prefixes) or name)
    hint = f" Did you mean '{near}'?" if near else ""
    return Problem(place, f"{about}this graph has no {kind} '{name}'.{hint}", is_unknown=True)


def last_of_each(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Without entries that a later one replaces: the same derived property of the same classes."""
    last: dict[object, int] = {}
    for i, entry in enumerate(entries):
        last[_identity(entry) or i] = i
    return tuple(entry for i, entry in enumerate(entries) if last[_identity(entry) or i] == i)


def _identity(entry: Entry) -> object:
    if isinstance(entry, PropertyEntry) and entry.is_derived:
        return "property", entry.iri, tuple(sorted(entry.of))
    if isinstance(entry, ClassEntry) and entry.is_derived:
        return "class", entry.iri
    return None
