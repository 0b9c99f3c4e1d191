"""Changes to the shown schema by a user: a YAML file -> Annotations, applied to a Schema.

    classes:
      Product: {rename: item, comment: Anything that is sold, exclude: false}
    predicates:
      payload: {rename: load, comment: Without the driver, unit: kg, drop: false}

A class or predicate is named by its IRI, or by its local name or label where that is clear. What is stored stays.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ingestion.vocabulary import local_name
from nacre.errors import IngestionError
from nacre.records.schema import Class, Predicate, Relation, Schema

_OF_CLASS = frozenset({"rename", "comment", "exclude"})
_OF_PREDICATE = frozenset({"rename", "comment", "unit", "drop"})

Annotation = Mapping[str, str | bool]
AnnotatedTerm = TypeVar("AnnotatedTerm", Class, Predicate)


@dataclass(frozen=True)
class Annotations:
    """Changes to the shown schema, by name of a class or predicate; errors name the `source`."""

    classes: Mapping[str, Annotation]
    predicates: Mapping[str, Annotation]
    source: str = "annotations"


def read_annotations(path: Path) -> Annotations:
    """Read and check the file; raises IngestionError with the invalid entry."""
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise IngestionError(f"{path}: can't be read ({error.strerror or error}).") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise IngestionError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    data = data or {}
    if not isinstance(data, dict) or not data.keys() <= {"classes", "predicates"}:
        raise IngestionError(f"{path}: expected only the keys 'classes' and 'predicates'.")
    classes = _check_entries(path, data.get("classes"), _OF_CLASS)
    return Annotations(classes, _check_entries(path, data.get("predicates"), _OF_PREDICATE), str(path))


def annotate(schema: Schema, annotations: Annotations) -> Schema:
    """The schema with the changes; raises IngestionError for an unknown name."""
    classes = _apply_changes(schema.classes, annotations.classes, "class", annotations.source)
    predicates = _apply_changes(schema.predicates, annotations.predicates, "predicate", annotations.source)
    gone = {c.iri for c in schema.classes} - {c.iri for c in classes}
    dropped = {p.iri for p in schema.predicates} - {p.iri for p in predicates}
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
            replace(p, domains=_without(p.domains, gone), ranges=_without(p.ranges, gone)) for p in predicates
        ),
        relations=tuple(_relation(r, dropped) for r in schema.relations if r.name not in hidden),
        junctions={iri: name for iri, name in schema.junctions.items() if iri not in dropped},
    )


def _check_entries(path: Path, data: Any, allowed: frozenset[str]) -> dict[str, Annotation]:
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(note, dict) for note in data.values()):
        raise IngestionError(f"{path}: expected 'name: {{rename: ..., comment: ...}}' under each key.")
    for name, note in data.items():
        for key, value in note.items():
            if key not in allowed:
                raise IngestionError(f"{path}: '{name}' has '{key}'; known are {', '.join(sorted(allowed))}.")
            if isinstance(value, bool) != (key in {"drop", "exclude"}) or not isinstance(value, (str, bool)):
                raise IngestionError(f"{path}: '{key}' of '{name}' can't be {value!r}.")
    return {str(name): note for name, note in data.items()}


def _apply_changes(
    things: Sequence[AnnotatedTerm], notes: Mapping[str, Annotation], what: str, source: str
) -> tuple[AnnotatedTerm, ...]:
    changed = {thing.iri: thing for thing in things}
    for name, note in notes.items():
        found: list[AnnotatedTerm] = [t for t in things if name == t.iri]
        found = found or [t for t in things if name.lower() in (local_name(t.iri).lower(), t.label.lower())]
        if len(found) != 1:
            problem = f"several {what} names match, write the IRI" if found else f"no {what} of this graph"
            raise IngestionError(f"{source}: '{name}': {problem}. Run: nacre report --graph NAME")
        iri = found[0].iri
        if note.get("drop") or note.get("exclude"):
            changed.pop(iri, None)
            continue
        changes: dict[str, Any] = {}
        if "rename" in note:
            others = (*found[0].alt_labels, found[0].label)
            changes = {"label": note["rename"], "alt_labels": tuple(dict.fromkeys(others))}
        changes |= {key: note[key] for key in ("comment", "unit") if key in note}
        changed[iri] = replace(found[0], **changes)
    return tuple(changed.values())


def _without(counts: dict[str, int], gone: set[str]) -> dict[str, int]:
    return {iri: count for iri, count in counts.items() if iri not in gone}


def _relation(relation: Relation, dropped: set[str]) -> Relation:
    return replace(relation, columns=tuple(c for c in relation.columns if c.predicate not in dropped))


def suggest_annotations(schema: Schema) -> str:
    """A template in YAML: every class and predicate with its properties, all commented out."""
    lines = ["# Take away the '#' of what you want to change; see docs for the keys.", "classes:"]
    for shown in schema.classes:
        lines += [f"  # {_yaml(shown.iri)}:", f"  #   rename: {_yaml(shown.label)}"]
        lines += [f"  #   comment: {_yaml(shown.comment)}", "  #   exclude: false"]
    lines.append("predicates:")
    for predicate in schema.predicates:
        lines += [f"  # {_yaml(predicate.iri)}:", f"  #   rename: {_yaml(predicate.label)}"]
        lines += [
            f"  #   comment: {_yaml(predicate.comment)}",
            f"  #   unit: {_yaml(predicate.unit)}",
            "  #   drop: false",
        ]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
