"""The names that a layer gives: Layer + Declarations -> Declarations; Layer + Schema -> the shown Schema."""

from collections.abc import Mapping
from dataclasses import replace

from ingestion.induce.declarations import Declarations
from ingestion.induce.names.column_names import readable_name
from ingestion.layer.entries import ClassEntry, Layer, PropertyEntry
from ingestion.layer.packs import is_of_pack
from ingestion.vocabulary import local_name
from nacre.records.schema import Schema


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
    """The schema with units, hidden classes and properties, and the patterns of derived ones."""
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
