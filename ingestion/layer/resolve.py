"""Find the classes and properties that a layer means: Layer + Facts -> the layer with IRIs, and what was not found.
Then packs, and names that a layer gives: Layer + Declarations -> Declarations; Layer + Schema -> the shown Schema."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from ingestion.induce.declarations import Declarations, read_declarations
from ingestion.induce.names import readable_name
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
from ingestion.layer.layer_file import expand_name, iri_variants, known_prefixes, read_layers
from ingestion.read.facts import Facts, unique_counts
from ingestion.vocabulary import SCHEMA_ORG, SUBCLASS, TYPE, local_name
from nacre.records.schema import Schema

Kind = Literal["class", "property"]


@dataclass(frozen=True)
class Problem:
    """What is wrong with an entry: an error (not applied) or a warning. `is_unknown`: it is about nothing here."""

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
        self, classes: Collection[str], properties: Collection[str], labels: Callable[[], Mapping[str, Iterable[str]]]
    ) -> None:
        self._known: Mapping[Kind, Collection[str]] = {"class": classes, "property": properties}
        self._labels = labels

    def has(self, kind: Kind, iri: str) -> bool:
        """Whether the graph uses it."""
        return iri in self._known[kind]

    def uses(self, scheme: str) -> bool:
        """Whether classes or properties are written with one of SCHEMA_ORG."""
        return scheme in self._schemes

    @cached_property
    def _schemes(self) -> frozenset[str]:
        iris = [iri for known in self._known.values() for iri in known]
        return frozenset(scheme for scheme in SCHEMA_ORG if any(iri.startswith(scheme) for iri in iris))

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
    """The layer with IRIs. Entries that mean nothing here are left out; of those with one name the last one stays."""
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
    for one, other in (SCHEMA_ORG, SCHEMA_ORG[::-1]):
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
    entry: PropertyEntry, layer: Layer, terms: GraphTerms, derived: Collection[str], problems: list[Problem]
) -> tuple[str, ...]:
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
    # nobody can correct a pack, and the search takes seconds in a graph with many classes
    is_correctable = not Path(place.file).is_relative_to(PACKS)
    near = terms.nearest(kind, expand_name(name, layer.prefixes) or name) if is_correctable else ""
    hint = f" Did you mean '{near}'?" if near else ""
    return Problem(place, f"{about}this graph has no {kind} '{name}'.{hint}", is_unknown=True)


def all_rewordings(layers: Sequence[Layer]) -> dict[str, str]:
    """What words stand for in several layers; the last one of a word counts."""
    return {word: text for layer in layers for word, text in layer.rewordings.items()}


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


PACKS = Path(__file__).parents[1] / "vocabularies"

# the namespaces of a pack are on one line, so that packs which do not apply are not parsed
_NAMESPACES = re.compile(r"^namespaces: *\[([^\]\n]*)\]", re.MULTILINE)


def packs_of(facts: Facts) -> list[Layer]:
    """The packs that apply to a graph, in the order of their names."""
    texts = facts.texts
    typing = next((n for n in facts.predicates if texts[n] == TYPE), -1)
    used = [texts[n] for n in facts.predicates]
    used += [texts[n] for n in unique_counts(facts.object[facts.predicate == typing])[0].tolist()]
    return packs_for(used)


def packs_for(iris: Iterable[str]) -> list[Layer]:
    """The packs for the classes and predicates of a graph, each after those that it extends."""
    used = tuple(iris)
    found = (
        _pack(name) for name, namespaces in pack_namespaces().items() if any(iri.startswith(namespaces) for iri in used)
    )
    return list({layer.source: layer for layers in found for layer in layers}.values())


def is_of_pack(entry: Entry) -> bool:
    """Whether an entry is one of a pack."""
    return Path(entry.place.file).is_relative_to(PACKS)


@cache
def pack_namespaces() -> Mapping[str, tuple[str, ...]]:
    """All packs with their namespaces."""
    found = {}
    for path in sorted(PACKS.glob("*.yaml")):
        match = _NAMESPACES.search(path.read_text(encoding="utf-8"))
        names = [each.strip().strip("\"'") for each in match[1].split(",")] if match else []
        iris = [expand_name(f"{n.rstrip(':')}:", known_prefixes()) if "//" not in n else n for n in names if n]
        found[path.stem] = tuple(variant for iri in iris for variant in iri_variants(iri))
    return found


@cache
def _pack(name: str) -> tuple[Layer, ...]:
    return tuple(read_layers(PACKS / f"{name}.yaml"))


_Named = ClassEntry | PropertyEntry


def without_taken_names(packs: Sequence[Entry], own: Sequence[Entry]) -> Iterator[Entry]:
    """The entries of packs without the names that a graph's own layer gives to other classes or properties. What a pack
    derives under such a name is left out, unless something else is derived from it."""
    taken = _by_name(own)
    patterns = "\n".join(map(_pattern, packs))
    for entry in packs:
        if not isinstance(entry, ClassEntry | PropertyEntry):
            yield entry
            continue
        if not _pattern(entry) or f"<{entry.iri}>" in patterns or not _is_taken(entry, entry.name, taken):
            yield _with_free_names(entry, taken)


def _by_name(entries: Iterable[Entry]) -> Mapping[tuple[type, str], list[_Named]]:
    found: dict[tuple[type, str], list[_Named]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, ClassEntry | PropertyEntry):
            inverse = entry.inverse if isinstance(entry, PropertyEntry) else ()
            for name in filter(None, (entry.name, *entry.also, *inverse)):
                found[type(entry), name.casefold()].append(entry)
    return found


def _with_free_names(entry: _Named, taken: Mapping[tuple[type, str], list[_Named]]) -> Entry:
    also = tuple(name for name in entry.also if not _is_taken(entry, name, taken, by_another=True))
    if isinstance(entry, ClassEntry):
        return replace(entry, also=also)
    inverse = tuple(name for name in entry.inverse if not _is_taken(entry, name, taken, by_another=True))
    return replace(entry, also=also, inverse=inverse)


def _is_taken(
    entry: _Named, name: str, taken: Mapping[tuple[type, str], list[_Named]], by_another: bool = False
) -> bool:
    return any(
        _may_share_things(entry, other) and not (by_another and other.iri == entry.iri)
        for other in taken.get((type(entry), name.casefold()), ())
    )


def _may_share_things(entry: _Named, other: _Named) -> bool:
    if not (isinstance(entry, PropertyEntry) and isinstance(other, PropertyEntry)):
        return True
    return not entry.of or not other.of or not set(entry.of).isdisjoint(other.of)


def _pattern(entry: Entry) -> str:
    """What an entry is derived from; "" for names only."""
    if isinstance(entry, PropertyEntry):
        return entry.path or entry.where
    return entry.where if isinstance(entry, ClassEntry) else ""


def name_declarations(declarations: Declarations, layer: Layer) -> None:
    """Put the names of a resolved layer before those of the graph. Later entries come first."""
    for entry in layer.entries:
        if not isinstance(entry, ClassEntry | PropertyEntry) or not entry.iri:
            continue
        labels = declarations.labels.get(entry.iri, [])
        if entry.name:
            # a name from an IRI stays an alternative
            others = labels or [readable_name(local_name(entry.iri)).lower()]
            declarations.labels[entry.iri] = [entry.name, *(label for label in others if label != entry.name)]
        also = (*entry.also, *(entry.inverse if isinstance(entry, PropertyEntry) else ()))
        if also:
            known = declarations.alternatives.get(entry.iri, [])
            declarations.alternatives[entry.iri] = list(dict.fromkeys((*also, *known)))
        if entry.comment:
            declarations.comments[entry.iri] = entry.comment


def mark_schema(schema: Schema, layer: Layer) -> Schema:
    """The schema with units, hidden classes and properties, the patterns of derived ones, and rewordings."""
    classes: Mapping[str, ClassEntry] = {e.iri: e for e in layer.entries if isinstance(e, ClassEntry)}
    named = {e.iri for e in classes.values() if e.name and not is_of_pack(e)}
    hidden_classes = {e.iri: e.hidden for e in layer.entries if isinstance(e, ClassEntry) and e.hidden is not None}
    properties = [e for e in layer.entries if isinstance(e, PropertyEntry)]
    hidden = {e.iri: e.hidden for e in properties if e.hidden is not None}
    units = {e.iri: e.unit for e in properties if e.unit}
    phrases = {
        iri: tuple(dict.fromkeys(name for e in own for name in (*e.also, *e.inverse)))
        for iri, own in _by_iri(properties).items()
    }
    patterns = {e.iri: _patterns(e.iri, properties) for e in properties if e.is_derived}
    return replace(
        schema,
        rewordings=tuple(layer.rewordings.items()),
        classes=tuple(
            replace(
                c,
                hidden=hidden_classes.get(c.iri, c.hidden),
                pattern=classes[c.iri].where if c.iri in classes else "",
                is_named=c.iri in named,
            )
            for c in schema.classes
        ),
        predicates=tuple(
            replace(
                p,
                unit=units.get(p.iri, p.unit),
                hidden=hidden.get(p.iri, p.hidden),
                patterns=patterns.get(p.iri, ()),
                phrases=phrases.get(p.iri, ()),
            )
            for p in schema.predicates
        ),
    )


def without_removed(schema: Schema, layer: Layer) -> Schema:
    """The schema without the classes and properties that the layer removes; `schema` itself if there are none."""
    gone = {e.iri for e in layer.entries if isinstance(e, ClassEntry) and e.removed}
    dropped = {e.iri for e in layer.entries if isinstance(e, PropertyEntry) and e.removed}
    if not gone and not dropped:
        return schema
    classes = tuple(c for c in schema.classes if c.iri not in gone)
    kept = {c.relation for c in classes}
    groups = tuple(g for g in schema.groups if not set(g.classes) & gone or g.relation in kept)
    hidden = {c.relation for c in schema.classes if c.iri in gone} - kept - {g.relation for g in groups}
    hidden |= {g.relation for g in schema.groups} - {g.relation for g in groups}
    hidden |= {name for iri, name in schema.junctions.items() if iri in dropped}
    return replace(
        schema,
        classes=tuple(replace(c, parents=tuple(p for p in c.parents if p not in gone)) for c in classes),
        groups=groups,
        predicates=tuple(
            replace(p, domains=_without(p.domains, gone), ranges=_without(p.ranges, gone))
            for p in schema.predicates
            if p.iri not in dropped
        ),
        relations=tuple(
            replace(r, columns=tuple(c for c in r.columns if c.predicate not in dropped))
            for r in schema.relations
            if r.name not in hidden
        ),
        junctions={iri: name for iri, name in schema.junctions.items() if iri not in dropped},
    )


def _without(counts: Mapping[str, int], gone: set[str]) -> dict[str, int]:
    return {iri: count for iri, count in counts.items() if iri not in gone}


def _by_iri(properties: list[PropertyEntry]) -> Mapping[str, list[PropertyEntry]]:
    found: dict[str, list[PropertyEntry]] = {}
    for entry in properties:
        found.setdefault(entry.iri, []).append(entry)
    return found


def _patterns(iri: str, properties: list[PropertyEntry]) -> tuple[str, ...]:
    """The SPARQL patterns between ?this and ?value of a derived property."""
    return tuple(
        f"?this {entry.path} ?value" if entry.path else entry.where
        for entry in properties
        if entry.iri == iri and entry.is_derived
    )
