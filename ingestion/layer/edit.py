"""Write layer files: names that people give to classes and properties, and entries -> YAML.

Names from the page have a file of their own, with who changed them and when. Also a template of a graph's classes and
properties.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ingestion.layer.entries import ClassEntry, Layer, PropertyEntry
from ingestion.layer.layer_file import LayerFile, LayerFiles, read_layer
from ingestion.layer.resolve import Kind
from nacre.errors import IngestionError
from nacre.language.sanitize import strip_control_characters
from nacre.records.schema import Schema

PEOPLE = "people.yaml"

# changes that the file lists, the last ones, and names of one class or property (given)
MAX_CHANGES, MAX_NAMES = 200, 30

_SECTIONS: dict[Kind, str] = {"class": "classes", "property": "properties"}


def names_from_people(layers: LayerFiles) -> Mapping[tuple[Kind, str], tuple[str, ...]]:
    """The other names that people gave, by kind and IRI."""
    names: dict[tuple[Kind, str], tuple[str, ...]] = {}
    for entry in (entry for each in layers.files if each.name == PEOPLE for entry in _people(each.text).entries):
        if isinstance(entry, ClassEntry):
            names["class", entry.key] = entry.also
        elif isinstance(entry, PropertyEntry):
            names["property", entry.key] = entry.also
    return names


def with_names(layers: LayerFiles, kind: Kind, iri: str, also: Sequence[str], *, who: str, when: str) -> LayerFile:
    """The file with other names for one class or property instead of those that it had; none removes the entry. Raises
    IngestionError for names that no layer may have."""
    present = next((each.text for each in layers.files if each.name == PEOPLE), "")
    changes = [line for line in present.splitlines() if line.startswith("# ")]
    sections: dict[str, Any] = yaml.safe_load(present) or {}
    # those files are stored before this one
    sections.pop("extends", None)
    entries = dict(sections.get(_SECTIONS[kind]) or {})
    names = list(dict.fromkeys(name for each in also if (name := strip_control_characters(each).strip())))
    if names:
        entries[iri] = {"also": names}
    else:
        entries.pop(iri, None)
    sections[_SECTIONS[kind]] = entries
    changes.append(f"# {when} {who}: {' '.join(strip_control_characters(iri).split())}")
    text = "\n".join(changes[-MAX_CHANGES:]) + "\n" + layer_text(sections)
    _people(text)
    return LayerFile(PEOPLE, text)


def with_further_name(layers: LayerFiles, kind: Kind, iri: str, name: str, *, who: str, when: str) -> LayerFile:
    """The file with one more name for a class or property. Raises IngestionError if it has too many, or as
    `with_names`."""
    given = names_from_people(layers).get((kind, iri), ())
    if len(given) >= MAX_NAMES:
        raise IngestionError(f"It has {len(given)} other names already. Remove one first.")
    return with_names(layers, kind, iri, (*given, name), who=who, when=when)


def _people(text: str) -> Layer:
    return read_layer(Path(PEOPLE), text)


Sections = Mapping[str, Any]

# sections of a layer in the order in which they are written
ORDER = ("prefixes", "classes", "properties", "things", "codes", "rules")


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
