"""Other names that people give to classes and properties: one layer file of its own, with who changed it and when."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ingestion.layer.drafting.layer_text import layer_text
from ingestion.layer.entries import ClassEntry, Layer, PropertyEntry
from ingestion.layer.format.read_layer import read_layer
from ingestion.layer.resolve import Kind
from ingestion.layer.stored import LayerFile, LayerFiles
from nacre.language.sanitize import strip_control_characters

PEOPLE = "people.yaml"
# changes that the file lists, the last ones
MAX_CHANGES = 200
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
    """The file with other names for one class or property instead of those that it had; none removes the entry.

    Raises IngestionError for names that no layer may have.
    """
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


def _people(text: str) -> Layer:
    return read_layer(Path(PEOPLE), text)
